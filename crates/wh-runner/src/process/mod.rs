//! Starting an agent so that everything it ever starts can be ended, and ending it.
//!
//! ```text
//! runner ── outer ── init (pid 1 of a PID namespace) ── agent ── whatever it starts
//!    └── lifeline ──┘ (a FIFO; the runner alone has it open for writing)
//! ```
//!
//! Where a cgroup is delegated to the server, `outer` enters the run's own before anything else, and all below it are born there
//! ([`crate::cgroup`]); killing that cgroup ends the tree too.
//!
//! When the first process of a PID namespace ends, the kernel kills everything in it, whatever session, group or parent it
//! has given itself. So killing `init` ends the tree, and `init` ends when the agent does, when `outer` does (parent-death
//! signal), and when the runner does (its end of the lifeline closes, also on `kill -9`).
//!
//! Where no namespace can be made, the agent runs as a plain child: the runner is subreaper, so orphans come to it and are
//! found by walking the tree, and everything carries [`TAG_VARIABLE`], by which [`sweep`] finds what a killed runner left. A
//! process that cleared its environment *and* lost its runner escapes there; [`containment`] tells `doctor` so.

mod contain;
mod memory;
mod tree;

use std::{
    ffi::OsString,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use wh_domain::SessionId;

pub use self::contain::contain;
pub use self::tree::{ProcessMark, sweep};
pub(crate) use self::tree::{TreeUse, tree_use};
use crate::{
    cgroup::RunCgroup,
    event::Exit,
    spec::{INHERITED_ENV, Resources, RunDir, RunSpec},
};

/// The hidden command of our binary that [`contain`] is behind.
pub const CONTAIN_COMMAND: &str = "contain";
/// Marks every process of a run that keeps its environment.
pub const TAG_VARIABLE: &str = "WHEELHOUSE_RUN";

/// How surely a tree can be ended on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// A PID namespace: nothing escapes.
    PidNamespace,
    /// A PID namespace inside a user namespace: nothing escapes.
    UserNamespace,
    /// Subreaper, tree walk and tag: a process that clears its environment can outlive a runner that is killed.
    Tagged,
}

/// Finds out what this machine allows, by trying it with a process that does nothing else.
pub fn containment() -> Containment {
    let root = rustix::process::geteuid().is_root();
    let tried = self_command().args(["probe"]).output();
    match (tried.is_ok_and(|output| output.status.success()), root) {
        (true, true) => Containment::PidNamespace,
        (true, false) => Containment::UserNamespace,
        (false, _) => Containment::Tagged,
    }
}

/// Returns the tag of a run.
pub fn run_tag(spec: &RunSpec) -> String {
    tag_of(spec.session, spec.epoch)
}

/// Returns the tag of a session's run of this epoch.
pub fn tag_of(session: SessionId, epoch: u64) -> String {
    format!("{session}.{epoch}")
}

/// Returns the session and the epoch of a tag.
pub fn parse_tag(tag: &str) -> Option<(SessionId, u64)> {
    let (session, epoch) = tag.rsplit_once('.')?;
    Some((session.parse().ok()?, epoch.parse().ok()?))
}

/// The agent's process and all below it.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Child,
    tag: String,
    cgroup: Option<RunCgroup>,
}

