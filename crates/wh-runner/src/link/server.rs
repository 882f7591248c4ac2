//! The runner's side of the link: a task for each connection, and none of the run's state.

use std::{collections::VecDeque, io, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Action, FromRunner, LINE_BYTES_MAX, Outcome, PROTOCOL, ToRunner, Welcome, line, socket,
};
use crate::{
    acp::lines::{Line, Lines},
    event::{PermissionRequest, Question},
    journal::JournalReader,
    spec::{RunDir, RunSpec},
};

/// Connections that may be open at once; one more is closed. The server needs one.
const CONNECTIONS_MAX: usize = 8;
/// Replies that a connection may wait for, or that may wait for it to read; then its commands wait too.
const REPLIES_MAX: usize = 64;
/// How often a connection is shown stderr at most, however much is written to it.
const STDERR_EVERY: Duration = Duration::from_secs(1);

/// What a connection asks of the run.
#[derive(Debug)]
pub(crate) enum Ask {
    Command {
        id: String,
        action: Action,
        reply: Reply,
    },
    Pending(oneshot::Sender<(Vec<PermissionRequest>, Vec<Question>)>),
    Ack(u64),
}

/// Room for the reply to one command. A reply may take long: it holds up no command after it.
#[derive(Debug)]
pub(crate) struct Reply {
    id: String,
    room: mpsc::OwnedPermit<FromRunner>,
}

impl Reply {
    pub(crate) fn send(self, outcome: Outcome) {
        let id = self.id;
        self.room.send(FromRunner::Reply { id, outcome });
    }
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) spec: Arc<RunSpec>,
    pub(crate) journal: PathBuf,
    /// The newest number and the acknowledged one.
    pub(crate) numbers: watch::Receiver<(u64, u64)>,
    pub(crate) stderr: watch::Receiver<VecDeque<String>>,
    pub(crate) asks: mpsc::Sender<Ask>,
}

/// What a connection has asked to be told.
#[derive(Clone, Copy, Debug)]
struct Follow {
    after: u64,
    stderr: bool,
}

/// Starts to listen in the run's directory.
pub(crate) fn listen(dir: &RunDir) -> io::Result<UnixListener> {
    socket::listen(dir)
}

/// Accepts connections until `stop`.
pub(crate) async fn serve(
    listener: UnixListener,
    shared: Arc<Shared>,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    let open = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let (Ok((stream, _)), Ok(place)) = (accepted, open.clone().try_acquire_owned()) else {
            continue;
        };
        let (shared, stop) = (shared.clone(), stop.clone());
        tasks.spawn(async move {
            let served = tokio::select! {
                served = connection(stream, shared) => served,
                () = stop.cancelled() => Ok(()),
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            }
            drop(place);
        });
    }
}

async fn connection(stream: UnixStream, shared: Arc<Shared>) -> io::Result<()> {
    let ours = rustix::process::geteuid().as_raw();
    if stream.peer_cred()?.uid() != ours {
        return Err(io::Error::other("somebody else connected"));
    }
    let (read, mut write) = stream.into_split();
    let max = shared.spec.limits.link_line_bytes_max.min(LINE_BYTES_MAX);
    let mut lines = Lines::new(BufReader::new(read), max);
    let answer = greet(next(&mut lines).await?, &shared);
    write.write_all(&line(&answer)).await?;
    if !matches!(answer, FromRunner::Welcome(_)) {
        return Ok(());
    }
    let (replies, outgoing) = mpsc::channel(REPLIES_MAX);
    let (place, follow) = watch::channel(None);
    tokio::select! {
        read = listen_to(lines, &shared, &replies, &place) => read,
        written = talk(write, &shared, outgoing, follow) => written,
    }
}

fn greet(hello: Option<ToRunner>, shared: &Shared) -> FromRunner {
    let (newest, acked) = *shared.numbers.borrow();
    match hello {
        Some(ToRunner::Hello { protocol, .. }) if protocol == PROTOCOL => {
            FromRunner::Welcome(Welcome {
                protocol: PROTOCOL,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                session: shared.spec.session,
                epoch: shared.spec.epoch,
                newest,
                acked,
            })
        }
        Some(ToRunner::Hello { protocol, version }) => FromRunner::Refused {
            reason: format!(
                "this runner ({}) speaks link protocol {PROTOCOL}, not {protocol} of {version}",
                env!("CARGO_PKG_VERSION")
            ),
        },
        _ => FromRunner::Refused {
            reason: "say hello first".to_owned(),
        },
    }
}

