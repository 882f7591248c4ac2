//! What the writer can be asked to do.

use jiff::Timestamp;
use tokio::sync::oneshot;
use wh_domain::{
    ApprovalId, Board, BoardId, ConfigDigest, CredentialId, DeleteMode, Key, KeyId, NewEvent,
    NewTurn, Repo, RepoId, Run, SealedCredential, Session, SessionEvent, SessionId, SessionPatch,
    SettingKey, SettingValue, Settlement, TrustedConfig, TurnId, User, UserId, UserPatch, Webhook,
    WebhookId, WebhookState, Worktree, WorktreeId, WorktreeStateName,
};
use wh_store::{
    Applied, Commit, Counted, Expired, Fired, Forgotten, MessageAppend, NewSession, QueueRules,
    Result, RunStep,
};

use crate::batch::Batch;
use crate::loops::LoopChange;
use crate::reach::Query;
use crate::task_change::TaskChange;
use crate::wait::WaitStep;
use crate::webhook::WebhookStep;
use crate::{
    approval, board, deletion, host_credential, key, repo, session, setting, turn, user,
    user_deletion, webhook, worktree, worktree_count,
};

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
    RunBegin {
        begin: Box<(Run, Key)>,
        answer: oneshot::Sender<Result<()>>,
    },
    RunApply {
        step: Box<RunStep>,
        answer: oneshot::Sender<Result<Box<Session>>>,
    },
    /// Stores the end of a live run's stderr.
    RunLog {
        session: SessionId,
        epoch: u64,
        text: String,
        at: Timestamp,
        answer: oneshot::Sender<Result<()>>,
    },
    RunRenew {
        key: KeyId,
        until: Timestamp,
        answer: oneshot::Sender<Result<()>>,
    },
    /// Tells a session about its children.
    NewsTell {
        session: SessionId,
        turn: TurnId,
        at: Timestamp,
        answer: oneshot::Sender<Result<bool>>,
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
    /// Records what the worker of webhooks did.
    Webhook {
        step: Box<WebhookStep>,
        answer: oneshot::Sender<Result<()>>,
    },
    /// Begins or ends a wait.
    Wait {
        step: Box<WaitStep>,
        answer: oneshot::Sender<Result<bool>>,
    },
    /// Stores what counting a worktree came to.
    Counted {
        counted: Box<Counted>,
        answer: oneshot::Sender<Result<bool>>,
    },
    /// Writes something of no meaning, to see that it can be done.
    Probe { answer: oneshot::Sender<Result<()>> },
}

/// A change of state; what is committed with it travels beside it.
pub(crate) enum Change {
    /// Nothing but the audit entry and the events.
    Nothing,
    UserInsert(User),
    UserUpdate(UserId, UserPatch, Timestamp),
    KeyInsert(Box<Key>),
    KeyRevoke(KeyId, Timestamp),
    RepoInsert(Box<Repo>),
    RepoSettle(Box<Repo>),
    RepoTrust(RepoId, Vec<TrustedConfig>, Vec<ConfigDigest>),
    WorktreeInsert(Box<Worktree>),
    /// The state it was seen in, and what became of it.
    WorktreeMove(WorktreeStateName, Box<Worktree>),
    /// Something has happened in it.
    WorktreeTouch(WorktreeId),
    BoardInsert(Box<Board>),
    /// With the prompts that come of what was placed.
    BoardSave(Box<Board>, Vec<Fired>),
    SessionInsert(Box<Session>),
    SessionBegin(Box<NewSession>),
    SessionPatch(SessionId, SessionPatch, Timestamp),
    SessionMove(SessionId, SessionEvent, Timestamp),
    SessionArchive(SessionId, bool, Option<SessionEvent>, Timestamp),
    SessionDelete(SessionId),
    TurnQueue(Box<NewTurn>, QueueRules),
    TurnCancel(SessionId),
    TurnWithdraw(TurnId, Timestamp),
    ApprovalSettle(ApprovalId, Settlement, Timestamp),
    WebhookInsert(Box<Webhook>),
    WebhookTurn(WebhookId, WebhookState),
    WebhookDelete(WebhookId),
    BoardDelete(BoardId, DeleteMode),
    RepoDelete(RepoId, Timestamp),
    /// The user, who gets what the user owned, and when.
    UserDelete(UserId, UserId, DeleteMode, Timestamp),
    CredentialSet(Box<SealedCredential>),
    CredentialDelete(CredentialId),
    SettingSet(SettingKey, Option<SettingValue>, Timestamp),
    Tasks(Box<TaskChange>),
    Loops(LoopChange),
}

/// A change that one statement makes, whatever the statement finds, so that several can be made by one script.
pub(crate) enum SingleStatement<'a> {
    BoardInsert(&'a Board),
    WorktreeTouch(WorktreeId),
}

