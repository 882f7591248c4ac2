//! Things to put into a store, fresh each time. Backends use them for tests of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use newtype_uuid::{GenericUuid, TypedUuid, TypedUuidKind};
use uuid::Uuid;
use wh_domain::{
    AgentName, AuditFilter, Board, BoardId, BranchName, CredentialKind, Dialect, EventKind, Facts,
    HostList, IdRef, IdempotencyKey, Key, KeyHash, KeyScope, McpDialect, MessageKind, Name,
    NewAuditEntry, NewEvent, NewMessage, Operation, Outcome, Owner, Page, PageLimit, PageRequest,
    Repo, RepoId, RepoSource, RepoState, Secret, Session, SessionState, Subject, Surface, Tier,
    Title, User, UserId, UserName, UserRole, Worktree, WorktreeId, WorktreeState,
};

use crate::{Applied, Commit, IdempotencyClaim, Result, Store};

/// What a fixture returns.
pub type Made<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Makes an id nobody has.
pub fn id<K: TypedUuidKind>() -> TypedUuid<K> {
    TypedUuid::from_untyped_uuid(Uuid::now_v7())
}

/// Returns a time, later each time by a millisecond; no clock is read.
pub fn now() -> Timestamp {
    static MILLIS: AtomicI64 = AtomicI64::new(1_800_000_000_000);
    let millis = MILLIS.fetch_add(1, Ordering::Relaxed);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Makes a word nobody else has.
pub fn word(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::new_v4().simple())
}

pub fn user_value() -> Made<User> {
    Ok(User {
        id: id(),
        name: UserName::parse(&word("u-"))?,
        role: UserRole::Member,
        email: Some("someone@example.org".to_owned()),
        avatar_url: None,
        created_at: now(),
        disabled_at: None,
        local_roots: Vec::new(),
    })
}

/// Adds a user.
pub async fn user(store: &Arc<dyn Store>) -> Made<User> {
    let user = user_value()?;
    let commit = commit(user.id, Operation::UserCreate);
    done(store.user_insert(&user, commit).await?);
    Ok(user)
}

pub fn key_value(user: UserId, scope: KeyScope) -> Made<Key> {
    let secret = Secret::from_random(None, scope, Uuid::new_v4().as_u128());
    let secret = secret.expect("there are such keys");
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    Ok(Key {
        id: id(),
        user,
        name: Name::parse("a key")?,
        scope,
        prefix: secret.prefix(),
        hash: KeyHash(hash),
        session: None,
        dialect: None,
        created_at: now(),
        expires_at: Some(now()),
        last_used_at: None,
        revoked_at: None,
    })
}

/// Adds a key.
pub async fn key(store: &Arc<dyn Store>, user: UserId, scope: KeyScope) -> Made<Key> {
    let key = key_value(user, scope)?;
    done(
        store
            .key_insert(&key, commit(user, Operation::KeyCreate))
            .await?,
    );
    Ok(key)
}

/// Returns what a user owns by itself.
pub fn owned_by(user: UserId) -> Owner {
    Owner { user, key: None }
}

pub fn repo_value(owner: Owner) -> Made<Repo> {
    Ok(Repo {
        credential: None,
        is_deleted: false,
        id: id(),
        owner,
        name: Name::parse(&word("repo-"))?,
        source: RepoSource::parse("https://example.org/team/app.git")?,
        default_branch: None,
        state: RepoState::Pending,
        tier: Some(Tier::Guarded),
        mcp_dialect: Some(McpDialect::Of(Dialect::Iteratr)),
        image: wh_domain::ImageRef::parse("localhost/dev:1").ok(),
        created_at: now(),
    })
}

/// Adds a repository.
pub async fn repo(store: &Arc<dyn Store>, owner: Owner) -> Made<Repo> {
    let repo = repo_value(owner)?;
    done(
        store
            .repo_insert(&repo, commit(owner.user, Operation::RepoAdd))
            .await?,
    );
    Ok(repo)
}

/// Makes a worktree that is wanted and not made.
pub fn worktree_value(owner: Owner, repo: RepoId) -> Made<Worktree> {
    let id: WorktreeId = id();
    Ok(Worktree {
        id,
        owner,
        repo,
        name: Name::parse("a worktree")?,
        branch: BranchName::parse(&word("wh/"))?,
        base: None,
        base_sha: None,
        path: format!("/data/worktrees/{id}").into(),
        board: None,
        state: WorktreeState::Making,
        changes: None,
        created_at: now(),
    })
}

/// Adds a worktree.
pub async fn worktree(store: &Arc<dyn Store>, owner: Owner, repo: RepoId) -> Made<Worktree> {
    let worktree = worktree_value(owner, repo)?;
    let commit = commit(owner.user, Operation::RepoAdd);
    done(store.worktree_insert(&worktree, commit).await?);
    Ok(worktree)
}

pub fn board_value(owner: Owner) -> Made<Board> {
    let at = now();
    Ok(Board {
        id: id(),
        owner,
        name: Name::parse("a board")?,
        description: None,
        zones: Vec::new(),
        placements: Vec::new(),
        shares: Vec::new(),
        revision: 1,
        created_at: at,
        updated_at: at,
    })
}

