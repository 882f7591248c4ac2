//! Sessions.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use uuid::Uuid;
use wh_domain::{IdRef, Page, PageRequest, Reach, Session, SessionFilter, SessionId, SessionPatch};
use wh_store::{Applied, Commit, Result, SessionStore, StoreError};

use crate::SqliteStore;
use crate::batch::{Batch, KEEP};
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, push_candidates, push_owned, push_tree};
use crate::row::{self, micros, uuid};
use crate::session_row::{insert_query, session_row};
use crate::user::push_page;

#[async_trait]
impl SessionStore for SqliteStore {
    async fn session_insert(&self, session: &Session, commit: Commit) -> Result<Applied> {
        let change = Change::SessionInsert(Box::new(session.clone()));
        self.commit(change, commit).await
    }

    async fn session_patch(
        &self,
        id: SessionId,
        patch: &SessionPatch,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::SessionPatch(id, patch.clone(), commit.audit.at);
        self.commit(change, commit).await
    }

    async fn session_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Session>> {
        let mut query = Query::new("SELECT t.* FROM sessions t WHERE ");
        push_candidates(&mut query, reach, Owned::Sessions, id);
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("session", session_row(r)))
            .collect()
    }

    async fn session_list(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Session, Uuid>> {
        let mut query = Query::new("SELECT t.* FROM sessions t WHERE ");
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        row::page("session", rows, page.limit, row::id_cursor, session_row)
    }

    async fn session_tree(
        &self,
        reach: Reach,
        root: SessionId,
        limit: u32,
    ) -> Result<Vec<Session>> {
        let mut query = Query::new("SELECT t.* FROM sessions t WHERE t.id IN ");
        push_tree(&mut query, root, Owned::Sessions);
        query.push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        query.push(format_args!(" ORDER BY t.depth, t.id LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("session", &rows, session_row))
    }

    async fn session_is_within(&self, session: SessionId, ancestor: SessionId) -> Result<bool> {
        let mut query = Query::new("SELECT 1 WHERE ");
        query.push_bind(uuid(session)).push(" IN ");
        push_tree(&mut query, ancestor, Owned::Sessions);
        Ok(!self.rows(query).await?.is_empty())
    }
}

fn push_filter(query: &mut Query, filter: &SessionFilter) {
    if !filter.states.is_empty() {
        query.push(" AND t.state IN (");
        let mut states = query.separated(", ");
        for state in &filter.states {
            states.push_bind(state.as_str());
        }
        query.push(")");
    }
    if let Some(board) = filter.board {
        query.push(" AND t.board_id = ").push_bind(uuid(board));
    }
    if let Some(worktree) = filter.worktree {
        query
            .push(" AND t.worktree_id = ")
            .push_bind(uuid(worktree));
    }
    if let Some(parent) = filter.parent {
        query.push(" AND t.parent_id = ").push_bind(uuid(parent));
    }
    if !filter.include_archived {
        query.push(" AND t.archived = 0");
    }
}

pub(crate) async fn insert_in_txn(batch: &mut Batch<'_>, session: &Session) -> Result<()> {
    let mut insert = insert_query(session);
    insert.push(KEEP);
    let inserted = insert.build().execute(&mut *batch.conn).await;
    inserted.map_err(|e| insert_error(e, &[]))?;
    batch.kept();
    Ok(())
}

pub(crate) async fn patch_in_txn(
    conn: &mut SqliteConnection,
    id: SessionId,
    patch: &SessionPatch,
    at: Timestamp,
) -> Result<()> {
    let updated = sqlx::query(
        "UPDATE sessions SET title = coalesce(?, title), description = coalesce(?, description),
             updated_at = max(updated_at, ?) WHERE id = ?",
    )
    .bind(patch.title.as_ref().map(|t| t.as_str()))
    .bind(patch.description.as_ref().map(|d| d.as_str()))
    .bind(micros(at))
    .bind(uuid(id))
    .execute(conn)
    .await
    .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(StoreError::NotFound { what: "session" });
    }
    Ok(())
}
