//! Where an agent works in these tests: a home and a worktree of its own, the scripted model, and a server with a session for it.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use wh_api::{PromptedView, RepoAddRequest, SessionCreateRequest, TurnDetailView};
use wh_testkit::{
    model::{ModelServer, Script},
    server::TestServer,
};

use super::table::Real;
use crate::harness::World;

/// Seconds that an agent may take for anything; they start whole runtimes, several at once, on a busy machine.
const PATIENCE: u32 = 100;
/// Names a folder with the programs instead of the one that `cargo xtask agents` fills.
const PROGRAMS_VARIABLE: &str = "WHEELHOUSE_AGENTS";
/// What the session is called until it calls itself otherwise.
pub(super) const TITLE: &str = "the heron session";

/// The model's key, where the agent must not have it.
pub(super) const SECRET: &str = "sk-held-by-the-server";

pub(super) struct Place {
    pub(super) agent: &'static Real,
    pub(super) model: ModelServer,
    pub(super) world: World,
    /// The id of the agent's session.
    pub(super) session: String,
    /// The agent's worktree.
    work: PathBuf,
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
        let (model, world) = server(&[agent], &agent.script(), programs).await;
        let request = SessionCreateRequest {
            agent: agent.name.to_owned(),
            title: Some(TITLE.to_owned()),
            path: Some(work(&world.server).display().to_string()),
            ..SessionCreateRequest::default()
        };
        let session = world.client.session_create(&request).await.unwrap().id;
        let work = work(&world.server);
        Self {
            agent,
            model,
            world,
            session,
            work,
        }
    }

    /// The same in the tier `strict`, where the server makes the worktree.
    pub(super) async fn prepare_strict(agent: &'static Real, programs: &Path) -> Self {
        let (model, world) = server_with(&[agent], &agent.script(), programs, Network::None).await;
        let request = RepoAddRequest {
            source: repository(&world.server).display().to_string(),
            ..RepoAddRequest::default()
        };
        let repo = world.client.repo_add(&request).await.unwrap().id;
        let request = SessionCreateRequest {
            agent: agent.name.to_owned(),
            title: Some(TITLE.to_owned()),
            repo: Some(repo),
            branch: Some("strict".to_owned()),
            tier: Some("strict".to_owned()),
            ..SessionCreateRequest::default()
        };
        let session = world.client.session_create(&request).await.unwrap();
        world.rest(&session.id).await;
        let worktree = world.get(&session.id).await.worktree_id.unwrap();
        let work = world.client.worktree_get(&worktree).await.unwrap();
        Self {
            agent,
            model,
            work: work.path.into(),
            world,
            session: session.id,
        }
    }

    /// Names a file in the agent's worktree.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Sends a prompt and waits until it is done or needs an answer.
    pub(super) async fn prompt(&self, text: &str) -> PromptedView {
        self.world.prompt(&self.session, text).await
    }

    /// Sends a prompt that must be done without a question, and returns its turn.
    pub(super) async fn completed(&self, text: &str) -> TurnDetailView {
        let prompted = self.prompt(text).await;
        let notes = self.world.notes(&self.session).await;
        assert_eq!(prompted.turn.state, "completed", "{prompted:#?}\n{notes}");
        self.turn(&prompted).await
    }

    /// Sends a prompt that must lead to one question, answers it, and returns the question's details and the turn when it is over.
    pub(super) async fn answered(
        &self,
        text: &str,
        decision: &str,
    ) -> (serde_json::Value, TurnDetailView) {
        let asked = self.prompt(text).await;
        let notes = self.world.notes(&self.session).await;
        assert_eq!(asked.state, "waiting", "{asked:#?}\n{notes}");
        assert_eq!(asked.approvals.len(), 1, "{asked:#?}");
        let approval = &asked.approvals[0];
        assert_eq!(approval.kind, "permission");
        self.world.answer(&approval.id, decision, None).await;
        let rested = self.world.rest(&self.session).await;
        assert_eq!(rested.state, "idle", "{rested:#?}");
        (
            approval.detail.clone().unwrap_or_default(),
            self.turn(&asked).await,
        )
    }

    /// Returns what became of a prompt.
    pub(super) async fn turn(&self, prompted: &PromptedView) -> TurnDetailView {
        let turn = self.world.client.turn_get(&prompted.turn.id).await;
        turn.unwrap()
    }

    pub(super) async fn said(&self) -> String {
        self.world.said(&self.session).await
    }

    /// Waits until the agent has said this.
    pub(super) async fn says(&self, words: &str) {
        let said = async || self.said().await.contains(words);
        self.world.until(words, said).await;
    }
}

