//! Containment configuration and the tiers supported on this machine.

use std::path::PathBuf;

use wh_domain::{EffectiveTier, ErrorCode, HostList, SessionId, Tier, TierMechanism, WorktreeId};
use wh_runner::sandbox::{Mechanism, Support, Unsupported};

use crate::{AppError, Result};

/// What agents may see of the machine, from the configuration and from what the machine can enforce.
#[derive(Clone, Debug)]
pub struct ContainmentConfig {
    /// Sandbox mechanisms supported on this machine.
    pub support: Support,
    /// The home directory of the server's user.
    pub home: Option<PathBuf>,
    /// Directories of the server's `PATH`.
    pub path: Vec<PathBuf>,
    /// Holds a directory for each session: its changes to the home directory and its `/tmp`.
    pub homes: PathBuf,
    /// Holds the private clone of each worktree that has one.
    pub clones: PathBuf,
    /// Files and directories that no agent sees, beside those of [`HIDDEN_IN_HOME`] and [`HIDDEN_IN_SYSTEM`].
    pub hidden: Vec<PathBuf>,
    /// Files and directories that agents see although they are in those lists.
    pub shown: Vec<PathBuf>,
    /// Files and directories that agents in the tier `strict` can read, beside the system and the toolchains.
    pub strict_readable: Vec<PathBuf>,
    /// Allowed network hosts for agents in the tier `strict`.
    pub hosts: HostList,
    /// Hosts of that list allowed to resolve to loopback or private addresses.
    pub private_hosts: HostList,
}

/// Credentials of a person, below their home directory.
pub const HIDDEN_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/containers/auth.json",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".password-store",
    ".local/share/keyrings",
    ".1password",
    ".config/1Password",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
];

/// Sockets by which a process can have others act for it, and files that only root reads: an agent of a server that runs as root
/// owns them.
pub const HIDDEN_IN_SYSTEM: &[&str] = &[
    "/run",
    "/var/run",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/kubelet",
    "/var/lib/sss",
    "/var/spool/cron",
    "/var/backups",
    "/mnt/wsl",
];

impl ContainmentConfig {
    /// Returns a configuration that hides only the usual paths, for a machine on which namespaces work.
    pub fn new(homes: PathBuf) -> Self {
        Self {
            support: Support {
                namespaces: Ok(()),
                strict: Ok(()),
                landlock_abi: 0,
            },
            home: None,
            path: Vec::new(),
            clones: homes.with_file_name("clones"),
            homes,
            hidden: Vec::new(),
            shown: Vec::new(),
            strict_readable: Vec::new(),
            hosts: HostList::default(),
            private_hosts: HostList::default(),
        }
    }

    /// Returns how a tier is enforced here, or what to do so that it can be.
    pub fn effective(&self, tier: Tier) -> Result<EffectiveTier> {
        let mechanism = match (tier, self.support.best()) {
            (Tier::None, _) => None,
            (Tier::Guarded, Some(Mechanism::Namespaces)) => Some(TierMechanism::Namespaces),
            (Tier::Guarded, Some(Mechanism::Landlock)) => Some(TierMechanism::Landlock),
            (Tier::Guarded, None) => return Err(unavailable(tier, &self.support.namespaces)),
            (Tier::Strict, _) => {
                let strict = &self.support.strict;
                strict.as_ref().map_err(|_| unavailable(tier, strict))?;
                Some(TierMechanism::Namespaces)
            }
        };
        Ok(EffectiveTier { tier, mechanism })
    }

    /// Returns the directory of a session's own.
    pub(crate) fn session_dir(&self, session: SessionId) -> PathBuf {
        self.homes.join(session.to_string())
    }

    /// Returns where the private clone of a worktree is, if it has one.
    pub(crate) fn clone_dir(&self, worktree: WorktreeId) -> PathBuf {
        self.clones.join(worktree.to_string())
    }
}

fn unavailable(tier: Tier, tried: &std::result::Result<(), Unsupported>) -> AppError {
    let (reason, remedy) = match tried {
        Err(Unsupported { reason, remedy }) => (reason.as_str(), remedy.as_str()),
        Ok(()) => ("", ""),
    };
    let message = format!("tier {tier} does not work on this machine: {reason}");
    AppError::new(ErrorCode::Unavailable, message).hint(remedy.to_owned())
}
