//! Describes the sandbox of a session's next run.

mod container;
mod git;
mod strict;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use wh_agents::{Launch, LaunchProgram};
use wh_domain::{EffectiveTier, Session, SessionId, SettingKey, Tier, TierMechanism};
use wh_git::AgentAccess;
use wh_runner::{
    Resources, RunDir, Token,
    egress::{Egress, ModelGateway},
    image::{root_mounts, write_settings},
    sandbox::{Home, Mechanism, Root, Sandbox},
};

pub(super) use self::{
    container::add_image_environment,
    git::{ALTERNATES, GIT_DIR},
};
use super::{
    containment::{ContainmentConfig, HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM},
    home_links,
    image::UnpackedImage,
};
use crate::{App, AppError, Result, RunReason, session_begin::shares_checkout};

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

impl App {
    /// Returns the sandbox for a session's next run, or nothing when its tier has none. Creates the session's own directories.
    pub(super) async fn sandbox(
        &self,
        session: &Session,
        launch: &Launch,
        image: Option<&UnpackedImage>,
        cwd: &Path,
        dir: &RunDir,
    ) -> Result<(EffectiveTier, Option<Sandbox>)> {
        let effective = self.runs.containment.effective(session.tier)?;
        let mechanism = match effective.mechanism {
            None => return Ok((effective, None)),
            Some(TierMechanism::Namespaces) => Mechanism::Namespaces,
            Some(TierMechanism::Landlock) => Mechanism::Landlock,
        };
        let (access, objects) = self.git_access(session, cwd).await?;
        let launched = match &launch.program {
            LaunchProgram::Itself => &self.runs.program,
            LaunchProgram::Found(path) => path,
        };
        let parts = Parts {
            config: &self.runs.containment,
            session: session.id,
            launch,
            program: launched,
            logins: self.agents.login_files(),
            cwd,
            run_files: dir.files(),
            access,
            objects,
        };
        if parts.home().is_some_and(|home| home.starts_with(cwd)) {
            let tier = session.tier;
            return Err(RunReason::HomeUnprotected { tier }.into());
        }
        let sandbox = match (session.tier, image) {
            (Tier::Container, Some(image)) => parts.container(image),
            (Tier::Container | Tier::Strict, _) => parts.strict(),
            (Tier::None | Tier::Guarded, _) => parts.guarded(mechanism),
        };
        let sandbox = sandbox.map_err(|error| RunReason::SessionDirectories { error })?;
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
        let clone = session.worktree.filter(|_| session.tier.is_isolated());
        let clone = clone.map(|worktree| self.runs.containment.clone_dir(worktree));
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
            disk_dirs: own.into_iter().chain(clone).chain(layers).collect(),
            cgroup: None,
        })
    }

    /// Returns what an agent can reach from a network of its own.
    pub(super) async fn egress(&self, session: &Session, launch: &Launch) -> Result<Egress> {
        let config = &self.runs.containment;
        let limit = self.setting(SettingKey::LimitNetworkMib).await?.value.0;
        let limit = limit.and_then(|mebibytes| u64::try_from(mebibytes).ok());
        let gateway = launch.model.as_ref().map(|model| ModelGateway {
            port: model.port,
            upstream: model.url.clone(),
            header: model.header.clone(),
            prefix: model.prefix.clone(),
            key: Token::new(model.key.expose()),
        });
        Ok(Egress {
            hosts: match &session.hosts {
                // The configuration may allow less than when the session was created.
                Some(own) => own.within(&config.hosts),
                None => config.hosts.clone(),
            },
            private_hosts: config.private_hosts.clone(),
            bytes_max: limit.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            models: gateway.into_iter().collect(),
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

    /// Returns what the agent may do with the repository, and the objects that its private clone borrows if it has one.
    async fn git_access(
        &self,
        session: &Session,
        cwd: &Path,
    ) -> Result<(AgentAccess, Option<PathBuf>)> {
        let failed = |error: io::Error| AppError::from(RunReason::GitAccess { error });
        let Some(worktree) = session.worktree else {
            let access = wh_git::checkout_access(cwd).map_err(failed)?;
            // Since the session was created, it may have become one.
            if access.is_some() && session.tier.is_isolated() {
                return Err(shares_checkout(session.tier));
            }
            return Ok((access.unwrap_or_default(), None));
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        if session.tier.is_isolated() {
            let clone = self.private_clone(&repo, &worktree).await?;
            let access = clone.agent_access().map_err(failed)?;
            return Ok((access, Some(clone.objects())));
        }
        let _alone = self.repo_locks.take(repo.id).await;
        let handle = self.worktree_handle_fetched(&repo, &worktree).await?;
        Ok((handle.agent_access().map_err(failed)?, None))
    }
}

/// Everything that a sandbox is made of.
struct Parts<'a> {
    config: &'a ContainmentConfig,
    session: SessionId,
    launch: &'a Launch,
    program: &'a Path,
    /// The files below the home directory with the logins of all agents.
    logins: BTreeSet<String>,
    cwd: &'a Path,
    run_files: PathBuf,
    access: AgentAccess,
    /// The objects that a private clone borrows.
    objects: Option<PathBuf>,
}

impl Parts<'_> {
    /// Describes the tier `strict`: nothing of the file system but what is named, and no network but the runner's ports.
    fn strict(self) -> io::Result<Sandbox> {
        let home = self.home();
        let mut readable = strict::readable(home.as_deref(), &self.config.strict_readable);
        readable.extend(self.programs());
        let linked = strict::linked_programs(&self.searched());
        readable.extend(linked.iter().map(|file| with_modules(file)));
        let written = self.config.path.iter().cloned();
        let written = written
            .chain(self.told_home())
            .chain([self.program.to_owned()]);
        readable.extend(written.flat_map(|path| strict::links_of(&path)));
        let contains_home = |path: &PathBuf| home.as_ref().is_some_and(|it| it.starts_with(path));
        let link = self.access.link.as_ref();
        readable.retain(|path| {
            path.parent().is_some()
                && !contains_home(path)
                && link.is_none_or(|link| *path != link.common_dir)
        });
        let below = |path: &PathBuf| {
            let above = |dir: &PathBuf| path.starts_with(dir) && path != dir;
            readable.iter().any(above)
        };
        let hidden = self.hidden(home.as_deref());
        let hidden = hidden.into_iter().filter(below).collect();
        let sandbox = self.isolated(readable)?;
        Ok(Sandbox { hidden, ..sandbox })
    }

    /// Describes the tier `container`: the files of an image, and no network but the runner's ports.
    fn container(self, image: &UnpackedImage) -> io::Result<Sandbox> {
        let mut readable = BTreeSet::from([PathBuf::from(container::MACHINE)]);
        if matches!(self.launch.program, LaunchProgram::Itself) {
            readable.insert(self.program.to_owned());
        }
        let settings = self.config.session_dir(self.session).join("etc");
        let mut sandbox = self.isolated(readable)?;
        let home = sandbox.home.as_ref().map(|home| home.path.as_path());
        let settings = write_settings(&image.root, &settings, home)?;
        sandbox.mapped.extend(settings);
        let root = root_mounts(&image.root, &sandbox.mount_points())?;
        sandbox.mapped.extend(root);
        Ok(sandbox)
    }

    /// Describes what every isolated tier has in common: a root with nothing but what is named, a home directory and a repository of
    /// the session's own, and a private network.
    fn isolated(self, mut readable: BTreeSet<PathBuf>) -> io::Result<Sandbox> {
        let own = self.config.session_dir(self.session);
        let (layer, tmp) = (own.join("strict-home"), own.join("tmp"));
        for dir in [&layer, &tmp, &self.run_files] {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let home = self.home();
        if let Some(home) = &home {
            strict::copy_settings(home, &layer, &self.launch.config_files)?;
        }
        readable.extend(self.access.readable.iter().cloned());
        readable.insert(self.run_files.clone());
        let mut mapped = match &self.access.link {
            Some(link) => git::map_git(link, &self.access, &own)?,
            None => Vec::new(),
        };
        if let Some(objects) = self.objects.clone() {
            mapped.extend(git::map_objects(objects, &own)?);
        }
        Ok(Sandbox {
            mechanism: Mechanism::Namespaces,
            root: Root::Built,
            network: Some(strict::network(self.launch.model.as_ref())),
            hidden: Vec::new(),
            readable: readable.into_iter().collect(),
            writable: vec![self.cwd.to_owned()],
            git_writable: Vec::new(),
            mapped,
            read_only: Vec::new(),
            home: home.map(|path| Home {
                shared: Vec::new(),
                path,
                layer,
            }),
            tmp,
        })
    }

    fn guarded(self, mechanism: Mechanism) -> io::Result<Sandbox> {
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
            mapped = git::map_git(link, &self.access, &own)?;
            (git_writable, read_only) = (Vec::new(), Vec::new());
        }
        Ok(Sandbox {
            mechanism,
            root: Root::Whole,
            network: None,
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
        let home = self.told_home()?;
        home.canonicalize()
            .ok()
            .filter(|home| home.parent().is_some())
    }

    fn told_home(&self) -> Option<PathBuf> {
        let told = self.launch.environment.get("HOME");
        let told = told.map(|home| PathBuf::from(home.expose()));
        told.or_else(|| self.config.home.clone())
    }

    fn hidden(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let shown: BTreeSet<_> = self.config.shown.iter().map(|path| resolve(path)).collect();
        let in_home = home
            .into_iter()
            .flat_map(|home| HIDDEN_IN_HOME.iter().map(move |name| home.join(name)));
        let own: Vec<_> = home
            .into_iter()
            .flat_map(|home| self.login_files(home))
            .map(|path| resolve(&path))
            .collect();
        // One agent needs its own login, not those of the others.
        let logins = home
            .into_iter()
            .flat_map(|home| self.logins.iter().map(move |name| home.join(name)))
            .filter(|path| !own.contains(&resolve(path)));
        let all = in_home
            .chain(logins)
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
        let all: BTreeSet<_> = files
            .map(|file| with_modules(&file))
            .chain(self.searched())
            .collect();
        all.into_iter().collect()
    }

    /// Returns the directories in which programs are searched for.
    fn searched(&self) -> Vec<PathBuf> {
        let dirs = self.config.path.iter();
        dirs.filter_map(|dir| dir.canonicalize().ok()).collect()
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

/// Returns what a program needs of the directory that it was installed into: all modules, or itself.
fn with_modules(file: &Path) -> PathBuf {
    let modules = file.ancestors().filter(|dir| dir.ends_with("node_modules"));
    modules.last().unwrap_or(file).to_owned()
}

/// Adds what every contained agent is told to its environment; what is configured wins.
pub(super) fn add_environment(
    sandbox: &Sandbox,
    launch: &Launch,
    environment: &mut BTreeMap<String, String>,
) {
    if sandbox.network.is_some() {
        strict::add_environment(launch.model.as_ref(), environment);
    }
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
