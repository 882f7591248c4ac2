//! The life of a runner: lock, detach, listen, start the agent, carry words, end with it.

mod actor;
mod conversation;
mod network;
mod open;
mod pipes;
mod place;
mod requests;
mod resources;
mod stderr;

use std::{fs::File, io, sync::Arc};

use rustix::fs::{FlockOperation, flock};
use tokio::sync::{mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    actor::{Actor, Inlets, Outlets},
    stderr::LastLines,
};
use crate::{
    forward,
    journal::Journal,
    link::{self, server::Shared},
    process::{self, Lifeline, ProcessMark},
    spec::RunDir,
};

/// Asks of connections that may wait; then they wait at their sockets.
const ASKS_MAX: usize = 64;
/// How long open connections may take to read the last words.
const GOODBYE: std::time::Duration = std::time::Duration::from_millis(500);

/// Why a runner ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("this run has a runner already")]
    AlreadyRunning,
    #[error("cannot {doing}")]
    Io {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
}

fn cannot(doing: &'static str) -> impl FnOnce(io::Error) -> RunError {
    move |source| RunError::Io { doing, source }
}

/// Runs the agent of `dir` to its end. Returns when the agent is gone and the server has acknowledged everything, or has not for
/// [`Limits::linger_ms`](crate::Limits). When `dir` is deleted, the agent is ended within seconds.
///
/// Call it on a current-thread runtime: the helper below it is bound to the thread that starts it.
pub async fn run(dir: RunDir) -> Result<(), RunError> {
    let _lock = lock(&dir)?;
    // Already the leader of a session when it was started by hand in one of its own: nothing to do.
    nix::unistd::setsid().ok();
    let spec = Arc::new(dir.read_spec().map_err(cannot("read the run's spec"))?);
    let swept = process::sweep(&process::run_tag(&spec), spec.resources.cgroup.as_deref());
    if swept > 0 {
        tracing::warn!(swept, "ended processes that an earlier runner left");
    }
    let journal = Journal::open(&dir.journal(), spec.limits.segment_bytes);
    let journal = journal.map_err(cannot("open the journal"))?;
    let _lifeline = Lifeline::create(&dir.lifeline()).map_err(cannot("make the lifeline"))?;
    let listener = link::server::listen(&dir).map_err(cannot("listen on the socket"))?;

    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let network = network::Network::prepare(&spec, &dir);
    let network = network.map_err(cannot("prepare the agent's network"))?;
    let port = match &spec.mcp {
        Some(mcp) if network.is_none() => {
            let port = forward::Port::open(mcp.clone(), spec.limits.clone()).await;
            Some(port.map_err(cannot("open the forwarding port"))?)
        }
        _ => None,
    };
    let mcp_url = match &network {
        Some(network) => network.tools_url(),
        None => port.as_ref().map(forward::Port::url),
    };
    if let Some(port) = port {
        tasks.spawn(port.serve(tasks.clone(), stop.clone()));
    }
    let notices = network.map(|network| network.serve(&tasks, &stop));
    let (publish, numbers) = watch::channel((journal.newest(), journal.acked()));
    let outlets = Outlets {
        numbers: publish,
        stderr: LastLines::default(),
    };
    let (asks, inbox) = mpsc::channel(ASKS_MAX);
    let shared = Arc::new(Shared {
        spec: spec.clone(),
        journal: dir.journal(),
        numbers,
        stderr: outlets.stderr.watch(),
        asks,
    });
    tasks.spawn(link::server::serve(
        listener,
        shared,
        tasks.clone(),
        stop.clone(),
    ));
    write_state(&dir).map_err(cannot("write runner.json"))?;

    let inlets = Inlets {
        asks: inbox,
        notices,
    };
    let mut actor = Actor::start(spec, &dir, journal, outlets, inlets, mcp_url, &tasks)
        .map_err(cannot("start"))?;
    let ended = actor.run().await.map_err(cannot("write the journal"));
    tasks.close();
    stop.cancel();
    tokio::time::timeout(GOODBYE, tasks.wait()).await.ok();
    ended
}

/// Closes what whoever started us left open: a runner lives on for days, and a lock or a pipe it holds by accident would too.
///
/// Call it before anything has opened a file or made a thread.
pub fn close_inherited() {
    const STANDARD_STREAMS: i32 = 3;
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let number =
        |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    let open: Vec<i32> = open.filter_map(number).collect();
    for descriptor in open.into_iter().filter(|n| *n >= STANDARD_STREAMS) {
        // The one that listed them is among them and is closed already.
        nix::unistd::close(descriptor).ok();
    }
}

/// Takes the run for this process. The kernel lets go of it whatever happens to us.
fn lock(dir: &RunDir) -> Result<File, RunError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(dir.lock())
        .map_err(cannot("open the lock"))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| RunError::AlreadyRunning)?;
    Ok(file)
}

fn write_state(dir: &RunDir) -> io::Result<()> {
    let runner = ProcessMark::of(std::process::id()).ok_or(io::ErrorKind::NotFound)?;
    let temporary = dir.path().join("runner.json.new");
    std::fs::write(
        &temporary,
        serde_json::to_vec(&link::RunnerFile { runner })?,
    )?;
    std::fs::rename(temporary, dir.state())
}
