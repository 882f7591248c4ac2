//! The one owner of a run: waits for the agent, the server, the clock and the end of the process, one thing at a time.

mod commands;
mod end;

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::BufReader,
    process::ChildStdout,
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::task::TaskTracker;

use super::{
    conversation::{Conversation, Output},
    pipes::{ToAgent, ended, now_micros, read_line, wait_for, write_lines},
    place::Place,
    resources::ResourceWatch,
    stderr::LastLines,
};
use crate::{
    acp::lines::{Line, Lines},
    event::{AgentEvent, Exit, Notice, StopStep, TurnEnd},
    journal::Journal,
    link::{Outcome, server::Ask},
    process::{ProcessMark, Tree},
    spec::{RunDir, RunSpec},
};

/// Lines to the agent that may wait in its pipe; then it is stuck.
const STDIN_LINES_MAX: usize = 64;

/// What connections are told from.
pub(super) struct Outlets {
    /// The journal's newest number and the acknowledged one.
    pub(super) numbers: watch::Sender<(u64, u64)>,
    pub(super) stderr: LastLines,
}

/// Where things come from that the actor does not read itself.
pub(super) struct Inlets {
    /// What the server asks.
    pub(super) asks: mpsc::Receiver<Ask>,
    /// What happens in the agent's own network. Absent when it has none.
    pub(super) notices: Option<mpsc::Receiver<Notice>>,
}

pub(super) struct Actor {
    spec: Arc<RunSpec>,
    journal: Journal,
    numbers: watch::Sender<(u64, u64)>,
    inbox: mpsc::Receiver<Ask>,
    notices: Option<mpsc::Receiver<Notice>>,
    conversation: Conversation,
    tree: Option<Tree>,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
    stdin: Option<mpsc::Sender<ToAgent>>,
    stderr: LastLines,
    stopping: Option<Stopping>,
    start_by: Option<Instant>,
    give_up: Option<String>,
    exited_at: Option<Instant>,
    heard_at: Instant,
    /// When to sync whatever the journal's age.
    sync_soon: Option<Instant>,
    syncing: Option<JoinHandle<()>>,
    full_told: bool,
    outcomes: VecDeque<(String, Outcome)>,
    terminate: Signal,
    place: Place,
    /// What ran when the turn began, where a cancelled turn may leave something behind.
    before_turn: Option<Vec<ProcessMark>>,
    resources: ResourceWatch,
    /// The limit that the agent has reached.
    limit_reached: Option<String>,
}

/// A rung of the ladder, and when the next is taken.
#[derive(Clone, Copy, Debug)]
struct Stopping {
    step: StopStep,
    next_at: Instant,
}

/// What woke the actor.
enum Woken {
    Ask(Option<Ask>),
    Line(io::Result<Option<Line>>),
    Exited(io::Result<std::process::ExitStatus>),
    Time,
    Synced,
    Terminated,
    Noticed(Notice),
}

impl Actor {
    pub(super) fn start(
        spec: Arc<RunSpec>,
        dir: &RunDir,
        journal: Journal,
        outlets: Outlets,
        inlets: Inlets,
        mcp_url: Option<String>,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let now = Instant::now();
        let resources = ResourceWatch::new(spec.resources.clone());
        let mut actor = Self {
            conversation: Conversation::new(spec.clone(), mcp_url),
            start_by: Some(now + Duration::from_millis(spec.limits.start_ms)),
            spec,
            journal,
            numbers: outlets.numbers,
            inbox: inlets.asks,
            notices: inlets.notices,
            tree: None,
            stdout: None,
            stdin: None,
            stderr: outlets.stderr,
            stopping: None,
            give_up: None,
            exited_at: None,
            heard_at: now,
            sync_soon: None,
            syncing: None,
            full_told: false,
            outcomes: VecDeque::new(),
            terminate: signal(SignalKind::terminate())?,
            place: Place::new(dir)?,
            before_turn: None,
            resources,
            limit_reached: None,
        };
        match Tree::start(&actor.spec, dir) {
            Ok(tree) => actor.adopt(tree, tasks),
            Err(error) => actor.exited(Exit::NotStarted(error.to_string()))?,
        }
        Ok(actor)
    }

    fn adopt(&mut self, mut tree: Tree, tasks: &TaskTracker) {
        let child = tree.child();
        if let Some(stdin) = child.stdin.take() {
            let (lines, queue) = mpsc::channel(STDIN_LINES_MAX);
            tasks.spawn(write_lines(stdin, queue));
            self.stdin = Some(lines);
        }
        if let Some(stderr) = child.stderr.take() {
            let max = self.spec.limits.stderr_lines_max;
            tasks.spawn(self.stderr.clone().read(stderr, max));
        }
        let lines = |stdout| {
            Lines::new(
                BufReader::with_capacity(64 << 10, stdout),
                self.spec.limits.line_bytes_max,
            )
        };
        self.stdout = child.stdout.take().map(lines);
        self.tree = Some(tree);
    }

    /// Goes on until the agent is gone and nobody needs its journal any more.
    pub(super) async fn run(&mut self) -> io::Result<()> {
        loop {
            self.put_out()?;
            if self.is_over() {
                return self.journal.sync();
            }
            match self.wait().await {
                Woken::Ask(Some(ask)) => self.ask(ask)?,
                Woken::Ask(None) => return Ok(()),
                Woken::Line(Ok(Some(line))) => self.hear(line),
                Woken::Line(_) => self.stdout = None,
                Woken::Exited(status) => self.agent_ended(status).await?,
                Woken::Time => self.tick(),
                Woken::Synced => self.syncing = None,
                Woken::Terminated => self.stop(),
                Woken::Noticed(notice) => self.record(&AgentEvent::Notice { notice })?,
            }
        }
    }

