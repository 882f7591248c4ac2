//! Where an agent works in these tests: a home and a worktree of its own, the scripted model, and a real server with a session for it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tempfile::TempDir;
use wh_agents::{Agents, Launch, LaunchProgram, TokenCount};
use wh_domain::{AgentName, KeyScope, Owner, Session, UserRole};
use wh_runner::{
    Begin, Limits, McpSpec, Quirks, RunDir, RunSpec, Token, link, process::ProcessMark,
};
use wh_testkit::{
    model::{ModelServer, Script},
    run::{Client, kill},
    seed::Seed,
    server::{self, TestServer},
};

use super::table::Real;

/// The longest that an agent may take for anything; they start whole runtimes, several at once, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);
/// Names a folder with the programs instead of the one that `cargo xtask agents` fills.
const PROGRAMS_VARIABLE: &str = "WHEELHOUSE_AGENTS";

pub(super) struct Place {
    pub(super) agent: &'static Real,
    pub(super) launch: Launch,
    pub(super) model: ModelServer,
    pub(super) server: TestServer,
    pub(super) session: Session,
    token: String,
    programs: PathBuf,
    temp: TempDir,
    epoch: u64,
}

/// An agent at work, ended with the test.
pub(super) struct Run {
    pub(super) client: Client,
    pub(super) runner: ProcessMark,
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.runner.is_alive() {
            kill(self.runner.pid);
        }
    }
}

/// Returns the folder with the agents' programs, if there is one.
pub(super) fn programs() -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAMS_VARIABLE).map(PathBuf::from);
    let test = std::env::current_exe().unwrap();
    let mut beside = test
        .ancestors()
        .map(|folder| folder.join("tools/agents/bin"));
    named.or_else(|| beside.find(|bin| bin.join("claude").exists()))
}

impl Place {
    pub(super) async fn prepare(agent: &'static Real, programs: &Path) -> Self {
        let temp = tempfile::Builder::new().prefix("wh-").tempdir().unwrap();
        let script = Script::from_json(&agent.script()).unwrap();
        let model = ModelServer::start(script).await.unwrap();
        let mut server = TestServer::stopped();
        let seed = Seed::open(&server.data_dir()).await.unwrap();
        let user = seed.user("admin", UserRole::Admin).await.unwrap().id;
        let owner = Owner { user, key: None };
        let session = seed.session(owner, "the heron session", None).await;
        let session = session.unwrap();
        let key = seed.key(user, KeyScope::Session, Some(session.id)).await;
        let (_, token) = key.unwrap();
        seed.close().await;
        server.restart();
        let path = path_with(programs);
        let launch = Agents::new(path.into(), Vec::new())
            .launch(&AgentName::parse(agent.name).unwrap())
            .unwrap();
        let place = Self {
            agent,
            launch,
            model,
            server,
            session,
            token,
            programs: programs.to_owned(),
            temp,
            epoch: 0,
        };
        place.lay_out();
        place
    }

    fn lay_out(&self) {
        for (path, text) in self.agent.files {
            let path = self.home().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.fill(text)).unwrap();
        }
        fs::create_dir_all(self.home().join("tmp")).unwrap();
        let repository = self.temp.path().join("repository");
        fs::create_dir_all(&repository).unwrap();
        fs::write(repository.join("README"), "a repository\n").unwrap();
        let worktree = self.work().to_string_lossy().into_owned();
        let person = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        git(&repository, &["init", "-q", "-b", "main"]);
        git(&repository, &["add", "README"]);
        git(
            &repository,
            &[&person[..], &["commit", "-q", "-m", "first"]].concat(),
        );
        git(
            &repository,
            &["worktree", "add", "-q", "-b", "work", &worktree],
        );
    }

    /// What the server calls the session now.
    pub(super) async fn title_now(&self) -> String {
        let session = self.session.id.to_string();
        let shown = self.server.client().session_get(&session).await;
        shown.unwrap().title
    }

    /// The agent's worktree.
    pub(super) fn work(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{model}", &self.model.url())
            .replace("{home}", &self.home().to_string_lossy())
    }

    /// Starts the agent and waits until it takes prompts. Returns its name for the conversation, too.
    pub(super) async fn start(&mut self, begin: Begin) -> (Run, String) {
        self.epoch += 1;
        let dir = RunDir::new(self.temp.path().join(format!("run-{}", self.epoch)));
        let runner = link::spawn(&server::binary(), &dir, &self.spec(begin)).unwrap();
        let mut client = Client::follow(&dir, 0).await;
        client.patience = PATIENCE;
        let mut run = Run { client, runner };
        let opened = run
            .client
            .until(|event| {
                use wh_runner::AgentEvent as Event;
                matches!(event, Event::SessionReady { .. } | Event::Exited { .. })
            })
            .await;
        let wh_runner::AgentEvent::SessionReady { agent_session, .. } = opened else {
            panic!("{} did not start: {opened:#?}", self.agent.name);
        };
        (run, agent_session)
    }

    /// Describes a run as the server would, from the profile, with the agent's own variables on top.
    fn spec(&self, begin: Begin) -> RunSpec {
        let LaunchProgram::Found(command) = self.launch.program.clone() else {
            panic!("a real agent is a program of its own");
        };
        let exposed = |(name, value): (&String, &wh_domain::SecretText)| {
            (name.clone(), value.expose().to_owned())
        };
        let mut env: std::collections::BTreeMap<_, _> =
            self.launch.environment.iter().map(exposed).collect();
        for (name, value) in self.agent.environment {
            env.insert((*name).to_owned(), self.fill(value));
        }
        let home = self.home();
        env.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
        // Codex does not trust a home below the folder for temporary files.
        let temporary = home.join("tmp").to_string_lossy().into_owned();
        env.insert("TMPDIR".to_owned(), temporary);
        env.insert("PATH".to_owned(), path_with(&self.programs));
        RunSpec {
            session: self.session.id,
            epoch: self.epoch,
            command,
            args: self.launch.arguments.clone(),
            env,
            cwd: self.work(),
            begin,
            mcp: Some(McpSpec {
                name: "wheelhouse".to_owned(),
                token: Token::new(self.token.clone()),
                server_file: self.server.data_dir().join("server.json"),
                path: "/mcp".to_owned(),
            }),
            limits: Limits::default(),
            quirks: Quirks {
                input_includes_cached: self.launch.tokens == TokenCount::InputWithCached,
                always_load_tools: self.launch.always_load_tools,
                kill_after_cancel: self.launch.cancel_leaves_commands,
                ..Quirks::default()
            },
        }
    }
}

/// The folder with the programs, then what the machine has.
fn path_with(programs: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", programs.display())
}

#[expect(clippy::disallowed_methods, reason = "lays out the test's repository")]
fn git(dir: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
