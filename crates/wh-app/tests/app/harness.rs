//! An application with a clock that tests move, and callers of every kind.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use jiff::Timestamp;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use wh_app::{App, AppParts, Clock, OpContext, RandomIds};
use wh_domain::{
    ErrorCode, KeyScope, Name, NewBoard, NewKey, NewUser, Principal, Reference, Surface, UserName,
    UserRole,
};
use wh_store::Store;
use wh_store_sqlite::{OpenOptions, SqliteStore};

pub(crate) const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// A clock that stands still until it is moved.
pub(crate) struct StandingClock(AtomicI64);

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

pub(crate) struct TestApp {
    pub(crate) app: Arc<App>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shutdown: CancellationToken,
    clock: Arc<StandingClock>,
    pub(crate) dir: TempDir,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(dir.path().join("wheelhouse.db"));
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap());
        let clock = Arc::new(StandingClock(AtomicI64::new(1_800_000_000)));
        let shutdown = CancellationToken::new();
        let app = Arc::new(App::new(AppParts {
            store: Arc::clone(&store),
            clock: Arc::<StandingClock>::clone(&clock),
            ids: Arc::new(RandomIds),
            agents: wh_agents::Agents::new(Default::default(), Default::default()),
            webhooks: wh_domain::WebhookRules::default(),
            hooks: wh_domain::LoopHooks::default(),
            runs: wh_app::RunsConfig {
                program: "/nowhere/wheelhouse".into(),
                runs: dir.path().join("runs"),
                scratch: dir.path().join("scratch"),
                server_file: dir.path().join("server.json"),
                containment: wh_app::ContainmentConfig::new(dir.path().join("homes")),
                cgroups: None,
            },
            model: None,
            data_dir: dir.path().join("data"),
            repos: wh_domain::RepoRules::default(),
            local_roots: Vec::new(),
            start_values: Vec::new(),
            shutdown: shutdown.clone(),
        }));
        app.user_bootstrap(UserName::parse("root").unwrap())
            .await
            .unwrap();
        Self {
            app,
            store,
            shutdown,
            clock,
            dir,
        }
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn by(&self, principal: &Principal) -> OpContext {
        self.app.context(principal.clone(), Surface::Rest)
    }

    /// Returns a call by the administrator on the local socket.
    pub(crate) async fn local(&self) -> OpContext {
        self.by(&self.app.local_principal().await.unwrap())
    }

    /// Makes a member and returns a call of theirs with a full key.
    pub(crate) async fn member(&self, name: &str) -> OpContext {
        let new = NewUser {
            name: UserName::parse(name).unwrap(),
            role: UserRole::Member,
            email: None,
            avatar_url: None,
        };
        let admin = self.local().await;
        self.app.user_create(&admin, new).await.unwrap();
        self.key_of(name, KeyScope::Full).await.1
    }

    /// Makes a key of a user; returns its secret and a call with it.
    pub(crate) async fn key_of(&self, user: &str, scope: KeyScope) -> (String, OpContext) {
        let new = NewKey {
            name: Name::parse("test").unwrap(),
            scope,
            user: Some(Reference::parse(user).unwrap()),
            expires_at: None,
            dialect: None,
            session: None,
        };
        let admin = self.local().await;
        let made = self.app.key_create(&admin, new).await.unwrap();
        let secret = made.secret.unwrap().expose().to_owned();
        let principal = self.app.authenticate(&secret, Some(ADDRESS)).await.unwrap();
        (secret, self.by(&principal))
    }

    /// Puts an idle session of the caller into the database and returns a call with its token.
    pub(crate) async fn session(
        &self,
        title: &str,
        parent: Option<wh_domain::SessionId>,
    ) -> (wh_domain::SessionId, OpContext) {
        crate::sessions::insert(self, title, parent).await
    }
}

pub(crate) fn board(name: &str) -> NewBoard {
    NewBoard {
        name: Name::parse(name).unwrap(),
        owner: None,
        description: None,
        zones: vec![],
    }
}

pub(crate) fn reference(id: impl ToString) -> Reference {
    Reference::parse(&id.to_string()).unwrap()
}

pub(crate) fn absent() -> Reference {
    reference(uuid::Uuid::now_v7())
}

/// Expects a refusal and returns its code and message.
#[track_caller]
pub(crate) fn refused<T>(result: wh_app::Result<T>) -> (ErrorCode, String) {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            (error.code(), error.to_string())
        }
    }
}