    /// Waits for the next thing. Commands come first: a flood must not keep a stop from being heard.
    async fn wait(&mut self) -> Woken {
        let at = tokio::time::Instant::from_std(self.due());
        let may_read = !self.is_full();
        tokio::select! {
            biased;
            ask = self.inbox.recv() => Woken::Ask(ask),
            _ = self.terminate.recv() => Woken::Terminated,
            () = tokio::time::sleep_until(at) => Woken::Time,
            () = ended(&mut self.syncing) => Woken::Synced,
            status = wait_for(&mut self.tree) => Woken::Exited(status),
            notice = next_notice(&mut self.notices) => Woken::Noticed(notice),
            line = read_line(&mut self.stdout), if may_read => Woken::Line(line),
        }
    }

    fn due(&self) -> Instant {
        let far = Instant::now() + Duration::from_secs(3_600);
        let linger = self.exited_at.map(|at| at + self.spec.limits.linger());
        let stopping = self.stopping.map(|stopping| stopping.next_at);
        let start = self.start_by.filter(|_| self.stopping.is_none());
        [
            self.conversation.due(),
            self.sync_at(),
            linger,
            stopping,
            start,
            self.place.due(),
            self.resources.due().filter(|_| self.tree.is_some()),
        ]
        .into_iter()
        .flatten()
        .fold(far, Instant::min)
    }

    fn is_over(&self) -> bool {
        self.exited_at.is_some_and(|at| {
            self.journal.acked() == self.journal.newest()
                || self.place.is_lost()
                || at.elapsed() >= self.spec.limits.linger()
        })
    }

    fn is_full(&self) -> bool {
        self.journal.bytes() >= self.spec.limits.journal_bytes_max
    }

    fn hear(&mut self, line: Line) {
        self.heard_at = Instant::now();
        self.conversation.line(line, self.heard_at);
        if self.conversation.is_ready() {
            self.start_by = None;
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.conversation.tick(now);
        if self.conversation.is_ready() {
            self.start_by = None;
        }
        if self.sync_at().is_some_and(|at| at <= now) {
            self.sync();
        }
        if self.start_by.is_some_and(|at| at <= now) && self.stopping.is_none() {
            self.start_by = None;
            self.fail("the agent did not open a conversation in time".to_owned());
        }
        if let Some(stopping) = self.stopping.filter(|stopping| stopping.next_at <= now) {
            self.climb(stopping.step);
        }
        self.check_resources(now);
        if self.place.is_found_lost(now) {
            self.fail("the directory of the run was deleted".to_owned());
        }
    }

    /// Writes down what happened and tells the agent what it is to be told.
    fn put_out(&mut self) -> io::Result<()> {
        for output in self.conversation.take_outputs() {
            match output {
                Output::Event(event) => {
                    self.mind_commands(&event);
                    self.record(&event)?;
                }
                Output::Send(line) => {
                    let sent = self
                        .stdin
                        .as_ref()
                        .map(|stdin| stdin.try_send(ToAgent::Line(line)));
                    if let Some(Err(mpsc::error::TrySendError::Full(_))) = sent {
                        self.fail("the agent does not read what it is told".to_owned());
                    }
                }
                Output::GiveUp(why) => self.fail(why),
            }
        }
        if self.is_full() && !std::mem::replace(&mut self.full_told, true) {
            let notice = Notice::JournalFull;
            self.record(&AgentEvent::Notice { notice })?;
        }
        self.full_told &= self.is_full();
        // The end of a turn that is being stopped ends the first rung.
        let idle = self.conversation.turn().is_none();
        if let Some(Stopping {
            step: StopStep::Cancel,
            ..
        }) = self.stopping.filter(|_| idle)
        {
            self.climb(StopStep::Cancel);
        }
        Ok(())
    }

    fn record(&mut self, event: &AgentEvent) -> io::Result<()> {
        let seq = self.journal.append(now_micros(), event)?;
        self.numbers.send_replace((seq, self.journal.acked()));
        if event.is_awaited() {
            self.sync_soon = Some(Instant::now());
        }
        Ok(())
    }

    /// Returns when to sync next; one at a time.
    fn sync_at(&self) -> Option<Instant> {
        let by = self.sync_soon.into_iter().chain(self.journal.sync_by());
        by.min().filter(|_| self.syncing.is_none())
    }

    /// Ends the commands that a cancelled turn left running, for agents that do not.
    fn mind_commands(&mut self, event: &AgentEvent) {
        let Some(tree) = self
            .tree
            .as_ref()
            .filter(|_| self.spec.quirks.kill_after_cancel)
        else {
            return;
        };
        match event {
            AgentEvent::TurnStarted { .. } => self.before_turn = Some(tree.marks()),
            AgentEvent::TurnEnded { reason, .. } => {
                let before = self.before_turn.take();
                if let (TurnEnd::Cancelled, Some(before)) = (reason, before) {
                    let killed = tree.kill_since(&before);
                    tracing::info!(killed, "ended what the cancelled turn had started");
                }
            }
            _ => {}
        }
    }

    /// Syncs beside the loop.
    fn sync(&mut self) {
        self.sync_soon = None;
        match self.journal.take_unsynced() {
            Ok(Some(file)) => {
                self.syncing = Some(tokio::task::spawn_blocking(move || {
                    if let Err(error) = file.sync_data() {
                        tracing::error!(%error, "the journal cannot be synced");
                    }
                }));
            }
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the journal cannot be synced"),
        }
    }
}

/// Waits for the next notice; for ever when there will be none.
async fn next_notice(notices: &mut Option<mpsc::Receiver<Notice>>) -> Notice {
    if let Some(received) = notices
        && let Some(notice) = received.recv().await
    {
        return notice;
    }
    *notices = None;
    std::future::pending().await
}
