//! The files by which project configuration is masked: copies in the session's own directory and placeholders in the checkout.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use wh_domain::{ConfigDigest, ConfigTreatment, ProjectConfig, SessionId};
use wh_git::{ConfigFile, placeholder_create, placeholder_remove};
use wh_runner::sandbox::Mapped;

use super::Found;

const DIR: &str = "project-config";
const PLACEHOLDERS: &str = "placeholders";
const HOLDERS: &str = ".placeholders";

/// Where a session's copies are, and which placeholders it has.
pub(super) struct Record {
    session: SessionId,
    dir: PathBuf,
    /// Holds a directory for each directory with placeholders, in which each session that needs some lists them.
    holders: PathBuf,
}

/// What was written for one run.
pub(super) struct Files {
    pub(super) mapped: Vec<Mapped>,
    pub(super) placeholders: Vec<PathBuf>,
}

impl Record {
    pub(super) fn new(session: SessionId, homes: &Path) -> Self {
        Self {
            session,
            dir: homes.join(session.to_string()).join(DIR),
            holders: homes.join(HOLDERS),
        }
    }

    /// Returns the copy of the repository's `info` directory that the agent's git reads.
    pub(super) fn info(&self) -> PathBuf {
        self.dir.join("info")
    }

    /// Returns the directory with the real content of what is masked.
    pub(super) fn originals(&self) -> PathBuf {
        self.dir.join("originals")
    }

    /// Returns the placeholders of the session's run.
    pub(super) fn placeholders(&self) -> BTreeSet<PathBuf> {
        read_list(&self.dir.join(PLACEHOLDERS))
    }

    fn set_placeholders(&self, paths: &BTreeSet<PathBuf>) -> io::Result<()> {
        let list = paths.iter().map(|path| path.as_os_str().as_bytes());
        let list: Vec<u8> = list.collect::<Vec<_>>().join(&0);
        fs::write(self.dir.join(PLACEHOLDERS), &list)?;
        match self.holder(paths) {
            Some(holder) => {
                holder.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(holder, list)
            }
            None => Ok(()),
        }
    }

    /// Returns the file in which other sessions see this one's placeholders, all of which are in one directory.
    fn holder(&self, paths: &BTreeSet<PathBuf>) -> Option<PathBuf> {
        let dir = paths.first()?.parent()?;
        Some(self.holders_of(dir).join(self.session.to_string()))
    }

    fn holders_of(&self, dir: &Path) -> PathBuf {
        let digest = ConfigDigest(Sha256::digest(dir.as_os_str().as_bytes()).into());
        self.holders.join(digest.to_string())
    }

    /// Returns the placeholders in a directory that other sessions' runs need.
    fn needed_by_others(&self, dir: &Path) -> BTreeSet<PathBuf> {
        let own = self.session.to_string();
        let holders = fs::read_dir(self.holders_of(dir)).into_iter().flatten();
        let others = holders
            .flatten()
            .filter(|it| it.file_name() != own.as_str());
        others.flat_map(|it| read_list(&it.path())).collect()
    }

    /// Removes the placeholders, but for those that another session's run needs and those that somebody has filled.
    pub(super) fn release(&self) -> io::Result<()> {
        let own = self.placeholders();
        if let Some(holder) = self.holder(&own)
            && let Some(dir) = own.first().and_then(|path| path.parent())
        {
            absent(fs::remove_file(&holder))?;
            let others = self.needed_by_others(dir);
            for path in own.iter().filter(|path| !others.contains(*path)) {
                placeholder_remove(path)?;
            }
            // It stays while another session is in it.
            fs::remove_dir(self.holders_of(dir)).ok();
        }
        absent(fs::remove_dir_all(&self.dir))
    }
}

impl Files {
    /// Writes what the agent is to see at each path, and placeholders where there is nothing.
    pub(super) fn write(record: &Record, found: &[Found]) -> io::Result<Self> {
        let shown = record.dir.join("shown");
        for dir in [&shown, &record.originals(), &record.info()] {
            absent(fs::remove_dir_all(dir))?;
            fs::create_dir_all(dir)?;
        }
        let mut placeholders = record.placeholders();
        for found in found {
            let is_needed = || {
                let dir = found.path.parent().unwrap_or(&found.path);
                record.needed_by_others(dir).contains(&found.path)
            };
            if found.treatment == ConfigTreatment::Reserve || found.is_neutral && is_needed() {
                placeholders.insert(found.path.clone());
            }
        }
        // Recorded first, so that a crash leaves nothing behind that nobody knows of.
        record.set_placeholders(&placeholders)?;
        let mut mapped = Vec::new();
        for (index, found) in found.iter().enumerate() {
            if found.treatment == ConfigTreatment::Leave {
                continue;
            }
            let source = shown.join(index.to_string());
            write_shown(found, &source)?;
            if found.treatment == ConfigTreatment::Reserve {
                placeholder_create(&found.path, found.config.is_dir)?;
            }
            mapped.push(Mapped {
                source,
                target: found.path.clone(),
                writable: false,
            });
        }
        let placeholders = placeholders.into_iter().collect();
        Ok(Self {
            mapped,
            placeholders,
        })
    }
}

fn write_shown(found: &Found, source: &Path) -> io::Result<()> {
    let is_dir = match &found.tree {
        Some(tree) => tree.is_dir,
        None => found.config.is_dir,
    };
    if is_dir {
        fs::create_dir(source)?;
        for (name, text) in &found.config.created {
            fs::write(source.join(name), text)?;
        }
    }
    let Some(tree) = &found.tree else {
        return match is_dir {
            true => Ok(()),
            false => fs::write(source, ProjectConfig::neutral(&found.config.name)),
        };
    };
    for (path, file) in &tree.files {
        let text = path.to_str();
        let is_shown = found.treatment == ConfigTreatment::Show
            || text.is_some_and(|text| found.config.is_instruction(text));
        if is_shown {
            write(source, path, file)?;
            continue;
        }
        let name = match tree.is_dir {
            true => text.unwrap_or_default(),
            false => found.config.name.as_str(),
        };
        let mut bytes = ProjectConfig::neutral(name).as_bytes().to_vec();
        // Git takes a file of another size for changed without looking at it.
        bytes.resize(bytes.len().max(file.bytes.len()), b'\n');
        let neutral = ConfigFile {
            executable: file.executable,
            bytes,
        };
        write(source, path, &neutral)?;
    }
    for (path, target) in &tree.links {
        let link = source.join(path);
        link.parent().map_or(Ok(()), fs::create_dir_all)?;
        symlink(target, link)?;
    }
    Ok(())
}

/// Writes a file at `below` of `dir`; the empty path is `dir` itself.
pub(super) fn write(dir: &Path, below: &Path, file: &ConfigFile) -> io::Result<()> {
    let path = match below.as_os_str().is_empty() {
        true => dir.to_owned(),
        false => dir.join(below),
    };
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&path, &file.bytes)?;
    let mode = if file.executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
}

fn read_list(path: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read(path).unwrap_or_default();
    let paths = text
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    paths
        .map(|path| OsString::from_vec(path.to_owned()).into())
        .collect()
}

/// Takes a file that is not there for removed.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