/// Reads a message; `None` at the end and for what is none.
async fn next(lines: &mut Lines<BufReader<OwnedReadHalf>>) -> io::Result<Option<ToRunner>> {
    match lines.next().await? {
        Some(Line::Whole(line)) => Ok(serde_json::from_slice(&line).ok()),
        Some(Line::Oversized { .. }) | None => Ok(None),
    }
}

async fn listen_to(
    mut lines: Lines<BufReader<OwnedReadHalf>>,
    shared: &Shared,
    replies: &mpsc::Sender<FromRunner>,
    follow: &watch::Sender<Option<Follow>>,
) -> io::Result<()> {
    let gone = |_| io::Error::other("the run is over");
    while let Some(message) = next(&mut lines).await? {
        match message {
            ToRunner::Hello { .. } => {}
            ToRunner::Ack { seq } => {
                let sent = shared.asks.send(Ask::Ack(seq)).await;
                sent.map_err(|_| io::Error::other("the run is over"))?;
            }
            ToRunner::Follow { after, stderr } => {
                let (reply, pending) = oneshot::channel();
                let sent = shared.asks.send(Ask::Pending(reply)).await;
                sent.map_err(|_| io::Error::other("the run is over"))?;
                let (permissions, questions) = pending.await.map_err(gone)?;
                let message = FromRunner::Pending {
                    permissions,
                    questions,
                };
                replies.send(message).await.ok();
                follow.send_replace(Some(Follow { after, stderr }));
            }
            ToRunner::Command { id, action } => {
                let room = replies.clone().reserve_owned().await;
                let room = room.map_err(|_| io::Error::other("the connection is over"))?;
                let reply = Reply {
                    id: id.clone(),
                    room,
                };
                let sent = shared.asks.send(Ask::Command { id, action, reply }).await;
                sent.map_err(|_| io::Error::other("the run is over"))?;
            }
        }
    }
    Ok(())
}

/// Writes replies, and records and stderr once they are asked for. A slow reader holds up itself alone: there is no queue of records.
async fn talk(
    mut write: OwnedWriteHalf,
    shared: &Shared,
    mut outgoing: mpsc::Receiver<FromRunner>,
    mut follow: watch::Receiver<Option<Follow>>,
) -> io::Result<()> {
    let mut numbers = shared.numbers.clone();
    let mut reader = None;
    let (mut stderr, mut stderr_from) = (shared.stderr.clone(), Instant::now());
    loop {
        let (newest, _) = *numbers.borrow_and_update();
        if let Some(reader) = &mut reader {
            while let Some(record) = JournalReader::next(reader, newest)? {
                write.write_all(&line(&FromRunner::Record(record))).await?;
                while let Ok(message) = outgoing.try_recv() {
                    write.write_all(&line(&message)).await?;
                }
            }
        }
        let wants_stderr = follow.borrow().is_some_and(|it| it.stderr);
        tokio::select! {
            Some(message) = outgoing.recv() => write.write_all(&line(&message)).await?,
            Ok(()) = follow.changed() => {
                let follow = *follow.borrow_and_update();
                reader = follow.map(|it| JournalReader::new(&shared.journal, it.after));
            }
            Some(lines) = more_stderr(&mut stderr, stderr_from), if wants_stderr => {
                write.write_all(&line(&FromRunner::Stderr { lines })).await?;
                stderr_from = Instant::now() + STDERR_EVERY;
            }
            Ok(()) = numbers.changed() => {}
            else => return Ok(()),
        }
    }
}

/// Waits until `from`, and then until there is something new; nothing when there will be no more.
///
/// # Cancel safety
///
/// A call that is given up loses nothing.
async fn more_stderr(
    stderr: &mut watch::Receiver<VecDeque<String>>,
    from: Instant,
) -> Option<Vec<String>> {
    tokio::time::sleep_until(from).await;
    stderr.changed().await.ok()?;
    Some(stderr.borrow_and_update().iter().cloned().collect())
}
