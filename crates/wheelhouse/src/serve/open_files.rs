//! How many files the server may have open, and so how many connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wh_http::serve::Limits;

/// Open files to ask for. More would be of no use, and what the server starts inherits the limit.
const OPEN_FILES: u64 = 16_384;
/// Open files that are not connections: the database, runs, git, and what is opened for a moment.
const RESERVED: u64 = 512;
/// Connections that are always allowed.
const CONNECTIONS_MIN: u64 = 64;

/// Raises this process's limit on open files as far as it may, and returns the limits on connections that fit into it.
pub(super) fn connection_limits() -> Limits {
    limits_for(raise())
}

/// Returns how many files may be open now.
fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(u64::MAX);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(OPEN_FILES);
    if now >= wanted {
        return now;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, now, "the limit on open files could not be raised");
            now
        }
    }
}

fn limits_for(open_files: u64) -> Limits {
    let usual = Limits::default();
    let room = open_files.saturating_sub(RESERVED).max(CONNECTIONS_MIN);
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let connections_max = usual.connections_max.min(room);
    Limits {
        connections_max,
        // Some slots are left for other addresses and for the local socket.
        connections_per_ip_max: usual
            .connections_per_ip_max
            .min(connections_max - connections_max / 4),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_into_the_limit_on_open_files() {
        let limits = |open_files| {
            let limits = limits_for(open_files);
            (limits.connections_max, limits.connections_per_ip_max)
        };
        assert_eq!(limits(u64::MAX), (4096, 1024));
        assert_eq!(limits(1024), (512, 384));
        assert_eq!(limits(256), (64, 48));
    }
}
