//! The socket's address. A path in a socket address holds about 100 bytes, and run directories can be longer.

use std::{fs::File, io, os::fd::AsRawFd, path::PathBuf};

use tokio::net::{UnixListener, UnixStream};

use crate::spec::RunDir;

/// What surely fits into an address.
const PATH_BYTES_MAX: usize = 100;

/// Listens in the run's directory. The caller holds the lock, so a socket that is there belongs to nobody.
pub(super) fn listen(dir: &RunDir) -> io::Result<UnixListener> {
    match std::fs::remove_file(dir.socket()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (path, _open) = address(dir)?;
    UnixListener::bind(path)
}

pub(super) async fn connect(dir: &RunDir) -> io::Result<UnixStream> {
    let (path, _open) = address(dir)?;
    UnixStream::connect(path).await
}

/// Returns a short path to the socket, and what must stay open while it is used.
fn address(dir: &RunDir) -> io::Result<(PathBuf, Option<File>)> {
    let path = dir.socket();
    if path.as_os_str().len() <= PATH_BYTES_MAX {
        return Ok((path, None));
    }
    let open = File::open(dir.path())?;
    let path = format!("/proc/self/fd/{}/socket", open.as_raw_fd());
    Ok((path.into(), Some(open)))
}
