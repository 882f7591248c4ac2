//! Keeps configuration that a repository ships, or that an agent wrote for its next start, from an agent until a person approves
//! it.
//!
//! Before a run, every configuration path of the agent is read once and a copy of it is mounted over it, read-only: the content if
//! it is approved, files that configure nothing otherwise. A path that does not exist gets a placeholder, so that it cannot be
//! created; it is removed when the run has ended. The agent's git gets a copy of the repository's `info` directory, which says to
//! ignore what is mounted on placeholders and to use the real content of what is masked, so that a mask is never a change.

mod files;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use wh_domain::{ConfigState, ConfigTreatment, ProjectConfig, Repo, Session};
use wh_git::{ConfigError, ConfigTree, RepoHandle, config_read};
use wh_runner::sandbox::{Mapped, Mechanism, Sandbox};

use self::files::{Files, Record};
use super::sandbox::GIT_DIR;
use crate::{App, AppError, Result, RunReason};

/// Directory inside the sandbox with the original content of masked files.
const ORIGINALS: &str = "/run/wheelhouse/project-config";
/// The git filter that has git see the real content.
const FILTER: &str = "wheelhouse-project-config";
/// Maximum number of bytes copied per file of the `info` directory.
const INFO_BYTES_MAX: u64 = 1 << 20;

/// Protection of project configuration for one run.
#[derive(Debug, Default)]
pub(super) struct Protection {
    /// Configuration for git that the agent is given, so that it does not see masked files as changed.
    git: Vec<(String, String)>,
    /// Variables that keep the agent from reading project configuration.
    switches: &'static [(&'static str, &'static str)],
    /// What the transcript says about it.
    pub(super) notice: Option<String>,
}

/// The repository that a session works in.
struct Checkout {
    /// Its row, if the server knows it.
    repo: Option<Repo>,
    handle: RepoHandle,
    /// The directory that git's paths are relative to.
    top: PathBuf,
}

/// A configuration path of one directory, as it was found.
pub(super) struct Found {
    pub(super) config: ProjectConfig,
    pub(super) path: PathBuf,
    pub(super) tree: Option<ConfigTree>,
    pub(super) treatment: ConfigTreatment,
    /// Whether it is there and configures nothing.
    pub(super) is_neutral: bool,
}

impl App {
    /// Adds to a sandbox what keeps unapproved configuration from the agent, and all of it from being changed.
    pub(super) async fn project_config_protect(
        &self,
        session: &Session,
        cwd: &Path,
        sandbox: &mut Sandbox,
    ) -> Result<Protection> {
        let configs = self.agents.project_config(&session.agent);
        if configs.is_empty() {
            return Ok(Protection::default());
        }
        let checkout = self.session_checkout(session, cwd).await?;
        let repo = checkout.as_ref().and_then(|it| it.repo.as_ref());
        let approved = match repo {
            Some(repo) => self.store.repo_trusted(repo.id).await?,
            None => BTreeSet::new(),
        };
        let top = checkout.as_ref().map_or(cwd, |checkout| &checkout.top);
        let dirs = cwd.ancestors().take_while(|dir| dir.starts_with(top));
        let mut found = Vec::new();
        for dir in dirs {
            for config in &configs {
                let tree = config_read(dir, config)
                    .and_then(|tree| match &tree {
                        Some(read) => read.check_links(config).map(|()| tree),
                        None => Ok(tree),
                    })
                    .map_err(|error| unreadable(session, error))?;
                let state = match &tree {
                    Some(tree) => tree.state(config),
                    None => ConfigState::Absent,
                };
                found.push(Found {
                    config: config.clone(),
                    path: dir.join(&config.name),
                    tree,
                    treatment: config.treatment(state, &approved, dir == cwd),
                    is_neutral: state == ConfigState::Neutral,
                });
            }
        }
        let unapproved: Vec<_> = found
            .iter()
            .filter(|it| it.treatment == ConfigTreatment::Empty)
            .map(|it| {
                let path = it.path.strip_prefix(top).unwrap_or(&it.path);
                path.display().to_string()
            })
            .collect();
        let switches = match sandbox.mechanism {
            // Masks leave the agent what is approved.
            Mechanism::Namespaces => &[],
            Mechanism::Landlock if unapproved.is_empty() => &[],
            Mechanism::Landlock => self.agents.project_config_off(&session.agent),
        };
        let is_kept_out = sandbox.mechanism == Mechanism::Namespaces || !switches.is_empty();
        let mut protection = Protection {
            git: Vec::new(),
            switches,
            notice: notice(session, repo, &unapproved, is_kept_out),
        };
        if sandbox.mechanism == Mechanism::Namespaces {
            let record = Record::new(session.id, &self.runs.containment.homes);
            mask(&record, &found, checkout.as_ref(), sandbox, &mut protection)?;
        }
        Ok(protection)
    }

