//! Deletes boards, repositories and users, and lists their dependents.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{AssertSqlSafe, SqliteConnection};
use uuid::Uuid;
use wh_domain::{BoardId, DeleteMode, DependentKind, Dependents, Reference, RepoId, UserId};
use wh_store::{Applied, Commit, DeletionStore, Result, StoreError};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Change;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, micros, uuid};
use crate::user_deletion::OF_USER;

/// What depends on a board, each as a query that ends in the place of its id.
const OF_BOARD: &[(DependentKind, &str)] = &[
    (
        DependentKind::Sessions,
        "SELECT id FROM sessions WHERE archived = 0 AND board_id = ",
    ),
    (
        DependentKind::Worktrees,
        "SELECT id FROM worktrees WHERE removed_at IS NULL AND board_id = ",
    ),
    (
        DependentKind::Loops,
        "SELECT id FROM loops WHERE board_id = ",
    ),
    (
        DependentKind::Tasks,
        "SELECT t.id FROM task_lists l CROSS JOIN tasks t ON t.list_id = l.id WHERE l.board_id = ",
    ),
    (
        DependentKind::Notes,
        "SELECT n.id FROM task_lists l CROSS JOIN notes n ON n.list_id = l.id WHERE l.board_id = ",
    ),
    (
        DependentKind::Webhooks,
        "SELECT id FROM webhooks WHERE board_id = ",
    ),
];

/// What depends on a repository.
const OF_REPO: &[(DependentKind, &str)] = &[
    (
        DependentKind::Sessions,
        "SELECT id FROM sessions WHERE archived = 0 AND repo_id = ",
    ),
    (
        DependentKind::Loops,
        "SELECT id FROM loops WHERE state <> 'ended' AND repo_id = ",
    ),
    (
        DependentKind::Worktrees,
        "SELECT id FROM worktrees WHERE removed_at IS NULL AND repo_id = ",
    ),
];

#[async_trait]
impl DeletionStore for SqliteStore {
    async fn board_dependents(&self, board: BoardId) -> Result<Vec<Dependents>> {
        self.dependents(OF_BOARD, uuid(board)).await
    }

    async fn board_delete(
        &self,
        board: BoardId,
        mode: DeleteMode,
        commit: Commit,
    ) -> Result<Applied> {
        self.commit(Change::BoardDelete(board, mode), commit).await
    }

    async fn repo_dependents(&self, repo: RepoId) -> Result<Vec<Dependents>> {
        self.dependents(OF_REPO, uuid(repo)).await
    }

    async fn repo_delete(&self, repo: RepoId, commit: Commit) -> Result<Applied> {
        let at = commit.audit.at;
        self.commit(Change::RepoDelete(repo, at), commit).await
    }

    async fn repo_had_worktrees(&self, repo: RepoId) -> Result<bool> {
        let mut query = Query::new("SELECT 1 FROM worktrees WHERE repo_id = ");
        query.push_bind(uuid(repo)).push(" LIMIT 1");
        Ok(!self.rows(query).await?.is_empty())
    }

    async fn user_dependents(&self, user: UserId) -> Result<Vec<Dependents>> {
        self.dependents(OF_USER, uuid(user)).await
    }

    async fn user_is_running(&self, user: UserId) -> Result<bool> {
        self.is_user_running(user).await
    }

    async fn user_delete(
        &self,
        user: UserId,
        heir: UserId,
        mode: DeleteMode,
        commit: Commit,
    ) -> Result<Applied> {
        let at = commit.audit.at;
        self.commit(Change::UserDelete(user, heir, mode, at), commit)
            .await
    }

    async fn user_deleted(&self, user: &Reference) -> Result<Option<UserId>> {
        self.deleted_user(user).await
    }
}

impl SqliteStore {
    pub(crate) async fn dependents(
        &self,
        of: &[(DependentKind, &'static str)],
        id: Uuid,
    ) -> Result<Vec<Dependents>> {
        let mut found = Vec::new();
        for (kind, sql) in of {
            let mut query = Query::new("SELECT count(*) AS number FROM (");
            query.push(sql).push_bind(id).push(")");
            let rows = self.rows(query).await?;
            let number = rows.first().map(|row| row::count(row, "number"));
            let count = row::direct("count", number.unwrap_or(Ok(0)))?;
            if count == 0 {
                continue;
            }
            let mut query = Query::new(*sql);
            let first_max = Dependents::FIRST_MAX;
            query.push_bind(id);
            query.push(format_args!(" ORDER BY 1 LIMIT {first_max}"));
            let rows = self.rows(query).await?;
            let ids = rows.iter().map(|row| row::get::<Uuid>(row, "id"));
            let ids = ids.map(|id| row::direct("dependent", id));
            let ids = ids.collect::<Result<Vec<_>>>()?;
            found.push(Dependents {
                kind: *kind,
                count,
                first: ids.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(found)
    }
}

/// Refuses when other resources depend on the deleted one; checked in the deleting transaction.
pub(crate) async fn refuse_if_used(
    conn: &mut SqliteConnection,
    of: &[(DependentKind, &'static str)],
    id: Uuid,
) -> Result<()> {
    for (kind, sql) in of {
        let sql = format!("SELECT count(*) FROM ({sql} ?)");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(id)
            .fetch_one(&mut *conn)
            .await
            .map_err(store_error)?;
        if count > 0 {
            let what = kind.as_str();
            return Err(StoreError::InUse { what });
        }
    }
    Ok(())
}

pub(crate) async fn board_in_txn(
    batch: &mut Batch<'_>,
    board: BoardId,
    mode: DeleteMode,
) -> Result<()> {
    let id = uuid(board);
    batch.boards.push(id);
    if mode == DeleteMode::IfUnused {
        refuse_if_used(batch.conn, OF_BOARD, id).await?;
    }
    // Placements before the zones that they refer to.
    sqlx::query(
        "UPDATE sessions SET board_id = NULL WHERE board_id = ?1;
         UPDATE worktrees SET board_id = NULL WHERE board_id = ?1;
         DELETE FROM webhooks WHERE board_id = ?1;
         DELETE FROM placements WHERE board_id = ?1;
         DELETE FROM zones WHERE board_id = ?1",
    )
    .bind(id)
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let deleted = sqlx::query("DELETE FROM boards WHERE id = ?")
        .bind(id)
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    match deleted.rows_affected() {
        0 => Err(StoreError::NotFound { what: "board" }),
        _ => Ok(()),
    }
}

pub(crate) async fn repo_in_txn(
    conn: &mut SqliteConnection,
    repo: RepoId,
    at: Timestamp,
) -> Result<()> {
    let id = uuid(repo);
    refuse_if_used(conn, OF_REPO, id).await?;
    let deleted =
        sqlx::query("UPDATE repos SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL")
            .bind(micros(at))
            .bind(id)
            .execute(conn)
            .await
            .map_err(store_error)?;
    match deleted.rows_affected() {
        0 => Err(StoreError::NotFound { what: "repo" }),
        _ => Ok(()),
    }
}
