//! Fills a database with what no operation can make yet, or could make only one by one.

mod lists;

use std::{path::Path, sync::Arc};

use anyhow::Result;
use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wh_domain::{
    AgentName, Board, BoardId, Credential, EventKind, Facts, Key, KeyBinding, KeyHash, KeyId,
    KeyScope, MessageId, MessageKind, Name, NewAuditEntry, NewEvent, NewMessage, Operation,
    Outcome, Owner, Rect, Secret, Session, SessionId, SessionPatch, SessionRole, SessionState,
    Subject, Surface, Title, User, UserId, UserName, UserPatch, UserRole, Zone, ZoneId,
};
use wh_store::{Commit, MessageAppend, Store};
use wh_store_sqlite::{OpenOptions, SqliteStore};

/// What people call their sessions.
const TITLES: [&str; 5] = [
    "Fix the flaky login test in CI",
    "Make the parser accept comments after the last field",
    "Review branch feature/cache of the api crate",
    "Upgrade the database driver and mend what breaks",
    "Find out why the list grows slower with every row",
];

/// A database being filled. Close it before a server opens it.
pub struct Seed {
    store: Arc<dyn Store>,
    /// When everything was created.
    at: Timestamp,
}

impl Seed {
    /// Opens or creates the database of a data directory. Everything gets the same fixed creation time.
    pub async fn open(data_dir: &Path) -> Result<Self> {
        let at = Timestamp::from_second(1_780_000_000).expect("a time in range");
        Self::open_at(data_dir, at).await
    }

    /// Opens or creates the database of a data directory. Everything is created at `at`: a server deletes old events when it starts.
    pub async fn open_at(data_dir: &Path, at: Timestamp) -> Result<Self> {
        std::fs::create_dir_all(data_dir)?;
        let options = OpenOptions::new(data_dir.join("wheelhouse.db"));
        let store = Arc::new(SqliteStore::open(options).await?);
        Ok(Self { store, at })
    }

    /// Adds a user.
    pub async fn user(&self, name: &str, role: UserRole) -> Result<User> {
        let user = User {
            id: UserId::from_untyped_uuid(Uuid::now_v7()),
            name: UserName::parse(name)?,
            role,
            email: None,
            avatar_url: None,
            created_at: self.at,
            disabled_at: None,
            local_roots: Vec::new(),
        };
        let owner = Owner {
            user: user.id,
            key: None,
        };
        let commit = self.commit(Operation::UserCreate, user.id.into(), owner, None);
        let _applied = self.store.user_insert(&user, commit).await?;
        Ok(user)
    }

    /// Disables a user, and does nothing about what they have running.
    pub async fn disable(&self, user: UserId) -> Result<()> {
        let owner = Owner { user, key: None };
        let commit = self.commit(Operation::UserUpdate, user.into(), owner, None);
        let patch = UserPatch {
            disabled: Some(true),
            ..UserPatch::default()
        };
        let _applied = self
            .store
            .user_update(user, &patch, self.at, commit)
            .await?;
        Ok(())
    }

