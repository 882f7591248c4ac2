//! The programs that benchmarks run, in release builds, and what they need: filled data directories and running servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::product::{self, Profile};
use crate::run::{self, Echo};
use crate::server::Server;
use crate::tools;
use crate::ui;
use crate::workspace::Workspace;

/// How long a program that fills or measures may take beyond the time it was given.
const SLACK: Duration = Duration::from_secs(120);

/// Where the release builds are.
#[derive(Debug)]
pub(super) struct Programs {
    wheelhouse: PathBuf,
    ceiling: PathBuf,
    seed: PathBuf,
    sessions: PathBuf,
    bad_keys: PathBuf,
    fairness: PathBuf,
    subscribers: PathBuf,
    tokens: PathBuf,
    data: PathBuf,
    logs: PathBuf,
}

impl Programs {
    /// Builds what is not built yet.
    pub(super) fn build(workspace: &Workspace) -> Result<Self> {
        tools::debian(tools::C_COMPILER)?;
        product::build_binaries(workspace, Profile::Release, &["--bins"])?;
        let data = workspace.target.join("bench-data");
        if data.exists() {
            fs::remove_dir_all(&data).with_context(|| format!("removing {}", data.display()))?;
        }
        Ok(Self {
            wheelhouse: workspace.release_binary("wheelhouse"),
            ceiling: workspace.release_binary("bench-ceiling"),
            seed: workspace.release_binary("bench-seed"),
            sessions: workspace.release_binary("bench-sessions"),
            bad_keys: workspace.release_binary("bench-bad-keys"),
            fairness: workspace.release_binary("bench-fairness"),
            subscribers: workspace.release_binary("bench-subscribers"),
            tokens: workspace.release_binary("bench-tokens"),
            data,
            logs: tools::logs_dir(workspace)?,
        })
    }

    /// Names a data directory that is not there yet.
    pub(super) fn data_dir(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// Measures live sessions.
    pub(super) fn measure_sessions(&self, limit: Duration) -> Result<serde_json::Value> {
        self.measure(&self.sessions, limit)
    }

    /// Measures many followers of the feed.
    pub(super) fn measure_subscribers(&self, limit: Duration) -> Result<serde_json::Value> {
        self.measure(&self.subscribers, limit)
    }

    /// Measures valid calls beside invalid keys.
    pub(super) fn measure_bad_keys(&self, limit: Duration) -> Result<serde_json::Value> {
        self.measure(&self.bad_keys, limit)
    }

    /// Measures one user's calls beside a busy user.
    pub(super) fn measure_fairness(&self, limit: Duration) -> Result<serde_json::Value> {
        self.measure(&self.fairness, limit)
    }

    /// Runs a program that starts servers by itself.
    fn measure(&self, program: &Path, limit: Duration) -> Result<serde_json::Value> {
        let mut measure = run::command(program);
        self.name_in(&mut measure);
        json_of(&mut measure, limit)
    }

    /// Tells a program which server to start, and what fills its database.
    pub(super) fn name_in(&self, program: &mut std::process::Command) {
        program
            .env("WHEELHOUSE_BINARY", &self.wheelhouse)
            .env("WHEELHOUSE_SEED", &self.seed);
    }

    /// Counts the tokens of each text.
    pub(super) fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        let file = self.data_dir("tokens.json");
        fs::write(&file, serde_json::to_string(texts)?)
            .with_context(|| format!("writing {}", file.display()))?;
        let counts = json_of(run::command(&self.tokens).arg(&file), Duration::ZERO)?;
        Ok(serde_json::from_value(counts)?)
    }

    /// Fills a data directory.
    pub(super) fn seed(&self, name: &str, sessions: u32, events: u32) -> Result<Seeded> {
        self.seed_with(name, sessions, 0, events, Duration::ZERO)
    }

    /// Fills a data directory with sessions that have said something, which may take so long.
    pub(super) fn seed_with(
        &self,
        name: &str,
        sessions: u32,
        messages: u32,
        events: u32,
        time: Duration,
    ) -> Result<Seeded> {
        let dir = self.data_dir(name);
        ui::progress(&format!(
            "filling {} with {sessions} sessions of {messages} messages and {events} events",
            dir.display()
        ));
        let mut seed = run::command(&self.seed);
        seed.arg(&dir)
            .args(["--sessions", &sessions.to_string()])
            .args(["--messages", &messages.to_string()])
            .args(["--events", &events.to_string()]);
        let made = json_of(&mut seed, time)?;
        Ok(Seeded { dir, made })
    }

    /// Starts the product as users do, and waits until it says that it is ready.
    pub(super) fn serve(&self, dir: &Path) -> Result<Running> {
        let mut command = run::command(&self.wheelhouse);
        command
            .arg("--data-dir")
            .arg(dir)
            .args(["serve", "--listen", "127.0.0.1:0"]);
        let start = Instant::now();
        let mut server = Server::start(&mut command, &self.logs.join("bench-wheelhouse.log"))?;
        let file = dir.join("server.json");
        let about = server.wait_until(|_| {
            let text = fs::read_to_string(&file).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        })?;
        let ready_after = start.elapsed();
        let url = about["url"].as_str().context("server.json has no url")?;
        Ok(Running {
            url: url.to_owned(),
            server,
            ready_after,
        })
    }

    /// Starts the bare handler and the rmcp echo.
    pub(super) fn serve_ceiling(&self) -> Result<Running> {
        let start = Instant::now();
        let mut server = Server::start(
            run::command(&self.ceiling).arg("serve"),
            &self.logs.join("bench-ceiling.log"),
        )?;
        let url = server.wait_until(|log| {
            let text = fs::read_to_string(log).ok()?;
            text.split_once('\n').map(|(line, _)| line.to_owned())
        })?;
        Ok(Running {
            url,
            server,
            ready_after: start.elapsed(),
        })
    }

    /// Measures the store below the application.
    pub(super) fn ceiling(&self, arguments: &[&str], time: Duration) -> Result<Value> {
        json_of(run::command(&self.ceiling).args(arguments), time)
    }
}

/// A filled data directory.
#[derive(Debug)]
pub(super) struct Seeded {
    pub(super) dir: PathBuf,
    made: Value,
}

impl Seeded {
    /// The secret of a key with everything its user may do.
    pub(super) fn key(&self) -> Result<&str> {
        self.key_of("full")
    }

    pub(super) fn key_of(&self, scope: &str) -> Result<&str> {
        let key = self.made["keys"][scope].as_str();
        key.with_context(|| format!("bench-seed made no {scope} key"))
    }

    /// A session that has said as much as the others.
    pub(super) fn session(&self) -> Result<&str> {
        self.made["session"]
            .as_str()
            .context("bench-seed made no session")
    }

    pub(super) fn board(&self) -> Result<&str> {
        self.made["board"]
            .as_str()
            .context("bench-seed made no board")
    }
}

/// A server that answers.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) url: String,
    pub(super) server: Server,
    pub(super) ready_after: Duration,
}

fn json_of(command: &mut std::process::Command, time: Duration) -> Result<Value> {
    let ended = run::within(time + SLACK, Echo::Hide, command)?;
    if !ended.success() {
        bail!(
            "`{}` ended with {}:\n{}",
            command.get_program().to_string_lossy(),
            ended.status,
            ended.text().trim()
        );
    }
    serde_json::from_str(&ended.stdout)
        .with_context(|| format!("reading what it printed:\n{}", ended.stdout))
}
