//! The rules of Wheelhouse as plain values and pure functions: ids, states and the transitions between them, who may
//! call what, limits, and what a valid board or name is.
//!
//! Nothing here does I/O, reads a clock, draws randomness or knows a protocol: time and ids come in as arguments, so
//! every rule can be tested by calling it. Domain types are not serialized (ids and policies excepted); rows and wire types convert
//! explicitly in the crates that own them.

mod address;
mod agent;
mod approval;
mod approval_option;
mod audit;
mod audit_filter;
mod board;
mod budget;
mod card;
mod deletion;
mod delivery;
mod denial;
mod dialect;
mod egress;
mod error;
mod event;
mod file;
mod fork;
mod hint;
mod hook;
mod host_credential;
mod ids;
mod image;
mod input;
mod key;
mod lead;
mod limits;
mod local_path;
mod loops;
mod loops_change;
mod loops_input;
mod message;
mod model;
mod moment;
mod operation;
mod owner;
mod page;
mod policy;
mod policy_words;
mod price;
mod principal;
mod project_config;
mod redact;
mod repo;
mod repo_check;
mod repo_rules;
mod review;
mod rights;
mod run;
mod session;
mod session_input;
mod session_state;
mod session_terms;
mod setting;
mod share;
mod stage;
mod task;
mod task_input;
mod text;
mod tier;
mod title_words;
mod turn;
mod usage_report;
mod user;
mod wait;
mod webhook;
mod worktree;
mod worktree_look;