    /// Adds a key and returns its secret. A session's key speaks for that session.
    pub async fn key(
        &self,
        user: UserId,
        scope: KeyScope,
        session: Option<SessionId>,
    ) -> Result<(KeyId, String)> {
        let secret = Secret::from_random(None, scope, Uuid::new_v4().as_u128())
            .expect("there are such keys");
        let key = Key {
            id: KeyId::from_untyped_uuid(Uuid::now_v7()),
            user,
            name: Name::parse("seed")?,
            scope,
            prefix: secret.prefix(),
            hash: KeyHash(Sha256::digest(secret.expose()).into()),
            session: session.map(|session| KeyBinding::Run { session, epoch: 1 }),
            dialect: None,
            created_at: self.at,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        let owner = Owner { user, key: None };
        let commit = self.commit(Operation::KeyCreate, key.id.into(), owner, None);
        let _applied = self.store.key_insert(&key, commit).await?;
        Ok((key.id, secret.expose().to_owned()))
    }

    /// Adds an idle session, below `parent` if there is one.
    pub async fn session(
        &self,
        owner: Owner,
        title: &str,
        parent: Option<&Session>,
    ) -> Result<Session> {
        self.session_on(owner, title, parent, None).await
    }

    /// Adds `count` sessions that have failed.
    pub async fn failed_sessions(&self, owner: Owner, count: usize) -> Result<()> {
        for n in 0..count {
            let reason = "the agent could not be started".to_owned();
            let session = Session {
                state: SessionState::Failed { reason },
                ..self.fresh(owner, &format!("An old failure ({n})"), None)?
            };
            self.insert(session).await?;
        }
        Ok(())
    }

    /// Adds an idle session of a role.
    pub async fn session_as(
        &self,
        owner: Owner,
        title: &str,
        role: SessionRole,
    ) -> Result<Session> {
        let session = Session {
            role,
            ..self.fresh(owner, title, None)?
        };
        self.insert(session).await
    }

    /// Adds an idle session that lies on a board.
    pub async fn session_on(
        &self,
        owner: Owner,
        title: &str,
        parent: Option<&Session>,
        board: Option<BoardId>,
    ) -> Result<Session> {
        let session = Session {
            board,
            ..self.fresh(owner, title, parent)?
        };
        self.insert(session).await
    }

    async fn insert(&self, session: Session) -> Result<Session> {
        let (id, owner) = (session.id, session.owner);
        let commit = self.commit(Operation::SessionUpdate, id.into(), owner, Some(id));
        let _applied = self.store.session_insert(&session, commit).await?;
        Ok(session)
    }

    /// Adds messages to a session's transcript and returns the ids they got.
    pub async fn messages(
        &self,
        session: SessionId,
        messages: &[(MessageKind, &str)],
    ) -> Result<Vec<MessageId>> {
        let told = messages
            .iter()
            .map(|&(kind, text)| (kind, text.to_owned(), serde_json::json!({ "raw": text })));
        self.messages_told(session, told.collect()).await
    }

    /// Adds messages with what else is known of each.
    pub async fn messages_told(
        &self,
        session: SessionId,
        messages: Vec<(MessageKind, String, serde_json::Value)>,
    ) -> Result<Vec<MessageId>> {
        let new = |(kind, text, detail): (MessageKind, String, serde_json::Value)| NewMessage {
            id: some_id(),
            turn: None,
            kind,
            text,
            detail: Some(detail.to_string()),
            approval: None,
            created_at: self.at,
        };
        let messages: Vec<_> = messages.into_iter().map(new).collect();
        let ids = messages.iter().map(|message| message.id).collect();
        let append = MessageAppend {
            session,
            epoch: 1,
            messages,
        };
        self.store.message_append(append).await?;
        Ok(ids)
    }

    /// Adds `count` sessions with the events of their making, each with so many messages of an agent.
    pub async fn sessions(&self, owner: Owner, count: usize, messages: usize) -> Result<()> {
        // Many at a time, so that they share transactions.
        const AT_ONCE: usize = 256;
        let numbers: Vec<_> = (0..count).collect();
        for chunk in numbers.chunks(AT_ONCE) {
            let made = chunk.iter().map(|n| async move {
                let title = format!("{} ({n})", TITLES[n % TITLES.len()]);
                let session = self.session(owner, &title, None).await?;
                let text = format!("this is what the agent of session {n} said");
                let said = vec![(MessageKind::Agent, text.as_str()); messages];
                match said.is_empty() {
                    true => Ok(()),
                    false => self.messages(session.id, &said).await.map(drop),
                }
            });
            futures::future::try_join_all(made).await?;
        }
        Ok(())
    }

    /// Adds a board with zones side by side.
    pub async fn board(&self, owner: Owner, name: &str, zones: usize) -> Result<Board> {
        let zone = |n: usize| {
            Ok(Zone {
                id: ZoneId::from_untyped_uuid(Uuid::now_v7()),
                name: Name::parse(&format!("zone {n}"))?,
                color: None,
                rect: Rect {
                    x: 500.0 * n as f64,
                    ..Rect::default()
                },
                prompt_template: None,
                agent: None,
            })
        };
        let board = Board {
            id: BoardId::from_untyped_uuid(Uuid::now_v7()),
            owner,
            name: Name::parse(name)?,
            description: None,
            zones: (0..zones).map(zone).collect::<Result<_>>()?,
            placements: vec![],
            shares: vec![],
            revision: 1,
            created_at: self.at,
            updated_at: self.at,
        };
        let commit = self.commit(Operation::BoardCreate, board.id.into(), owner, None);
        let _applied = self.store.board_insert(&board, commit).await?;
        Ok(board)
    }

    /// Adds `count` events about a session, without a change behind them.
    pub async fn events(&self, session: &Session, count: usize) -> Result<()> {
        // Those of one commit share its transaction.
        const AT_ONCE: usize = 1_000;
        let mut left = count;
        while left > 0 {
            let size = left.min(AT_ONCE);
            let mut commit = self.commit(
                Operation::SessionUpdate,
                session.id.into(),
                session.owner,
                Some(session.id),
            );
            let event = commit.events.remove(0);
            commit.events = vec![event; size];
            let nothing = SessionPatch::default();
            let _applied = self
                .store
                .session_patch(session.id, &nothing, commit)
                .await?;
            left -= size;
        }
        Ok(())
    }

    /// Makes an idle session, below `parent` if there is one.
    fn fresh(&self, owner: Owner, title: &str, parent: Option<&Session>) -> Result<Session> {
        let id = SessionId::from_untyped_uuid(Uuid::now_v7());
        let (agent, title) = (AgentName::parse("echo")?, Title::parse(title)?);
        let session = Session {
            state: SessionState::Idle,
            epoch: 1,
            ..Session::new(id, owner, agent, title, self.at)
        };
        Ok(match parent {
            Some(parent) => session.below(parent),
            None => session,
        })
    }

    fn commit(
        &self,
        operation: Operation,
        subject: Subject,
        owner: Owner,
        session: Option<SessionId>,
    ) -> Commit {
        Commit {
            audit: NewAuditEntry {
                at: self.at,
                request: Uuid::now_v7(),
                user: owner.user,
                credential: Credential::Local.kind(),
                key: None,
                session: None,
                surface: Surface::Server,
                operation,
                subject: Some(subject),
                outcome: Outcome::Done,
                facts: Facts::new(),
            },
            events: vec![NewEvent {
                kind: EventKind::Created,
                subject,
                owner,
                session,
                actor: Some(owner.user),
                facts: Facts::new(),
            }],
            idempotency: None,
        }
    }

    /// Returns the store itself, for what is measured below the application.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Closes the database.
    pub async fn close(self) {
        self.store.close().await;
    }
}

/// Returns an id that nothing has.
pub fn some_id<Id: GenericUuid>() -> Id {
    Id::from_untyped_uuid(Uuid::now_v7())
}
