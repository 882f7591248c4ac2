//! A run in a directory of its own, and a server's view of it.

use std::{path::Path, time::Duration};

use tempfile::TempDir;
use wh_runner::{
    AgentEvent, Begin, Limits, Quirks, RunDir, RunSpec,
    journal::Record,
    link::{self, Action, Commands, Events, LinkEvent, Outcome},
    process::ProcessMark,
};

/// The longest that anything here may take; reached only when something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn host() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_runner-host"))
}

/// A run, ended with the test.
pub(crate) struct Run {
    pub(crate) temp: TempDir,
    pub(crate) dir: RunDir,
    pub(crate) runner: ProcessMark,
}

impl Run {
    /// Starts the agent `runner-host AGENT`.
    pub(crate) fn start(agent: &str) -> Self {
        Self::start_with(agent, |_| {})
    }

    pub(crate) fn start_with(agent: &str, change: impl FnOnce(&mut RunSpec)) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let work = temp.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let echo = temp.path().join("echo").to_string_lossy().into_owned();
        let mut spec = RunSpec {
            session: serde_json::from_value(serde_json::json!(uuid::Uuid::now_v7())).unwrap(),
            epoch: 1,
            command: host().to_owned(),
            args: vec![agent.to_owned()],
            env: [("WHEELHOUSE_ECHO_DIR".to_owned(), echo)].into(),
            cwd: work,
            begin: Begin::New,
            mcp: None,
            limits: Limits {
                cancel_grace_ms: 300,
                term_grace_ms: 300,
                ..Limits::default()
            },
            quirks: Quirks::default(),
        };
        change(&mut spec);
        let dir = RunDir::new(temp.path().join("run"));
        let runner = link::spawn(host(), &dir, &spec).unwrap();
        Self { temp, dir, runner }
    }

    /// Connects and follows from `after`.
    pub(crate) async fn follow(&self, after: u64) -> Client {
        let (_, commands, events) = link::attach(&self.dir, PATIENCE).await.unwrap();
        commands.follow(after).await.unwrap();
        Client {
            commands,
            events,
            seen: Vec::new(),
            looked: 0,
        }
    }

    /// Kills the runner as the kernel would.
    pub(crate) fn kill_runner(&self) {
        kill(self.runner.pid);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.runner.is_alive() {
            kill(self.runner.pid);
        }
    }
}

pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
}

/// A server's connection.
pub(crate) struct Client {
    pub(crate) commands: Commands,
    pub(crate) events: Events,
    pub(crate) seen: Vec<Record>,
    /// How many of them `until` has looked at.
    looked: usize,
}

impl Client {
    /// Returns the next event that `wanted` accepts; everything on the way is in `seen`.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
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
        let found = tokio::time::timeout(PATIENCE, search).await;
        found.unwrap_or_else(|_| panic!("not seen in time; seen: {:?}", self.seen))
    }

    pub(crate) async fn ready(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::SessionReady { .. }))
            .await
    }

    pub(crate) async fn turn_end(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::TurnEnded { .. }))
            .await
    }

    pub(crate) async fn exit(&mut self) -> AgentEvent {
        self.until(|event| matches!(event, AgentEvent::Exited { .. }))
            .await
    }

    /// Sends a command and keeps what happens meanwhile.
    pub(crate) async fn command(&mut self, id: &str, action: Action) -> Outcome {
        let commands = self.commands.clone();
        let mut reply = std::pin::pin!(commands.command(id, action));
        loop {
            tokio::select! {
                outcome = &mut reply => return outcome.unwrap(),
                event = self.events.next() => if let LinkEvent::Record(record) = event.unwrap() {
                    self.seen.push(record);
                },
            }
        }
    }

    pub(crate) async fn prompt(&mut self, id: &str, text: &str) {
        let text = text.to_owned();
        assert_eq!(
            self.command(id, Action::Prompt { text }).await,
            Outcome::Done
        );
    }

    /// Takes what was seen.
    pub(crate) fn take_seen(&mut self) -> Vec<Record> {
        self.looked = 0;
        std::mem::take(&mut self.seen)
    }

    /// Returns everything the agent said so far.
    pub(crate) fn words(&self) -> String {
        let text = |record: &Record| match &record.event {
            AgentEvent::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(text).collect()
    }

    /// Acknowledges everything and waits until the runner has gone.
    pub(crate) async fn finish(mut self, run: &Run) {
        let newest = self.seen.last().unwrap().seq;
        self.commands.ack(newest).await.unwrap();
        let gone = async { while self.events.next().await.is_ok() {} };
        tokio::time::timeout(PATIENCE, gone)
            .await
            .expect("the runner ends");
        wait_until(|| !run.runner.is_alive()).await;
    }
}

/// Looks again and again until it is so.
pub(crate) async fn wait_until(so: impl Fn() -> bool) {
    let looking = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking)
        .await
        .expect("it becomes so");
}