/// How agents reach their model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    /// By the machine's loopback.
    Machine,
    /// By the runner, which has the key.
    None,
}

/// Starts a server on which these agents work with a model that follows the script.
pub(super) async fn server(
    agents: &[&Real],
    script: &str,
    programs: &Path,
) -> (ModelServer, World) {
    server_with(agents, script, programs, Network::Machine).await
}

async fn server_with(
    agents: &[&Real],
    script: &str,
    programs: &Path,
    network: Network,
) -> (ModelServer, World) {
    let script = Script::from_json(script).unwrap();
    let model = ModelServer::start(script).await.unwrap();
    let mut server = TestServer::stopped();
    let path = std::env::var("PATH").unwrap_or_default();
    server.set_env("PATH", format!("{}:{path}", programs.display()));
    lay_out(agents, &model, &server, network);
    server.restart();
    let mut world = World::on(server);
    world.patience = PATIENCE;
    (model, world)
}

/// The agent's worktree.
fn work(server: &TestServer) -> PathBuf {
    server.home().join("work")
}

/// The repository that the worktree is of.
pub(super) fn repository(server: &TestServer) -> PathBuf {
    server.home().join("repository")
}

/// Writes what a user of these agents would have at home, and the configuration that gives the agents their variables.
fn lay_out(agents: &[&Real], model: &ModelServer, server: &TestServer, network: Network) {
    let home = server.home();
    let fill = |text: &str| {
        text.replace("{model}", &model.url())
            .replace("{home}", &home.to_string_lossy())
    };
    for (path, text) in agents.iter().flat_map(|agent| agent.files) {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, fill(text)).unwrap();
    }
    let person = "[user]\nname = t\nemail = t@example.org\n";
    fs::write(home.join(".gitconfig"), person).unwrap();
    // Codex does not trust a home below the folder for temporary files.
    let tmp = match network {
        Network::Machine => home.join("tmp"),
        Network::None => "/var/tmp".into(),
    };
    fs::create_dir_all(&tmp).unwrap();
    let mut config = String::new();
    for agent in agents {
        writeln!(config, "[agents.{}.env]\nTMPDIR = {tmp:?}", agent.name).unwrap();
        let variables = agent.environment.iter();
        for (name, value) in
            variables.filter(|(name, _)| network == Network::Machine || *name != agent.key)
        {
            writeln!(config, "{name} = {:?}", fill(value)).unwrap();
        }
        if network == Network::None {
            // Two of them are told by files where the model is: it must be found there.
            let (url, name) = (model.url(), agent.name);
            let (_, port) = url.rsplit_once(':').unwrap();
            let key = agent.key;
            writeln!(config, "{key} = {SECRET:?}\n[agents.{name}.model]\nurl = {url:?}\nport = {port}\nkey = {key:?}").unwrap();
        }
    }
    server.configure(&config);
    let repository = repository(server);
    fs::create_dir_all(&repository).unwrap();
    fs::write(repository.join("README"), "a repository\n").unwrap();
    let person = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "README"]);
    let commit = [&person[..], &["commit", "-q", "-m", "first"]].concat();
    git(&repository, &commit);
    let worktree = work(server).to_string_lossy().into_owned();
    let add = ["worktree", "add", "-q", "-b", "work", &worktree];
    git(&repository, &add);
}

#[expect(clippy::disallowed_methods, reason = "lays out the test's repository")]
fn git(dir: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
