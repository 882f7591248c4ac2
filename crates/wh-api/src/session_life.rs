//! Sessions under way: begun, prompted, waited for, managed.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wh_domain::{
    AgentName, Approval, BranchName, Budget, Description, ForkInput, InputRefusal, Policy, Prompt,
    PromptFile, Reference, Session, SessionAction, SessionInput, SessionPlace, SessionRole,
    ShortId, SpawnInput, Title, Turn, TurnChoice, WaitFor, WaitedSession, WhenBusy, Workspace,
};

use crate::{
    ApprovalView, PromptFileInput, TurnView,
    common::{at_most, field, optional, optional_reference, reference},
};

/// The most sessions of one wait.
const WAIT_SESSIONS_MAX: usize = 50;

/// The most bytes of a mode's name.
const MODE_BYTES_MAX: usize = 100;

/// A session to begin.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionCreateRequest {
    /// Which agent: a name of agent_list, such as claude-code, codex or echo.
    pub agent: String,
    /// What the agent is to do first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Files that come with the prompt: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// Made of the prompt unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// general (unless given), planning, coding, review or worker: what the agent's token may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Work in a new worktree of this repository: its id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// With repo: a branch that exists is checked out, another is made; named after the session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// With repo: the branch or full commit at which a new branch begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Work in this worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// A directory on the server's machine to work in as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Of the board, by id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The agent's own name of a way of working, such as plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetInput>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInput>,
    /// A mark of your choice: a repeat with the same mark begins nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// A session to begin under another.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSpawnRequest {
    /// What the child is to do; it knows nothing of your conversation.
    pub prompt: String,
    /// Files that come with the prompt: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// Yours unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// own: a new worktree from the parent's branch; shared: the parent's; none: an empty directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Of the parent's board, by id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Of its own worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// tokens, cost_micros, wall_seconds, turns; at most what the parent has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, u64>>")]
    pub budget: Option<BudgetInput>,
    /// As in session_create, narrowed to the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub policy: Option<PolicyInput>,
    /// Prompt the parent when the child is done, failed or needs an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<bool>,
    /// Seconds to wait for the child, at most 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionSpawnRequest {
    /// Returns the session to begin.
    pub fn input(&self) -> Result<SpawnInput, InputRefusal> {
        let policy = self.policy.as_ref().map(read_policy);
        Ok(SpawnInput {
            parent: optional_reference("parent", self.parent.as_deref())?,
            agent: optional("agent", self.agent.as_deref(), AgentName::parse)?,
            prompt: field("prompt", Prompt::parse(&self.prompt))?,
            files: PromptFileInput::read_all(&self.files)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            role: optional("role", self.role.as_deref(), read_role)?,
            workspace: optional("workspace", self.workspace.as_deref(), Workspace::parse)?,
            branch: optional("branch", self.branch.as_deref(), BranchName::parse)?,
            zone: optional_reference("zone", self.zone.as_deref())?,
            budget: self.budget.unwrap_or_default().into(),
            policy: policy.transpose()?,
            mode: optional("mode", self.mode.as_deref(), read_mode)?,
            callback: self.callback.unwrap_or(false),
        })
    }

    /// Returns how long to wait.
    pub fn wait(&self) -> Option<Duration> {
        wait_of(self.wait)
    }
}

/// A session to branch off another.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionForkRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// The last turn to take over: its number or id; the last one that is over unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// How to go on from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The agent that goes on; the same unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Prompt the parent when the fork is done, failed or needs an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionForkRequest {
    /// Returns the session to branch off.
    pub fn input(&self) -> Result<ForkInput, InputRefusal> {
        Ok(ForkInput {
            session: reference("session", &self.session)?,
            turn: self.turn.as_deref().map(read_turn).transpose()?,
            agent: optional("agent", self.agent.as_deref(), AgentName::parse)?,
            prompt: optional("prompt", self.prompt.as_deref(), Prompt::parse)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            callback: self.callback.unwrap_or(false),
        })
    }
}

/// The most digits of a turn's number; an id has more.
const TURN_DIGITS_MAX: usize = 7;

fn read_turn(text: &str) -> Result<TurnChoice, InputRefusal> {
    match text.parse() {
        Ok(number) if text.len() <= TURN_DIGITS_MAX => Ok(TurnChoice::Number(number)),
        _ => Ok(TurnChoice::Id(reference("turn", text)?)),
    }
}

