//! Describes the sandbox of a session's next run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use wh_agents::{Launch, LaunchProgram};
use wh_domain::{EffectiveTier, ErrorCode, Session, SessionId, SettingKey, Tier, TierMechanism};
use wh_git::{AgentAccess, GitLink};
use wh_runner::{
    Resources, RunDir,
    sandbox::{Home, Mapped, Mechanism, Sandbox, Support, Unsupported},
};

use super::home_links;
use crate::{App, AppError, Result};

/// What agents may see of the machine, from the configuration and from what the machine can enforce.
#[derive(Clone, Debug)]
pub struct ContainmentConfig {
    /// What works here.
    pub support: Support,
    /// The home directory of the server's user.
    pub home: Option<PathBuf>,
    /// Where programs are searched for: the server's own `PATH`.
    pub path: Vec<PathBuf>,
    /// Holds a directory for each session: its changes to the home directory and its `/tmp`.
    pub homes: PathBuf,
    /// Files and directories that no agent sees, beside those of [`HIDDEN_IN_HOME`] and [`HIDDEN_IN_SYSTEM`].
    pub hidden: Vec<PathBuf>,
    /// Files and directories that agents see although they are in those lists.
    pub shown: Vec<PathBuf>,
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

/// Variables that name a directory in which agents keep their state when it is not below the home directory.
const STATE_VARIABLES: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "OPENCODE_CONFIG_DIR",
    "WHEELHOUSE_ECHO_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];

/// Set for every contained agent: its `/tmp` is its own, and collecting garbage needs more of a repository than a commit does.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("TMPDIR", "/tmp"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "gc.auto"),
    ("GIT_CONFIG_VALUE_0", "0"),
    ("GIT_CONFIG_KEY_1", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

impl ContainmentConfig {
    /// Returns a configuration that hides only the usual paths, for a machine on which namespaces work.
    pub fn new(homes: PathBuf) -> Self {
        Self {
            support: Support {
                namespaces: Ok(()),
                landlock_abi: 0,
            },
            home: None,
            path: Vec::new(),
            homes,
            hidden: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Returns how a tier is enforced here, or what to do so that it can be.
    pub fn effective(&self, tier: Tier) -> Result<EffectiveTier> {
        let mechanism = match (tier, self.support.best()) {
            (Tier::None, _) => None,
            (Tier::Guarded, Some(Mechanism::Namespaces)) => Some(TierMechanism::Namespaces),
            (Tier::Guarded, Some(Mechanism::Landlock)) => Some(TierMechanism::Landlock),
            (Tier::Guarded, None) => return Err(unavailable(tier, &self.support)),
        };
        Ok(EffectiveTier { tier, mechanism })
    }

    fn session_dir(&self, session: SessionId) -> PathBuf {
        self.homes.join(session.to_string())
    }
}

fn unavailable(tier: Tier, support: &Support) -> AppError {
    let (reason, remedy) = match &support.namespaces {
        Err(Unsupported { reason, remedy }) => (reason.as_str(), remedy.as_str()),
        Ok(()) => ("", ""),
    };
    let message = format!("tier {tier} does not work on this machine: {reason}");
    AppError::new(ErrorCode::Unavailable, message).hint(remedy.to_owned())
}

impl App {
    /// Returns the sandbox for a session's next run, or nothing when its tier has none. Creates the session's own directories.
    pub(super) async fn sandbox(
        &self,
        session: &Session,
        launch: &Launch,
        cwd: &Path,
        dir: &RunDir,
    ) -> Result<(EffectiveTier, Option<Sandbox>)> {
        let effective = self.runs.containment.effective(session.tier)?;
        let mechanism = match effective.mechanism {
            None => return Ok((effective, None)),
            Some(TierMechanism::Namespaces) => Mechanism::Namespaces,
            Some(TierMechanism::Landlock) => Mechanism::Landlock,
        };
        let access = self.git_access(session, cwd).await?;
        let launched = match &launch.program {
            LaunchProgram::Itself => &self.runs.program,
            LaunchProgram::Found(path) => path,
        };
        let parts = Parts {
            config: &self.runs.containment,
            session: session.id,
            launch,
            program: launched,
            cwd,
            run_files: dir.files(),
            access,
        };
        if parts.home().is_some_and(|home| home.starts_with(cwd)) {
            let message = format!(
                "tier {} cannot protect a home directory that the agent works in",
                session.tier
            );
            return Err(AppError::new(ErrorCode::Conflict, message)
                .hint("start the session in a directory below it, or in a worktree"));
        }
        let sandbox = parts.sandbox(mechanism).map_err(|error| {
            let message = format!("the session's own directories cannot be created: {error}");
            AppError::new(ErrorCode::Unavailable, message)
        })?;
        Ok((effective, Some(sandbox)))
    }

    /// Returns how much of the machine the agent may use, from the settings.
    pub(super) async fn resources(
        &self,
        session: &Session,
        cwd: &Path,
        sandbox: Option<&Sandbox>,
    ) -> Result<Resources> {
        let settings = self.settings().await?;
        let limit = |key: SettingKey| {
            let setting = settings.iter().find(|setting| setting.key == key)?;
            u64::try_from(setting.value.0?).ok()
        };
        let bytes = |key| limit(key).map(|mebibytes| mebibytes.saturating_mul(1 << 20));
        // A directory that the session works in as it is belongs to a person, who may have put anything into it.
        let own = Some(cwd.to_owned()).filter(|_| session.path.is_none());
        let layers = sandbox.iter().flat_map(|sandbox| {
            let home = sandbox.home.iter().map(|home| home.layer.clone());
            home.chain([sandbox.tmp.clone()])
        });
        Ok(Resources {
            memory_bytes: bytes(SettingKey::LimitMemoryMib),
            processes: limit(SettingKey::LimitProcesses),
            open_files: limit(SettingKey::LimitOpenFiles),
            nice: limit(SettingKey::LimitNice),
            disk_bytes: bytes(SettingKey::LimitDiskMib),
            disk_dirs: own.into_iter().chain(layers).collect(),
        })
    }

    /// Removes what a session's agent left in its home layer and `/tmp`.
    pub(crate) async fn session_dir_remove(&self, session: SessionId) {
        let dir = self.runs.containment.session_dir(session);
        let removed = tokio::task::spawn_blocking(move || remove_tree(&dir)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%session, %error, "the session's own directory could not be removed");
        }
    }

    async fn git_access(&self, session: &Session, cwd: &Path) -> Result<AgentAccess> {
        let failed = |error: io::Error| {
            let message = format!("the repository cannot be prepared for an agent: {error}");
            AppError::new(ErrorCode::Unavailable, message)
        };
        let Some(worktree) = session.worktree else {
            let access = wh_git::checkout_access(cwd).map_err(failed)?;
            return Ok(access.unwrap_or_default());
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        let _alone = self.repo_locks.take(repo.id).await;
        let handle = self.worktree_handle(&repo, &worktree)?;
        handle.agent_access().map_err(failed)
    }
}

/// Everything that a sandbox is made of.
struct Parts<'a> {
    config: &'a ContainmentConfig,
    session: SessionId,
    launch: &'a Launch,
    program: &'a Path,
    cwd: &'a Path,
    run_files: PathBuf,
    access: AgentAccess,
}

impl Parts<'_> {
    fn sandbox(self, mechanism: Mechanism) -> io::Result<Sandbox> {
        let own = self.config.session_dir(self.session);
        let (layer, tmp) = (own.join("home"), own.join("tmp"));
        for dir in [&layer, &tmp, &self.run_files] {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let home = self.home();
        let hidden = self.hidden(home.as_deref());
        let covered = |path: &PathBuf| {
            let covers = |dir: &Path| path.starts_with(dir);
            covers("/tmp".as_ref())
                || covers("/var/tmp".as_ref())
                || hidden.iter().any(|it| covers(it))
        };
        let mut readable: Vec<PathBuf> = self.programs().into_iter().filter(covered).collect();
        readable.push(self.run_files.clone());
        readable.extend(self.access.readable.iter().cloned());
        readable.extend(resolved(&["/etc/resolv.conf"]).into_iter().filter(covered));
        let mut writable = vec![self.cwd.to_owned()];
        let state = self.state_dirs().into_iter();
        writable
            .extend(state.filter(|dir| home.as_ref().is_none_or(|home| !dir.starts_with(home))));
        if let (Mechanism::Landlock, Some(home)) = (mechanism, &home) {
            home_links::create(home, &layer, &hidden, &self.login_files(home))?;
        }
        let (mut git_writable, mut read_only, mut mapped) = (
            self.access.writable.clone(),
            self.access.read_only.clone(),
            Vec::new(),
        );
        let has_run = hidden.iter().any(|path| path == Path::new("/run"));
        if let (Mechanism::Namespaces, Some(link), true) = (mechanism, &self.access.link, has_run) {
            mapped = map_git(link, &self.access, &own)?;
            (git_writable, read_only) = (Vec::new(), Vec::new());
        }
        Ok(Sandbox {
            mechanism,
            hidden,
            readable,
            writable,
            git_writable,
            mapped,
            read_only,
            home: home.map(|path| Home {
                shared: self.login_files(&path),
                path,
                layer,
            }),
            tmp,
        })
    }

    /// Returns the home directory that the agent is told.
    fn home(&self) -> Option<PathBuf> {
        let told = self.launch.environment.get("HOME");
        let told = told.map(|home| PathBuf::from(home.expose()));
        let home = told.or_else(|| self.config.home.clone())?;
        home.canonicalize()
            .ok()
            .filter(|home| home.parent().is_some())
    }

    fn hidden(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let shown: BTreeSet<_> = self.config.shown.iter().map(|path| resolve(path)).collect();
        let in_home = home
            .into_iter()
            .flat_map(|home| HIDDEN_IN_HOME.iter().map(move |name| home.join(name)));
        let all = in_home
            .chain(HIDDEN_IN_SYSTEM.iter().map(PathBuf::from))
            .chain(self.config.hidden.iter().cloned());
        let all = all.filter_map(|path| path.canonicalize().ok());
        let all: BTreeSet<_> = all.filter(|path| !shown.contains(path)).collect();
        all.into_iter().collect()
    }

    /// Returns the programs that the agent needs, and where it looks for others.
    fn programs(&self) -> Vec<PathBuf> {
        let told = self.launch.environment.values().map(|value| value.expose());
        let told = told.chain(self.launch.arguments.iter().map(String::as_str));
        let files = [self.program].into_iter().chain(told.map(Path::new));
        let files = files.filter(|path| path.is_absolute() && path.is_file());
        let files = files.filter_map(|path| path.canonicalize().ok());
        let searched = self
            .config
            .path
            .iter()
            .filter_map(|dir| dir.canonicalize().ok());
        let all: BTreeSet<_> = files
            .map(|file| with_modules(&file))
            .chain(searched)
            .collect();
        all.into_iter().collect()
    }

    fn state_dirs(&self) -> Vec<PathBuf> {
        let named = STATE_VARIABLES
            .iter()
            .filter_map(|name| self.launch.environment.get(*name));
        let dirs = named.map(|value| PathBuf::from(value.expose()));
        dirs.filter_map(|dir| dir.canonicalize().ok())
            .filter(|dir| dir.is_dir())
            .collect()
    }

    fn login_files(&self, home: &Path) -> Vec<PathBuf> {
        let files = self.launch.login_files.iter().map(|name| home.join(name));
        let files =
            files.filter(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file()));
        files.collect()
    }
}

/// Where a contained agent sees the git directory of its worktree's repository: outside of every directory in which it may create
/// symlinks. Git appends to logs, and a symlink among them would have a person's git append to any file.
const GIT_DIR: &str = "/run/wheelhouse/git";

/// Shows the repository's git directory at [`GIT_DIR`] and leads the worktree's `.git` file there.
fn map_git(link: &GitLink, access: &AgentAccess, own: &Path) -> io::Result<Vec<Mapped>> {
    let moved = |path: &Path| {
        let below = path.strip_prefix(&link.common_dir).ok()?;
        Some(Path::new(GIT_DIR).join(below))
    };
    let dot_git = own.join("dot-git");
    let git_dir = moved(&link.git_dir).unwrap_or_else(|| link.git_dir.clone());
    fs::write(&dot_git, format!("gitdir: {}\n", git_dir.display()))?;
    let map = |path: &PathBuf, writable| {
        let target = moved(path)?;
        let source = path.clone();
        Some(Mapped {
            source,
            target,
            writable,
        })
    };
    let mut mapped = vec![Mapped {
        source: dot_git,
        target: link.dot_git.clone(),
        writable: false,
    }];
    mapped.extend(map(&link.common_dir, false));
    mapped.extend(access.writable.iter().filter_map(|path| map(path, true)));
    mapped.extend(access.read_only.iter().filter_map(|path| map(path, false)));
    Ok(mapped)
}

/// Returns what a program needs of the directory that it was installed into: all modules, or itself.
fn with_modules(file: &Path) -> PathBuf {
    let modules = file.ancestors().filter(|dir| dir.ends_with("node_modules"));
    modules.last().unwrap_or(file).to_owned()
}

/// Adds what every contained agent is told to its environment; what is configured wins.
pub(super) fn add_environment(sandbox: &Sandbox, environment: &mut BTreeMap<String, String>) {
    if sandbox.mechanism == Mechanism::Landlock {
        // Nothing can be mounted over these, so the agent is told others.
        let mut tell = |name: &str, path: &Path| {
            environment.insert(name.to_owned(), path.to_string_lossy().into_owned())
        };
        tell("TMPDIR", &sandbox.tmp);
        if let Some(home) = &sandbox.home {
            tell("HOME", &home.layer);
        }
    }
    let has_git = environment.contains_key("GIT_CONFIG_COUNT");
    for (name, value) in ENVIRONMENT {
        if !(has_git && name.starts_with("GIT_CONFIG")) {
            let entry = environment.entry((*name).to_owned());
            entry.or_insert_with(|| (*value).to_owned());
        }
    }
}

fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn resolved(paths: &[&str]) -> Vec<PathBuf> {
    let paths = paths.iter().map(Path::new);
    paths.filter_map(|path| path.canonicalize().ok()).collect()
}

/// Removes a directory; one that overlayfs left without permissions too.
fn remove_tree(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let scratch = dir.join("home/work/work");
    if scratch.is_dir() {
        fs::set_permissions(&scratch, fs::Permissions::from_mode(0o700))?;
    }
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