impl SingleStatement<'_> {
    /// Returns the board that the change touches.
    pub(crate) fn board(&self) -> Option<BoardId> {
        match self {
            Self::BoardInsert(board) => Some(board.id),
            Self::WorktreeTouch(_) => None,
        }
    }

    /// Adds the statement to a script.
    pub(crate) fn push(&self, script: &mut Query) {
        match self {
            Self::BoardInsert(board) => board::push_insert(script, board),
            Self::WorktreeTouch(id) => worktree_count::push_touch(script, *id),
        }
    }
}

impl Request {
    /// Returns the statement that makes the request's change, if one statement does and nothing has to be read before.
    pub(crate) fn single_statement(&self) -> Option<SingleStatement<'_>> {
        match self {
            Self::Commit { change, commit, .. } if commit.idempotency.is_none() => {
                change.single_statement()
            }
            _ => None,
        }
    }
}

impl Change {
    /// Returns the statement that makes the change, if there is one.
    pub(crate) fn single_statement(&self) -> Option<SingleStatement<'_>> {
        match self {
            Self::BoardInsert(board) if board::is_one_row(board) => {
                Some(SingleStatement::BoardInsert(board))
            }
            Self::WorktreeTouch(id) => Some(SingleStatement::WorktreeTouch(*id)),
            _ => None,
        }
    }

    /// Makes the change in the batch's transaction; whatever it did before it failed is undone by the caller.
    pub(crate) async fn apply(&self, batch: &mut Batch<'_>) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::UserInsert(user) => user::insert_in_txn(batch.conn, user).await,
            Self::UserUpdate(id, patch, at) => {
                user::update_in_txn(batch.conn, *id, patch, *at).await
            }
            Self::KeyInsert(key) => {
                key::check_count_in_txn(batch.conn, key).await?;
                key::insert_in_txn(batch.conn, key).await
            }
            Self::KeyRevoke(id, at) => key::revoke_in_txn(batch.conn, *id, *at).await,
            Self::RepoInsert(repo) => repo::insert_in_txn(batch.conn, repo).await,
            Self::RepoSettle(repo) => repo::settle_in_txn(batch.conn, repo).await,
            Self::RepoTrust(repo, approve, revoke) => {
                repo::trust_in_txn(batch.conn, *repo, approve, revoke).await
            }
            Self::WorktreeInsert(worktree) => worktree::insert_in_txn(batch.conn, worktree).await,
            Self::WorktreeMove(from, after) => {
                worktree::move_in_txn(batch.conn, *from, after).await
            }
            Self::WorktreeTouch(id) => worktree_count::touch_in_txn(batch.conn, *id).await,
            Self::BoardInsert(board) => board::insert_in_txn(batch, board).await,
            Self::BoardSave(board, fired) => board::place_in_txn(batch, board, fired).await,
            Self::SessionInsert(session) => session::insert_in_txn(batch, session).await,
            Self::SessionPatch(id, patch, at) => {
                session::patch_in_txn(batch.conn, *id, patch, *at).await
            }
            Self::SessionBegin(new) => session::begin_in_txn(batch, new).await,
            Self::SessionMove(id, event, at) => session::move_in_txn(batch, *id, event, *at).await,
            Self::SessionArchive(id, archived, stop, at) => {
                if let Some(stop) = stop {
                    session::move_in_txn(batch, *id, stop, *at).await?;
                }
                session::archive_in_txn(batch.conn, *id, *archived, *at).await
            }
            Self::SessionDelete(id) => session::delete_in_txn(batch.conn, *id).await,
            Self::TurnQueue(turn, rules) => turn::queue_in_txn(batch, turn, *rules).await,
            Self::TurnWithdraw(turn, at) => turn::withdraw_in_txn(batch.conn, *turn, *at).await,
            Self::TurnCancel(session) => turn::cancel_current_in_txn(batch.conn, *session).await,
            Self::ApprovalSettle(id, settlement, at) => {
                approval::answer_in_txn(batch, *id, settlement, *at).await
            }
            Self::WebhookInsert(webhook) => webhook::insert_in_txn(batch.conn, webhook).await,
            Self::WebhookTurn(id, state) => webhook::turn_in_txn(batch.conn, *id, *state).await,
            Self::WebhookDelete(id) => webhook::delete_in_txn(batch.conn, *id).await,
            Self::BoardDelete(board, mode) => deletion::board_in_txn(batch, *board, *mode).await,
            Self::RepoDelete(repo, at) => deletion::repo_in_txn(batch.conn, *repo, *at).await,
            Self::UserDelete(user, heir, mode, at) => {
                user_deletion::delete_in_txn(batch, *user, *heir, *mode, *at).await
            }
            Self::CredentialSet(sealed) => host_credential::set_in_txn(batch.conn, sealed).await,
            Self::CredentialDelete(id) => host_credential::delete_in_txn(batch.conn, *id).await,
            Self::SettingSet(key, value, at) => {
                setting::set_in_txn(batch.conn, *key, *value, *at).await
            }
            Self::Tasks(change) => change.apply(batch.conn).await,
            Self::Loops(change) => change.apply(batch).await,
        }
    }
}