pub(crate) fn read_policy(given: &PolicyInput) -> Result<Policy, InputRefusal> {
    let read = serde_json::to_value(given).and_then(serde_json::from_value::<Policy>);
    let policy = field("policy", read)?;
    field("policy", policy.check())
}

fn wait_of(seconds: Option<u32>) -> Option<Duration> {
    let seconds = seconds.filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(u64::from(seconds)))
}

/// What a session may use. It is stopped no later than the end of the turn that uses it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetInput {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Seconds at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

/// What the agent may do without asking. A refusal wins over an allowance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyInput {
    /// ask (unless given), allow or deny: what holds where no rule fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<PolicyRuleInput>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PolicyRuleInput>,
    /// human (unless given) or parent: who is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Seconds until silence is a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// Fits requests of some kinds that touch only some places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRuleInput {
    /// read, edit, delete, move, search, execute, think, fetch, switch_mode, other; every kind unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Directories or files, relative to where the agent works; everywhere unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl SessionCreateRequest {
    /// Returns the session to begin.
    pub fn input(&self) -> Result<SessionInput, InputRefusal> {
        let role = optional("role", self.role.as_deref(), read_role)?;
        let description = self.description.as_deref();
        Ok(SessionInput {
            agent: field("agent", AgentName::parse(&self.agent))?,
            prompt: optional("prompt", self.prompt.as_deref(), Prompt::parse)?,
            files: PromptFileInput::read_all(&self.files)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            description: optional("description", description, Description::parse)?,
            role: role.unwrap_or(SessionRole::General),
            place: self.place()?,
            board: optional_reference("board", self.board.as_deref())?,
            zone: optional_reference("zone", self.zone.as_deref())?,
            budget: self.budget.unwrap_or_default().into(),
            policy: self.policy()?,
            mode: optional("mode", self.mode.as_deref(), read_mode)?,
        })
    }

    fn place(&self) -> Result<SessionPlace, InputRefusal> {
        let branch = optional("branch", self.branch.as_deref(), BranchName::parse)?;
        let base = optional("base", self.base.as_deref(), crate::worktree::base)?;
        if self.repo.is_none() && (branch.is_some() || base.is_some()) {
            return Err(InputRefusal::new("branch", "and base go with repo"));
        }
        match (&self.repo, &self.worktree, &self.path) {
            (None, None, None) => Ok(SessionPlace::Scratch),
            (Some(repo), None, None) => Ok(SessionPlace::Repo {
                repo: reference("repo", repo)?,
                branch,
                base,
            }),
            (None, Some(worktree), None) => {
                Ok(SessionPlace::Worktree(reference("worktree", worktree)?))
            }
            (None, None, Some(path)) => Ok(SessionPlace::Path(PathBuf::from(path))),
            _ => Err(InputRefusal::new(
                "repo",
                "give one of repo, worktree and path",
            )),
        }
    }

    fn policy(&self) -> Result<Policy, InputRefusal> {
        let given = self.policy.as_ref().map(read_policy);
        given.unwrap_or_else(|| Ok(Policy::default()))
    }
}

fn read_role(text: &str) -> Result<SessionRole, String> {
    let known = SessionRole::ALL.map(SessionRole::as_str).join(", ");
    SessionRole::parse(text).ok_or_else(|| format!("must be among {known}"))
}

pub(crate) fn read_mode(text: &str) -> Result<String, String> {
    match text.len() {
        1..=MODE_BYTES_MAX if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        _ => Err(format!("has 1 to {MODE_BYTES_MAX} printable bytes")),
    }
}

impl From<BudgetInput> for Budget {
    fn from(given: BudgetInput) -> Self {
        Self {
            tokens: given.tokens,
            cost_micros: given.cost_micros,
            wall_seconds: given.wall_seconds,
            turns: given.turns,
        }
    }
}

impl From<&Budget> for BudgetInput {
    fn from(budget: &Budget) -> Self {
        Self {
            tokens: budget.tokens,
            cost_micros: budget.cost_micros,
            wall_seconds: budget.wall_seconds,
            turns: budget.turns,
        }
    }
}