    /// Removes the placeholders of a run that has ended.
    pub(super) fn project_config_release(&self, session: &Session) {
        let record = Record::new(session.id, &self.runs.containment.homes);
        if let Err(error) = record.release() {
            tracing::warn!(session = %session.id, %error, "placeholders of project configuration were not removed");
        }
    }

    /// Returns the repository that a session works in, if it works in one.
    async fn session_checkout(&self, session: &Session, cwd: &Path) -> Result<Option<Checkout>> {
        if let Some(worktree) = session.worktree {
            let worktree = self.worktree_by_id(worktree).await?;
            let repo = self.repo_by_id(worktree.repo).await?;
            let handle = self.worktree_handle(&repo, &worktree)?.repo().clone();
            let (top, repo) = (cwd.to_owned(), Some(repo));
            return Ok(Some(Checkout { repo, handle, top }));
        }
        let find = |top: &Path| Some((top.to_owned(), RepoHandle::find(top).ok()?));
        let found = match &session.path {
            Some(_) => cwd.ancestors().find_map(find),
            None => None,
        };
        let Some((top, handle)) = found else {
            return Ok(None);
        };
        let repo = self.repo_of(session.owner, handle.paths()).await?;
        Ok(Some(Checkout { repo, handle, top }))
    }
}

impl Protection {
    /// Adds what git is told to an agent's environment, after what it holds already.
    pub(super) fn add_environment(&self, environment: &mut BTreeMap<String, String>) {
        let switches = self.switches.iter();
        environment.extend(switches.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        if self.git.is_empty() {
            return;
        }
        let known = environment.get("GIT_CONFIG_COUNT");
        let known: usize = known.and_then(|count| count.parse().ok()).unwrap_or(0);
        for (index, (key, value)) in self.git.iter().enumerate() {
            let index = known + index;
            environment.insert(format!("GIT_CONFIG_KEY_{index}"), key.clone());
            environment.insert(format!("GIT_CONFIG_VALUE_{index}"), value.clone());
        }
        let count = known + self.git.len();
        environment.insert("GIT_CONFIG_COUNT".to_owned(), count.to_string());
    }
}

/// Mounts what the agent is to see, and tells its git about it.
fn mask(
    record: &Record,
    found: &[Found],
    checkout: Option<&Checkout>,
    sandbox: &mut Sandbox,
    protection: &mut Protection,
) -> Result<()> {
    let failed = |error: io::Error| AppError::from(RunReason::ProjectConfig { error });
    let files = Files::write(record, found).map_err(failed)?;
    sandbox.mapped.extend(files.mapped);
    let Some(checkout) = checkout else {
        return Ok(());
    };
    let is_masked = |it: &&Found| it.treatment == ConfigTreatment::Empty;
    let masked: Vec<_> = found.iter().filter(is_masked).collect();
    // A linked worktree and a private clone are shown elsewhere than they are.
    let moved = sandbox
        .mapped
        .iter()
        .find(|it| it.target == Path::new(GIT_DIR));
    let common_dir = &checkout.handle.paths().common_dir;
    let (real, seen) = match moved {
        Some(moved) => (moved.source.clone(), moved.target.clone()),
        None => (common_dir.clone(), common_dir.clone()),
    };
    let info = GitInfo {
        record,
        checkout,
        real: real.join("info"),
        placeholders: &files.placeholders,
        masked: &masked,
    };
    info.write().map_err(failed)?;
    // It cannot be shown where `/run` is not the sandbox's own.
    let is_hidden = sandbox.hidden.iter().any(|path| path == Path::new("/run"));
    let has_run = moved.is_some() || is_hidden;
    sandbox.mapped.push(Mapped {
        target: seen.join("info"),
        source: record.info(),
        writable: false,
    });
    if has_run && !masked.is_empty() {
        protection.git = filter();
        sandbox.mapped.push(Mapped {
            source: record.originals(),
            target: ORIGINALS.into(),
            writable: false,
        });
    }
    Ok(())
}

/// What the agent's git is told in its copy of the repository's `info` directory.
struct GitInfo<'a> {
    record: &'a Record,
    checkout: &'a Checkout,
    /// The directory that is copied.
    real: PathBuf,
    placeholders: &'a [PathBuf],
    masked: &'a [&'a Found],
}

