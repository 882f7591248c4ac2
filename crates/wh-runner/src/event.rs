//! Everything an agent can report, as a closed set of our own: the words between runner and server. ACP's types stay inside
//! [`crate::acp`], so that a new release of the protocol changes one mapping and no stored journal.

use serde::{Deserialize, Serialize};
use wh_domain::OptionKind;

/// One thing that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent's process runs and has introduced itself.
    Started {
        agent: AgentInfo,
        capabilities: Capabilities,
    },
    /// The conversation is open: prompts are taken from now on.
    SessionReady {
        agent_session: String,
        modes: Vec<Mode>,
        current_mode: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        models: Vec<Model>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        current_model: Option<String>,
    },
    /// A prompt was handed to the agent.
    TurnStarted { command: String },
    /// Words for the user; neighbouring chunks are joined.
    Text { text: String },
    /// The agent's reasoning.
    Thought { text: String },
    /// A tool call was seen for the first time.
    ToolCall { call: ToolCall },
    /// A tool call changed; it is given whole, as it is now.
    ToolCallUpdate { call: ToolCall },
    /// The agent's plan, whole.
    Plan { entries: Vec<PlanEntry> },
    /// How full the context is, and what the session has cost so far.
    Usage {
        used: u64,
        size: u64,
        cost: Option<Cost>,
    },
    /// The mode is another one now.
    ModeChanged { mode: String },
    /// The agent uses another model now.
    ModelChanged { model: String },
    /// The commands that the agent takes at the beginning of a prompt, whole.
    Commands { commands: Vec<AgentCommand> },
    /// The agent gave the conversation a title.
    Titled { title: String },
    /// The agent waits for leave to do something.
    PermissionRequested { request: PermissionRequest },
    /// A permission request is settled; `chosen` is absent when the turn was cancelled, or a denial had no option to choose.
    PermissionSettled {
        id: String,
        chosen: Option<PermissionKind>,
    },
    /// The agent asks the user something, in words.
    QuestionAsked { question: Question },
    /// A question is settled; `answer` is absent when it was declined or cancelled.
    QuestionSettled { id: String, answer: Option<String> },
    /// The turn is over.
    TurnEnded {
        command: String,
        reason: TurnEnd,
        usage: Option<TurnUsage>,
    },
    /// Something the people who look after the session may want to know.
    Notice { notice: Notice },
    /// The agent and everything it started are gone. Nothing follows.
    Exited { how: Exit, stderr: Vec<String> },
}

impl AgentEvent {
    /// Tells whether somebody is likely to be waiting for this: it is made durable and passed on without delay.
    pub fn is_awaited(&self) -> bool {
        matches!(
            self,
            Self::SessionReady { .. }
                | Self::PermissionRequested { .. }
                | Self::QuestionAsked { .. }
                | Self::TurnEnded { .. }
                | Self::Exited { .. }
        )
    }
}

/// Who the agent says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    pub name: String,
    pub version: String,
}

/// What the agent says it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    pub load: bool,
    pub resume: bool,
    pub mcp_http: bool,
    pub images: bool,
    /// Takes the text of files within a prompt.
    #[serde(default)]
    pub embedded: bool,
}

/// A way of working that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    pub id: String,
    pub name: String,
}

/// A model that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub id: String,
    pub name: String,
}

/// A command that the agent takes at the beginning of a prompt, such as `/init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    pub about: String,
}

impl AgentCommand {
    /// The most commands that are kept of an agent.
    pub const COUNT_MAX: usize = 200;
    /// The most bytes that are kept of a command's name.
    pub const NAME_BYTES_MAX: usize = 100;
    /// The most bytes that are kept of a command's description.
    pub const ABOUT_BYTES_MAX: usize = 200;
}

/// A tool call as it is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub title: String,
    /// What the agent's model calls the tool; not every agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub kind: ToolKind,
    pub status: ToolStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ToolContent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// The input was too large and was left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_cut: bool,
}

