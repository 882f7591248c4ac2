//! Reading the configuration of coding agents that lies in a repository, from a checkout or from a commit.
//!
//! Links are never followed. Everything read is bounded, because a repository can contain anything.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mknodat};
use sha2::{Digest, Sha256};
use wh_domain::{CONFIG_BYTES_MAX, CONFIG_FILES_MAX, ConfigDigest, ConfigState, ProjectConfig};

use crate::{
    CommitId, GitError, RepoHandle,
    beneath::{DIRECTORY, hold, open_beneath, parent_beneath},
    view::View,
    worktree::path_of,
};

/// How many directories may lie within each other below a configuration path.
const DEPTH_MAX: usize = 20;

/// What holds the place of a file: git does not show it, and opening it fails at once.
const PLACEHOLDER: FileType = FileType::Socket;

/// A configuration file, or a directory with all of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigTree {
    pub is_dir: bool,
    /// Files by their path below the directory; the file itself has the empty path.
    pub files: BTreeMap<PathBuf, ConfigFile>,
    /// Symbolic links in the directory, with what they point to.
    pub links: BTreeMap<PathBuf, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    pub executable: bool,
    pub bytes: Vec<u8>,
}

/// Why a configuration path cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path} is a symbolic link")]
    Link { path: PathBuf },
    #[error("{path} is neither a file nor a directory")]
    Kind { path: PathBuf },
    #[error(
        "{path} has more than {CONFIG_FILES_MAX} files, {} MB or {DEPTH_MAX} nested directories",
        CONFIG_BYTES_MAX >> 20
    )]
    TooLarge { path: PathBuf },
    #[error("{path} cannot be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl ConfigTree {
    /// Returns what a person approves: the SHA-256 of a file's bytes, or of names, modes and bytes of all files of a directory.
    /// Text for the model is left out.
    pub fn state(&self, config: &ProjectConfig) -> ConfigState {
        let counted = self.counted(config);
        let neutral = |(path, file): (&PathBuf, &ConfigFile)| {
            path.as_os_str().is_empty()
                && file.bytes == ProjectConfig::neutral(&config.name).as_bytes()
        };
        if self.counted(config).all(neutral) {
            return ConfigState::Neutral;
        }
        let mut hasher = Sha256::new();
        if !self.is_dir {
            counted.for_each(|(_, file)| hasher.update(&file.bytes));
            return ConfigState::Present(ConfigDigest(hasher.finalize().into()));
        }
        for (path, file) in counted {
            let path = path.as_os_str().as_bytes();
            for part in [path, &file.bytes] {
                hasher.update((part.len() as u64).to_be_bytes());
                hasher.update(part);
            }
            hasher.update([u8::from(file.executable)]);
        }
        ConfigState::Present(ConfigDigest(hasher.finalize().into()))
    }

    /// Refuses links that may lead to configuration: what they lead to can be changed although they cannot.
    pub fn check_links(&self, config: &ProjectConfig) -> Result<(), ConfigError> {
        let is_instruction = |path: &Path| {
            let text = path.to_str().unwrap_or_default();
            config.is_instruction(text) || config.is_instruction(&format!("{text}/"))
        };
        let mut links = self.links.keys();
        match links.find(|path| !is_instruction(path)) {
            Some(path) => Err(ConfigError::Link {
                path: Path::new(&config.name).join(path),
            }),
            None => Ok(()),
        }
    }

    /// Returns the files that count as configuration.
    pub fn counted<'a>(
        &'a self,
        config: &'a ProjectConfig,
    ) -> impl Iterator<Item = (&'a PathBuf, &'a ConfigFile)> {
        let is_counted = |path: &Path| !path.to_str().is_some_and(|it| config.is_instruction(it));
        self.files.iter().filter(move |(path, _)| is_counted(path))
    }

    fn empty(is_dir: bool) -> Self {
        Self {
            is_dir,
            files: BTreeMap::new(),
            links: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: &str, below: PathBuf, file: ConfigFile) -> Result<(), ConfigError> {
        self.files.insert(below, file);
        let bytes: usize = self.files.values().map(|file| file.bytes.len()).sum();
        if self.files.len() > CONFIG_FILES_MAX || bytes as u64 > CONFIG_BYTES_MAX {
            return Err(ConfigError::TooLarge { path: name.into() });
        }
        Ok(())
    }
}

