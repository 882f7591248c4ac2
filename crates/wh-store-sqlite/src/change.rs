//! What the writer can be asked to do.

use jiff::Timestamp;
use tokio::sync::oneshot;
use wh_domain::{
    Board, Key, KeyId, NewEvent, Repo, Session, SessionId, SessionPatch, SettingKey, SettingValue,
    User, Worktree, WorktreeStateName,
};
use wh_store::{Applied, Commit, Expired, Forgotten, MessageAppend, Result};

use crate::batch::Batch;
use crate::{board, key, repo, session, setting, user, worktree};

/// Something for the writer to do, and whom to answer.
pub(crate) enum Request {
    Commit {
        change: Change,
        commit: Box<Commit>,
        answer: oneshot::Sender<Result<Applied>>,
    },
    Append {
        append: MessageAppend,
        answer: oneshot::Sender<Result<u64>>,
    },
    /// Tells followers of something that leaves no other trace.
    Announce {
        at: Timestamp,
        event: Box<NewEvent>,
        answer: oneshot::Sender<Result<u64>>,
    },
    /// Removes what has expired.
    Forget {
        expired: Expired,
        answer: oneshot::Sender<Result<Forgotten>>,
    },
    /// Writes something of no meaning, to see that it can be done.
    Probe { answer: oneshot::Sender<Result<()>> },
}

/// A change of state; what is committed with it travels beside it.
pub(crate) enum Change {
    /// Nothing but the audit entry and the events.
    Nothing,
    UserInsert(User),
    KeyInsert(Box<Key>),
    KeyRevoke(KeyId, Timestamp),
    RepoInsert(Box<Repo>),
    RepoSettle(Box<Repo>),
    WorktreeInsert(Box<Worktree>),
    /// The state it was seen in, and what became of it.
    WorktreeMove(WorktreeStateName, Box<Worktree>),
    BoardInsert(Box<Board>),
    BoardSave(Box<Board>),
    SessionInsert(Box<Session>),
    SessionPatch(SessionId, SessionPatch, Timestamp),
    SettingSet(SettingKey, Option<SettingValue>, Timestamp),
}

impl Change {
    /// Makes the change in the batch's transaction; whatever it did before it failed is undone by the caller.
    pub(crate) async fn apply(&self, batch: &mut Batch<'_>) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::UserInsert(user) => user::insert_in_txn(batch.conn, user).await,
            Self::KeyInsert(key) => key::insert_in_txn(batch.conn, key).await,
            Self::KeyRevoke(id, at) => key::revoke_in_txn(batch.conn, *id, *at).await,
            Self::RepoInsert(repo) => repo::insert_in_txn(batch.conn, repo).await,
            Self::RepoSettle(repo) => repo::settle_in_txn(batch.conn, repo).await,
            Self::WorktreeInsert(worktree) => worktree::insert_in_txn(batch.conn, worktree).await,
            Self::WorktreeMove(from, after) => {
                worktree::move_in_txn(batch.conn, *from, after).await
            }
            Self::BoardInsert(board) => board::insert_in_txn(batch, board).await,
            Self::BoardSave(board) => board::save_in_txn(batch, board).await,
            Self::SessionInsert(session) => session::insert_in_txn(batch, session).await,
            Self::SessionPatch(id, patch, at) => {
                session::patch_in_txn(batch.conn, *id, patch, *at).await
            }
            Self::SettingSet(key, value, at) => {
                setting::set_in_txn(batch.conn, *key, *value, *at).await
            }
        }
    }
}
