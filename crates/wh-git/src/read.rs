//! Reading one file of a worktree, and nothing else.

use std::{
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use rustix::fs::{AtFlags, FileType, OFlags};

use crate::{
    WorktreeError, WorktreeHandle,
    beneath::{hold, open_beneath, parent_beneath},
    walk::blocking,
};

/// What lies at a path of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// A file's bytes, possibly only the first.
    File {
        bytes: Vec<u8>,
        /// The size of the whole file.
        size: u64,
        truncated: bool,
    },
    /// A link, which is shown and not followed.
    Link { target: PathBuf },
    /// A directory, and the names in it, sorted.
    Directory {
        names: Vec<PathBuf>,
        truncated: bool,
    },
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{path} is not a path inside the worktree")]
    Path { path: PathBuf },
    #[error("there is no such file")]
    NotFound,
    #[error("it is neither a file, a link nor a directory")]
    Kind,
    #[error("the file cannot be read")]
    Read(#[source] io::Error),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
}

/// The most names of a directory that are listed.
const NAMES_MAX: usize = 10_000;

impl WorktreeHandle {
    /// Reads up to `bytes_max` bytes of the file at `path`, which is relative to the worktree.
    ///
    /// No part of the path may be a link, `..` or any spelling of `.git`. The empty path is the worktree itself.
    pub async fn file_read(&self, path: &Path, bytes_max: usize) -> Result<FileContent, FileError> {
        self.check()?;
        if !path.as_os_str().is_empty() {
            check_path(path)?;
        }
        let (root, path) = (self.paths.path.clone(), path.to_owned());
        let read = blocking(move || read_at(&root, &path, bytes_max)).await;
        match read {
            Ok(Some(content)) => Ok(content),
            Ok(None) => Err(FileError::Kind),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FileError::NotFound),
            Err(error) => Err(FileError::Read(error)),
        }
    }
}

/// Refuses paths that lead outside or into git's own files, in any spelling that some file system takes for them.
pub(crate) fn check_path(path: &Path) -> Result<(), FileError> {
    let bad = |component: Component<'_>| match component {
        Component::Normal(name) => {
            let plain = name.as_bytes().to_ascii_lowercase();
            let trimmed = plain.trim_ascii_end();
            let trimmed = trimmed.strip_suffix(b".").unwrap_or(trimmed);
            // Some file systems drop characters that cannot be seen, and `.g\u{200c}it` is `.git` there.
            let visible: String = String::from_utf8_lossy(trimmed)
                .chars()
                .filter(|c| c.is_ascii_graphic())
                .collect();
            visible == ".git" || visible == "git~1" || plain.contains(&0)
        }
        _ => true,
    };
    if path.as_os_str().is_empty() || path.components().any(bad) {
        let path = path.to_owned();
        return Err(FileError::Path { path });
    }
    Ok(())
}

fn read_at(root: &Path, path: &Path, bytes_max: usize) -> io::Result<Option<FileContent>> {
    let root = hold(root)?;
    if path.as_os_str().is_empty() {
        return names_at(&root, path).map(Some);
    }
    let (parent, name) = parent_beneath(&root, path)?;
    let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&parent, name, Vec::new())?;
            let target = crate::worktree::path_of(target.as_bytes());
            Ok(Some(FileContent::Link { target }))
        }
        FileType::Directory => names_at(&root, path).map(Some),
        FileType::RegularFile => {
            // Opening must not wait: a pipe may have taken the file's place.
            let flags = OFlags::RDONLY | OFlags::NONBLOCK;
            let file = std::fs::File::from(open_beneath(&root, path, flags)?);
            let found = file.metadata()?;
            if !found.is_file() {
                return Ok(None);
            }
            let mut bytes = Vec::new();
            file.take(bytes_max as u64).read_to_end(&mut bytes)?;
            let size = found.len();
            let truncated = (bytes.len() as u64) < size;
            Ok(Some(FileContent::File {
                bytes,
                size,
                truncated,
            }))
        }
        _ => Ok(None),
    }
}

fn names_at(root: &std::os::fd::OwnedFd, path: &Path) -> io::Result<FileContent> {
    let held = open_beneath(root, path, crate::beneath::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&held)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b".." | b".git") {
            names.push(crate::worktree::path_of(name));
        }
        if names.len() > NAMES_MAX {
            break;
        }
    }
    let truncated = names.len() > NAMES_MAX;
    names.truncate(NAMES_MAX);
    names.sort();
    Ok(FileContent::Directory { names, truncated })
}
