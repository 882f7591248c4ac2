//! Why a server did not start, and what to do about it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::Error;
use wh_store_sqlite::OpenError;

use super::{cgroups::CannotUseCgroup, server_file::server_file};
use crate::exit::CliError;

/// How many of the ports that follow are tried when one is taken.
const PORTS_TRIED: u16 = 100;

/// The server cannot listen where it was told to.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub(super) struct CannotListen {
    pub(super) address: SocketAddr,
    #[source]
    pub(super) source: std::io::Error,
}

/// The data directory cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the data directory {}", path.display())]
pub(super) struct CannotUseDataDir {
    pub(super) path: PathBuf,
    #[source]
    pub(super) source: std::io::Error,
}

/// Says what is wrong and what to do. `named` is how a command names the data directory, when it has to.
pub(crate) fn refusal(error: Error, data_dir: &Path, named: &str) -> CliError {
    if let Some(OpenError::Locked { pid, .. }) = error.downcast_ref() {
        return in_use(pid, data_dir, named);
    }
    if let Some(refused) = error.downcast_ref::<CannotListen>() {
        return no_address(refused);
    }
    let hint = if let Some(refused) = error.downcast_ref::<OpenError>() {
        about_database(refused)
    } else if let Some(refused) = error.downcast_ref::<CannotUseDataDir>() {
        about_data_dir(refused)
    } else if let Some(CannotUseCgroup(why)) = error.downcast_ref() {
        Some(why.remedy.clone())
    } else {
        None
    };
    let hint = hint
        .unwrap_or_else(|| "`wheelhouse doctor` looks at everything the server needs".to_owned());
    CliError::from(error).hint(hint)
}

/// Somebody has the database; a server that answers is told with its address.
fn in_use(pid: &str, data_dir: &Path, named: &str) -> CliError {
    let second = "for a second one name another directory: --data-dir DIR --listen 127.0.0.1:0";
    let file = server_file(data_dir).ok().flatten();
    match file.filter(|file| file.pid.to_string() == pid) {
        Some(file) => CliError::failed(format!(
            "a server runs already for {}: {} (process {pid})",
            data_dir.display(),
            file.url
        ))
        .hint(format!(
            "`wheelhouse{named} login` prints a link that opens it in a browser; `kill {pid}` stops it and leaves its agents at work; {second}"
        )),
        None => CliError::failed(format!(
            "the data directory {} is in use by process {pid}",
            data_dir.display()
        ))
        .hint(format!(
            "it may be about to start or to end: try again in a moment, or end it with `kill {pid}`; {second}"
        )),
    }
}

fn no_address(refused: &CannotListen) -> CliError {
    let address = refused.address;
    let why = |words: &str| CliError::failed(format!("cannot listen on {address}: {words}"));
    match refused.source.kind() {
        ErrorKind::AddrInUse => why("another program does").hint(elsewhere(address)),
        ErrorKind::AddrNotAvailable => why("this machine has no such address").hint(
            "add --listen 127.0.0.1:4180 to be reached from this machine, or --listen 0.0.0.0:4180 --allow-remote from others",
        ),
        ErrorKind::PermissionDenied => why("it is not allowed to you")
            .hint("only root may use ports below 1024; add --listen 127.0.0.1:4180"),
        _ => why(&refused.source.to_string()).hint("choose another address with --listen"),
    }
}

/// Names an address that is free now, as near as possible to one that is not.
pub(crate) fn elsewhere(address: SocketAddr) -> String {
    let near = (1..=PORTS_TRIED).filter_map(|step| address.port().checked_add(step));
    let is_free = |port: &u16| TcpListener::bind((address.ip(), *port)).is_ok();
    let free = SocketAddr::new(address.ip(), near.into_iter().find(is_free).unwrap_or(0));
    format!("add --listen {free}, which is free, or stop the other program")
}

fn about_data_dir(refused: &CannotUseDataDir) -> Option<String> {
    let hint = match refused.source.kind() {
        ErrorKind::PermissionDenied => {
            "run as the user it belongs to, or name another with --data-dir DIR"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => NO_ROOM,
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "a file is where the directory should be; name another with --data-dir DIR"
        }
        _ => "name a directory that you can write to with --data-dir DIR",
    };
    Some(hint.to_owned())
}

const NO_ROOM: &str = "make room on that disk, or name a directory on another with --data-dir DIR";

fn about_database(refused: &OpenError) -> Option<String> {
    let hint = match refused {
        OpenError::Foreign { .. } => "name another data directory with --data-dir DIR",
        OpenError::Newer { .. } => {
            "start the newer version, or put a backup that this version wrote in its place"
        }
        OpenError::ChangedMigration { .. } => {
            "start the version that wrote it, or name another data directory with --data-dir DIR"
        }
        OpenError::Damaged { .. } => {
            "put a backup in its place, or move the file away together with its -wal file and begin anew"
        }
        OpenError::ReadOnly { .. } => {
            "run as the user it belongs to and let that user write (`chmod u+w`), or name another with --data-dir DIR"
        }
        OpenError::Full { .. } => NO_ROOM,
        OpenError::Io { source, .. } if source.kind() == ErrorKind::StorageFull => NO_ROOM,
        OpenError::Locked { .. }
        | OpenError::OldSqlite { .. }
        | OpenError::Io { .. }
        | OpenError::Other { .. } => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_of(error: Error) -> String {
        let error = refusal(error, Path::new("/data"), "").body.error;
        error.hint.unwrap()
    }

    #[test]
    fn no_room_is_told_as_such() {
        let path = || PathBuf::from("/data/wheelhouse.db");
        let full = OpenError::Full { path: path() };
        assert!(full.to_string().contains("disk is full"), "{full}");
        assert_eq!(hint_of(full.into()), NO_ROOM);
        let source = || std::io::Error::from(ErrorKind::StorageFull);
        let (path, source) = (path(), source());
        assert_eq!(hint_of(OpenError::Io { path, source }.into()), NO_ROOM);
    }

    #[test]
    fn a_free_address_is_near_the_one_that_is_taken() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let hint = elsewhere(address);
        let free = hint.split([' ', ',']).nth(2).unwrap();
        let free: SocketAddr = free.parse().unwrap();
        assert_ne!(free, address);
        drop(TcpListener::bind(free).unwrap());
    }

    #[test]
    fn what_nobody_foresaw_has_a_hint_too() {
        assert!(hint_of(anyhow::anyhow!("odd")).contains("doctor"));
    }
}
