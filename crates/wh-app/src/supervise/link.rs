//! The keeper's connection to a run: what it says, in order, and commands that are carried out once.

use std::{collections::VecDeque, time::Duration};

use futures::FutureExt;
use tokio::time::{Instant, timeout_at};
use wh_runner::{
    RunDir,
    journal::{JournalReader, Record},
    link::{Action, Commands, Events, LinkError, LinkEvent, Outcome, attach},
    process::ProcessMark,
};

/// How long a run may take to answer a command.
const REPLY_WITHIN: Duration = Duration::from_secs(10);

/// How often a process that does not answer yet is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The most records, and bytes of them, that are taken together.
const BATCH_RECORDS: usize = 256;

/// How long what nobody waits for is held back for what follows it. The start of a turn and the first words after it are one
/// transaction then, and a quick turn is one as a whole.
const GATHER: Duration = Duration::from_millis(5);

/// A connection to a run.
pub(super) struct Link {
    pub(super) epoch: u64,
    /// The requests that the run still waits for an answer to, as it said at the start.
    open_requests: Option<Vec<String>>,
    commands: Commands,
    events: Events,
    /// What was said while a command waited for its answer.
    heard: VecDeque<Record>,
    /// The latest of the agent's stderr that was not passed on.
    stderr: Option<Vec<String>>,
    /// When what was heard is passed on at the latest.
    due: Option<Instant>,
}

/// How to connect to a run.
pub(super) struct Attach {
    pub(super) epoch: u64,
    /// The place in its journal that is stored.
    pub(super) after: u64,
    /// How long it may take to listen.
    pub(super) within: Duration,
    /// Its process, if that is known.
    pub(super) runner: Option<ProcessMark>,
}

/// What a run says of its own accord.
pub(super) enum Said {
    Records(Vec<Record>),
    /// The last lines of its agent's stderr, as they are now.
    Stderr(Vec<String>),
}

impl Link {
    /// Connects, asks for everything that is not stored, and waits for the requests that are open. Gives up early on a process
    /// that is gone.
    pub(super) async fn open(dir: &RunDir, how: Attach) -> Result<Self, LinkError> {
        // A frozen process accepts connections and says nothing.
        let limit = how.within.saturating_add(REPLY_WITHIN);
        tokio::select! {
            biased;
            opened = tokio::time::timeout(limit, Self::connect(dir, &how)) => {
                opened.unwrap_or(Err(LinkError::Ended))
            }
            () = gone(how.runner) => Err(LinkError::Ended),
        }
    }

    async fn connect(dir: &RunDir, how: &Attach) -> Result<Self, LinkError> {
        let Attach { epoch, after, .. } = *how;
        let (welcome, commands, events) = attach(dir, how.within).await?;
        if welcome.epoch != epoch {
            let reason = format!("it is run {}, not {epoch}", welcome.epoch);
            return Err(LinkError::Refused { reason });
        }
        commands.follow(after).await?;
        let mut link = Self {
            epoch,
            open_requests: None,
            commands,
            events,
            heard: VecDeque::new(),
            stderr: None,
            due: None,
        };
        while link.open_requests.is_none() {
            link.hear().await?;
        }
        Ok(link)
    }

    /// Takes the requests that the run still waited for an answer to when the link was opened.
    pub(super) fn take_open_requests(&mut self) -> Vec<String> {
        self.open_requests.take().unwrap_or_default()
    }

    /// Waits for what is said next. Of records: until one comes that is awaited, or [`GATHER`] after the first.
    ///
    /// # Cancel safety
    ///
    /// A call that is given up loses nothing.
    pub(super) async fn said(&mut self) -> Result<Said, LinkError> {
        while self.heard.is_empty() {
            if let Some(lines) = self.stderr.take() {
                return Ok(Said::Stderr(lines));
            }
            self.hear().await?;
        }
        let due = *self.due.get_or_insert_with(|| Instant::now() + GATHER);
        while self.heard.len() < BATCH_RECORDS {
            let more = match self.is_awaited() {
                // What is there already is taken along.
                true => self.hear().now_or_never(),
                false => timeout_at(due, self.hear()).await.ok(),
            };
            // An end is told by the next call, after what was said before it.
            if !matches!(more, Some(Ok(()))) {
                break;
            }
        }
        self.due = None;
        let count = self.heard.len().min(BATCH_RECORDS);
        Ok(Said::Records(self.heard.drain(..count).collect()))
    }

    /// Tells whether somebody waits for something of what was heard.
    fn is_awaited(&self) -> bool {
        self.heard.iter().any(|record| record.event.is_awaited())
    }

    async fn hear(&mut self) -> Result<(), LinkError> {
        let event = self.events.next().await?;
        self.keep(event);
        Ok(())
    }

    fn keep(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Record(record) => self.heard.push_back(record),
            LinkEvent::Stderr(lines) => self.stderr = Some(lines),
            LinkEvent::Pending {
                permissions,
                questions,
            } => {
                let permissions = permissions.into_iter().map(|it| it.id);
                let questions = questions.into_iter().map(|it| it.id);
                self.open_requests = Some(permissions.chain(questions).collect());
            }
        }
    }

    /// Has the run do something; the same id again is answered with the first outcome.
    pub(super) async fn command(&mut self, id: &str, action: Action) -> Result<Outcome, LinkError> {
        let commands = self.commands.clone();
        let command = commands.command(id, action);
        let deadline = tokio::time::sleep(REPLY_WITHIN);
        tokio::pin!(command, deadline);
        loop {
            tokio::select! {
                outcome = &mut command => return outcome,
                event = self.events.next() => {
                    let event = event?;
                    self.keep(event);
                }
                () = &mut deadline => return Err(LinkError::Ended),
            }
        }
    }

    /// Lets a run that is over hear the last acknowledgement: it ends with that, and so does the connection.
    pub(super) async fn finish(mut self) {
        let over = async { while self.events.next().await.is_ok() {} };
        if tokio::time::timeout(REPLY_WITHIN, over).await.is_err() {
            tracing::warn!(epoch = self.epoch, "a run that is over did not end");
        }
    }

    /// Says that everything up to `seq` is stored for good.
    pub(super) async fn ack(&self, seq: u64) -> Result<(), LinkError> {
        self.commands.ack(seq).await
    }
}

/// Waits for the end of a process; for good when none is known.
async fn gone(runner: Option<ProcessMark>) {
    let Some(runner) = runner else {
        return std::future::pending().await;
    };
    while runner.is_alive() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Reads what a dead run left behind `after`, a batch at a time.
pub(super) fn left_behind(dir: &RunDir, after: u64) -> std::io::Result<Vec<Record>> {
    let mut reader = JournalReader::new(&dir.journal(), after);
    let mut records = Vec::new();
    while records.len() < BATCH_RECORDS {
        match reader.next(u64::MAX)? {
            Some(record) => records.push(record),
            None => break,
        }
    }
    Ok(records)
}
