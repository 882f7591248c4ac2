//! Sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wh_domain::{
    AgentCommand, Archived, Description, Fork, Forked, InputRefusal, McpDialect, ModelName,
    OfferedModel, PageRequest, Reference, RequestedTerms, Session, SessionId, SessionOutline,
    SessionPatch, SessionQuery, SessionState, SessionStateName, ShareLevel, ShortId, Title,
    TitleWords, ToolsLink,
};

use crate::{
    AgentCommandView, AgentModelView, BudgetInput, BudgetPatchInput, NarrowedView, PolicyInput,
    SessionCardView,
    common::{is_zero, list_request, optional, optional_reference, reference, time},
    session_begin::read_role,
};

list_request! {
    /// Which sessions to list.
    SessionListRequest {
        /// Filter by state, such as running, waiting, idle, failed.
        states: Vec<String>,
        /// Only sessions that need you.
        needs_you: bool,
        /// Search titles and ids.
        title: String,
        /// Only on this board.
        board: String,
        /// Filter by worktree, or by a session's worktree.
        worktree: String,
        /// Only children of this session.
        parent: String,
        /// Those that others share with you, in place of your own.
        shared: bool,
        /// Include archived.
        include_archived: bool,
        /// Include the total.
        count: bool,
    }
}

impl SessionListRequest {
    /// Returns which part of the list is asked for. There may be very many sessions, so they are counted only on request.
    pub fn page_by_id(&self) -> Result<PageRequest<Uuid>, InputRefusal> {
        let page = self.page().by_id()?;
        let is_counted = self.count.unwrap_or(false);
        Ok(PageRequest { is_counted, ..page })
    }
}

impl TryFrom<&SessionListRequest> for SessionQuery {
    type Error = InputRefusal;

    fn try_from(request: &SessionListRequest) -> Result<Self, InputRefusal> {
        let state = |text: &String| {
            SessionStateName::parse(text).ok_or_else(|| {
                let known: Vec<_> = SessionStateName::ALL.iter().map(|s| s.as_str()).collect();
                InputRefusal::new("states", format!("must be among {}", known.join(", ")))
            })
        };
        let states: Result<_, _> = request.states.iter().flatten().map(state).collect();
        Ok(Self {
            states: states?,
            spawned: None,
            needs_you: request.needs_you.unwrap_or(false),
            title: match &request.title {
                Some(text) => TitleWords::parse(text)?,
                None => None,
            },
            board: optional_reference("board", request.board.as_deref())?,
            worktree: optional_reference("worktree", request.worktree.as_deref())?,
            parent: optional_reference("parent", request.parent.as_deref())?,
            archived: Archived::included(request.include_archived.unwrap_or(false)),
            shared: request.shared.unwrap_or(false),
        })
    }
}

/// Names a session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionGetRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
}

impl SessionGetRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }
}

/// Asks for the calling session.
pub type SessionCurrentRequest = crate::Empty;

/// Asks for the numbers of sessions.
pub type SessionCountsRequest = crate::Empty;

/// Names a session whose family is wanted.
pub type SessionTreeRequest = SessionGetRequest;

/// What to change about a session; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionUpdateRequest {
    /// The session's id, or its last 8 digits; the calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// New limits: tokens, cost_micros, wall_seconds, turns; null removes one. Not by agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub budget: Option<BudgetPatchInput>,
    /// New role for a session that has the role lead. Not available to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Model to use from the next turn on. Not available to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionUpdateRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("session", self.session.as_deref())
    }

    /// Returns what to change.
    pub fn patch(&self) -> Result<SessionPatch, InputRefusal> {
        let description = self.description.as_deref();
        Ok(SessionPatch {
            title: optional("title", self.title.as_deref(), Title::parse)?,
            description: optional("description", description, Description::parse)?,
            budget: self.budget.unwrap_or_default().into(),
            role: optional("role", self.role.as_deref(), read_role)?,
            model: optional("model", self.model.as_deref(), ModelName::parse)?,
        })
    }
}

