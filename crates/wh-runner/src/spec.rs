//! What a run is: everything the per-session process must know, written once by the server as `spec.json` into the run's
//! own directory, before the process starts. Nothing else is passed: no argument, no inherited environment.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use wh_domain::SessionId;

use crate::{egress::Egress, sandbox::Sandbox};

/// Everything a run needs. Serialized into `spec.json`, which only its owner can read because it holds the session's token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSpec {
    pub session: SessionId,
    /// Counts the lives of the session's process; writes of an older one are refused by the server.
    pub epoch: u64,
    /// The agent's program: an absolute path, or a name found on the `PATH` of [`Self::env`].
    pub command: PathBuf,
    pub args: Vec<String>,
    /// Set for the agent beyond [`INHERITED_ENV`]; wins over what is inherited.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub begin: Begin,
    /// Our tools, as the agent is told to reach them. Absent: the agent gets none.
    pub mcp: Option<McpSpec>,
    /// What the agent's processes can see and change. Absent: whatever the server's user can.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    /// What the agent can reach from a network of its own. Without effect when its sandbox has none.
    #[serde(default)]
    pub egress: Egress,
    /// How much of the machine the agent's processes may use.
    #[serde(default)]
    pub resources: Resources,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub quirks: Quirks,
}

/// The port of 127.0.0.1 at which an agent with a network of its own reaches our tools.
pub const TOOLS_PORT: u16 = 3127;

/// The port of 127.0.0.1 at which it reaches the proxy, its only way to other machines.
pub const PROXY_PORT: u16 = 3128;

/// Variables that an agent gets from whoever started the server; all others must be in the spec.
pub const INHERITED_ENV: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    // Where a user's settings and logins are when that is not below HOME.
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];

/// How the conversation begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    New,
    /// The agent replays what was said; the replay is not recorded again.
    Load {
        agent_session: String,
    },
    /// The agent remembers without replaying.
    Resume {
        agent_session: String,
    },
}

/// The MCP server that the agent is told about: the runner's own loopback port, which forwards to the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct McpSpec {
    /// The name under which the agent sees our tools.
    pub name: String,
    /// Opens our tools for this session; the agent sends it, the runner checks it and passes it on.
    pub token: Token,
    /// Tells where the server is now: its `server.json`.
    pub server_file: PathBuf,
    /// The path of the endpoint, `/mcp`.
    pub path: String,
}

/// A secret that never prints. It is written only into `spec.json` and to the agent itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself, to send it to whom it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// Every limit of a run. Each says what happens when it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Stopping waits so long after ACP's cancel before it sends SIGTERM.
    pub cancel_grace_ms: u64,
    /// Stopping waits so long after SIGTERM before the whole tree is killed.
    pub term_grace_ms: u64,
    /// An agent that has not opened its session by then is ended, and the run says so.
    pub start_ms: u64,
    /// A longer line of the agent is skipped, with a notice.
    pub line_bytes_max: usize,
    /// A longer text inside a tool call is cut, and says so.
    pub content_bytes_max: usize,
    /// When so much is unacknowledged, the agent's output is not read until the server catches up.
    pub journal_bytes_max: u64,
    /// A journal file of this size is closed and the next begun; it goes when the server has acknowledged all of it.
    pub segment_bytes: u64,
    /// A longer line from the server ends its connection.
    pub link_line_bytes_max: usize,
    /// Lines of the agent's stderr that are kept for diagnosis; older ones are dropped.
    pub stderr_lines_max: usize,
    /// How long a runner without an agent waits for the server to acknowledge; then it exits, and the journal stays.
    pub linger_ms: u64,
    /// How long a call of our tools is held while the server is away; then the agent is told to try again.
    pub forward_hold_ms: u64,
    /// How many calls may be held or open at once; one more is refused with 503.
    pub forward_calls_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cancel_grace_ms: 2_000,
            term_grace_ms: 3_000,
            start_ms: 120_000,
            line_bytes_max: 16 << 20,
            content_bytes_max: 1 << 20,
            journal_bytes_max: 512 << 20,
            segment_bytes: 4 << 20,
            link_line_bytes_max: 16 << 20,
            stderr_lines_max: 100,
            linger_ms: 24 * 3_600_000,
            forward_hold_ms: 60_000,
            forward_calls_max: 32,
        }
    }
}

