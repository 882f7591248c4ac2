//! What lies in a worktree at one moment, and the names git would give to its contents.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use sha1::Digest;

use crate::{
    WorktreeError, WorktreeHandle,
    beneath::{hold, open_beneath, parent_beneath},
    erase::Changed,
    walk::{Found, Kind, Next, Stamp, blocking, walk},
};

/// Everything in a directory, but for the `.git` at its top.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Files and links.
    pub(crate) files: Vec<Found>,
    /// Pipes and sockets, which hold nothing.
    pub(crate) pipes: Vec<Found>,
    /// Directories, outer before inner.
    pub(crate) directories: Vec<PathBuf>,
    /// Directories that are repositories of their own.
    pub(crate) nested: Vec<PathBuf>,
    /// The `.git` at the top, which an agent may have replaced by a file or link of its own.
    pub(crate) dot_git: Option<Found>,
}

impl Snapshot {
    /// Looks at a directory; one that is gone is empty.
    pub(crate) fn of(root: &Path) -> io::Result<Self> {
        let mut all = Self::default();
        let looked = walk(root, &mut |found| {
            if found.path.as_os_str() == ".git" && found.kind != Kind::Directory {
                all.dot_git = Some(found.clone());
                return Ok(Next::Over);
            }
            if found.path.file_name().is_some_and(|name| name == ".git") {
                all.nested.extend(found.path.parent().map(Path::to_owned));
                return Ok(Next::Over);
            }
            match found.kind {
                Kind::File { .. } | Kind::Link => all.files.push(found.clone()),
                Kind::Pipe => all.pipes.push(found.clone()),
                Kind::Directory => all.directories.push(found.path.clone()),
                Kind::Device => return Err(io::Error::other("there is a device in the worktree")),
            }
            Ok(Next::Into)
        });
        match looked {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !root.exists() => {}
            other => other?,
        }
        all.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }
}

impl WorktreeHandle {
    /// Looks at everything in the worktree. Submodules whose git directory lives in ours count as nested.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, WorktreeError> {
        let (path, modules) = (self.paths.path.clone(), self.paths.git_dir.join("modules"));
        let looked = blocking(move || {
            let mut all = Snapshot::of(&path)?;
            if modules.exists() && all.nested.is_empty() {
                all.nested.push(modules);
            }
            Ok(all)
        });
        looked.await.map_err(|source| WorktreeError::Directory {
            path: self.paths.path.clone(),
            source,
        })
    }
}

/// Tells whether a path is one of, or lies below one of, the given paths.
pub(crate) fn is_below(path: &Path, tops: &[PathBuf]) -> bool {
    tops.iter().any(|top| path.starts_with(top))
}

/// A file as git would keep it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) mode: &'static str,
    pub(crate) blob: String,
}

/// The mode git gives to a file or link.
pub(crate) fn mode_of(kind: Kind) -> &'static str {
    match kind {
        Kind::File { executable: true } => "100755",
        Kind::Link => "120000",
        _ => "100644",
    }
}

/// Reads a file or link in pieces and returns the name of its blob.
///
/// The file is opened beneath the held root without following links, and must be what was seen before and after.
pub(crate) fn read_blob(
    root: &OwnedFd,
    found: &Found,
    sha256: bool,
    piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<String> {
    let changed = || io::Error::other(Changed(found.path.clone()));
    let mut hash = Hash::new(sha256);
    hash.add(format!("blob {}\0", found.stamp.size).as_bytes());
    let mut take = |bytes: &[u8]| {
        hash.add(bytes);
        piece(bytes)
    };
    if found.kind == Kind::Link {
        let (parent, name) = parent_beneath(root, &found.path)?;
        let text = rustix::fs::readlinkat(&parent, name, Vec::new())?;
        if text.as_bytes().len() as u64 != found.stamp.size {
            return Err(changed());
        }
        take(text.as_bytes())?;
        return Ok(hash.finish());
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let mut file = File::from(open_beneath(root, &found.path, flags)?);
    let seen = |file: &File| Ok::<_, io::Error>(Stamp::of(&rustix::fs::fstat(file)?));
    if seen(&file)? != found.stamp {
        return Err(changed());
    }
    let mut left = found.stamp.size;
    let mut buffer = vec![0; 64 << 10];
    while left > 0 {
        let want = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut buffer[..want])?;
        if read == 0 {
            return Err(changed());
        }
        take(&buffer[..read])?;
        left -= read as u64;
    }
    if seen(&file)? != found.stamp {
        return Err(changed());
    }
    Ok(hash.finish())
}

/// Names every file of a snapshot without keeping anything.
pub(crate) fn entries(root: &Path, files: &[Found], sha256: bool) -> io::Result<Vec<Entry>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let held = hold(root)?;
    let entry = |found: &Found| {
        Ok(Entry {
            path: found.path.clone(),
            mode: mode_of(found.kind),
            blob: read_blob(&held, found, sha256, &mut |_| Ok(()))?,
        })
    };
    files.iter().map(entry).collect()
}

/// The two ways git names objects.
enum Hash {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl Hash {
    fn new(sha256: bool) -> Self {
        if sha256 {
            Self::Sha256(sha2::Sha256::new())
        } else {
            Self::Sha1(sha1::Sha1::new())
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hash) => hash.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    fn finish(self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Sha1(hash) => hex(&hash.finalize()),
            Self::Sha256(hash) => hex(&hash.finalize()),
        }
    }
}