/// A session in a list: what tells it from others, and no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummaryView {
    /// The last 8 digits of the session's id, accepted wherever an id is.
    pub id: String,
    pub title: String,
    pub agent: String,
    pub state: String,
    pub created_at: String,
    /// Millionths of a US dollar; absent when it cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl From<&Session> for SessionSummaryView {
    fn from(session: &Session) -> Self {
        Self {
            id: session.id.short_id(),
            title: session.title.to_string(),
            agent: session.agent.to_string(),
            state: session.shown_state().as_str().to_owned(),
            created_at: time(session.created_at),
            cost_micros: Some(session.usage.cost_micros).filter(|cost| *cost > 0),
        }
    }
}

/// Some sessions, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionListView {
    pub sessions: Vec<SessionCardView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    pub id: String,
    pub short_id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub agent: String,
    pub role: String,
    /// creating, idle, running, waiting, reviewing, stopping, stopped, interrupted, completed, failed, terminated or
    /// abandoned
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    pub archived: bool,
    pub owner_id: String,
    /// What you may do with it when it is somebody else's who shares it with you: read or prompt; only told of one session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The session and turn that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFromView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_id: Option<String>,
    /// own, shared or none.
    pub workspace: String,
    /// Where it works when that is not a worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The agent's way of working, if another than its usual one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The model in use, as the agent says; the requested one until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that was requested, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_requested: Option<String>,
    /// Requested containment tier: none, guarded, strict or container.
    pub tier: String,
    /// How far those of its latest run are, and by what: such as guarded/namespaces; absent before the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_tier: Option<String>,
    /// The hosts that it may connect to, if it has a list of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Which part of its own budget is used up: no prompt is run until it is raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_spent: Option<String>,
    /// The tools that its agent is given, if they are not Wheelhouse's own: agor, clawed-abode or iteratr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
    /// What it may use; what is absent is not limited.
    pub budget: BudgetInput,
    /// What its agent may do without asking.
    pub policy: PolicyInput,
    /// How often its process was started.
    pub runs: u64,
    /// Whether its agent has reached Wheelhouse's tools: unused (not yet, and nothing is wrong), connected, or broken (it should
    /// have by now); only told of one session, and while it has a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_link: Option<String>,
    /// The number of the latest message.
    pub last_seq: u64,
    /// The latest thing the agent said, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    pub tokens_used: u64,
    pub cost_micros: u64,
    /// How much of the cost is an estimate from tokens and list prices, because the agent reports no money.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    /// The models that its agent offers; only told of one session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<AgentModelView>,
    /// The commands that its agent takes at the beginning of a prompt; only told of one session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<AgentCommandView>,
    /// Terms that are not as requested; only when a session is created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<NarrowedView>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<&Session> for SessionView {
    fn from(session: &Session) -> Self {
        let failure = match &session.state {
            SessionState::Failed { reason } => Some(reason.clone()),
            _ => None,
        };
        let requested = session.model.as_ref().map(ToString::to_string);
        Self {
            id: session.id.to_string(),
            short_id: session.id.short_id(),
            title: session.title.to_string(),
            description: session.description.as_ref().map(ToString::to_string),
            agent: session.agent.to_string(),
            role: session.role.as_str().to_owned(),
            state: session.shown_state().as_str().to_owned(),
            failure,
            archived: session.archived,
            owner_id: session.owner.user.to_string(),
            parent_id: session.parent.map(|id| id.to_string()),
            forked_from: session.fork.map(ForkedFromView::from),
            repo_id: session.repo.map(|id| id.to_string()),
            worktree_id: session.worktree.map(|id| id.to_string()),
            board_id: session.board.map(|id| id.to_string()),
            workspace: session.workspace().as_str().to_owned(),
            path: session.path.as_ref().map(|path| path.display().to_string()),
            mode: session.mode.clone(),
            model: session.current_model.clone().or_else(|| requested.clone()),
            model_requested: requested,
            tier: session.tier.to_string(),
            effective_tier: session.effective_tier.map(|tier| tier.to_string()),
            hosts: session.hosts.as_ref().map(|hosts| {
                let rules = hosts.rules().iter();
                rules.map(ToString::to_string).collect()
            }),
            budget_spent: session.budget_left().used_up().map(str::to_owned),
            mcp_dialect: dialect_name(session.mcp_dialect),
            budget: BudgetInput::from(&session.budget),
            policy: PolicyInput::from(&session.policy),
            runs: session.epoch,
            tools_link: None,
            shared: None,
            last_seq: session.last_seq,
            last_words: session.last_words.clone(),
            tokens_used: session.usage.tokens(),
            cost_micros: session.usage.cost_micros,
            estimated_micros: session.usage.estimated_micros,
            models: Vec::new(),
            commands: Vec::new(),
            narrowed: Vec::new(),
            created_at: time(session.created_at),
            updated_at: time(session.updated_at),
        }
    }
}