/// Creates what holds the place of a configuration path that does not exist, so that something can be mounted on it. Git shows
/// neither sockets nor empty directories as new files.
pub fn placeholder_create(path: &Path, is_dir: bool) -> io::Result<()> {
    let made = match is_dir {
        true => rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)),
        false => mknodat(CWD, path, PLACEHOLDER, Mode::from_raw_mode(0o600), 0),
    };
    match made {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// Removes a placeholder, unless it is not one any more.
pub fn placeholder_remove(path: &Path) -> io::Result<()> {
    use rustix::{fs::unlinkat, io::Errno};
    let removed = match kind_at(&CWD, path)? {
        Some(PLACEHOLDER) => unlinkat(CWD, path, AtFlags::empty()),
        Some(FileType::Directory) => unlinkat(CWD, path, AtFlags::REMOVEDIR),
        _ => Ok(()),
    };
    match removed {
        Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
        removed => Ok(removed?),
    }
}

/// Reads what lies at a configuration path of a directory, or nothing when nothing or a placeholder does.
pub fn config_read(dir: &Path, config: &ProjectConfig) -> Result<Option<ConfigTree>, ConfigError> {
    let name = config.name.as_str();
    let failed = |source| ConfigError::Read {
        path: dir.join(name),
        source,
    };
    let root = hold(dir).map_err(failed)?;
    let path = Path::new(name);
    let kind = kind_at(&root, path).map_err(failed)?;
    let Some(kind) = kind.filter(|kind| *kind != PLACEHOLDER) else {
        return Ok(None);
    };
    let mut tree = ConfigTree::empty(kind == FileType::Directory);
    read_into(&root, config, Path::new(""), kind, 0, &mut tree)?;
    Ok(Some(tree))
}

fn is_omitted(config: &ProjectConfig, below: &Path) -> bool {
    config.omitted.iter().any(|name| below.starts_with(name))
}

fn kind_at(root: &impl std::os::fd::AsFd, path: &Path) -> io::Result<Option<FileType>> {
    match rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read_into(
    root: &std::os::fd::OwnedFd,
    config: &ProjectConfig,
    below: &Path,
    kind: FileType,
    depth: usize,
    tree: &mut ConfigTree,
) -> Result<(), ConfigError> {
    let name = config.name.as_str();
    let path = match below.as_os_str().is_empty() {
        true => PathBuf::from(name),
        false => Path::new(name).join(below),
    };
    let failed = |source| ConfigError::Read {
        path: path.clone(),
        source,
    };
    match kind {
        FileType::RegularFile => {
            let file = read_file(root, &path).map_err(failed)?;
            let file = file.ok_or_else(|| ConfigError::Kind { path: path.clone() })?;
            tree.add(name, below.to_owned(), file)
        }
        FileType::Directory if depth < DEPTH_MAX => {
            let held = open_beneath(root, &path, DIRECTORY).map_err(failed)?;
            let mut seen = 0;
            for entry in Dir::read_from(&held).map_err(|error| failed(error.into()))? {
                let entry = entry.map_err(|error| failed(error.into()))?;
                let entry = path_of(entry.file_name().to_bytes());
                if entry == Path::new(".") || entry == Path::new("..") {
                    continue;
                }
                seen += 1;
                if seen > CONFIG_FILES_MAX {
                    return Err(ConfigError::TooLarge { path: name.into() });
                }
                if let Some(kind) = kind_at(&held, &entry).map_err(failed)? {
                    let below = below.join(entry);
                    if !is_omitted(config, &below) {
                        read_into(root, config, &below, kind, depth + 1, tree)?;
                    }
                }
            }
            Ok(())
        }
        FileType::Directory => Err(ConfigError::TooLarge { path: name.into() }),
        FileType::Symlink if depth == 0 => Err(ConfigError::Link { path }),
        FileType::Symlink => {
            let (parent, link) = parent_beneath(root, &path).map_err(failed)?;
            let target = rustix::fs::readlinkat(&parent, link, Vec::new());
            let target = target.map_err(|error| failed(error.into()))?;
            tree.links
                .insert(below.to_owned(), path_of(target.as_bytes()));
            Ok(())
        }
        _ => Err(ConfigError::Kind { path }),
    }
}

fn read_file(root: &std::os::fd::OwnedFd, path: &Path) -> io::Result<Option<ConfigFile>> {
    use std::os::unix::fs::PermissionsExt;
    // Opening must not wait: a pipe may have taken the file's place.
    let file = File::from(open_beneath(root, path, OFlags::RDONLY | OFlags::NONBLOCK)?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(Some(ConfigFile {
        executable: found.permissions().mode() & 0o100 != 0,
        bytes,
    }))
}

impl RepoHandle {
    /// Reads what lies at a configuration path of a commit, or nothing when nothing does.
    pub async fn config_at(
        &self,
        commit: &CommitId,
        config: &ProjectConfig,
    ) -> Result<Option<ConfigTree>, ConfigError> {
        let view = View::of(self)?;
        let name = config.name.as_str();
        let list = [
            "ls-tree",
            "-r",
            "-l",
            "-z",
            "--full-tree",
            commit.as_str(),
            "--",
            name,
        ];
        let list = view.git().args(list).bytes().await?;
        let records: Vec<_> = list
            .split(|byte| *byte == 0)
            .filter(|it| !it.is_empty())
            .collect();
        let too_large = || ConfigError::TooLarge { path: name.into() };
        if records.len() > CONFIG_FILES_MAX {
            return Err(too_large());
        }
        let mut tree: Option<ConfigTree> = None;
        for record in records {
            let (facts, path) = split_record(record).ok_or_else(|| {
                GitError::failed("git listed the files of a commit in an unknown format")
            })?;
            let path = path_of(path);
            let below = path.strip_prefix(name).unwrap_or(&path).to_owned();
            if is_omitted(config, &below) {
                continue;
            }
            let is_dir = !below.as_os_str().is_empty();
            match facts.mode {
                "100644" | "100755" => {}
                "120000" if is_dir => {}
                "120000" => return Err(ConfigError::Link { path }),
                _ => return Err(ConfigError::Kind { path }),
            }
            if facts.bytes > CONFIG_BYTES_MAX {
                return Err(too_large());
            }
            let bytes = view
                .git()
                .args(["cat-file", "blob", facts.blob])
                .bytes()
                .await?;
            let tree = tree.get_or_insert_with(|| ConfigTree::empty(is_dir));
            if facts.mode == "120000" {
                tree.links.insert(below, path_of(&bytes));
                continue;
            }
            let file = ConfigFile {
                executable: facts.mode == "100755",
                bytes,
            };
            tree.add(name, below, file)?;
        }
        Ok(tree)
    }
}

struct Facts<'a> {
    mode: &'a str,
    blob: &'a str,
    bytes: u64,
}

/// Splits a line of `git ls-tree -l`: mode, type, object, size, a tab and the path.
fn split_record(record: &[u8]) -> Option<(Facts<'_>, &[u8])> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut facts = std::str::from_utf8(&record[..tab])
        .ok()?
        .split_ascii_whitespace();
    let (mode, _kind, blob) = (facts.next()?, facts.next()?, facts.next()?);
    let bytes = facts.next()?.parse().unwrap_or(0);
    Some((Facts { mode, blob, bytes }, &record[tab + 1..]))
}
