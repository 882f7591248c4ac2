//! A session: one conversation with one agent.

mod brief;

use std::path::PathBuf;

use jiff::Timestamp;

use crate::{
    AgentName, BoardId, Budget, BudgetPatch, Description, EffectiveTier, HostList, McpDialect,
    ModelName, Owner, Policy, Reference, RepoId, SessionId, SessionState, SessionStateName, Tier,
    Title, TitleWords, TurnState, Usage, WorktreeId,
};

pub use brief::SessionBrief;

/// One conversation with one agent: its place in the world and what it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub owner: Owner,
    pub title: Title,
    pub description: Option<Description>,
    pub agent: AgentName,
    pub role: SessionRole,
    pub state: SessionState,
    pub archived: bool,
    pub parent: Option<SessionId>,
    /// The top of its tree; itself when it has no parent.
    pub root: SessionId,
    /// Steps down from the root.
    pub depth: u32,
    /// The roles of all that it descends from: its token may do what every one of them may.
    pub lineage: RoleSet,
    /// The conversation it goes on from, if it is not its own.
    pub fork: Option<Fork>,
    /// Whether its parent is told when it is done or needs something.
    pub callback: bool,
    pub repo: Option<RepoId>,
    pub worktree: Option<WorktreeId>,
    /// Where it works when that is not a worktree of ours.
    pub path: Option<PathBuf>,
    pub board: Option<BoardId>,
    /// What its agent may do without asking.
    pub policy: Policy,
    /// The agent's way of working, if another than its usual one was asked for.
    pub mode: Option<String>,
    /// The model that was asked for; the agent's own choice if none was.
    pub model: Option<ModelName>,
    /// The model that the agent says it uses; absent until it has said so.
    pub current_model: Option<String>,
    /// How far its processes are to be contained.
    pub tier: Tier,
    /// How far those of its latest run were; absent before the first run.
    pub effective_tier: Option<EffectiveTier>,
    /// The hosts that it may connect to in an isolated tier, if it has a list of its own; otherwise all that the server allows.
    pub hosts: Option<HostList>,
    /// The tools that its agent is given.
    pub mcp_dialect: McpDialect,
    /// Whether prompts wait for it; looked up for sessions that are shown.
    pub has_queue: bool,
    /// Counts the lives of its process; a write from an older one is refused.
    pub epoch: u64,
    pub budget: Budget,
    pub usage: Usage,
    /// What its descendants have used; that counts against its budget too.
    pub used_below: Usage,
    /// The `seq` of the latest message; 0 when there is none.
    pub last_seq: u64,
    /// The latest thing the agent said, shortened.
    pub last_words: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Where a session branched off another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    pub from: SessionId,
    /// The last turn that both have.
    pub turn: u64,
}

/// A related session that the caller cannot open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOutline {
    pub relation: Relation,
    pub title: Title,
    pub state: SessionStateName,
}

/// How a session is related to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Above it; its parent comes first.
    Ancestor,
    /// A child of its parent.
    Sibling,
    /// On the same board.
    Board,
}

impl Relation {
    /// Returns the relation as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::Sibling => "sibling",
            Self::Board => "board",
        }
    }
}

/// What a session's token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionRole {
    General,
    Planning,
    Coding,
    Review,
    Worker,
    /// Reaches everything that its user owns. Only people create such a session.
    Lead,
}

impl SessionRole {
    /// Every role.
    pub const ALL: [Self; 6] = [
        Self::General,
        Self::Planning,
        Self::Coding,
        Self::Review,
        Self::Worker,
        Self::Lead,
    ];

    /// Returns the role as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Planning => "planning",
            Self::Coding => "coding",
            Self::Review => "review",
            Self::Worker => "worker",
            Self::Lead => "lead",
        }
    }

    /// Reads a role back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

/// Some roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RoleSet(u8);

impl RoleSet {
    /// Returns the set with `role` in it.
    #[must_use]
    pub fn with(self, role: SessionRole) -> Self {
        Self(self.0 | 1 << role as u8)
    }

    /// Returns whether it has no role.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the roles in it.
    pub fn iter(self) -> impl Iterator<Item = SessionRole> {
        let roles = SessionRole::ALL.into_iter();
        roles.filter(move |role| self.0 & (1 << *role as u8) != 0)
    }
}

impl FromIterator<SessionRole> for RoleSet {
    fn from_iter<I: IntoIterator<Item = SessionRole>>(roles: I) -> Self {
        roles.into_iter().fold(Self::default(), Self::with)
    }
}

