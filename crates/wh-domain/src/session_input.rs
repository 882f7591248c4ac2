//! What callers ask of sessions, checked and in domain terms.

use std::path::PathBuf;

use crate::{
    AgentName, BranchName, Budget, Description, HostList, McpDialect, ModelName, Policy, Prompt,
    PromptFile, Reference, SessionRole, Tier, Title, WorktreeBase,
};

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$one_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$one_doc])* $variant,)+
        }

        impl $name {
            /// Returns the name as callers write it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Reads what a caller wrote; an error says what there is to choose from.
            pub fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(format!("must be among {}", [$($text),+].join(", "))),
                }
            }
        }
    };
}

/// A session to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInput {
    pub agent: AgentName,
    pub prompt: Option<Prompt>,
    /// What comes with the prompt.
    pub files: Vec<PromptFile>,
    /// Made of the prompt unless given.
    pub title: Option<Title>,
    pub description: Option<Description>,
    pub role: SessionRole,
    pub place: SessionPlace,
    pub board: Option<Reference>,
    /// The zone of its board that it is to lie in, by id or by name.
    pub zone: Option<Reference>,
    pub budget: Budget,
    pub policy: Policy,
    pub mode: Option<String>,
    /// The model that the agent is to use; its own choice unless given.
    pub model: Option<ModelName>,
    /// How far it is contained; as its agent, its repository and the server ask for unless given.
    pub tier: Option<Tier>,
    /// The hosts that it may connect to, of those that the server allows; all of them unless given.
    pub hosts: Option<HostList>,
    /// The tools that its agent is given; those that its repository or its agent is configured with unless given.
    pub mcp_dialect: Option<McpDialect>,
}

/// A session to begin under another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnInput {
    /// The caller's own session unless given.
    pub parent: Option<Reference>,
    /// Its parent's unless given.
    pub agent: Option<AgentName>,
    pub prompt: Prompt,
    /// What comes with the prompt.
    pub files: Vec<PromptFile>,
    /// Made of the prompt unless given.
    pub title: Option<Title>,
    /// Its parent's unless given.
    pub role: Option<SessionRole>,
    pub workspace: Option<Workspace>,
    /// The branch of a worktree of its own; named after the session unless given.
    pub branch: Option<BranchName>,
    /// The zone of its board that it is to lie in, by id or by name.
    pub zone: Option<Reference>,
    pub budget: Budget,
    /// Its parent's unless given; it is narrowed to what the parent may do.
    pub policy: Option<Policy>,
    pub mode: Option<String>,
    /// The model that the agent is to use; its parent's unless given, if the agent is the same.
    pub model: Option<ModelName>,
    /// How far it is contained, never less than its parent; as its parent unless given.
    pub tier: Option<Tier>,
    /// The hosts that it may connect to, of its parent's; all of them unless given.
    pub hosts: Option<HostList>,
    /// The tools that its agent is given; its parent's unless given.
    pub mcp_dialect: Option<McpDialect>,
    /// Whether the parent is told when the child is done or needs something.
    pub callback: bool,
}

/// A session to branch off another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkInput {
    pub session: Reference,
    /// The last turn to take over, by its number or id; the last that is over unless given.
    pub turn: Option<Reference>,
    /// The agent that goes on; the same unless given.
    pub agent: Option<AgentName>,
    /// The model that the agent is to use; the same unless given, if the agent is the same.
    pub model: Option<ModelName>,
    pub prompt: Option<Prompt>,
    /// Made of the session's own unless given.
    pub title: Option<Title>,
    pub callback: bool,
    /// Start from the commit, without uncommitted files.
    pub leave_uncommitted: bool,
}

choices! {
    /// Where a child works.
    Workspace {
        /// In a new worktree that begins at its parent's branch.
        Own = "own",
        /// Where its parent works.
        Shared = "shared",
        /// In an empty directory.
        None = "none",
    }
}

/// Where a session is to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionPlace {
    /// In an empty directory of its own.
    Scratch,
    /// In a directory as it is, without a worktree.
    Path(PathBuf),
    /// In a new worktree of a repository.
    Repo {
        repo: Reference,
        /// One that exists is checked out; otherwise it is made. Named after the session unless given.
        branch: Option<BranchName>,
        /// Where a new branch begins; at the repository's own head unless given.
        base: Option<WorktreeBase>,
    },
    /// In a worktree that is there.
    Worktree(Reference),
}

choices! {
    /// What to do with a prompt when the session is at work.
    WhenBusy {
        /// Let it wait its turn.
        Queue = "queue",
        /// End the running turn and go on with this prompt.
        Steer = "steer",
        /// Refuse it.
        Reject = "reject",
    }
}

choices! {
    /// How many of several sessions must be done.
    WaitFor {
        All = "all",
        Any = "any",
    }
}

choices! {
    /// What to do with a session.
    SessionAction {
        /// Bring a stopped or interrupted session back.
        Start = "start",
        /// End its process tree; it can be started again.
        Stop = "stop",
        /// Put it out of sight. One that is under way is stopped.
        Archive = "archive",
        /// Bring it back into sight.
        Restore = "restore",
        /// Forget it and its transcript.
        Delete = "delete",
    }
}
