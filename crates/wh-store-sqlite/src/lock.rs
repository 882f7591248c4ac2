//! The lock file that makes this process the only one that has the database open.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::OpenError;

/// Holds the lock until it is dropped; the kernel drops it when the process dies.
///
/// The file stays: removing it would let two processes lock two different files of the same name.
#[derive(Debug)]
pub(crate) struct LockFile {
    _file: File,
}

impl LockFile {
    /// Takes the lock beside the database at `path`, or says who has it.
    pub(crate) fn acquire(path: &Path) -> Result<Self, OpenError> {
        let lock_path = beside(path, ".lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path)
            .map_err(|source| open_error(&lock_path, source))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let path = path.to_owned();
                let pid = holder(&mut file);
                return Err(OpenError::Locked { path, pid });
            }
            Err(errno) => return Err(open_error(&lock_path, errno.into())),
        }
        write_pid(&mut file).map_err(|source| open_error(&lock_path, source))?;
        Ok(Self { _file: file })
    }
}

/// Returns the path with `suffix` added to its last part.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Says why a file beside the database, or the database, cannot be opened.
pub(crate) fn open_error(path: &Path, source: io::Error) -> OpenError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let what = source.to_string();
            OpenError::ReadOnly { path, what }
        }
        _ => OpenError::Io { path, source },
    }
}

/// Reads who holds the lock; they may be about to write it.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text);
    let pid = text.trim();
    if read.is_err() || pid.is_empty() || !pid.bytes().all(|b| b.is_ascii_digit()) {
        return "unknown".to_owned();
    }
    pid.to_owned()
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
