//! The server's side of the link.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
    sync::{mpsc, oneshot},
};

use super::{
    Action, FromRunner, LINE_BYTES_MAX, Outcome, PROTOCOL, ToRunner, Welcome, line, socket,
};
use crate::{
    acp::lines::{Line, Lines},
    event::{PermissionRequest, Question},
    journal::Record,
    spec::RunDir,
};

/// Commands that may wait to be written; then the caller waits.
const QUEUE_MAX: usize = 64;
/// How often a runner that does not listen yet is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// Why a runner cannot be talked to.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("nobody answers for this run")]
    Unreachable(#[source] io::Error),
    #[error("the runner refused: {reason}")]
    Refused { reason: String },
    #[error("the connection to the runner broke")]
    Broken(#[source] io::Error),
    #[error("the runner said something that cannot be read")]
    Unreadable,
    #[error("the connection to the runner has ended")]
    Ended,
}

type Waiting = Arc<Mutex<HashMap<String, oneshot::Sender<Outcome>>>>;

/// Tells the runner what to do. Can be cloned; needs somebody to call [`Events::next`].
#[derive(Clone, Debug)]
pub struct Commands {
    outgoing: mpsc::Sender<ToRunner>,
    waiting: Waiting,
}

/// What the runner says. Calling [`Self::next`] also carries commands and their replies.
#[derive(Debug)]
pub struct Events {
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
    unwritten: VecDeque<u8>,
    incoming: mpsc::Receiver<ToRunner>,
    waiting: Waiting,
}

/// One thing that the runner says of its own accord.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkEvent {
    /// What waits for an answer; comes first after [`Commands::follow`].
    Pending {
        permissions: Vec<PermissionRequest>,
        questions: Vec<Question>,
    },
    Record(Record),
    /// The last lines of the agent's stderr, when they have changed.
    Stderr(Vec<String>),
}

/// Connects to the runner of `dir`, trying again for `patience` while it starts.
pub async fn attach(
    dir: &RunDir,
    patience: Duration,
) -> Result<(Welcome, Commands, Events), LinkError> {
    let deadline = Instant::now() + patience;
    let stream = loop {
        match socket::connect(dir).await {
            Ok(stream) => break stream,
            Err(error) if Instant::now() >= deadline => return Err(LinkError::Unreachable(error)),
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    };
    let (read, mut write) = stream.into_split();
    let hello = ToRunner::Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let said = write.write_all(&line(&hello)).await;
    said.map_err(LinkError::Broken)?;
    let mut lines = Lines::new(BufReader::new(read), LINE_BYTES_MAX);
    let welcome = match read_message(&mut lines).await? {
        FromRunner::Welcome(welcome) => welcome,
        FromRunner::Refused { reason } => return Err(LinkError::Refused { reason }),
        _ => return Err(LinkError::Unreadable),
    };
    let (outgoing, incoming) = mpsc::channel(QUEUE_MAX);
    let waiting = Waiting::default();
    let commands = Commands {
        outgoing,
        waiting: waiting.clone(),
    };
    let unwritten = VecDeque::new();
    let events = Events {
        lines,
        write,
        unwritten,
        incoming,
        waiting,
    };
    Ok((welcome, commands, events))
}

impl Commands {
    /// Has the runner do something, once: the same id again is answered with the first outcome.
    pub async fn command(&self, id: &str, action: Action) -> Result<Outcome, LinkError> {
        let (reply, outcome) = oneshot::channel();
        lock(&self.waiting).insert(id.to_owned(), reply);
        let id = id.to_owned();
        self.send(ToRunner::Command { id, action }).await?;
        outcome.await.map_err(|_| LinkError::Ended)
    }

    /// Asks for every record behind `after`, and live ones from then on, and for the last lines of stderr.
    pub async fn follow(&self, after: u64) -> Result<(), LinkError> {
        let stderr = true;
        self.send(ToRunner::Follow { after, stderr }).await
    }

    /// Says that everything up to `seq` is stored for good.
    pub async fn ack(&self, seq: u64) -> Result<(), LinkError> {
        self.send(ToRunner::Ack { seq }).await
    }

    async fn send(&self, message: ToRunner) -> Result<(), LinkError> {
        let sent = self.outgoing.send(message).await;
        sent.map_err(|_| LinkError::Ended)
    }
}

impl Events {
    /// Returns what the runner says next. An error means that the connection is over; attach again.
    ///
    /// # Cancel safety
    ///
    /// A call that is given up loses nothing.
    pub async fn next(&mut self) -> Result<LinkEvent, LinkError> {
        loop {
            tokio::select! {
                message = read_message(&mut self.lines) => match message? {
                    FromRunner::Reply { id, outcome } => self.answer(&id, outcome),
                    FromRunner::Record(record) => return Ok(LinkEvent::Record(record)),
                    FromRunner::Pending { permissions, questions } => {
                        return Ok(LinkEvent::Pending { permissions, questions });
                    }
                    FromRunner::Stderr { lines } => return Ok(LinkEvent::Stderr(lines)),
                    FromRunner::Refused { reason } => return Err(LinkError::Refused { reason }),
                    FromRunner::Welcome(_) => {}
                },
                written = self.write.write_buf(&mut self.unwritten), if !self.unwritten.is_empty() => {
                    written.map_err(LinkError::Broken)?;
                }
                Some(message) = self.incoming.recv(), if self.unwritten.is_empty() => {
                    self.unwritten.extend(line(&message));
                }
            }
        }
    }

    fn answer(&self, id: &str, outcome: Outcome) {
        if let Some(caller) = lock(&self.waiting).remove(id) {
            // A caller that has given up does not need it.
            caller.send(outcome).ok();
        }
    }
}

impl Drop for Events {
    /// Tells everyone who waits that no answer will come.
    fn drop(&mut self) {
        lock(&self.waiting).clear();
    }
}

async fn read_message(
    lines: &mut Lines<BufReader<OwnedReadHalf>>,
) -> Result<FromRunner, LinkError> {
    match lines.next().await.map_err(LinkError::Broken)? {
        Some(Line::Whole(line)) => serde_json::from_slice(&line).map_err(|_| LinkError::Unreadable),
        Some(Line::Oversized { .. }) => Err(LinkError::Unreadable),
        None => Err(LinkError::Ended),
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<Outcome>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
