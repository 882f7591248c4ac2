//! Whether a server runs for the data directory, and whether one could.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use rustix::process::{Pid, test_kill_process};
use wh_client::{Client, ClientError};

use super::{Check, shown};
use crate::config::Config;
use crate::serve::{DataDir, elsewhere, server_file};

/// Longest path of a Unix socket on Linux; macOS allows four less.
const SOCKET_PATH_BYTES_MAX: usize = 103;

pub(super) async fn checks(config: &Config) -> Vec<Check> {
    let data_dir = &config.data_dir.value;
    let socket = DataDir::new(data_dir).socket();
    let mut checks = Vec::new();
    if socket.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        let message = format!("{} is too long for a socket", shown(&socket));
        checks.push(Check::fail(
            "socket",
            message,
            "choose a shorter --data-dir",
        ));
    }
    let (check, answers) = match config.local_admin.value {
        true => server(data_dir).await,
        false => server_without_socket(data_dir),
    };
    checks.push(check);
    if !answers {
        checks.push(port(config));
    }
    checks
}

/// Tells whether a server answers, and what is odd about that.
async fn server(data_dir: &Path) -> (Check, bool) {
    const NAME: &str = "server";
    let file = match server_file(data_dir) {
        Ok(file) => file,
        Err(message) => {
            let hint = "restart the server; it writes the file anew";
            return (Check::fail(NAME, message, hint), false);
        }
    };
    let answer = match Client::local(data_dir) {
        Ok(client) => client.whoami().await,
        Err(error) => Err(error),
    };
    let check = match (answer, file) {
        (Ok(_), Some(file)) if file.version != env!("CARGO_PKG_VERSION") => Check::warn(
            NAME,
            format!(
                "{} runs version {} (pid {})",
                file.url, file.version, file.pid
            ),
            format!(
                "this program is {}; restart the server",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        (Ok(_), Some(file)) => Check::ok(NAME, format!("{} (pid {})", file.url, file.pid)),
        (Ok(_), None) => Check::warn(
            NAME,
            "it answers on its socket, but server.json is gone",
            "restart it, so that programs find it again",
        ),
        (Err(ClientError::NotRunning { .. }), None) => {
            let check = Check::ok(NAME, "not running; start it with `wheelhouse serve`");
            return (check, false);
        }
        (Err(ClientError::NotRunning { .. }), Some(file)) if !is_alive(file.pid) => {
            let message = format!(
                "server.json is left over from process {}, which is gone",
                file.pid
            );
            let check = Check::warn(NAME, message, "start it again with `wheelhouse serve`");
            return (check, false);
        }
        (Err(error), file) => {
            let pid = file.map_or(String::new(), |file| format!(" (pid {})", file.pid));
            let message = format!("it does not answer{pid}: {}", crate::exit::chain(&error));
            Check::fail(NAME, message, "look at its log, then restart it")
        }
    };
    (check, true)
}

/// Returns the process of the server that runs, if one does.
pub(super) fn running(data_dir: &Path) -> Option<u32> {
    let file = server_file(data_dir).ok().flatten();
    file.map(|file| file.pid).filter(|pid| is_alive(*pid))
}

/// Tells whether a server runs that has no local socket to ask.
fn server_without_socket(data_dir: &Path) -> (Check, bool) {
    const NAME: &str = "server";
    match server_file(data_dir) {
        Ok(Some(file)) if is_alive(file.pid) => {
            let message = format!("{} (pid {}); the local socket is off", file.url, file.pid);
            (Check::ok(NAME, message), true)
        }
        Ok(_) => {
            let check = Check::ok(NAME, "not running; start it with `wheelhouse serve`");
            (check, false)
        }
        Err(message) => {
            let hint = "restart the server; it writes the file anew";
            (Check::fail(NAME, message, hint), false)
        }
    }
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let probe = pid.map(test_kill_process);
    // A process of another user may not be probed, but it is there.
    matches!(probe, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
}

/// Tells whether a server could listen where it is told to.
fn port(config: &Config) -> Check {
    const NAME: &str = "address";
    let listen = config.listen.value;
    if let Err(error) = config.check_listen() {
        let view = error.body.error;
        return Check::fail(NAME, view.message, view.hint.unwrap_or_default());
    }
    match TcpListener::bind(listen) {
        Ok(_) => Check::ok(NAME, format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Check::fail(
            NAME,
            format!("another program listens on {listen}"),
            elsewhere(listen),
        ),
        Err(error) => Check::fail(
            NAME,
            format!("cannot listen on {listen}: {error}"),
            "choose another address with --listen",
        ),
    }
}
