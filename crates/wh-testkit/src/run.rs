//! A server's view of a run, for tests: follow it, tell it what to do, wait for what must happen.
//!
//! It uses `wh-runner` alone, so that the runner's own tests can take this file as a module without building the product.

use std::time::Duration;

use wh_runner::{
    AgentEvent, RunDir,
    journal::Record,
    link::{self, Action, Commands, Events, LinkEvent, Outcome},
    process::ProcessMark,
};

/// The longest that anything may take unless a test says otherwise; reached only when something is broken.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A server's connection.
#[derive(Debug)]
pub struct Client {
    pub commands: Commands,
    pub events: Events,
    pub seen: Vec<Record>,
    pub patience: Duration,
    /// How many of them `until` has looked at.
    looked: usize,
}

impl Client {
    /// Connects to the run of `dir` and follows it from `after`.
    pub async fn follow(dir: &RunDir, after: u64) -> Self {
        let attached = link::attach(dir, PATIENCE).await;
        let (_, commands, events) = attached.expect("the runner answers");
        let followed = commands.follow(after).await;
        followed.expect("the connection holds");
        Self {
            commands,
            events,
            seen: Vec::new(),
            patience: PATIENCE,
            looked: 0,
        }
    }

    /// Returns the next event that `wanted` accepts; everything on the way is in `seen`.
    pub async fn until(&mut self, wanted: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
        let search = async {
            loop {
                while let Some(record) = self.seen.get(self.looked) {
                    self.looked += 1;
                    if wanted(&record.event) {
                        return record.event.clone();
                    }
                }
                let next = self.events.next().await.expect("the connection holds");
                if let LinkEvent::Record(record) = next {
                    self.seen.push(record);
                }
            }
        };
        let found = tokio::time::timeout(self.patience, search).await;
        found.unwrap_or_else(|_| panic!("not seen in time; seen: {:#?}", self.seen))
    }

    /// Waits until the conversation is open.
    pub async fn ready(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::SessionReady { .. }))
            .await
    }

    /// Waits for the end of the turn.
    pub async fn turn_end(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::TurnEnded { .. }))
            .await
    }

    /// Waits until the agent is gone.
    pub async fn exit(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::Exited { .. }))
            .await
    }

    /// Sends a command and keeps what happens meanwhile.
    pub async fn command(&mut self, id: &str, action: Action) -> Outcome {
        let commands = self.commands.clone();
        let mut reply = std::pin::pin!(commands.command(id, action));
        loop {
            tokio::select! {
                outcome = &mut reply => return outcome.expect("the runner answers"),
                event = self.events.next() => {
                    if let LinkEvent::Record(record) = event.expect("the connection holds") {
                        self.seen.push(record);
                    }
                }
            }
        }
    }

    /// Sends a prompt, which must be taken.
    pub async fn prompt(&mut self, id: &str, text: &str) {
        let text = text.to_owned();
        let files = Vec::new();
        let outcome = self.command(id, Action::Prompt { text, files }).await;
        assert_eq!(outcome, Outcome::Done);
    }

    /// Takes what was seen.
    pub fn take_seen(&mut self) -> Vec<Record> {
        self.looked = 0;
        std::mem::take(&mut self.seen)
    }

    /// Returns everything the agent said so far.
    pub fn words(&self) -> String {
        let text = |record: &Record| match &record.event {
            AgentEvent::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(text).collect()
    }

    /// Acknowledges everything and waits until the runner has gone.
    pub async fn finish(mut self, runner: ProcessMark) {
        let newest = self.seen.last().map_or(0, |record| record.seq);
        let acked = self.commands.ack(newest).await;
        acked.expect("the connection holds");
        let gone = async { while self.events.next().await.is_ok() {} };
        let ended = tokio::time::timeout(self.patience, gone).await;
        ended.expect("the runner ends");
        wait_until(|| !runner.is_alive()).await;
    }
}

/// Looks again and again until it is so.
pub async fn wait_until(so: impl Fn() -> bool) {
    let looking = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let looked = tokio::time::timeout(PATIENCE, looking).await;
    looked.expect("it becomes so");
}

/// Ends a process as the kernel would.
pub fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok();
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // One that is gone already is what was wanted.
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
    }
}