/// Returns the name of tools that are not our own.
pub(crate) fn dialect_name(dialect: McpDialect) -> Option<String> {
    (dialect != McpDialect::Native).then(|| dialect.as_str().to_owned())
}

impl SessionView {
    /// Shows a session that was just created, and what of the request was narrowed.
    pub fn created(session: &Session, requested: &RequestedTerms) -> Self {
        Self {
            narrowed: NarrowedView::list(session, requested),
            ..Self::from(session)
        }
    }

    /// Shows a session that was just forked, and what became of the files that were not committed.
    pub fn forked(forked: &Forked) -> Self {
        let mut view = Self::created(&forked.session, &forked.requested);
        if let Some(from) = &mut view.forked_from {
            from.uncommitted = Some(forked.files.as_str().to_owned());
        }
        view
    }

    /// Adds what is only told of one session.
    #[must_use]
    pub fn with(
        self,
        tools: Option<ToolsLink>,
        shared: Option<ShareLevel>,
        models: &[OfferedModel],
        commands: &[AgentCommand],
    ) -> Self {
        Self {
            tools_link: tools.map(|link| link.as_str().to_owned()),
            shared: shared.map(|level| level.as_str().to_owned()),
            models: models.iter().map(AgentModelView::from).collect(),
            commands: commands.iter().map(AgentCommandView::from).collect(),
            ..self
        }
    }
}

/// Where a session was forked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedFromView {
    pub session_id: String,
    /// The number of the last turn that both have.
    pub turn: u64,
    /// Uncommitted files of that turn: taken, left, or none when none are kept of it; only told when the fork is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<String>,
}

impl From<Fork> for ForkedFromView {
    fn from(fork: Fork) -> Self {
        Self {
            session_id: fork.from.to_string(),
            turn: fork.turn,
            uncommitted: None,
        }
    }
}

/// A session's family.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionTreeView {
    /// The session that was asked about.
    pub session: String,
    /// Every session of the tree that you may open, parents before children.
    pub tree: Vec<SessionTreeNode>,
    /// For agents: the other sessions around yours, by title and state alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SessionOutlineView>,
    /// How many sessions are on your board, if `others` lists fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_board: Option<u64>,
}

/// A related session that you cannot open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionOutlineView {
    /// ancestor (your parent comes first), sibling, or board for one on the same board.
    pub relation: String,
    pub title: String,
    pub state: String,
}

impl From<&SessionOutline> for SessionOutlineView {
    fn from(outline: &SessionOutline) -> Self {
        Self {
            relation: outline.relation.as_str().to_owned(),
            title: outline.title.to_string(),
            state: outline.state.as_str().to_owned(),
        }
    }
}

/// A session in its family.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionTreeNode {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    pub depth: u32,
    pub title: String,
    pub agent: String,
    pub state: String,
    pub cost_micros: u64,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

impl SessionTreeView {
    /// Shows the family of `session`.
    pub fn new(session: SessionId, tree: &[Session], others: &[SessionOutline]) -> Self {
        let node = |session: &Session| SessionTreeNode {
            id: session.id.to_string(),
            parent_id: session.parent.map(|id| id.to_string()),
            depth: session.depth,
            title: session.title.to_string(),
            agent: session.agent.to_string(),
            state: session.shown_state().as_str().to_owned(),
            cost_micros: session.usage.cost_micros,
            estimated_micros: session.usage.estimated_micros,
            last_words: session.last_words.clone(),
        };
        Self {
            session: session.to_string(),
            tree: tree.iter().map(node).collect(),
            others: others.iter().map(SessionOutlineView::from).collect(),
            on_board: None,
        }
    }
}
