//! The two small processes between runner and agent; both are this binary, behind the hidden command `contain`.
//!
//! The first runs before any thread exists: a process that has left its PID namespace for its children cannot make threads.
//! The second is its plain copy, so that both together hold little more memory than one.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::Path,
    process::{Command, ExitCode},
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    sys::{
        prctl::set_pdeathsig,
        signal::Signal,
        wait::{WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid},
};

use rustix::process::{
    Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit,
};

use crate::{
    cgroup,
    sandbox::{self, Mechanism, Root, Sandbox},
    spec::{Confines, Resources, RunDir},
};

/// Says that the program could not be run; what the shell says too.
pub(super) const CANNOT_START: i32 = 127;

/// Says that the sandbox could not be set up, so the program was not run. No program uses it for itself: shells stop at 127, and
/// a signal is 128 and more.
pub(super) const CANNOT_CONTAIN: i32 = 126;

/// Runs the hidden command: `outer RUN_DIR PROGRAM ARGS…`, `probe` `probe-sandbox SCRATCH_DIR whole|built`
/// or `probe-cgroup DIR`.
pub fn contain(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let stage = args.next().unwrap_or_default();
    let rest: Vec<_> = args.collect();
    let code = match (stage.to_str(), rest.as_slice()) {
        (Some("probe"), _) => i32::from(leave_namespaces(false).is_err()),
        (Some("probe-sandbox"), [scratch, root]) => {
            let root = match root.to_str() {
                Some("built") => Root::Built,
                _ => Root::Whole,
            };
            probe_sandbox(scratch.as_ref(), root)
        }
        (Some("probe-cgroup"), [dir]) => match cgroup::probe_child(dir.as_ref()) {
            Ok(()) => 0,
            Err(error) => refuse(&error.to_string()),
        },
        (Some("outer"), [dir, program, args @ ..]) => outer(&RunDir::new(dir), program, args),
        _ => CANNOT_START,
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Makes the namespaces and starts `init` in them. A run without a sandbox on a machine without namespaces becomes the agent
/// itself; so does one whose sandbox needs none.
fn outer(dir: &RunDir, program: &OsString, args: &[OsString]) -> i32 {
    // When the runner dies without a word, so do we, and `init` with us.
    set_pdeathsig(Signal::SIGKILL).ok();
    let lifeline = dir.lifeline();
    if !runner_lives(&lifeline) {
        return CANNOT_START;
    }
    let Confines { sandbox, resources } = match dir.read_confines() {
        Ok(confines) => confines,
        Err(error) => return refuse(&format!("cannot read the run's sandbox: {error}")),
    };
    // Before anything is started: descendants are born in the cgroup of their parent.
    if let Some(dir) = &resources.cgroup
        && let Err(error) = cgroup::join(dir)
    {
        return refuse(&format!(
            "cannot enter the cgroup {}: {error}",
            dir.display()
        ));
    }
    if let Err(error) = limit(&resources) {
        return refuse(&format!("cannot limit what the agent may use: {error}"));
    }
    if let Some(sandbox) = &sandbox
        && sandbox.mechanism == Mechanism::Landlock
    {
        return match sandbox::enter(sandbox) {
            Ok(()) => become_agent(program, args),
            Err(error) => refuse(&error.to_string()),
        };
    }
    let network = sandbox
        .as_ref()
        .and_then(|sandbox| sandbox.network.as_ref());
    match (leave_namespaces(network.is_some()), &sandbox) {
        (Ok(()), _) => {}
        (Err(_), None) => return become_agent(program, args),
        (Err(error), Some(_)) => return refuse(&format!("cannot make namespaces: {error}")),
    }
    if let Some(network) = network
        && let Err(error) = sandbox::send_listeners(network, &dir.ports())
    {
        return refuse(&format!("cannot set up the agent's network: {error}"));
    }
    match fork() {
        Ok(ForkResult::Parent { child }) => wait_for(child),
        Ok(ForkResult::Child) => init(&lifeline, sandbox.as_ref(), program, args),
        Err(error) => {
            say(program, &error.into());
            CANNOT_START
        }
    }
}

/// Sets the limits that the kernel enforces for each process. The nice value is for machines where no cgroup weighs the agent.
fn limit(resources: &Resources) -> rustix::io::Result<()> {
    let limits = [
        (Resource::Nofile, resources.open_files),
        (Resource::Fsize, resources.disk_bytes),
    ];
    for (resource, wanted) in limits {
        if let Some(wanted) = wanted {
            let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let limit = Some(wanted.min(allowed));
            let (current, maximum) = (limit, limit);
            setrlimit(resource, Rlimit { current, maximum })?;
        }
    }
    let cgroup = resources.cgroup.as_ref();
    let has_weight = cgroup.is_some_and(|dir| dir.join("cpu.weight").exists());
    let nice = resources.nice.filter(|_| !has_weight);
    if let Some(nice) = nice.and_then(|nice| i32::try_from(nice).ok()) {
        // Whoever is nicer already stays so.
        let now = getpriority_process(None)?;
        setpriority_process(None, now.max(nice))?;
    }
    Ok(())
}

fn become_agent(program: &OsString, args: &[OsString]) -> i32 {
    say(program, &command(program).args(args).exec());
    CANNOT_START
}

/// Builds a trial sandbox for [`crate::sandbox::probe`] and returns 0 if that worked.
fn probe_sandbox(scratch: &Path, root: Root) -> i32 {
    let with_network = root == Root::Built;
    let tried = leave_namespaces(with_network)
        .and_then(|()| match with_network {
            true => sandbox::enable_loopback(),
            false => Ok(()),
        })
        .and_then(|()| Ok(fork()?));
    match tried {
        Ok(ForkResult::Parent { child }) => wait_for(child),
        Ok(ForkResult::Child) => match sandbox::probe_child(scratch, root) {
            Ok(()) => 0,
            Err(error) => refuse(&error.to_string()),
        },
        Err(error) => refuse(&format!("cannot make namespaces: {error}")),
    }
}

#[expect(
    unsafe_code,
    reason = "no type can say that a process has one thread only"
)]
fn fork() -> nix::Result<ForkResult> {
    // SAFETY: this process has never made a thread, so the copy cannot find a lock held by one that it does not have.
    unsafe { nix::unistd::fork() }
}

