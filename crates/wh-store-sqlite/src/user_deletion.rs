//! Deletes users: transfers what they own and removes their credentials.

use jiff::Timestamp;
use sqlx::{AssertSqlSafe, SqliteConnection};
use uuid::Uuid;
use wh_domain::{DeleteMode, DependentKind, IdRef, Reference, UserId};
use wh_store::{Result, StoreError};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::deletion::refuse_if_used;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, micros, uuid};
use crate::user::refuse_without_admin;

/// Queries for the dependents of a user, by kind; the user's id is appended as a parameter.
pub(crate) const OF_USER: &[(DependentKind, &str)] = &[
    (
        DependentKind::Sessions,
        "SELECT id FROM sessions WHERE owner_user_id = ",
    ),
    (
        DependentKind::Loops,
        "SELECT id FROM loops WHERE owner_user_id = ",
    ),
    (
        DependentKind::Worktrees,
        "SELECT id FROM worktrees WHERE removed_at IS NULL AND owner_user_id = ",
    ),
    (
        DependentKind::Boards,
        "SELECT id FROM boards WHERE owner_user_id = ",
    ),
    (
        DependentKind::Repos,
        "SELECT id FROM repos WHERE deleted_at IS NULL AND owner_user_id = ",
    ),
    (
        DependentKind::Tasks,
        "SELECT t.id FROM task_lists l CROSS JOIN tasks t ON t.list_id = l.id WHERE l.name IS NOT NULL AND l.owner_user_id = ",
    ),
    (
        DependentKind::Keys,
        "SELECT id FROM keys WHERE revoked_at IS NULL AND scope NOT IN ('session', 'browser') AND user_id = ",
    ),
    (
        DependentKind::Shares,
        "SELECT board_id AS id FROM board_shares WHERE user_id = ",
    ),
    (
        DependentKind::Webhooks,
        "SELECT id FROM webhooks WHERE user_id = ",
    ),
    (
        DependentKind::Credentials,
        "SELECT id FROM host_credentials WHERE user_id = ",
    ),
];

/// Queries for running sessions and loops of a user; the user's id is appended as a parameter.
const RUNNING: &[(DependentKind, &str)] = &[
    (
        DependentKind::Sessions,
        "SELECT s.id FROM sessions s WHERE (s.state IN ('creating', 'running', 'waiting', 'stopping')
             OR EXISTS (SELECT 1 FROM runs r WHERE r.session_id = s.id AND r.ended_at IS NULL)) AND s.owner_user_id = ",
    ),
    (
        DependentKind::Loops,
        "SELECT id FROM loops WHERE state IN ('beginning', 'running') AND owner_user_id = ",
    ),
];

/// The tables in which only the owner changes.
const OWNED: &[&str] = &[
    "sessions",
    "worktrees",
    "boards",
    "repos",
    "loops",
    "task_lists",
    "waits",
];

impl SqliteStore {
    /// Returns whether a session or loop of the user is still running.
    pub(crate) async fn is_user_running(&self, user: UserId) -> Result<bool> {
        Ok(!self.dependents(RUNNING, uuid(user)).await?.is_empty())
    }

    /// Returns the deleted user of this name or whole id.
    pub(crate) async fn deleted_user(&self, user: &Reference) -> Result<Option<UserId>> {
        let mut query = Query::new("SELECT id FROM users WHERE deleted_at IS NOT NULL AND ");
        match user.id() {
            Ok(IdRef::Whole(id)) => query.push("id = ").push_bind(id),
            _ => query.push("name = ").push_bind(user.as_str().to_owned()),
        };
        let rows = self.rows(query).await?;
        let found = rows.first().map(|found| row::id(found, "id"));
        row::direct("user", found.transpose())
    }
}

pub(crate) async fn delete_in_txn(
    batch: &mut Batch<'_>,
    user: UserId,
    heir: UserId,
    mode: DeleteMode,
    at: Timestamp,
) -> Result<()> {
    let (user, heir) = (uuid(user), uuid(heir));
    if mode == DeleteMode::IfUnused {
        refuse_if_used(batch.conn, OF_USER, user).await?;
    }
    refuse_if_used(batch.conn, RUNNING, user).await?;
    let boards: Vec<Uuid> = sqlx::query_scalar(
        "SELECT id FROM boards WHERE owner_user_id = ?1 UNION SELECT board_id FROM board_shares WHERE user_id = ?1",
    )
    .bind(user)
    .fetch_all(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    batch.boards.extend(boards);
    hand_over(batch.conn, user, heir).await?;
    sqlx::query(
        "UPDATE keys SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL;
         DELETE FROM board_shares WHERE user_id = ?1;
         DELETE FROM webhooks WHERE user_id = ?1;
         DELETE FROM host_credentials WHERE user_id = ?1 AND usable_by = 'own'",
    )
    .bind(user)
    .bind(micros(at))
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let deleted = sqlx::query(
        "UPDATE users SET deleted_at = ?2, disabled_at = coalesce(disabled_at, ?2), email = NULL,
             avatar_url = NULL, local_roots = NULL WHERE id = ?1 AND deleted_at IS NULL",
    )
    .bind(user)
    .bind(micros(at))
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    if deleted.rows_affected() == 0 {
        return Err(StoreError::NotFound { what: "user" });
    }
    refuse_without_admin(batch.conn).await
}

/// Transfers ownership of a user's resources to `heir`, and clears the owning client key.
async fn hand_over(conn: &mut SqliteConnection, user: Uuid, heir: Uuid) -> Result<()> {
    for (table, is_unique) in [
        ("repos", "n.deleted_at IS NULL"),
        ("task_lists", "n.name IS NOT NULL"),
    ] {
        // A conflicting name gets the last digits of the resource's id.
        let sql = format!(
            "UPDATE {table} AS n SET name =
                 CASE WHEN length(CAST(name AS BLOB)) > 111 THEN substr(name, 1, 27) ELSE name END
                     || '-' || lower(hex(substr(id, 13)))
             WHERE n.owner_user_id = ?1 AND {is_unique} AND EXISTS (SELECT 1 FROM {table} o WHERE o.name = n.name
                 AND ((o.owner_user_id = ?2 AND o.owner_key_id IS NULL) OR (o.owner_user_id = ?1 AND o.id < n.id)))"
        );
        execute_for(conn, sql, user, heir).await?;
    }
    // The token of a `lead` session would grant access to the heir's resources.
    sqlx::query("UPDATE sessions SET role = 'general' WHERE role = 'lead' AND owner_user_id = ?")
        .bind(user)
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
    // Server-wide credentials are kept; the heir's shares of the transferred boards are no longer needed.
    sqlx::query(
        "UPDATE host_credentials SET user_id = ?2 WHERE user_id = ?1 AND usable_by <> 'own';
         DELETE FROM board_shares WHERE user_id = ?2
             AND board_id IN (SELECT id FROM boards WHERE owner_user_id = ?1)",
    )
    .bind(user)
    .bind(heir)
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    for table in OWNED {
        let sql = format!(
            "UPDATE {table} SET owner_user_id = ?2, owner_key_id = NULL WHERE owner_user_id = ?1"
        );
        execute_for(conn, sql, user, heir).await?;
    }
    Ok(())
}

/// Runs a statement with the user as its first parameter and the heir as its second.
async fn execute_for(
    conn: &mut SqliteConnection,
    sql: String,
    user: Uuid,
    heir: Uuid,
) -> Result<()> {
    let query = sqlx::query(AssertSqlSafe(sql)).bind(user).bind(heir);
    query.execute(conn).await.map(drop).map_err(store_error)
}
