//! A server with an obedient agent, things worth stealing, and short words for what tests do with them.

use std::{
    fs,
    net::TcpListener,
    os::{linux::net::SocketAddrExt, unix::net::UnixListener},
    path::{Path, PathBuf},
};

use wh_api::{
    ConfigSetRequest, KeyListRequest, MessageListRequest, RepoAddRequest, SessionCreateRequest,
    SessionPromptRequest, SessionWaitRequest, SettingInput,
};
use wh_client::Client;
use wh_testkit::{
    git::repository,
    server::{TestServer, built},
};

/// An ordinary user of the machine, for tests that run as root.
pub(crate) const USER: u32 = 7_421;

/// Where the obedient agent reads configuration in its directory: where any of the real ones does.
pub(crate) const PROJECT_CONFIG: &[&str] = &[
    ".claude/",
    ".mcp.json",
    ".codex/",
    ".gemini/",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/",
];

/// A server with an obedient agent, things worth stealing, and a session that works in a worktree.
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) client: Client,
    pub(crate) repo: PathBuf,
    pub(crate) session: String,
    /// Another session, whose things must stay its own.
    pub(crate) victim: String,
    pub(crate) setting: Setting,
    pub(crate) abstract_socket: (String, UnixListener),
    /// A server at localhost that strict sessions may connect to.
    pub(crate) allowed_host: TcpListener,
}

/// Who a server runs as, how its agents are contained, and in which tier.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) user: Option<u32>,
    pub(crate) namespaces: bool,
    pub(crate) tier: &'static str,
}

impl World {
    pub(crate) async fn new(setting: Setting) -> Self {
        Self::with(setting, &[]).await
    }

