//! A child process and its group: fed, read within bounds, and ended as a whole.

use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout},
};

/// The groups that are running.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The commands of ours that ran at a moment, each looking at something for somebody.
pub(crate) struct Ours(Vec<Pid>);

impl Ours {
    /// Notes which run now.
    pub(crate) fn now() -> Self {
        Self(running().clone())
    }

    /// Tells whether a process is alive and belongs to no command of ours, of then or of now.
    pub(crate) fn excludes(&self, pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let group = pid.and_then(|pid| getpgid(Some(pid)).ok());
        group.is_some_and(|group| !self.0.contains(&group) && !running().contains(&group))
    }
}

/// The process group of a running command; ends it when dropped before `done`.
pub(crate) struct Group {
    leader: Option<Pid>,
    done: AtomicBool,
}

impl Group {
    /// Takes the group that `child` leads (it was started with `process_group(0)`).
    pub(crate) fn of(child: &Child) -> Self {
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        running().extend(leader);
        Self {
            leader,
            done: AtomicBool::new(false),
        }
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        if let Some(leader) = self.leader {
            // An error means that the group is gone already.
            kill_process_group(leader, Signal::KILL).ok();
        }
    }

    /// Says that the command was waited for, so that its number may mean somebody else now.
    pub(crate) fn done(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.done.load(Ordering::Relaxed) {
            self.kill();
        }
        if let Some(leader) = self.leader {
            running().retain(|other| *other != leader);
        }
    }
}

/// Writes all of `bytes`; a reader that went away is not an error here, its exit status tells.
pub(crate) async fn feed(stdin: Option<ChildStdin>, bytes: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(&bytes).await.ok();
    }
}

/// Reads at most `limit` bytes and tells whether there was more.
pub(crate) async fn read_bounded(
    stdout: Option<ChildStdout>,
    limit: usize,
) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let Some(stdout) = stdout else {
        return Ok((bytes, false));
    };
    let mut bounded = stdout.take(limit as u64 + 1);
    bounded.read_to_end(&mut bytes).await?;
    let truncated = bytes.len() > limit;
    bytes.truncate(limit);
    Ok((bytes, truncated))
}
