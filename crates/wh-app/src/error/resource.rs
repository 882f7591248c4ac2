//! What a call can fail to find.

use std::fmt;

use wh_domain::{Advice, ErrorCode, Operation};

use super::{Explain, samples::Samples};

/// A kind of thing that a caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Agent,
    Approval,
    Board,
    Credential,
    File,
    Iteration,
    Key,
    Loop,
    Message,
    Note,
    Repo,
    Run,
    Sender,
    Session,
    Task,
    TaskList,
    Template,
    Turn,
    User,
    Wait,
    Webhook,
    Worktree,
    Zone,
}

impl Resource {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approval => "approval",
            Self::Board => "board",
            Self::Credential => "credential",
            Self::File => "file",
            Self::Iteration => "iteration",
            Self::Key => "key",
            Self::Loop => "loop",
            Self::Message => "message",
            Self::Note => "note",
            Self::Repo => "repository",
            Self::Run => "run",
            Self::Sender => "sender",
            Self::Session => "session",
            Self::Task => "task",
            Self::TaskList => "task list",
            Self::Template => "template",
            Self::Turn => "turn",
            Self::User => "user",
            Self::Wait => "wait",
            Self::Webhook => "webhook",
            Self::Worktree => "worktree",
            Self::Zone => "zone",
        }
    }

    /// Returns the resource that the store calls `name`.
    pub(super) fn of_store(name: &str) -> Option<Self> {
        match name {
            "repo" => Some(Self::Repo),
            name => super::samples::all::<Self>()
                .into_iter()
                .find(|it| it.as_str() == name),
        }
    }

    /// Returns the operation that lists what the caller can access, and what it does.
    fn list(self) -> Option<(Operation, &'static str)> {
        match self {
            Self::Agent => Some((Operation::AgentList, "list the agents")),
            Self::Approval => Some((Operation::ApprovalList, "list the approvals you can access")),
            Self::Board => Some((Operation::BoardList, "list the boards you can access")),
            Self::Credential => Some((
                Operation::CredentialList,
                "list the credentials you can access",
            )),
            Self::Key => Some((Operation::KeyList, "list the keys you can access")),
            Self::Loop => Some((Operation::LoopList, "list the loops you can access")),
            Self::Message => Some((Operation::MessageList, "list the session's messages")),
            Self::Note => Some((Operation::NoteList, "list the notes of the task list")),
            Self::Repo => Some((Operation::RepoList, "list the repositories you can access")),
            Self::Run => Some((Operation::RunList, "list the session's runs")),
            Self::Session => Some((Operation::SessionList, "list the sessions you can access")),
            Self::Task => Some((Operation::TaskList, "list the tasks")),
            Self::Turn => Some((Operation::TurnList, "list the session's turns")),
            Self::User => Some((Operation::UserList, "list the users")),
            Self::Webhook => Some((Operation::WebhookList, "list the webhooks you can access")),
            Self::Worktree => Some((Operation::WorktreeList, "list the worktrees you can access")),
            Self::Zone => Some((Operation::BoardGet, "list the board's zones")),
            Self::File
            | Self::Iteration
            | Self::Sender
            | Self::TaskList
            | Self::Template
            | Self::Wait => None,
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Explain for Resource {
    fn code(&self) -> ErrorCode {
        ErrorCode::NotFound
    }

    fn advice(&self) -> Vec<Advice> {
        let list = |it: Self| {
            it.list()
                .map(|(operation, purpose)| Advice::call(operation, purpose))
        };
        let mut advice: Vec<_> = list(*self).into_iter().collect();
        if *self == Self::Worktree {
            // A worktree can be named by a session that works in it.
            advice.extend(list(Self::Session));
        }
        if *self != Self::File {
            advice.push(Advice::note("an id can be shortened to its last 8 digits"));
        }
        advice
    }
}

impl Samples for Resource {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Agent,
            Some(Self::Agent) => Self::Approval,
            Some(Self::Approval) => Self::Board,
            Some(Self::Board) => Self::Credential,
            Some(Self::Credential) => Self::File,
            Some(Self::File) => Self::Iteration,
            Some(Self::Iteration) => Self::Key,
            Some(Self::Key) => Self::Loop,
            Some(Self::Loop) => Self::Message,
            Some(Self::Message) => Self::Note,
            Some(Self::Note) => Self::Repo,
            Some(Self::Repo) => Self::Run,
            Some(Self::Run) => Self::Sender,
            Some(Self::Sender) => Self::Session,
            Some(Self::Session) => Self::Task,
            Some(Self::Task) => Self::TaskList,
            Some(Self::TaskList) => Self::Template,
            Some(Self::Template) => Self::Turn,
            Some(Self::Turn) => Self::User,
            Some(Self::User) => Self::Wait,
            Some(Self::Wait) => Self::Webhook,
            Some(Self::Webhook) => Self::Worktree,
            Some(Self::Worktree) => Self::Zone,
            Some(Self::Zone) => return None,
        })
    }
}