impl Session {
    /// Returns a session that begins now, by itself, in no place yet and without limits of its own.
    pub fn new(id: SessionId, owner: Owner, agent: AgentName, title: Title, at: Timestamp) -> Self {
        Self {
            id,
            owner,
            title,
            description: None,
            agent,
            role: SessionRole::General,
            state: SessionState::Creating,
            archived: false,
            parent: None,
            root: id,
            depth: 0,
            lineage: RoleSet::default(),
            callback: false,
            fork: None,
            repo: None,
            worktree: None,
            path: None,
            board: None,
            policy: Policy::default(),
            mode: None,
            model: None,
            current_model: None,
            tier: Tier::DEFAULT,
            effective_tier: None,
            hosts: None,
            mcp_dialect: McpDialect::default(),
            has_queue: false,
            epoch: 0,
            budget: Budget::default(),
            usage: Usage::default(),
            used_below: Usage::default(),
            last_seq: 0,
            last_words: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// Returns it as a child of `parent`.
    #[must_use]
    pub fn below(self, parent: &Self) -> Self {
        Self {
            parent: Some(parent.id),
            root: parent.root,
            depth: parent.depth + 1,
            lineage: parent.lineage.with(parent.role),
            ..self
        }
    }

    /// Returns its state as shown.
    pub fn shown_state(&self) -> SessionStateName {
        self.state.name().with_queue(self.has_queue)
    }

    /// Returns the part of it that callers who cannot open it see.
    pub fn outline(&self, relation: Relation) -> SessionOutline {
        SessionOutline {
            relation,
            title: self.title.clone(),
            state: self.shown_state(),
        }
    }

    /// Returns what is left of its own budget.
    pub fn budget_left(&self) -> Budget {
        self.budget.less(self.usage.plus(self.used_below))
    }

    /// Tells whether it can be prompted.
    pub fn takes_prompts(&self) -> bool {
        let is_over = self.archived
            || self.state.name().is_end()
            || matches!(self.state, SessionState::Stopping { .. });
        !is_over && !self.budget_left().is_spent()
    }
}

/// Which sessions a caller asks for.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    pub states: Vec<SessionStateName>,
    /// As in [`SessionFilter::spawned`].
    pub spawned: Option<Vec<Option<TurnState>>>,
    /// As in [`SessionFilter::needs_you`].
    pub needs_you: bool,
    /// Those with these words in the title.
    pub title: Option<TitleWords>,
    pub board: Option<Reference>,
    pub worktree: Option<Reference>,
    pub parent: Option<Reference>,
    pub archived: Archived,
    /// Those that others share with the caller, in place of the caller's own.
    pub shared: bool,
}

/// Whether a list holds archived sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Archived {
    #[default]
    Excluded,
    Included,
    Only,
}

impl Archived {
    /// Reads a request's `include_archived`.
    pub fn included(yes: bool) -> Self {
        match yes {
            true => Self::Included,
            false => Self::Excluded,
        }
    }

    /// Returns the value that sessions of the list have; `None` if both are listed.
    pub fn value(self) -> Option<bool> {
        match self {
            Self::Excluded => Some(false),
            Self::Included => None,
            Self::Only => Some(true),
        }
    }
}

/// Which sessions a list holds. Everything left open matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// States as shown: see [`Session::shown_state`].
    pub states: Vec<SessionStateName>,
    /// Sessions that were spawned and are shown as idle are chosen by the state of their latest turn and not by `states`; nothing
    /// stands for those that have no turn.
    pub spawned: Option<Vec<Option<TurnState>>>,
    /// Those that wait for somebody, broke, or are idle with a budget that is used up: [`crate::Stage::NeedsYou`].
    pub needs_you: bool,
    /// Those with these words in the title, or with such an id.
    pub title: Option<TitleWords>,
    pub board: Option<BoardId>,
    /// Those that belong to a board, lie on it, or work in a worktree that lies on it.
    pub on_board: Option<BoardId>,
    pub worktree: Option<WorktreeId>,
    pub parent: Option<SessionId>,
    pub archived: Archived,
}

/// What to change about a session; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPatch {
    pub title: Option<Title>,
    pub description: Option<Description>,
    pub budget: BudgetPatch,
    pub role: Option<SessionRole>,
    /// The model that its agent is to use from its next turn on.
    pub model: Option<ModelName>,
}
