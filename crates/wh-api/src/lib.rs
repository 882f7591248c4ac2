//! The wire types of REST, MCP and events, and their conversions from and to the domain.
//!
//! A request type holds what a caller may send; converting it checks every field and names the one that is wrong. A
//! view holds what a caller is told. Doc comments become the descriptions in `tools/list` and `/openapi.json`, so they
//! are written for whoever calls. Requests refuse unknown fields: what we do not understand is never silently dropped.

mod agent;
mod approval;
mod audit;
mod board;
mod common;
mod config;
mod deletion;
mod error;
mod event;
mod file;
mod host_credential;
mod key;
mod loops;
mod loops_view;
mod message;
mod note;
mod number_or_id;
mod repo;
mod run;
mod server;
mod session;
mod session_begin;
mod session_brief;
mod session_card;
mod session_life;
mod session_terms;
mod share;
mod task;
mod turn;
mod usage;
mod user;
mod webhook;
mod worktree;

pub use agent::{
    AgentCommandView, AgentGetRequest, AgentListRequest, AgentListView, AgentModelView, AgentView,
};
pub use approval::{ApprovalAnswerRequest, ApprovalListRequest, ApprovalListView, ApprovalView};
pub use audit::{AuditEntryView, AuditListRequest, AuditListView};
pub use board::{
    BoardCreateRequest, BoardDuplicateRequest, BoardGetRequest, BoardListRequest, BoardListView,
    BoardSummaryView, BoardUpdateRequest, BoardView, ItemInput, ItemKind, PlaceInput,
    PlacementView, ZoneInputRequest, ZoneView,
};
pub use common::{Empty, PageQuery, cursor_of};
pub use config::{ConfigGetRequest, ConfigSetRequest, ConfigView, SettingInput, SettingView};
pub use deletion::{
    BoardDeleteRequest, DeletedView, DependentsView, RepoDeleteRequest, UserDeleteRequest,
};
pub use error::{AdviceView, ErrorBody, ErrorView};
pub use event::{EventListRequest, EventListView, EventView, FeedView};
pub use file::{PromptFileInput, TurnFileRequest, TurnFileView};
pub use host_credential::{
    ConfiguredCredentialView, CredentialDeleteRequest, CredentialListRequest, CredentialListView,
    CredentialSetRequest, CredentialView,
};
pub use key::{
    KeyCreateRequest, KeyCreatedView, KeyListRequest, KeyListView, KeyRevokeRequest, KeyView,
};
pub use loops::{
    LoopChangeRequest, LoopGetRequest, LoopListRequest, LoopLogRequest, LoopResumeRequest,
    LoopStartRequest,
};
pub use loops_view::{
    LoopIterationView, LoopListView, LoopLogEntryView, LoopLogView, LoopSummaryView, LoopTasksView,
    LoopView,
};
pub use message::{
    MessageDepth, MessageGetRequest, MessageListRequest, MessageListView, MessageView,
    SearchHitView, SessionSearchRequest, SessionSearchView, SummaryView,
};
pub use note::{
    IterationSummaryRequest, IterationView, NoteAddRequest, NoteItem, NoteListRequest,
    NoteListView, NoteView,
};
pub use number_or_id::NumberOrId;
pub use repo::{
    ConfigApprovalView, ProjectConfigFileView, ProjectConfigView, RepoAddRequest, RepoCheckRequest,
    RepoCheckView, RepoListRequest, RepoListView, RepoTrustRequest, RepoTrustView, RepoView,
};
pub use run::{RunListRequest, RunListView, RunView};
pub use server::{
    BackupCreateRequest, BackupCreatedView, LoginLinkCreateRequest, LoginLinkView,
    ServerConfigView, ServerFile, StartValueView, WhoAmIView,
};
pub use session::{
    ForkedFromView, SessionCountsRequest, SessionCurrentRequest, SessionGetRequest,
    SessionListRequest, SessionListView, SessionOutlineView, SessionSummaryView, SessionTreeNode,
    SessionTreeRequest, SessionTreeView, SessionUpdateRequest, SessionView,
};
pub use session_begin::{SessionCreateRequest, SessionForkRequest, SessionSpawnRequest};
pub use session_brief::{SessionBriefListView, SessionBriefView};
pub use session_card::{
    BoardCardsView, ChangesView, SessionCardView, SessionCountsView, WorktreeCardView,
};
pub use session_life::{
    PromptedView, SessionInterruptRequest, SessionManageRequest, SessionPromptRequest,
    SessionWaitRequest, SessionWaitView, WaitedSessionView,
};
pub use session_terms::{
    BudgetInput, BudgetPatchInput, NarrowedView, PolicyInput, PolicyRuleInput, SessionTermsView,
};
pub use share::{BoardShareRequest, ShareView};
pub use task::{
    LoopCompleteRequest, LoopCompletedView, TaskAddRequest, TaskAddedView, TaskGroupView, TaskItem,
    TaskListRequest, TaskListView, TaskNextRequest, TaskNextView, TaskUpdateRequest, TaskView,
};
pub use turn::{TurnDetailView, TurnGetRequest, TurnListRequest, TurnListView, TurnView};
pub use usage::{
    UsageAgentView, UsageDayView, UsageOthersView, UsageReportRequest, UsageReportView,
    UsageTreeView, UsageView,
};
pub use user::{
    UserCreateRequest, UserGetRequest, UserListRequest, UserListView, UserUpdateRequest, UserView,
};
pub use webhook::{
    WebhookCreateRequest, WebhookCreatedView, WebhookDeleteRequest, WebhookListRequest,
    WebhookListView, WebhookUpdateRequest, WebhookView,
};
pub use worktree::{
    FileChangeView, RiskView, WorktreeCreateRequest, WorktreeDiffRequest, WorktreeDiffView,
    WorktreeGetRequest, WorktreeListRequest, WorktreeListView, WorktreeMergeRequest,
    WorktreeMergedView, WorktreeRemoveRequest, WorktreeRemovedView, WorktreeStatusView,
    WorktreeSummaryView, WorktreeView,
};