impl From<&Policy> for PolicyInput {
    fn from(policy: &Policy) -> Self {
        let text = serde_json::to_value(policy).and_then(serde_json::from_value);
        text.unwrap_or_default()
    }
}

/// A prompt for a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionPromptRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    pub prompt: String,
    /// Files that come with it: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// If it is at work: queue (unless given) waits, steer ends the running turn first, reject refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<String>,
    /// Seconds to wait for the end of the turn or a question, at most 300; not at all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    /// A mark of your choice: a repeat with the same mark prompts nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionPromptRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns the prompt.
    pub fn prompt(&self) -> Result<Prompt, InputRefusal> {
        field("prompt", Prompt::parse(&self.prompt))
    }

    /// Returns what comes with it.
    pub fn files(&self) -> Result<Vec<PromptFile>, InputRefusal> {
        PromptFileInput::read_all(&self.files)
    }

    /// Returns what to do when the session is at work.
    pub fn when_busy(&self) -> Result<WhenBusy, InputRefusal> {
        let given = optional("when_busy", self.when_busy.as_deref(), WhenBusy::parse)?;
        Ok(given.unwrap_or(WhenBusy::Queue))
    }

    /// Returns how long to wait.
    pub fn wait(&self) -> Option<Duration> {
        wait_of(self.wait)
    }
}

/// What a prompt has come to so far.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PromptedView {
    /// The session's id.
    pub session: String,
    /// The session's state.
    pub state: String,
    pub turn: TurnView,
    /// The agent's latest words in this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What the agent waits for; answer with approval_answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalView>,
}

impl PromptedView {
    /// Shows what a prompt has come to.
    pub fn new(session: &Session, turn: &Turn, words: Option<String>, waits: &[Approval]) -> Self {
        Self {
            session: session.id.to_string(),
            state: session.state.name().as_str().to_owned(),
            turn: TurnView::from(turn),
            words,
            approvals: waits.iter().map(ApprovalView::from).collect(),
        }
    }
}

/// Sessions to wait for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionWaitRequest {
    /// Ids, or their last 8 digits.
    pub sessions: Vec<String>,
    /// all (unless given) or any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// Seconds at most: 1 to 300, 60 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

impl SessionWaitRequest {
    /// Returns which sessions are meant.
    pub fn sessions(&self) -> Result<Vec<Reference>, InputRefusal> {
        at_most("sessions", &self.sessions, WAIT_SESSIONS_MAX)?;
        let read = |text: &String| reference("sessions", text);
        self.sessions.iter().map(read).collect()
    }

    /// Returns how many of them must be done.
    pub fn wait_for(&self) -> Result<WaitFor, InputRefusal> {
        let given = optional("wait_for", self.wait_for.as_deref(), WaitFor::parse)?;
        Ok(given.unwrap_or(WaitFor::All))
    }

    /// Returns how long to wait at most.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout.unwrap_or(60).clamp(1, 300)))
    }
}

/// What a wait came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionWaitView {
    /// Whether what was waited for came true in time.
    pub done: bool,
    pub sessions: Vec<WaitedSessionView>,
}

/// A session that was waited for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitedSessionView {
    /// The last 8 digits of its id.
    pub id: String,
    pub title: String,
    pub state: String,
    /// At rest, ended, or in need of an answer.
    pub done: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

impl SessionWaitView {
    /// Shows what a wait came to.
    pub fn new(sessions: &[WaitedSession], wait_for: WaitFor) -> Self {
        let view = |session: &WaitedSession| WaitedSessionView {
            id: session.id.short_id(),
            title: session.title.clone(),
            state: session.state.as_str().to_owned(),
            done: session.done,
            last_words: session.last_words.clone(),
        };
        Self {
            done: wait_for.is_met(sessions, 0),
            sessions: sessions.iter().map(view).collect(),
        }
    }
}

/// Names a session whose turn is to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionInterruptRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// A mark of your choice: a repeat with the same mark changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionInterruptRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }
}

/// What to do with a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionManageRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// start, stop, archive, restore or delete.
    pub action: String,
    /// A mark of your choice: a repeat with the same mark changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionManageRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns what to do with it.
    pub fn action(&self) -> Result<SessionAction, InputRefusal> {
        field("action", SessionAction::parse(&self.action))
    }
}