pub use address::is_public_address;
pub use agent::{Agent, AgentOrigin, AgentState};
pub use approval::{Approval, ApprovalFilter, ApprovalKind, ApprovalState, Settlement};
pub use approval_option::OptionKind;
pub use audit::{AuditEntry, NewAuditEntry, Outcome, Surface};
pub use audit_filter::{AuditAbout, AuditFilter, AuditQuery, OutcomeFilter};
pub use board::{
    Board, BoardCopy, BoardFilter, BoardItem, BoardPatch, BoardRefusal, Color, Placement, Position,
    Rect, Zone, ZoneChange,
};
pub use budget::{Budget, BudgetPatch, Usage};
pub use card::{BoardCards, SessionCard, WorktreeCard};
pub use deletion::{DeleteMode, DependentKind, Dependents, list_dependents};
pub use delivery::{DeliveryKind, DeliveryState, NEWS_WORDS_MAX, News, NewsKind, callback_prompt};
pub use denial::{DenialReason, reasons_need_turn, reasons_not_quoted, reasons_prompt};
pub use dialect::{Dialect, McpDialect};
pub use egress::{
    AddressPolicy, HostList, HostName, HostNameRefusal, HostRule, HostRuleRefusal, HostsRefusal,
    choose_hosts, parse_host_and_port,
};
pub use error::ErrorCode;
pub use event::{Event, EventKind, EventSeq, Facts, NewEvent, Subject, SubjectKind};
pub use file::{
    FILES_BYTES_MAX, FILES_INSTEAD, FILES_MAX, FileAbout, FileName, PromptFile, check_files,
};
pub use fork::{Forked, ForkedFiles, fork_title};
pub use hint::{Advice, ArgumentValue, Suggestion};
pub use hook::{HookPoint, LoopHooks};
pub use host_credential::{
    ConfiguredCredential, ConfiguredToken, CredentialRefusal, CredentialSource, CredentialUse,
    GitHost, HostCredential, HostLogin, HostRules, NewHostCredential, NotAGitHost,
    SealedCredential,
};
pub use ids::*;
pub use image::{ImageRef, ImageRefRefusal};
pub use input::{
    BoardChange, BoardDuplicate, InputRefusal, ItemReference, NewBoard, NewKey, NewRepo, NewUser,
    NewWorktree, PlacementInput, Reference, SettingChange, Uncommitted, WorktreeDiffQuery,
    WorktreeMerge, ZoneInput,
};
pub use key::{Key, KeyBinding, KeyHash, KeyPrefix, KeyScope, Secret, SecretText};
pub use lead::LeadRefusal;
pub use limits::{Limits, SpawnLimits};
pub use local_path::{LocalAccess, LocalPathRefusal};
pub use loops::{
    IDLE_MAX, ITERATIONS_MAX, ITERATIONS_USUAL, IterationEnd, Loop, LoopFacts, LoopIteration,
    LoopLogEntry, LoopOutcome, LoopState, LoopWish, NewLoopLogEntry,
};
pub use loops_change::{LoopLimit, LoopRefusal, LoopTerms, SpentLimit};
pub use loops_input::{LoopDetail, LoopInput};
pub use message::{Author, Message, MessageKind, NewMessage, conversation_text};
pub use model::{AgentCommand, ModelName, OfferedModel};
pub use moment::{DayOffset, Moment};
pub use operation::{Effect, Operation, Rule, Standing};
pub use owner::{Owner, Reach};
pub use page::{Page, PageLimit, PageRequest};
pub use policy::{
    Action, ActionKind, ActionPath, Policy, PolicyRefusal, PolicyRule, Route, Verdict,
};
pub use policy_words::{PolicyWord, PolicyWordsRefusal};
pub use price::{Price, PriceList, PriceRule};
pub use principal::{Credential, CredentialKind, Denied, Principal};
pub use project_config::{
    CONFIG_APPROVALS_MAX, CONFIG_BYTES_MAX, CONFIG_FILES_MAX, CONFIG_PATHS_MAX,
    CONFIGS_TRUSTED_MAX, ConfigDigest, ConfigFileReport, ConfigReport, ConfigState,
    ConfigTreatment, ProjectConfig, RepoTrust, TrustReport, TrustedConfig,
};
pub use redact::{RedactedText, redact, redact_patch};
pub use repo::{RemoteEndpoint, Repo, RepoPaths, RepoSource, RepoSourceRefusal, RepoState};
pub use repo_check::{RepoAccess, RepoCheck};
pub use repo_rules::{CheckoutLimits, RepoRules, TransferLimits};
pub use review::{ReviewEvent, ReviewState};
pub use rights::{AllowedPaths, OperationSet, Rights};
pub use run::{Abilities, Conversation, Run, RunEntry, ToolsLink};
pub use session::{
    Archived, Fork, Relation, RoleSet, Session, SessionBrief, SessionFilter, SessionOutline,
    SessionPatch, SessionQuery, SessionRole,
};
pub use session_input::{
    ForkInput, SessionAction, SessionInput, SessionPlace, SpawnInput, WaitFor, WhenBusy, Workspace,
};
pub use session_state::{IllegalTransition, SessionEvent, SessionState, SessionStateName};
pub use session_terms::{Narrowed, RequestedTerms, TermValue};
pub use setting::{Setting, SettingKey, SettingRefusal, SettingSpec, SettingValue};
pub use share::{BoardShareChange, Share, ShareLevel, ShareWith};
pub use stage::{SessionCounts, SessionTally, Stage};
pub use task::{
    ADD_MAX, DEPENDENCIES_MAX, DependencyRefusal, Holder, Iteration, LIST_ITEMS_MAX, ListOf,
    NewNote, NewTask, Note, NoteKind, Task, TaskClaim, TaskList, TaskPatch, TaskPriority,
    TaskStatus, check_dependencies,
};
pub use task_input::{
    ListRef, NoteInput, TaskGroup, TaskInput, TaskNext, TaskOverview, TaskPatchInput, TaskPosition,
};
pub use text::{
    AgentName, BranchName, Description, IdempotencyKey, IterationText, LoopSpec, Name, NoteText,
    Prompt, PromptTemplate, TaskText, TextRefusal, Title, UserName,
};
pub use tier::{EffectiveTier, Tier, TierMechanism, TierRefusal, choose_tier};
pub use title_words::TitleWords;
pub use turn::{NewTurn, Sender, Turn, TurnState};
pub use usage_report::{
    Ranked, UsageQuery, UsageSpan, UsageSums, UsageTree, day_number, day_of_number,
};
pub use user::{User, UserPatch, UserRole};
pub use wait::{Wait, WaitEnd, WaitEnding, WaitedSession};
pub use webhook::{
    Attempt, NewWebhook, Webhook, WebhookDelivery, WebhookKinds, WebhookRules, WebhookState,
};
pub use worktree::{
    Worktree, WorktreeBase, WorktreeChanges, WorktreeFilter, WorktreePaths, WorktreeRefusal,
    WorktreeRemoval, WorktreeState, WorktreeStateName, WorktreeStep,
};
pub use worktree_look::{
    FileChange, MergeOutcome, MergeRemoval, WorktreeDiff, WorktreeDisk, WorktreeFile, WorktreeGone,
    WorktreeLook, WorktreeMerged, WorktreeMissing, WorktreeRisk, WorktreeStatus,
};
