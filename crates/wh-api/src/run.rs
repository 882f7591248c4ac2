//! Runs: the lives of a session's process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, PageRequest, Reference, RunEntry};

use crate::NumberOrId;
use crate::common::{PageQuery, reference, time};

/// The most runs that are told at once, and how many are unless asked otherwise.
const RUNS_MAX: u32 = 20;
const RUNS_DEFAULT: u32 = 5;

/// How much of each run's stderr is told unless asked otherwise.
const STDERR_BYTES_DEFAULT: u32 = 4_000;

/// Which runs to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunListRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// How many at most: 1 to 20, 5 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<NumberOrId>,
    /// How many bytes of each run's stderr, the last ones: 0 to 16384, 4000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
}

impl RunListRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns which part of the list is asked for.
    pub fn page(&self) -> Result<PageRequest<u64>, InputRefusal> {
        let limit = self.limit.map_or(RUNS_DEFAULT, |limit| limit.min(RUNS_MAX));
        PageQuery::new(Some(limit), self.cursor.as_ref()).by_number()
    }

    /// Returns how much of each run's stderr is told.
    pub fn bytes_max(&self) -> usize {
        let bytes = self.max_bytes.unwrap_or(STDERR_BYTES_DEFAULT) as usize;
        bytes.min(RunEntry::STDERR_BYTES_MAX)
    }
}

/// One life of a session's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// Counts the session's processes from 1.
    pub epoch: u64,
    pub started_at: String,
    /// When the agent was ready to be prompted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_at: Option<String>,
    /// Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How it ended, in words: stopped, or with which code or signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// Whether it went on with the conversation of an earlier run.
    pub resumed: bool,
    /// unused, connected or broken: whether the agent has reached our tools
    pub tools_link: String,
    /// How far its processes were contained, and by what; absent for runs from before that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The agent's way of working, as it said itself; absent when it never said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The last that the agent's program wrote to stderr, a second or so ago while it runs. It may hold sequences for terminals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

impl RunView {
    /// Shows a run with so many bytes of its stderr.
    pub fn new(entry: RunEntry, bytes_max: usize) -> Self {
        let run = entry.run;
        let tail = |text: String| {
            let start = text.ceil_char_boundary(text.len().saturating_sub(bytes_max));
            text[start..].to_owned()
        };
        Self {
            epoch: run.epoch,
            started_at: time(run.started_at),
            ready_at: run.ready_at.map(time),
            ended_at: run.ended_at.map(time),
            ending: run.ending,
            resumed: entry.resumed,
            tools_link: run.tools.as_str().to_owned(),
            tier: run.tier.map(|tier| tier.to_string()),
            mode: entry.mode,
            stderr: entry.stderr.map(tail).filter(|text| !text.is_empty()),
        }
    }
}

/// Some runs, latest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunListView {
    pub runs: Vec<RunView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
