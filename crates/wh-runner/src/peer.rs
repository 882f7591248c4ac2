//! Decides whether the process at the other end of a Unix socket is a person's program on this machine, or an agent.

use std::{
    fmt, fs, io,
    os::fd::{AsFd, OwnedFd},
};

use crate::process::ProcessMark;

/// Namespaces that the peer must share with this process.
const NAMESPACES: [&str; 3] = ["pid", "mnt", "user"];
/// Ancestors that are followed; a process further below its first ancestor is refused.
const ANCESTORS_MAX: usize = 256;
/// How often the ancestors are read when one of them ends meanwhile.
const ATTEMPTS: usize = 3;

/// The process that connected to a Unix socket.
#[derive(Debug)]
pub struct PeerProcess {
    pid: u32,
    /// Refers to this very process, also when its number is used again.
    pidfd: OwnedFd,
}

/// Why a peer is not a person's program on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRefusal {
    /// It ended, or the kernel does not tell about it.
    Unknown,
    /// It is in another namespace of this kind: inside a container.
    OtherNamespace(&'static str),
    /// One of its ancestors, or itself, is a runner: it belongs to an agent.
    UnderRunner,
}

impl fmt::Display for PeerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the process ended or cannot be examined"),
            Self::OtherNamespace(kind) => {
                write!(f, "the process is in another {kind} namespace")
            }
            Self::UnderRunner => f.write_str("the process belongs to an agent"),
        }
    }
}

impl PeerProcess {
    /// Identifies the process that opened a connection.
    pub fn of(stream: &impl AsFd) -> io::Result<Self> {
        use nix::sys::socket::{getsockopt, sockopt};
        let number = getsockopt(stream, sockopt::PeerCredentials)?.pid();
        let pid = rustix::process::Pid::from_raw(number).ok_or(io::ErrorKind::NotFound)?;
        let pidfd = match getsockopt(stream, sockopt::PeerPidfd) {
            Ok(pidfd) => pidfd,
            // Before Linux 6.5. Between the connection and this moment the number could have been used again. Any other
            // error says that the process is gone.
            Err(nix::Error::ENOPROTOOPT) => {
                rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?
            }
            Err(error) => return Err(error.into()),
        };
        let pid = pid.as_raw_nonzero().get().unsigned_abs();
        Ok(Self { pid, pidfd })
    }

    /// Returns its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Accepts the process if it is in this process's namespaces and neither it nor an ancestor is a runner. Runners are
    /// subreapers, so what an agent started stays below its runner for as long as that lives.
    ///
    /// Blocks while it reads files in `/proc`.
    pub fn check(&self, is_runner: impl Fn(ProcessMark) -> bool) -> Result<(), PeerRefusal> {
        for kind in NAMESPACES {
            let own = fs::read_link(format!("/proc/self/ns/{kind}"));
            let theirs = fs::read_link(format!("/proc/{}/ns/{kind}", self.pid));
            match (own, theirs) {
                (Ok(own), Ok(theirs)) if own == theirs => {}
                (Ok(_), Ok(_)) => return Err(PeerRefusal::OtherNamespace(kind)),
                // A kernel without this kind of namespace has none to be outside of.
                (Err(error), Err(_)) if error.kind() == io::ErrorKind::NotFound => {}
                _ => return Err(PeerRefusal::Unknown),
            }
        }
        let lineage = (0..ATTEMPTS).find_map(|_| lineage(self.pid));
        let lineage = lineage.ok_or(PeerRefusal::Unknown)?;
        // What was read was about this process if it still is that process now.
        if !self.is_alive() {
            return Err(PeerRefusal::Unknown);
        }
        if lineage.into_iter().any(is_runner) {
            return Err(PeerRefusal::UnderRunner);
        }
        Ok(())
    }

    fn is_alive(&self) -> bool {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        // A pidfd becomes readable when its process ends.
        let mut ended = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut ended, PollTimeout::ZERO), Ok(0))
    }
}

/// Returns a process and its ancestors; nothing if one of them ended while they were read.
fn lineage(pid: u32) -> Option<Vec<ProcessMark>> {
    let mut newest = ProcessMark::of(pid)?;
    let mut lineage = vec![newest];
    while lineage.len() < ANCESTORS_MAX {
        let parent = newest.parent()?;
        if parent == 0 {
            return Some(lineage);
        }
        let parent = ProcessMark::of(parent)?;
        // A parent is older than its child; a younger one has the number of a parent that ended.
        if parent.started > newest.started {
            return None;
        }
        lineage.push(parent);
        newest = parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_program_in_our_namespaces_is_accepted_unless_it_is_below_a_runner() {
        let (near, _far) = UnixStream::pair().unwrap();
        let peer = PeerProcess::of(&near).unwrap();
        assert_eq!(peer.pid(), std::process::id());
        assert_eq!(peer.check(|_| false), Ok(()));
        let parent = std::os::unix::process::parent_id();
        let is_parent = |ancestor: ProcessMark| ancestor.pid == parent;
        assert_eq!(peer.check(is_parent), Err(PeerRefusal::UnderRunner));
        let is_itself = |process: ProcessMark| process.pid == peer.pid();
        assert_eq!(peer.check(is_itself), Err(PeerRefusal::UnderRunner));
    }
}