impl Tree {
    /// Starts the agent. Its stdio is in the returned child.
    ///
    /// Call it on a thread that lives as long as the runner: the parent-death signal is bound to the thread.
    pub(crate) fn start(spec: &RunSpec, dir: &RunDir) -> io::Result<Self> {
        nix::sys::prctl::set_child_subreaper(true)?;
        let tag = run_tag(spec);
        let cgroup = create_cgroup(&spec.resources)?;
        let mut command = Command::from(self_command());
        command
            .arg("outer")
            .arg(dir.path())
            .arg(&spec.command)
            .args(&spec.args)
            .env_clear()
            .envs(inherited_env())
            .envs(&spec.env)
            .env(TAG_VARIABLE, &tag)
            .current_dir(&spec.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match command.spawn() {
            Ok(child) => Ok(Self { child, tag, cgroup }),
            Err(error) => {
                cgroup.iter().for_each(RunCgroup::remove);
                Err(error)
            }
        }
    }

    /// Returns the cgroup that holds the tree, where there is one.
    pub(crate) fn cgroup(&self) -> Option<&RunCgroup> {
        self.cgroup.as_ref()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Asks every process of the tree to end. Our own helpers are left out: they end with the agent.
    pub(crate) fn terminate(&self) {
        for process in self.members() {
            if !process.is_helper() {
                process.signal(Signal::TERM);
            }
        }
    }

    /// Kills the tree, all of it; [`Self::wait_gone`] tells when it is gone.
    pub(crate) fn kill(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        for process in self.members() {
            // The outer helper reports how the agent ended, and ends by itself when the namespace is empty.
            if Some(process.pid()) != self.child.id() || !process.is_helper() {
                process.signal(Signal::KILL);
            }
        }
    }

    /// Returns what there is of the tree now.
    pub(crate) fn marks(&self) -> Vec<ProcessMark> {
        let members = self.members();
        let marks = members.iter().map(|process| ProcessMark::of(process.pid()));
        marks.flatten().collect()
    }

    /// Kills what was started after `before` was taken, and returns how many processes that were.
    pub(crate) fn kill_since(&self, before: &[ProcessMark]) -> usize {
        let members = self.members();
        let new = members
            .iter()
            .filter(|it| ProcessMark::of(it.pid()).is_some_and(|mark| !before.contains(&mark)));
        new.inspect(|process| process.signal(Signal::KILL)).count()
    }

    /// Kills what is left, waits until nothing is, and removes the cgroup. Returns whether that happened within `limit`.
    pub(crate) async fn wait_gone(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let left = self.members();
            let populated = self.cgroup.as_ref().filter(|it| it.is_populated());
            if left.is_empty() && populated.is_none() {
                self.cgroup.iter().for_each(RunCgroup::remove);
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            if let Some(cgroup) = populated {
                cgroup.kill();
            }
            for process in left {
                process.signal(Signal::KILL);
                process.reap_orphan();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn members(&self) -> Vec<tree::Process> {
        let held = self.cgroup.as_ref().map(RunCgroup::processes);
        tree::members(std::process::id(), &self.tag, &held.unwrap_or_default())
    }
}

/// Creates the cgroup of a run that is to have one.
fn create_cgroup(resources: &Resources) -> io::Result<Option<RunCgroup>> {
    let Some(dir) = &resources.cgroup else {
        return Ok(None);
    };
    RunCgroup::create(dir, resources)
        .map(Some)
        .map_err(|error| {
            let message = format!("cannot create the cgroup {}: {error}", dir.display());
            io::Error::new(error.kind(), message)
        })
}

/// The runner's end of the lifeline.
#[derive(Debug)]
pub(crate) struct Lifeline {
    _file: std::fs::File,
}

impl Lifeline {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if !path.exists() {
            nix::unistd::mkfifo(
                path,
                nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR,
            )?;
        }
        // Open for reading too, so that opening does not wait for the other side.
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)?;
        Ok(Self { _file: file })
    }
}

/// Tells how the agent ended from the status that our helper passes on.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(contain::CANNOT_START), _) => {
            Exit::NotStarted("the program cannot be run".to_owned())
        }
        (Some(contain::CANNOT_CONTAIN), _) => {
            Exit::NotStarted("the sandbox could not be set up".to_owned())
        }
        (Some(code), _) if code > 128 => Exit::Signal(code - 128),
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}

fn inherited_env() -> impl Iterator<Item = (&'static str, OsString)> {
    INHERITED_ENV
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// Runs this binary again: also when its file has been replaced by an upgrade.
#[expect(
    clippy::disallowed_methods,
    reason = "agents are run here, with a fixed environment"
)]
pub(crate) fn self_command() -> std::process::Command {
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg(CONTAIN_COMMAND);
    command
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // A process that is gone meanwhile is what we want.
        kill_process(pid, signal).ok();
    }
}
