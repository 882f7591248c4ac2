//! Runs, and what they report.

use async_trait::async_trait;
use jiff::Timestamp;
use wh_domain::{
    Abilities, AgentCommand, AgentName, Approval, ApprovalId, Budget, Conversation, DenialReason,
    Key, KeyId, NewMessage, OfferedModel, Page, PageRequest, Run, RunEntry, Session, SessionId,
    Settlement, ToolsLink, Turn, TurnId, TurnState, Usage, UserId,
};

use crate::Result;

/// What happened in a run, to be stored together.
///
/// A step that moves the journal is stored once: the same one again changes nothing. One with `after == through` is the
/// server's own.
#[derive(Clone, Debug)]
pub struct RunStep {
    pub session: SessionId,
    /// The run that says so; [`crate::StoreError::Fenced`] when it is not the session's current one.
    pub epoch: u64,
    /// The number of the journal's entry before the step, and of the last one in it.
    pub after: u64,
    pub through: u64,
    pub at: Timestamp,
    pub facts: Vec<RunFact>,
}

/// One thing that is now true.
#[derive(Clone, Debug)]
pub enum RunFact {
    /// The agent said what it can do.
    Introduced(Abilities),
    /// The conversation is open under this name of the agent's.
    Ready { conversation: String },
    /// Something was said or done. A message with a reference that the session knows replaces that one's text and
    /// detail and keeps its number.
    Message {
        reference: Option<String>,
        message: NewMessage,
    },
    /// Something is asked, or was and is settled already by a rule.
    Asked(Approval),
    /// A request of the run is settled, if it was not; with the words that say so.
    Settled {
        request: String,
        settlement: Settlement,
        said: Option<NewMessage>,
    },
    /// The runner has confirmed the answer to an approval.
    Delivered(ApprovalId),
    /// The runner still waits for answers to these requests: what was settled of them has to be sent again.
    StillOpen { requests: Vec<String> },
    /// The agent offers no option that expresses the answer: somebody has to answer again.
    Reopened(ApprovalId),
    /// The agent is at work on a turn.
    TurnStarted {
        turn: TurnId,
        commit_before: Option<String>,
    },
    /// A turn is over.
    TurnEnded {
        turn: TurnId,
        state: TurnState,
        reason: Option<String>,
        commit_after: Option<String>,
        usage: Usage,
        /// What it cost by the price list, for an agent that reported no money for it.
        estimate_micros: u64,
    },
    /// What the conversation has cost so far, as the agent says.
    Cost { micros: u64 },
    /// What the conversation has cost in this run alone, as the agent says.
    RunCost { micros: u64 },
    /// Whether the agent has reached our tools.
    Tools(ToolsLink),
    /// The agent works in this way from now on.
    Mode { mode: String },
    /// The agent uses this model from now on.
    Model { model: String },
    /// The models that the agent offers, whole.
    Models { models: Vec<OfferedModel> },
    /// The commands that the agent takes, whole.
    Commands { commands: Vec<AgentCommand> },
    /// The last that the agent's program wrote to its stderr.
    Stderr { text: String },
    /// The whole process tree is gone. The turn it was at has failed, and what it asked is withdrawn.
    Gone {
        ending: String,
        /// Why the session cannot go on, if it cannot.
        failed: Option<String>,
    },
}

/// Everything that decides what is to be done about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWork {
    pub session: Session,
    /// The current run, ended or not.
    pub run: Option<Run>,
    /// What the agent could take up again.
    pub conversation: Option<Conversation>,
    /// The turn the agent is at.
    pub running: Option<Turn>,
    /// The turn that comes next.
    pub next: Option<Turn>,
    /// Approvals of the current run that are pending, or settled and not delivered.
    pub approvals: Vec<Approval>,
    /// What is left of its budget and of the budgets above it.
    pub budget_left: Budget,

    /// Whether there is something to tell it about its children.
    pub has_news: bool,
}

/// Keeps runs. For the server itself: there is no reach.
#[async_trait]
pub trait RunStore {
    /// Makes a run the session's current one, with the token its agent gets.
    ///
    /// [`crate::StoreError::Fenced`] unless its epoch is the one after the session's.
    async fn run_begin(&self, run: &Run, key: &Key) -> Result<()>;

    /// Stores what happened in a run and returns the session as it is then.
    async fn run_apply(&self, step: RunStep) -> Result<Session>;

    /// Returns a run.
    async fn run_get(&self, session: SessionId, epoch: u64) -> Result<Option<Run>>;

    /// Lists the runs of a session, latest first; the cursor is an epoch. Who may look was asked before.
    async fn run_list(
        &self,
        session: SessionId,
        page: PageRequest<u64>,
    ) -> Result<Page<RunEntry, u64>>;

    /// Stores the last that the agent's program wrote to its stderr, while the run lives. Nothing happens when that is stored
    /// already, or the run is over.
    async fn run_log(
        &self,
        session: SessionId,
        epoch: u64,
        text: String,
        at: Timestamp,
    ) -> Result<()>;

    /// Lets a run's token live longer.
    async fn run_renew(&self, key: KeyId, until: Timestamp) -> Result<()>;

    /// Tells a session that is idle everything it is to be told about its children, by one prompt. Returns whether there
    /// was something to tell: of several calls one tells it.
    async fn news_tell(&self, session: SessionId, turn: TurnId, at: Timestamp) -> Result<bool>;

    /// Returns the reasons of denials that a session's agent has not read, oldest first.
    async fn reasons_unread(&self, session: SessionId) -> Result<Vec<DenialReason>>;

    /// Returns everything that decides what is to be done about a session.
    async fn work_get(&self, session: SessionId) -> Result<Option<SessionWork>>;

    /// Returns what all sessions of a user used on the day (UTC) of a time.
    async fn usage_of_day(&self, user: UserId, at: Timestamp) -> Result<Usage>;

    /// Returns the models that an agent offered last; nothing if no session of it has been open yet.
    async fn agent_models(&self, agent: &AgentName) -> Result<Vec<OfferedModel>>;

    /// Returns the commands that the agent of a run announced.
    async fn run_commands(&self, session: SessionId, epoch: u64) -> Result<Vec<AgentCommand>>;

    /// Lists the sessions that something is to be done about: a run is open, a turn waits, or a state must not last.
    async fn work_list(&self) -> Result<Vec<SessionId>>;
}
