//! A run in a directory of its own, and a server's view of it.

use std::path::Path;

use tempfile::TempDir;
use wh_runner::{Begin, Limits, Quirks, RunDir, RunSpec, link, process::ProcessMark};

pub(crate) use crate::run::wait_until;
use crate::run::{Client, kill};

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
            sandbox: None,
            egress: wh_runner::egress::Egress::default(),
            resources: wh_runner::Resources::default(),
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
        Client::follow(&self.dir, after).await
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
