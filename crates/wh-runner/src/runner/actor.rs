//! The one owner of a run: waits for the agent, the server, the clock and the end of the process, one thing at a time.

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
    conversation::{CommandResult, Conversation, Output},
    pipes::{ended, now_micros, read_line, wait_for, write_lines},
    place::Place,
    stderr::LastLines,
};
use crate::{
    acp::lines::{Line, Lines},
    event::{AgentEvent, Exit, Notice, StopStep, TurnEnd},
    journal::Journal,
    link::{Action, Outcome, Refusal, RunStatus, server::Ask},
    process::{self, ProcessMark, Tree},
    spec::{RunDir, RunSpec},
};

/// Lines to the agent that may wait in its pipe; then it is stuck.
const STDIN_LINES_MAX: usize = 64;
/// Commands whose outcomes are remembered for repeats.
const OUTCOMES_MAX: usize = 1_024;
/// How long a killed tree may take to be gone before that is reported as it is.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// How long the last words in the pipe may take.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

pub(super) struct Actor {
    spec: Arc<RunSpec>,
    journal: Journal,
    numbers: watch::Sender<(u64, u64)>,
    inbox: mpsc::Receiver<Ask>,
    conversation: Conversation,
    tree: Option<Tree>,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
    stdin: Option<mpsc::Sender<Vec<u8>>>,
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
}