impl ToolCall {
    /// Returns which tool of the MCP server `server` this is a call of.
    ///
    /// Agents say it in different places. Only those are looked at that the agent's program fills in: a title may be the model's own
    /// words.
    pub fn tool_of(&self, server: &str) -> Option<&str> {
        let named = self.name.as_deref().and_then(|name| {
            let rest = name.strip_prefix("mcp__")?.strip_prefix(server)?;
            rest.strip_prefix("__")
        });
        // Codex, which gives no name. What is in the input of any other tool is the model's, and would have more in it.
        let in_input = self.input.as_ref().and_then(|input| {
            let input = input.as_object().filter(|_| self.name.is_none())?;
            let mut fields = input.keys().map(String::as_str);
            let is_call = fields.all(|it| matches!(it, "server" | "tool" | "arguments"));
            let is_ours = is_call && input.get("server").is_some_and(|it| it == server);
            input.get("tool").filter(|_| is_ours)?.as_str()
        });
        // Gemini CLI: the id begins with the tool's name.
        let in_id = || {
            let rest = self.id.strip_prefix("mcp_")?.strip_prefix(server)?;
            Some(rest.strip_prefix('_')?.split_once("__")?.0)
        };
        let tool = named.or(in_input).or_else(in_id)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (!tool.is_empty() && tool.chars().all(is_name)).then_some(tool)
    }
}

/// What a tool call does, coarsely: what policies are written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[default]
    Other,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
}

/// Something a tool call shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolContent {
    Text {
        text: String,
    },
    Diff {
        path: String,
        old: Option<String>,
        new: String,
    },
    /// Something we do not show, named: an image, a terminal.
    Other {
        what: String,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    pub path: String,
    pub line: Option<u32>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    pub text: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub amount: f64,
    pub currency: String,
}

/// A request for leave. It stays open until it is answered or its turn is cancelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// Names the request within its run.
    pub id: String,
    pub call: ToolCall,
    pub options: Vec<PermissionOption>,
}

/// One way to answer. Agents name them differently: answer by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionOption {
    pub id: String,
    pub name: String,
    pub kind: PermissionKind,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

impl From<PermissionKind> for OptionKind {
    fn from(kind: PermissionKind) -> Self {
        match kind {
            PermissionKind::AllowOnce => Self::AllowOnce,
            PermissionKind::AllowAlways => Self::AllowAlways,
            PermissionKind::RejectOnce => Self::RejectOnce,
            PermissionKind::RejectAlways => Self::RejectAlways,
        }
    }
}

impl From<OptionKind> for PermissionKind {
    fn from(kind: OptionKind) -> Self {
        match kind {
            OptionKind::AllowOnce => Self::AllowOnce,
            OptionKind::AllowAlways => Self::AllowAlways,
            OptionKind::RejectOnce => Self::RejectOnce,
            OptionKind::RejectAlways => Self::RejectAlways,
        }
    }
}

/// A question in words, open until it is answered or its turn is cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: String,
    pub text: String,
    /// The field the answer goes into; the first one that the agent asked for.
    pub field: String,
    /// Answers that the agent offers; others are taken, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The id of the tool call that asks, if the agent names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
}

/// Why a turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    Finished,
    Cancelled,
    Refused,
    TokenLimit,
    RequestLimit,
    /// The agent answered the prompt with an error.
    Failed(String),
    /// The agent went away in the middle of it; [`AgentEvent::Exited`] follows.
    Lost(String),
}

/// Tokens of one turn. `input` never contains the cached ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUsage {
    pub input: u64,
    pub output: u64,
    pub cached_read: u64,
    pub cached_write: u64,
    pub thought: u64,
}

/// Something worth knowing that is not part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Notice {
    /// A line was longer than allowed and was left out.
    LineSkipped { bytes: u64 },
    /// The agent printed something that is not the protocol.
    NotProtocol { sample: String },
    /// The agent sent something we do not know; only the first of its kind is told.
    Unknown { what: String },
    /// A tool call was shortened.
    ContentCut { call: String },
    /// The agent waits because the server has not taken what it said.
    JournalFull,
    /// The agent's own words about something.
    FromAgent { text: String },
    /// How stopping goes on.
    Stopping { step: StopStep },
    /// The agent may not connect to this host; each is reported once.
    HostRefused { host: String, port: u16 },
    /// The agent has sent and received as much as it may.
    NetworkLimit,
}

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopStep {
    Cancel,
    Terminate,
    Kill,
}

/// How the agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It never ran, or never spoke the protocol.
    NotStarted(String),
    /// It reached a limit on what it may use and was ended; says which.
    LimitReached(String),
    /// We were asked to stop it; `step` is how far we had to go.
    Stopped {
        step: StopStep,
    },
}
