//! The words between server and runner: JSON lines over the Unix socket in the run's directory.
//!
//! Whoever connects says [`ToRunner::Hello`] and is welcomed or refused. After [`ToRunner::Follow`] it gets every record behind a
//! number, then live ones, for as long as it stays, and is shown the last lines of the agent's stderr; [`ToRunner::Ack`] lets the runner forget. Commands carry an id of the
//! caller's choosing; the same id twice is applied once and answered twice the same. A connection may end at any moment
//! and another begin: nothing lives in it.

mod client;
mod runs;
pub(crate) mod server;
mod socket;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wh_domain::SessionId;

pub use self::client::{Commands, Events, LinkError, LinkEvent, attach};
pub(crate) use self::runs::RunnerFile;
pub use self::runs::{RunState, StartError, is_runner, list_runs, read_runner, spawn};
use crate::{
    event::{PermissionKind, PermissionRequest, Question},
    journal::Record,
};

/// The version of these words. A runner outlives upgrades of the server, so a server speaks old versions too.
pub const PROTOCOL: u32 = 1;

/// What the server says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToRunner {
    Hello {
        protocol: u32,
        version: String,
    },
    Follow {
        after: u64,
        /// Whether to be shown stderr; a server of before did not know the word.
        #[serde(default)]
        stderr: bool,
    },
    Ack {
        seq: u64,
    },
    Command {
        id: String,
        action: Action,
    },
}

/// What the runner says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromRunner {
    Welcome(Welcome),
    /// The connection ends after this.
    Refused {
        reason: String,
    },
    /// What waits for an answer, said at the start of following: the records may lie behind the place that is followed from, and
    /// an answer that the server has sent may never have arrived.
    Pending {
        permissions: Vec<PermissionRequest>,
        questions: Vec<Question>,
    },
    Record(Record),
    /// The last lines of the agent's stderr as they are now. It is in no journal: it is said again to whoever follows, and what
    /// it was at the end is said by [`Exited`](crate::AgentEvent::Exited).
    Stderr {
        lines: Vec<String>,
    },
    Reply {
        id: String,
        outcome: Outcome,
    },
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub protocol: u32,
    /// Of the runner's binary.
    pub version: String,
    pub session: SessionId,
    pub epoch: u64,
    pub newest: u64,
    pub acked: u64,
}

/// What a runner can be told to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Prompt {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<PromptPart>,
    },
    /// Cancels the turn; open requests are settled as cancelled.
    Cancel,
    /// Replied to once it is written to the agent. A request is answered once, whatever the id of the command: the server sends
    /// its answer again until one of them is replied to. A denial that no option expresses cancels the request.
    AnswerPermission {
        permission: String,
        kind: PermissionKind,
    },
    /// As [`Self::AnswerPermission`]; `None` declines.
    AnswerQuestion {
        question: String,
        answer: Option<String>,
    },
    SetMode {
        mode: String,
    },
    /// Starts the ladder and answers at once; [`Exited`](crate::AgentEvent::Exited) tells when the tree is gone.
    Stop,
    Status,
}

/// A file that comes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    pub name: String,
    pub media_type: String,
    pub path: PathBuf,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Status(RunStatus),
    Refused { code: Refusal, message: String },
}

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The conversation is not open yet, or not any more.
    NotReady,
    /// A turn is running.
    Busy,
    /// There is no such request, or it is settled.
    Unknown,
    /// The agent offers nothing like it.
    Unsupported,
    /// The agent does not read what it is told. The command may be sent again.
    Stuck,
}

/// How a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    pub ready: bool,
    /// The command that started the running turn.
    pub turn: Option<String>,
    pub stopping: bool,
    pub exited: bool,
    pub newest: u64,
    pub acked: u64,
    /// Milliseconds since the agent last said anything; what finds a stuck one.
    pub silent_ms: u64,
}

/// Longest line that either side of the link takes apart; see [`Limits`](crate::Limits).
const LINE_BYTES_MAX: usize = 64 << 20;

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("our messages have string keys only");
    line.push(b'\n');
    line
}
