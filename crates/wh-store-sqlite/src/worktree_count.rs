//! What worktrees have to show, in numbers, and which are to be counted again.

use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{WorktreeChanges, WorktreeId};
use wh_store::{Counted, Result, Uncounted};

use crate::batch::Batch;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, Parsed, int, uuid};
use crate::worktree::worktree_row;

/// Reads the numbers of a worktree; none as long as it was never counted.
pub(crate) fn changes_columns(row: &SqliteRow) -> Parsed<Option<WorktreeChanges>> {
    let Some(added) = row::count_opt(row, "lines_added")? else {
        return Ok(None);
    };
    Ok(Some(WorktreeChanges {
        added,
        deleted: row::count(row, "lines_deleted")?,
        ahead: row::count(row, "commits_ahead")?,
        unmerged: row::count(row, "commits_unmerged")?,
        is_clean: row::get(row, "is_clean")?,
    }))
}

/// Makes the query for worktrees that something has happened in since they were counted.
pub(crate) fn uncounted_query(limit: u32) -> Query {
    let mut query = Query::new("SELECT t.* FROM worktrees t WHERE t.touched <> t.counted");
    query.push(format_args!(" ORDER BY t.id LIMIT {limit}"));
    query
}

pub(crate) fn uncounted_row(row: &SqliteRow) -> Parsed<Uncounted> {
    Ok(Uncounted {
        worktree: worktree_row(row)?,
        touched: row::count(row, "touched")?,
    })
}

/// Notes that something happened in a worktree.
pub(crate) async fn touch_in_txn(conn: &mut SqliteConnection, id: WorktreeId) -> Result<()> {
    let mut update = Query::new("");
    push_touch(&mut update, id);
    let updated = update.build().execute(conn).await;
    updated.map(drop).map_err(store_error)
}

/// Adds the statement that records that something has happened in a worktree.
pub(crate) fn push_touch(script: &mut Query, id: WorktreeId) {
    script
        .push("UPDATE worktrees SET touched = touched + 1 WHERE id = ")
        .push_bind(uuid(id));
}

/// Stores the numbers, and announces them if they are others than before.
pub(crate) async fn counted_in_txn(batch: &mut Batch<'_>, counted: &Counted) -> Result<bool> {
    let id = uuid(counted.worktree);
    sqlx::query("UPDATE worktrees SET counted = ? WHERE id = ?")
        .bind(int(counted.touched))
        .bind(id)
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let Some(changes) = counted.changes else {
        return Ok(false);
    };
    let stored = sqlx::query(
        "UPDATE worktrees SET lines_added = ?1, lines_deleted = ?2, commits_ahead = ?3, commits_unmerged = ?4, is_clean = ?5
         WHERE id = ?6 AND (lines_added, lines_deleted, commits_ahead, commits_unmerged, is_clean) IS NOT (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(int(changes.added))
    .bind(int(changes.deleted))
    .bind(int(changes.ahead))
    .bind(int(changes.unmerged))
    .bind(changes.is_clean)
    .bind(id)
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let is_new = stored.rows_affected() > 0;
    if is_new {
        batch.announce(counted.at, counted.event.clone());
    }
    Ok(is_new)
}
