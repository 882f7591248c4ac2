//! The description of a sandbox, as the server writes it into a run's spec. Every path is absolute and resolved.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What an agent's processes can see and change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    pub mechanism: Mechanism,
    /// What of the file system is visible.
    #[serde(default)]
    pub root: Root,
    /// The network of the agent. Absent: the machine's.
    #[serde(default)]
    pub network: Option<PrivateNetwork>,
    /// Files and directories that appear empty to the agent. Paths that do not exist are skipped.
    pub hidden: Vec<PathBuf>,
    /// Files and directories that the agent can read although a directory above them is hidden; in a [`Root::Built`], all that it
    /// can read.
    pub readable: Vec<PathBuf>,
    /// Directories and files that the agent can change; everything else is read-only.
    pub writable: Vec<PathBuf>,
    /// Directories of a git repository that the agent can change, but in which it cannot create symlinks: git appends to files
    /// in them when a person uses the repository later.
    pub git_writable: Vec<PathBuf>,
    /// Files and directories that the agent sees at another path. With [`Mechanism::Namespaces`] only.
    #[serde(default)]
    pub mapped: Vec<Mapped>,
    /// Files and directories below a writable one that the agent cannot change.
    pub read_only: Vec<PathBuf>,
    /// The user's home directory. Absent when the server's user has none.
    pub home: Option<Home>,
    /// A directory of the session's own that the agent sees as `/tmp` and `/var/tmp`.
    pub tmp: PathBuf,
}

impl Sandbox {
    /// Returns every path at which something is mounted.
    pub fn mount_points(&self) -> Vec<PathBuf> {
        let layers = super::order::layers(self).into_iter();
        layers.map(|layer| layer.target).collect()
    }
}

/// What of the machine's file system an agent can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// Everything that is not hidden.
    #[default]
    Whole,
    /// Only what is named. With [`Mechanism::Namespaces`] only.
    Built,
}

/// A network namespace with nothing but a loopback interface. With [`Mechanism::Namespaces`] only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivateNetwork {
    /// Ports of 127.0.0.1 in it on which the runner listens.
    pub ports: Vec<u16>,
}

/// Something that the agent sees at another path than it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapped {
    pub source: PathBuf,
    pub target: PathBuf,
    /// Whether the agent can change it; without creating symlinks, as in [`Sandbox::git_writable`].
    pub writable: bool,
}

/// A home directory that the agent can change without changing the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    pub path: PathBuf,
    /// Where the agent's changes are kept: a directory of the session's own. Over a home directory that is visible, it has the
    /// subdirectories `upper` and `work`; in a [`Root::Built`] it is the agent's whole home directory.
    pub layer: PathBuf,
    /// Files of the user's home that the agent changes in place: its own login, which it has to renew.
    pub shared: Vec<PathBuf>,
}

/// How a sandbox is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Mount and PID namespaces, with Landlock behind them where the kernel has it.
    Namespaces,
    /// Landlock alone, where namespaces are forbidden.
    Landlock,
}

impl Mechanism {
    /// Returns the mechanism as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
        }
    }
}