impl Limits {
    pub(crate) fn cancel_grace(&self) -> Duration {
        Duration::from_millis(self.cancel_grace_ms)
    }
    pub(crate) fn term_grace(&self) -> Duration {
        Duration::from_millis(self.term_grace_ms)
    }
    pub(crate) fn linger(&self) -> Duration {
        Duration::from_millis(self.linger_ms)
    }
}

/// How much of the machine an agent's processes may use together. What is absent is not limited. Reaching a limit on memory,
/// processes or disk ends the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
    /// Files that one process may have open; opening more fails.
    pub open_files: Option<u64>,
    /// The nice value of its processes.
    pub nice: Option<u64>,
    pub disk_bytes: Option<u64>,
    /// What counts as the agent's use of the disk.
    pub disk_dirs: Vec<PathBuf>,
    /// The cgroup of the run, which its runner creates and the agent's process tree lives in. Absent: the runner watches every limit.
    pub cgroup: Option<PathBuf>,
}

/// Where an agent differs from the protocol; from its profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// Set once the session is open, before it is reported ready.
    pub initial_mode: Option<String>,
    /// Chosen once the session is open, before it is reported ready; the run fails if the agent does not offer it.
    pub initial_model: Option<String>,
    /// The agent was started with the initial model as an argument, so it need not offer a choice.
    pub model_by_flag: bool,
    /// After a load, updates are taken for the replay until the agent has been silent for so long: gemini sends its
    /// replay after the answer.
    pub replay_settle_ms: u64,
    /// The agent's input tokens contain the cached ones (gemini); they are taken out.
    pub input_includes_cached: bool,
    /// The agent reports the tokens of a turn's last model call alone (opencode); each earlier one is counted like it.
    pub last_call_tokens_only: bool,
    /// The agent is told of our tools in a way of its own (claude-agent-acp), because it hides them behind a search otherwise.
    pub always_load_tools: bool,
    /// What was started during a turn is killed when the turn was cancelled, because the agent (Codex) does not do it.
    pub kill_after_cancel: bool,
    /// Text beside an image goes as words, because the agent (Gemini CLI) drops the images of a prompt that has a resource.
    pub images_alone: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            initial_mode: None,
            initial_model: None,
            model_by_flag: false,
            replay_settle_ms: 150,
            input_includes_cached: false,
            last_call_tokens_only: false,
            always_load_tools: false,
            kill_after_cancel: false,
            images_alone: false,
        }
    }
}

/// The part of a spec that the helper between runner and agent applies.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Confines {
    #[serde(default)]
    pub(crate) sandbox: Option<Sandbox>,
    #[serde(default)]
    pub(crate) resources: Resources,
}

/// The directory of one run, and where things lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir(PathBuf);

impl RunDir {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Makes the directory for its owner alone and writes the spec into it. A directory that has a spec is refused: a run
    /// is started once.
    pub fn create(&self, spec: &RunSpec) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.spec())?;
        file.write_all(&serde_json::to_vec_pretty(spec)?)?;
        file.sync_all()
    }

    /// Reads the spec.
    pub fn read_spec(&self) -> io::Result<RunSpec> {
        Ok(serde_json::from_slice(&std::fs::read(self.spec())?)?)
    }

    /// Reads what the helper between runner and agent has to know of the spec.
    pub(crate) fn read_confines(&self) -> io::Result<Confines> {
        Ok(serde_json::from_slice(&std::fs::read(self.spec())?)?)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
    pub fn spec(&self) -> PathBuf {
        self.0.join("spec.json")
    }
    pub fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }
    /// Where files that come with prompts are laid out.
    pub fn files(&self) -> PathBuf {
        self.0.join("files")
    }
    pub fn log(&self) -> PathBuf {
        self.0.join("log")
    }
    pub(crate) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }
    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
    /// The Unix socket on which the runner receives the ports of its agent's network.
    pub(crate) fn ports(&self) -> PathBuf {
        self.0.join("ports")
    }
    pub(crate) fn state(&self) -> PathBuf {
        self.0.join("runner.json")
    }
    pub(crate) fn lifeline(&self) -> PathBuf {
        self.0.join("lifeline")
    }
}
