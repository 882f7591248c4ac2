//! Containment configuration and the tiers supported on this machine.

use std::path::PathBuf;

use wh_domain::{EffectiveTier, HostList, ImageRef, SessionId, Tier, TierMechanism, WorktreeId};
use wh_runner::{
    image::Engine,
    sandbox::{Mechanism, Support, Unsupported},
};

use crate::{AppError, Result, RunReason};

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
    /// The container engine that provides images for the tier `container`, or why there is none.
    pub engine: std::result::Result<Engine, Unsupported>,
    /// The image for sessions in the tier `container` whose repository and agent name none.
    pub image: Option<ImageRef>,
    /// Holds the unpacked files of each image.
    pub images: PathBuf,
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
    "snap/firefox",
    "snap/chromium",
    "snap/brave",
    "snap/thunderbird",
    ".var/app/org.mozilla.firefox",
    ".var/app/org.mozilla.Thunderbird",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.google.Chrome",
    ".var/app/com.brave.Browser",
    ".var/app/com.microsoft.Edge",
    ".Xauthority",
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
            hidden: Vec::new(),
            shown: Vec::new(),
            strict_readable: Vec::new(),
            hosts: HostList::default(),
            private_hosts: HostList::default(),
            engine: Err(no_engine()),
            image: None,
            images: homes.with_file_name("images"),
            homes,
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
            (Tier::Container, _) => {
                let strict = &self.support.strict;
                strict.as_ref().map_err(|_| unavailable(tier, strict))?;
                self.container_engine()?;
                Some(TierMechanism::Namespaces)
            }
        };
        Ok(EffectiveTier { tier, mechanism })
    }

    /// Returns the engine that provides images, or what to do so that there is one.
    pub(crate) fn container_engine(&self) -> Result<&Engine> {
        let missing = |why: &Unsupported| unavailable_because(Tier::Container, why);
        self.engine.as_ref().map_err(missing)
    }

    /// Returns where the files of an image are, if it is unpacked.
    pub(crate) fn image_dir(&self, id: &str) -> PathBuf {
        self.images.join(id)
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

/// Says that no container engine is installed.
pub fn no_engine() -> Unsupported {
    Unsupported {
        reason: "neither podman nor docker is installed".to_owned(),
        remedy: "install Podman (`apt install podman`) or Docker, then restart the server"
            .to_owned(),
    }
}

fn unavailable(tier: Tier, tried: &std::result::Result<(), Unsupported>) -> AppError {
    let none = Unsupported {
        reason: String::new(),
        remedy: String::new(),
    };
    unavailable_because(tier, tried.as_ref().err().unwrap_or(&none))
}

fn unavailable_because(tier: Tier, why: &Unsupported) -> AppError {
    let refusal = RunReason::TierUnavailable {
        tier,
        reason: why.reason.clone(),
        remedy: why.remedy.clone(),
    };
    refusal.into()
}