/// Adds a board.
pub async fn board(store: &Arc<dyn Store>, owner: Owner) -> Made<Board> {
    let board = board_value(owner)?;
    let commit = commit(owner.user, Operation::BoardCreate);
    done(store.board_insert(&board, commit).await?);
    Ok(board)
}

pub fn session_value(owner: Owner, parent: Option<&Session>) -> Made<Session> {
    let (id, at) = (id(), now());
    let (agent, title) = (AgentName::parse("echo")?, Title::parse("a session")?);
    let session = Session {
        state: SessionState::Idle,
        epoch: 1,
        mcp_dialect: McpDialect::Of(Dialect::Agor),
        hosts: Some(HostList::parse(["*.example.org:8443"]).map_err(|(_, refusal)| refusal)?),
        ..Session::new(id, owner, agent, title, at)
    };
    Ok(match parent {
        Some(parent) => session.below(parent),
        None => session,
    })
}

/// Adds a session as it is.
pub async fn insert_session(store: &Arc<dyn Store>, session: &Session) -> Made<()> {
    let commit = commit(session.owner.user, Operation::SessionUpdate);
    done(store.session_insert(session, commit).await?);
    Ok(())
}

/// Adds a session.
pub async fn session(
    store: &Arc<dyn Store>,
    owner: Owner,
    parent: Option<&Session>,
) -> Made<Session> {
    let session = session_value(owner, parent)?;
    insert_session(store, &session).await?;
    Ok(session)
}

pub fn message(kind: MessageKind, text: &str) -> NewMessage {
    NewMessage {
        id: id(),
        turn: None,
        kind,
        text: text.to_owned(),
        detail: None,
        approval: None,
        created_at: now(),
    }
}

pub fn audit(user: UserId, operation: Operation) -> NewAuditEntry {
    NewAuditEntry {
        at: now(),
        request: Uuid::now_v7(),
        user,
        credential: CredentialKind::Full,
        key: None,
        session: None,
        surface: Surface::Rest,
        operation,
        subject: None,
        outcome: Outcome::Done,
        facts: Facts::new(),
    }
}

/// Asks the audit log for the calls of an operation.
pub fn audit_of(operation: Operation) -> AuditFilter {
    AuditFilter {
        operation: Some(operation),
        ..AuditFilter::default()
    }
}

/// Returns what is committed with a change of no further interest.
pub fn commit(user: UserId, operation: Operation) -> Commit {
    Commit {
        audit: audit(user, operation),
        events: Vec::new(),
        idempotency: None,
    }
}

/// Returns the commit of a change that announces one event.
pub fn commit_with_event(
    user: UserId,
    operation: Operation,
    subject: impl Into<Subject>,
) -> Commit {
    let event = event(EventKind::Updated, subject.into(), owned_by(user));
    Commit {
        events: vec![event],
        ..commit(user, operation)
    }
}

pub fn event(kind: EventKind, subject: Subject, owner: Owner) -> NewEvent {
    NewEvent {
        kind,
        subject,
        owner,
        session: None,
        actor: Some(owner.user),
        facts: Facts::from([("name".to_owned(), "a \"quoted\" name \u{1f980}".to_owned())]),
    }
}

/// Returns a claim on a mark for the making of a board.
pub fn claim(user: UserId, mark: &str, request: u8, board: BoardId) -> Made<IdempotencyClaim> {
    Ok(IdempotencyClaim {
        user,
        key: None,
        mark: IdempotencyKey::parse(mark)?,
        operation: Operation::BoardCreate,
        request: [request; 32],
        subject: board.into(),
    })
}

/// Expects a change to have been made now, and returns the number of its last event.
#[track_caller]
pub fn done(applied: Applied) -> Option<u64> {
    match applied {
        Applied::Done { seq } => seq,
        Applied::Replayed { subject } => panic!("replayed {subject:?}, expected a change"),
    }
}

/// Returns an id as a caller would write it in full.
pub fn whole<K: TypedUuidKind>(id: TypedUuid<K>) -> IdRef {
    IdRef::Whole(id.into_untyped_uuid())
}

/// Reads a list to its end in small pages, and checks that no page is larger than asked.
pub async fn pages<T, C: Copy, F>(
    size: u32,
    mut read: impl FnMut(PageRequest<C>) -> F,
) -> Made<Vec<T>>
where
    F: Future<Output = Result<Page<T, C>>>,
{
    let limit = PageLimit::clamped(Some(size));
    let mut request = PageRequest::first(limit);
    let mut items = Vec::new();
    loop {
        let page = read(request).await?;
        assert!(
            page.items.len() <= size as usize,
            "a page holds no more than asked"
        );
        items.extend(page.items);
        match page.next {
            Some(after) => request.after = Some(after),
            None => return Ok(items),
        }
    }
}

/// Waits until something holds that may be written a moment later.
pub async fn eventually<F>(mut holds: impl FnMut() -> F) -> Made<()>
where
    F: Future<Output = Made<bool>>,
{
    for _ in 0..200 {
        if holds().await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    Err("it did not come to hold within five seconds".into())
}