impl Actor {
    pub(super) fn start(
        spec: Arc<RunSpec>,
        dir: &RunDir,
        journal: Journal,
        numbers: watch::Sender<(u64, u64)>,
        inbox: mpsc::Receiver<Ask>,
        mcp_url: Option<String>,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let now = Instant::now();
        let mut actor = Self {
            conversation: Conversation::new(spec.clone(), mcp_url),
            start_by: Some(now + Duration::from_millis(spec.limits.start_ms)),
            spec,
            journal,
            numbers,
            inbox,
            tree: None,
            stdout: None,
            stdin: None,
            stderr: LastLines::default(),
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
                    let sent = self.stdin.as_ref().map(|stdin| stdin.try_send(line));
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

    fn ask(&mut self, ask: Ask) -> io::Result<()> {
        match ask {
            Ask::Ack(seq) => {
                self.journal.ack(seq)?;
                let acked = self.journal.acked();
                // Who waits for records has nothing to do.
                self.numbers.send_if_modified(|numbers| {
                    numbers.1 = acked;
                    false
                });
            }
            Ask::Pending(reply) => {
                reply.send(self.conversation.requests.pending()).ok();
            }
            Ask::Command { id, action, reply } => {
                let outcome = self.once(id, action);
                reply.send(outcome).ok();
            }
        }
        Ok(())
    }

    /// Carries a command out, or tells again what came of it.
    fn once(&mut self, id: String, action: Action) -> Outcome {
        if let Some((_, outcome)) = self.outcomes.iter().find(|(known, _)| *known == id) {
            return outcome.clone();
        }
        let outcome = match self.command(&id, action) {
            Ok(outcome) => outcome,
            Err((code, message)) => Outcome::Refused { code, message },
        };
        if self.outcomes.len() == OUTCOMES_MAX {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((id, outcome.clone()));
        outcome
    }

    fn command(&mut self, id: &str, action: Action) -> Result<Outcome, (Refusal, String)> {
        let stuck = self
            .stdin
            .as_ref()
            .is_some_and(|stdin| stdin.capacity() == 0);
        if stuck && !matches!(action, Action::Stop | Action::Status) {
            let why = "the agent does not read what it is told; stop it".to_owned();
            return Err((Refusal::Stuck, why));
        }
        let conversation = &mut self.conversation;
        let done: CommandResult = match action {
            Action::Prompt { .. } if self.stopping.is_some() => {
                Err((Refusal::NotReady, "the agent is being stopped".to_owned()))
            }
            Action::Prompt { text, files } => conversation.prompt(id, &text, &files),
            Action::Cancel => {
                conversation.cancel();
                Ok(())
            }
            Action::AnswerPermission { permission, kind } => {
                conversation.answer_permission(&permission, kind)
            }
            Action::AnswerQuestion { question, answer } => {
                conversation.answer_question(&question, answer)
            }
            Action::SetMode { mode } => conversation.set_mode(&mode),
            Action::Stop => {
                self.stop();
                Ok(())
            }
            Action::Status => return Ok(Outcome::Status(self.status())),
        };
        done.map(|()| Outcome::Done)
    }

    fn status(&self) -> RunStatus {
        RunStatus {
            ready: self.conversation.is_ready(),
            turn: self.conversation.turn().map(str::to_owned),
            stopping: self.stopping.is_some(),
            exited: self.exited_at.is_some(),
            newest: self.journal.newest(),
            acked: self.journal.acked(),
            silent_ms: u64::try_from(self.heard_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Ends a run that cannot go on, without waiting for manners.
    fn fail(&mut self, why: String) {
        if self.give_up.is_none() {
            self.give_up = Some(why);
            self.stopping = None;
            self.climb(StopStep::Cancel);
        }
    }

    /// Takes the first rung: cancel, and wait for the turn to end.
    fn stop(&mut self) {
        if self.stopping.is_some() || self.exited_at.is_some() {
            return;
        }
        self.conversation.cancel();
        self.take(StopStep::Cancel, self.spec.limits.cancel_grace());
    }

    /// Takes the rung after `step`.
    fn climb(&mut self, step: StopStep) {
        let Some(tree) = &self.tree else { return };
        match step {
            StopStep::Cancel => {
                // Well-behaved agents end when their stdin does.
                self.stdin = None;
                tree.terminate();
                self.take(StopStep::Terminate, self.spec.limits.term_grace());
            }
            StopStep::Terminate | StopStep::Kill => {
                tree.kill();
                self.take(StopStep::Kill, GONE_LIMIT);
            }
        }
    }

    fn take(&mut self, step: StopStep, grace: Duration) {
        let next_at = Instant::now() + grace;
        self.stopping = Some(Stopping { step, next_at });
        let notice = Notice::Stopping { step };
        if let Err(error) = self.record(&AgentEvent::Notice { notice }) {
            tracing::error!(%error, "the journal cannot be written");
        }
    }

    /// The agent's process is gone: hears its last words, makes sure that nothing it started is left, and says so.
    async fn agent_ended(
        &mut self,
        status: io::Result<std::process::ExitStatus>,
    ) -> io::Result<()> {
        let how = match (status, &self.give_up, self.stopping) {
            (_, Some(why), _) => Exit::NotStarted(why.clone()),
            (_, None, Some(stopping)) => Exit::Stopped {
                step: stopping.step,
            },
            (Ok(status), None, None) => process::exit_of(status),
            (Err(error), None, None) => Exit::NotStarted(error.to_string()),
        };
        if let Some(tree) = self.tree.take()
            && !tree.wait_gone(GONE_LIMIT).await
        {
            tracing::error!("some of the agent's processes cannot be killed");
        }
        let until = tokio::time::Instant::now() + DRAIN_LIMIT;
        while !self.is_full() && self.stdout.is_some() {
            match tokio::time::timeout_at(until, read_line(&mut self.stdout)).await {
                Ok(Ok(Some(line))) => {
                    self.hear(line);
                    self.put_out()?;
                }
                _ => self.stdout = None,
            }
        }
        self.exited(how)
    }

    fn exited(&mut self, how: Exit) -> io::Result<()> {
        self.stdin = None;
        self.stdout = None;
        self.start_by = None;
        self.stopping = None;
        self.conversation.end("the agent went away");
        self.exited_at = Some(Instant::now());
        self.put_out()?;
        let stderr = self.stderr.get();
        self.record(&AgentEvent::Exited { how, stderr })
    }
}