impl GitInfo<'_> {
    fn write(&self) -> io::Result<()> {
        let info = self.record.info();
        fs::create_dir_all(&self.real)?;
        for name in ["exclude", "attributes", "grafts", "sparse-checkout", "refs"] {
            if let Some(bytes) = read_small(&self.real.join(name))? {
                fs::write(info.join(name), bytes)?;
            }
        }
        let mut excluded = String::new();
        for path in self.placeholders {
            excluded.push_str(&format!("\n/{}\n", self.below(path).display()));
        }
        append(&info.join("exclude"), &excluded)?;
        let mut attributes = String::new();
        for found in self.masked {
            let below = self.below(&found.path);
            let is_dir = found.tree.as_ref().is_some_and(|tree| tree.is_dir);
            let suffix = if is_dir { "/**" } else { "" };
            attributes.push_str(&format!(
                "\n\"/{}{suffix}\" filter={FILTER}\n",
                below.display()
            ));
            for (path, file) in found.tree.iter().flat_map(|tree| &tree.files) {
                files::write(&self.record.originals().join(below), path, file)?;
            }
        }
        append(&info.join("attributes"), &attributes)
    }

    fn below<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.checkout.top).unwrap_or(path)
    }
}

/// Returns the configuration by which git uses the real content of a masked file.
fn filter() -> Vec<(String, String)> {
    let key = |name: &str| format!("filter.{FILTER}.{name}");
    vec![
        (key("clean"), format!("cat -- {ORIGINALS}/%f")),
        (key("required"), "true".to_owned()),
    ]
}

/// Reads a file of the repository's `info` directory, if there is one.
fn read_small(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(INFO_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file?.write_all(text.as_bytes())
}

fn unreadable(session: &Session, error: ConfigError) -> AppError {
    let agent = session.agent.clone();
    RunReason::ProjectConfigUnreadable { agent, error }.into()
}

fn notice(
    session: &Session,
    repo: Option<&Repo>,
    unapproved: &[String],
    is_kept_out: bool,
) -> Option<String> {
    if unapproved.is_empty() {
        return None;
    }
    let paths = unapproved.join(", ");
    let what = match is_kept_out {
        true => format!("Project configuration was not loaded: {paths}."),
        false => format!(
            "Project configuration that nobody approved may have been loaded: {paths}. \
             It cannot be masked on this machine, where namespaces are not available."
        ),
    };
    let repo = match repo {
        Some(repo) => repo.id,
        None => {
            return Some(format!(
                "{what} To approve it, add the repository with `wheelhouse repo add` and run `wheelhouse repo trust`."
            ));
        }
    };
    Some(format!(
        "{what} Review and approve it with `wheelhouse repo trust {repo} --worktree {}`.",
        session.id
    ))
}