/// Is the first process of the namespace: sets the sandbox up, starts the agent, takes orphans in, and ends with the agent.
fn init(lifeline: &Path, sandbox: Option<&Sandbox>, program: &OsString, args: &[OsString]) -> i32 {
    set_pdeathsig(Signal::SIGKILL).ok();
    // Opened first: the sandbox hides it.
    let lifeline = open_lifeline(lifeline);
    match sandbox {
        Some(sandbox) => {
            if let Err(error) = sandbox::enter(sandbox) {
                return refuse(&error.to_string());
            }
        }
        // Processes look themselves up by number; the numbers of this namespace are in a /proc of its own. Not allowed
        // everywhere, and most programs only use /proc/self, which works in the old one too.
        None => drop(mount(
            Some("proc"),
            "/proc",
            Some("proc"),
            MsFlags::empty(),
            None::<&str>,
        )),
    }
    std::thread::spawn(move || {
        if let Ok(lifeline) = lifeline {
            wait_for_death(lifeline);
        }
        std::process::exit(CANNOT_START);
    });
    let spawned = command(program).args(args).spawn();
    let pid = spawned.and_then(|child| i32::try_from(child.id()).map_err(io::Error::other));
    match pid {
        Ok(pid) => wait_for(Pid::from_raw(pid)),
        Err(error) => {
            say(program, &error);
            CANNOT_START
        }
    }
}

/// Makes new PID and mount namespaces for the children, and an empty network if wanted; as somebody else than root, inside a new
/// user namespace.
fn leave_namespaces(with_network: bool) -> io::Result<()> {
    let mut flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS;
    if with_network {
        // System V shared memory and message queues belong to no network, but connect processes as well.
        flags |= CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC;
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        unshare(flags)?;
    } else {
        flags |= CloneFlags::CLONE_NEWUSER;
        unshare(flags)?;
        // Everyone keeps their own number: the agent must not believe it is root.
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
    }
    // What is mounted here must not appear outside.
    let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)?;
    Ok(())
}

/// Waits for one process and takes every other that ends meanwhile out of the table.
fn wait_for(wanted: Pid) -> i32 {
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == wanted => return code,
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == wanted => {
                return 128 + signal as i32;
            }
            Err(nix::errno::Errno::ECHILD) => return CANNOT_START,
            _ => {}
        }
    }
}

/// Returns when no one has the lifeline open for writing any more.
fn wait_for_death(mut lifeline: File) {
    if rustix::fs::fcntl_setfl(&lifeline, rustix::fs::OFlags::empty()).is_ok() {
        // Nobody ever writes: this waits for the end.
        io::copy(&mut lifeline, &mut io::sink()).ok();
    }
}

/// Tells whether the runner still holds its end: it may have died before the parent-death signal was set.
fn runner_lives(lifeline: &Path) -> bool {
    let waits = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
    open_lifeline(lifeline).is_ok_and(|mut file| file.read(&mut [0]).is_err_and(waits))
}

fn open_lifeline(path: &Path) -> io::Result<File> {
    // Without this flag, opening would wait for a writer that may never come.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    File::options().read(true).custom_flags(flags).open(path)
}

#[expect(clippy::disallowed_methods, reason = "this is where the agent is run")]
fn command(program: &OsString) -> Command {
    Command::new(program)
}

/// Tells the runner, which keeps the last lines of stderr.
#[expect(
    clippy::print_stderr,
    reason = "stderr is this helper's only way to tell"
)]
fn say(program: &OsString, error: &io::Error) {
    eprintln!("cannot run {}: {error}", program.to_string_lossy());
}

/// Reports why the agent was not started.
#[expect(
    clippy::print_stderr,
    reason = "stderr is this helper's only way to tell"
)]
fn refuse(why: &str) -> i32 {
    eprintln!("{why}");
    CANNOT_CONTAIN
}
