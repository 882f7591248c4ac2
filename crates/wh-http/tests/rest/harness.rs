//! A server of its own for each test: store, application, sockets.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use http::Method;
use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;
use wh_app::{App, AppParts, Clock, IdSource, RandomIds};

use wh_domain::{
    AgentName, CredentialKind, Facts, Key, KeyBinding, KeyHash, KeyId, KeyScope, Name,
    NewAuditEntry, NewKey, Operation, Outcome, Owner, Secret, Session, SessionId, SessionRole,
    SessionState, Surface, Title, UserId, UserName,
};
use wh_http::{
    HttpConfig, Mounts,
    guard::GuardConfig,
    serve::{Drained, Limits, Listener, serve},
};
use wh_store::{Commit, Store};
use wh_store_sqlite::{OpenOptions, SqliteStore};

use crate::client::Call;

pub(crate) struct TestServer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) address: SocketAddr,
    pub(crate) socket: PathBuf,
    pub(crate) shutdown: CancellationToken,
    /// A full key of the first administrator.
    pub(crate) admin: String,
    pub(crate) tasks: TaskTracker,
    pub(crate) directory: TempDir,
    serving: tokio::task::JoinHandle<Drained>,
}

struct SystemClock;

impl Clock for SystemClock {
    /// Returns whole microseconds: the store keeps no more, and what is made should look as it is stored.
    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap()
    }
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}, Mounts::default()).await
    }

    pub(crate) async fn start_with(
        configure: impl FnOnce(&mut HttpConfig),
        mounts: Mounts,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(directory.path().join("test.db"));
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap());
        let shutdown = CancellationToken::new();
        let app = Arc::new(App::new(AppParts {
            store: store.clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            agents: wh_agents::Agents::new(Default::default(), Default::default()),
            webhooks: wh_domain::WebhookRules::default(),
            hooks: wh_domain::LoopHooks::default(),
            runs: wh_app::RunsConfig {
                program: "/nowhere/wheelhouse".into(),
                runs: directory.path().join("runs"),
                scratch: directory.path().join("scratch"),
                server_file: directory.path().join("server.json"),
                containment: wh_app::ContainmentConfig::new(directory.path().join("homes")),
                cgroups: None,
            },
            model: None,
            data_dir: directory.path().join("data"),
            repos: wh_domain::RepoRules::default(),
            local_roots: Vec::new(),
            start_values: Vec::new(),
            shutdown: shutdown.clone(),
        }));
        let name = UserName::parse("root").unwrap();
        app.user_bootstrap(name).await.unwrap();

        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let socket = directory.path().join("test.sock");
        let unix = UnixListener::bind(&socket).unwrap();
        let guard = GuardConfig::for_address(address);
        let mut config = HttpConfig::new(format!("http://{address}"), guard);
        configure(&mut config);
        let tasks = config.tasks.clone();
        let router = wh_http::router(app.clone(), config, mounts);
        let listeners = vec![Listener::Tcp(tcp), Listener::Unix(unix)];
        let limits = Limits {
            body_read: Duration::from_secs(1),
            ..Limits::default()
        };
        let serving = serve(listeners, router, limits, shutdown.clone());
        let serving = tasks.spawn(serving);
        let admin = admin_key(&app).await;
        Self {
            store,
            address,
            socket,
            shutdown,
            admin,
            tasks,
            directory,
            serving,
        }
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> Call<'_> {
        Call::new(self, method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Call<'_> {
        self.call(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &str) -> Call<'_> {
        self.call(Method::POST, path)
    }

    /// Makes a member and returns a key of theirs.
    pub(crate) async fn member(&self, name: &str) -> String {
        let body = json!({"name": name});
        let call = self.post("/api/v1/users").key(&self.admin).json(&body);
        call.send().await.ok(201);
        self.key_of(name, "full").await
    }

    /// Makes a key.
    pub(crate) async fn key_of(&self, user: &str, scope: &str) -> String {
        let body = json!({"name": "test", "scope": scope, "user": user});
        let call = self.post("/api/v1/keys").key(&self.admin).json(&body);
        let made = call.send().await.ok(201);
        made["key"].as_str().unwrap().to_owned()
    }

    /// Makes a board and returns its id.
    pub(crate) async fn board(&self, key: &str, name: &str) -> String {
        let body = json!({"name": name});
        let call = self.post("/api/v1/boards").key(key).json(&body);
        let made = call.send().await.ok(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Puts a session into the store; nothing runs it.
    pub(crate) async fn session(&self, user: &str) -> String {
        self.session_as(user, SessionRole::General).await
    }

    /// Puts a session of a role into the store; nothing runs it.
    pub(crate) async fn session_as(&self, user: &str, role: SessionRole) -> String {
        let user = UserId::from_untyped_uuid(user.parse().unwrap());
        let id = SessionId::from_untyped_uuid(Uuid::now_v7());
        let owner = Owner { user, key: None };
        let agent = AgentName::parse("echo").unwrap();
        let title = Title::parse("a session").unwrap();
        let session = Session {
            role,
            state: SessionState::Idle,
            epoch: 1,
            ..Session::new(id, owner, agent, title, SystemClock.now())
        };
        let applied = self.store.session_insert(&session, commit(user)).await;
        drop(applied.unwrap());
        id.to_string()
    }

    /// Puts a token of the session's current run into the store, as starting it will.
    pub(crate) async fn session_token(&self, user: &str, session: &str) -> String {
        let secret = Secret::from_random(None, KeyScope::Session, RandomIds.secret_bits()).unwrap();
        let user = UserId::from_untyped_uuid(user.parse().unwrap());
        let session = SessionId::from_untyped_uuid(session.parse().unwrap());
        let key = Key {
            id: KeyId::from_untyped_uuid(Uuid::now_v7()),
            user,
            name: Name::parse("token").unwrap(),
            scope: KeyScope::Session,
            prefix: secret.prefix(),
            hash: KeyHash(Sha256::digest(secret.expose()).into()),
            session: Some(KeyBinding::Run { session, epoch: 1 }),
            dialect: None,
            created_at: SystemClock.now(),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        let applied = self.store.key_insert(&key, commit(user)).await;
        drop(applied.unwrap());
        secret.expose().to_owned()
    }

    /// Stops the server as `serve` does, and checks that nothing is left.
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        assert_eq!(self.serving.await.unwrap(), Drained { cut: 0 });
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}

async fn admin_key(app: &App) -> String {
    let principal = app.local_principal().await.unwrap();
    let cx = app.context(principal, Surface::Server);
    let new = NewKey {
        name: Name::parse("admin").unwrap(),
        scope: KeyScope::Full,
        user: None,
        expires_at: None,
        dialect: None,
        session: None,
    };
    let made = app.key_create(&cx, new).await.unwrap();
    made.secret.unwrap().expose().to_owned()
}

fn commit(user: UserId) -> Commit {
    Commit {
        audit: NewAuditEntry {
            at: SystemClock.now(),
            request: Uuid::now_v7(),
            user,
            credential: CredentialKind::Local,
            key: None,
            session: None,
            surface: Surface::Server,
            operation: Operation::SessionUpdate,
            subject: None,
            outcome: Outcome::Done,
            facts: Facts::new(),
        },
        events: vec![],
        idempotency: None,
    }
}
