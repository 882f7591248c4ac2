//! `wheelhouse serve --kill-all`: ends the server of a data directory and everything that works for it.
//!
//! The server goes first, so that nothing new begins. Then the database is ours, and every session that has a process is stopped
//! as `session_manage` would: its keeper climbs the ladder, reads the run's journal to its end and records that it is over. What is
//! left then is killed and found by its tag: runs that the database does not know, or all of them when it cannot be opened; those
//! journals stay, and the next server reads them.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tokio::net::UnixStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_api::SessionSummaryView;
use wh_domain::Surface;
use wh_runner::{
    link::list_runs,
    process::{ProcessMark, run_tag, sweep},
};

use super::{DataDir, ServeOptions, open, server_file};

/// How long the server may take to finish its requests; its data is safe at any moment.
const SERVER_WITHIN: Duration = Duration::from_secs(5);
/// How long the ladder may take: the cancel, the polite signal, the kill.
const STOP_WITHIN: Duration = Duration::from_secs(15);
/// How long a runner may take to leave when everything is recorded.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);
/// How long it may take until something that was killed is gone, and that is recorded.
const RECORD_WITHIN: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// What was ended.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Ended {
    /// The server's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<u32>,
    /// The sessions that were stopped.
    pub(crate) sessions: Vec<SessionSummaryView>,
    /// Runs that could not be stopped in an orderly way, and were killed.
    pub(crate) killed: usize,
    /// Why the database does not tell of it.
    #[serde(skip)]
    pub(crate) not_recorded: Option<anyhow::Error>,
}

/// Ends the server and every agent of a data directory, with everything they started.
pub(crate) async fn kill_all(options: &ServeOptions) -> Result<Ended> {
    let mut ended = Ended::default();
    if !options.data_dir.exists() {
        return Ok(ended);
    }
    let data_dir = DataDir::prepare(&options.data_dir)?;
    ended.server = end_server(&data_dir).await?;
    if options.database_in(&data_dir).exists() {
        let stopped = stop_sessions(options, &data_dir, &mut ended).await;
        ended.not_recorded = stopped.err();
    }
    ended.killed += kill_runs(&data_dir.runs(), Duration::ZERO).await?;
    Ok(ended)
}

/// Ends the server, and returns its process.
async fn end_server(data_dir: &DataDir) -> Result<Option<u32>> {
    let Some(pid) = server_process(data_dir).await? else {
        return Ok(None);
    };
    let number = u32::try_from(pid.as_raw_nonzero().get())?;
    let Some(server) = ProcessMark::of(number) else {
        return Ok(Some(number));
    };
    kill_process(pid, Signal::TERM)
        .with_context(|| format!("cannot end the server, process {number}"))?;
    if !is_gone_within(server, SERVER_WITHIN).await {
        server.kill();
        is_gone_within(server, RECORD_WITHIN).await;
    }
    Ok(Some(number))
}

/// Finds the server: whoever listens on the socket, else the process that `server.json` names. A file may be older than the
/// process it names, so that one must be a server.
async fn server_process(data_dir: &DataDir) -> Result<Option<Pid>> {
    if let Ok(stream) = UnixStream::connect(data_dir.socket()).await {
        let pid = stream.peer_cred()?.pid().and_then(Pid::from_raw);
        return pid
            .context("cannot tell which process the server is")
            .map(Some);
    }
    let file = server_file(data_dir.path()).ok().flatten();
    let named = file.map(|file| file.pid).filter(|pid| is_server(*pid));
    Ok(named
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw))
}

/// Tells whether a process runs this program to serve.
fn is_server(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    let is_ours = words.next().is_some_and(|it| it.ends_with(b"wheelhouse"));
    is_ours && words.any(|word| [&b"serve"[..], b"up", b"mcp"].contains(&word))
}

async fn is_gone_within(process: ProcessMark, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while process.is_alive() {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(POLL).await;
    }
    true
}

/// Stops every session that has a process, and has it recorded.
async fn stop_sessions(
    options: &ServeOptions,
    data_dir: &DataDir,
    ended: &mut Ended,
) -> Result<()> {
    let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
    let (store, app) = open(options, data_dir, &shutdown, None).await?;
    let stop = async {
        let cx = app.context(app.local_principal().await?, Surface::Server);
        let mut asked = app.session_stop_all(&cx).await?;
        // Only now: a keeper that does not know of the stop would begin what waits.
        app.supervise(&tasks);
        app.session_stop_wait(&asked, STOP_WITHIN).await?;
        // A session at rest may have been told meanwhile what became of another.
        let woken = app.session_stop_all(&cx).await?;
        app.session_stop_wait(&woken, STOP_WITHIN).await?;
        asked.extend(woken);
        asked.sort_unstable();
        asked.dedup();
        ended.killed += kill_runs(&data_dir.runs(), LEAVE_WITHIN).await?;
        let patience = match ended.killed {
            0 => Duration::ZERO,
            _ => RECORD_WITHIN,
        };
        let sessions = app.session_stop_wait(&asked, patience).await?;
        ended.sessions = sessions.iter().map(Into::into).collect();
        Ok(())
    };
    let stopped = stop.await;
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
    app.drain().await;
    store.close().await;
    stopped
}

/// Kills the runners that do not leave in time, and what any run left; returns how many runs that were.
async fn kill_runs(runs: &Path, patience: Duration) -> Result<usize> {
    let deadline = Instant::now() + patience;
    let mut killed = 0;
    for run in list_runs(runs).context("cannot look for runs")? {
        let left = deadline.saturating_duration_since(Instant::now());
        let late = match run.alive {
            Some(runner) if !is_gone_within(runner, left).await => {
                runner.kill();
                is_gone_within(runner, RECORD_WITHIN).await;
                true
            }
            _ => false,
        };
        let tag = run_tag(&run.spec);
        let cgroup = run.spec.resources.cgroup;
        let swept = tokio::task::spawn_blocking(move || sweep(&tag, cgroup.as_deref())).await?;
        killed += usize::from(late || swept > 0);
    }
    Ok(killed)
}