    /// The same with these settings of the server.
    pub(crate) async fn with(setting: Setting, settings: &[(&str, i64)]) -> Self {
        let mut server = TestServer::stopped();
        let mut agent = built("scripted-agent");
        if let Some(user) = setting.user {
            server.run_as(user, &["scripted-agent", "containment-probe"]);
            agent = server.home().join("bin/scripted-agent");
        }
        let (namespaces, probe) = (
            setting.namespaces,
            agent.with_file_name("containment-probe"),
        );
        let allowed_host = TcpListener::bind("127.0.0.1:0").unwrap();
        let allowed_port = allowed_host.local_addr().unwrap().port();
        let mut image = String::new();
        if setting.tier == "container" {
            let programs = [built("scripted-agent"), built("containment-probe")];
            image = format!(
                "image = {:?}\n",
                wh_testkit::image::import(&server, &programs)
            );
            agent = "scripted-agent".into();
        }
        server.configure(&format!(
            "[agents.scripted]\ncommand = [{agent:?}]\nproject_config = {PROJECT_CONFIG:?}\n\n[containment]\nnamespaces = {namespaces}\nread = [{probe:?}]\n\
             hosts = [\"allowed.example\", \"other.example\", \"localhost:{allowed_port}\"]\n\
             private_hosts = [\"localhost:{allowed_port}\"]\n{image}"
        ));
        for (path, text) in [
            (".ssh/id_ed25519", "a private key"),
            (".aws/credentials", "aws secret access"),
            (".config/gh/hosts.yml", "token"),
            (".netrc", "machine example.org"),
            (".Xauthority", "a cookie of the display"),
            (".codex/auth.json", "the login of another agent"),
            ("snap/firefox/common/cookies.sqlite", "cookies"),
            (".bashrc", "# shell"),
            ("diary.txt", "nobody named this file"),
            (
                ".gitconfig",
                "[user]\n\tname = Ada\n\temail = ada@example.org\n",
            ),
        ] {
            let path = server.home().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let repo = repository(&server.home().join("code/project"));
        server.give_home();
        server.restart();
        let client = server.client_with(&server.key("full"));
        if setting.tier == "none" {
            let request = ConfigSetRequest {
                key: "containment.minimum".to_owned(),
                value: Some(SettingInput::Name("none".to_owned())),
                ..ConfigSetRequest::default()
            };
            client.config_set(&request).await.unwrap();
        }
        for (key, value) in settings {
            let request = ConfigSetRequest {
                key: (*key).to_owned(),
                value: Some((*value).into()),
                ..ConfigSetRequest::default()
            };
            client.config_set(&request).await.unwrap();
        }
        let source = repo.display().to_string();
        let request = RepoAddRequest {
            source,
            ..RepoAddRequest::default()
        };
        let id = client.repo_add(&request).await.unwrap().id;
        let request = SessionCreateRequest {
            agent: "scripted".to_owned(),
            repo: Some(id),
            tier: Some(setting.tier.to_owned()),
            ..SessionCreateRequest::default()
        };
        let session = client.session_create(&request).await.unwrap().id;
        let request = SessionCreateRequest {
            agent: "echo".to_owned(),
            prompt: Some("write notes.txt private".to_owned()),
            ..SessionCreateRequest::default()
        };
        let victim = client.session_create(&request).await.unwrap().id;
        let request = SessionWaitRequest {
            sessions: vec![victim.clone()],
            timeout: Some(60),
            ..SessionWaitRequest::default()
        };
        client.session_wait(&request).await.unwrap();
        let name = format!("wheelhouse-probe-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        Self {
            server,
            client,
            repo,
            session,
            victim,
            setting,
            abstract_socket: (name, listener),
            allowed_host,
        }
    }

    /// Has the agent run a command, and returns what it printed.
    pub(crate) async fn shell(&self, command: &str) -> String {
        let request = SessionPromptRequest {
            session: self.session.clone(),
            prompt: format!("shell {command}"),
            wait: Some(60),
            ..SessionPromptRequest::default()
        };
        let prompted = self.client.session_prompt(&request).await.unwrap();
        assert_eq!(prompted.turn.state, "completed", "{prompted:?}");
        let request = MessageListRequest {
            session: self.session.clone(),
            max_bytes: Some(1_000_000),
            ..MessageListRequest::default()
        };
        let list = self.client.message_list(&request).await.unwrap();
        let latest = list.messages.into_iter().next_back();
        latest.map(|message| message.text).unwrap_or_default()
    }

    pub(crate) fn probe(&self) -> PathBuf {
        if self.setting.tier == "container" {
            return Path::new(wh_testkit::image::BIN).join("containment-probe");
        }
        let own = self.server.home().join("bin/containment-probe");
        if own.is_file() {
            own
        } else {
            built("containment-probe")
        }
    }

    /// Returns the prefixes of all keys.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let list = self
            .client
            .key_list(&KeyListRequest::default())
            .await
            .unwrap();
        list.keys.into_iter().map(|key| key.prefix).collect()
    }

    /// Returns where the session works.
    pub(crate) async fn worktree(&self) -> PathBuf {
        let session = self.client.session_get(&self.session).await.unwrap();
        let worktree = self
            .client
            .worktree_get(&session.worktree_id.unwrap())
            .await
            .unwrap();
        worktree.path.into()
    }

    /// Returns the latest thing that the server itself said in the transcript.
    pub(crate) async fn latest_note(&self) -> String {
        let request = MessageListRequest {
            session: self.session.clone(),
            after: Some("0".into()),
            include_system: Some(true),
            ..MessageListRequest::default()
        };
        let list = self.client.message_list(&request).await.unwrap();
        let mut notes = list
            .messages
            .into_iter()
            .filter(|message| message.kind == "system");
        let latest = notes.next_back();
        latest.map(|message| message.text).unwrap_or_default()
    }
}

impl Setting {
    pub(crate) const GUARDED: Self = Self {
        user: None,
        namespaces: true,
        tier: "guarded",
    };

    pub(crate) const STRICT: Self = Self {
        tier: "strict",
        ..Self::GUARDED
    };

    pub(crate) const CONTAINER: Self = Self {
        tier: "container",
        ..Self::GUARDED
    };

    /// The same as an ordinary user, also when the test runs as root.
    pub(crate) fn as_user(self) -> Self {
        let user = rustix::process::geteuid().is_root().then_some(USER);
        Self { user, ..self }
    }

    pub(crate) fn without_namespaces(self) -> Self {
        Self {
            namespaces: false,
            ..self
        }
    }
}
