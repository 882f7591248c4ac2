//! Every operation of Wheelhouse, once: authorize, change, audit, announce. Whatever surface a call comes in by, it
//! ends up here.
//!
//! REST, MCP, dialects and the command line are thin translations of [`App`]'s methods, which are named `noun_verb`
//! like the rows of the permission table ([`wh_domain::Operation`]). Each takes an [`OpContext`] (who, when, which
//! request), asks the table first, and hands the store a change together with its audit entry and its events.
//!
//! Requests record intent and return; what takes long is done by reconcilers (`reconcile`), which are idempotent and
//! start again after a crash.

mod agent;
mod app;
mod approval;
mod attempts;
mod audit;
mod authenticate;
mod backup;
mod board;
mod board_copy;
mod board_delete;
mod board_share;
mod board_spot;
mod budget;
mod card;
mod clock;
mod config;
mod context;
mod credential;
mod error;
mod event;
mod key;
mod lead;
mod local_access;
mod local_path;
mod lock;
mod login;
mod lookup;
mod loops;
mod message;
mod message_model;
mod message_summary;
mod model;
mod place;
mod prompt;
mod reconcile;
mod redacted_json;
mod repo;
mod retention;
mod run;
mod server_config;
mod session;
mod session_begin;
mod session_fork;
mod session_manage;
mod session_spawn;
mod session_wait;
mod session_whole;
mod supervise;
mod task;
mod task_lists;
mod task_note;
mod template;
mod turn;
mod usage;
mod user;
mod user_delete;
mod user_disabled;
mod wait;
mod webhook;
mod webhook_work;
mod worktree;
mod zone;

pub use app::{App, AppParts};
pub use approval::{ApprovalAnswer, ApprovalQuery};
pub use authenticate::Unauthenticated;
pub use clock::{Clock, IdSource, RandomIds};
pub use context::{Idempotency, OpContext};
#[doc(hidden)]
pub use error::samples;
pub use error::{
    AccessReason, AppError, BoardReason, Details, LaunchMoment, MergeReason, Reason, RepoReason,
    RequestReason, Resource, Result, RunReason, ServerReason, SessionReason, SettingsReason,
    TaskReason, TemplateOf, WorktreeReason,
};
pub use event::{EventFeed, EventStretch, FeedItem};
pub use key::{KeyMade, KeyQuery};
pub use local_access::LocalPeer;
pub use login::LoginLink;
pub use message::{MessageQuery, Transcript};
pub use message_summary::{Summarize, Summary};
pub use model::{LanguageModel, ModelFailure};
pub use prompt::{PromptInput, Prompted};
pub use repo::RepoDeleted;
pub use server_config::StartValue;
pub use session::{SessionDetail, SessionRelatives};
pub use session_whole::SessionWhole;
pub use supervise::{
    ContainmentConfig, EchoWorktree, HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM, RunsConfig, no_engine,
};
pub use usage::UsageReport;
pub use wait::WaitStanding;
pub use webhook::WebhookMade;
pub use wh_store::WebhookStanding;
pub use wh_store::{EventsSeen, MessageHit};
pub use worktree::{WorktreeQuery, WorktreeWanted};
