//! Boards with their zones and placements: changes, and reads through the cache.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{Board, BoardFilter, BoardItem, IdRef, Page, PageRequest, Reach};
use wh_store::{Applied, BoardStore, Commit, Fired, Result, StoreError};

use crate::SqliteStore;
use crate::batch::{Batch, KEEP, ROWS_MAX, is_common};
use crate::board_sql::{self, Found};
use crate::cache::Lookup;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, counted, push_candidates, push_owned};
use crate::row::{int, micros, uuid, uuid_opt};
use crate::user::push_page;
use crate::{guests, session, turn};

#[async_trait]
impl BoardStore for SqliteStore {
    async fn board_insert(&self, board: &Board, commit: Commit) -> Result<Applied> {
        self.shared.guests.add(board);
        let change = Change::BoardInsert(Box::new(board.clone()));
        self.commit(change, commit).await
    }

    async fn board_save(&self, board: &Board, commit: Commit) -> Result<Applied> {
        self.board_place(board, &[], commit).await
    }

    async fn board_place(&self, board: &Board, fired: &[Fired], commit: Commit) -> Result<Applied> {
        self.shared.guests.add(board);
        let change = Change::BoardSave(Box::new(board.clone()), fired.to_vec());
        self.commit(change, commit).await
    }

    async fn board_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Arc<Board>>> {
        match (reach, id) {
            (reach, IdRef::Whole(id)) if !matches!(reach, Reach::Tree(_)) => {
                let board = self.board_by_id(*id).await?;
                let seen = board.filter(|board| reach.covers_board(board));
                Ok(seen.into_iter().collect())
            }
            _ => {
                let mut found = board_sql::begin();
                push_candidates(&mut found, reach, Owned::Boards, id);
                let boards = self.boards(found).await?;
                boards
                    .into_iter()
                    .map(|b| b.direct().map(Arc::new))
                    .collect()
            }
        }
    }

    async fn board_list(
        &self,
        reach: Reach,
        filter: BoardFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Board, Uuid>> {
        let mut found = board_sql::begin();
        push_listed(&mut found, reach, filter);
        push_page(&mut found, page);
        let boards = self.boards(found).await?;
        let found = Page::from_overfetch(boards, page.limit, |b| b.id);
        Ok(Page {
            items: found.items.into_iter().filter_map(Found::listed).collect(),
            next: found.next,
            total: match page.is_counted {
                true => Some(self.board_count(reach, filter).await?),
                false => None,
            },
        })
    }

    async fn board_count(&self, reach: Reach, filter: BoardFilter) -> Result<u64> {
        let mut query = counted("boards t");
        push_listed(&mut query, reach, filter);
        self.count(query).await
    }
}

impl SqliteStore {
    /// Returns a board by its id, whosoever it is, from memory if it is there.
    async fn board_by_id(&self, id: Uuid) -> Result<Option<Arc<Board>>> {
        self.check_open()?;
        let fill = match self.shared.boards.get(id) {
            Lookup::Hit(board) => return Ok(Some(board)),
            Lookup::Miss(fill) => fill,
        };
        let mut found = board_sql::begin();
        found.push("t.id = ").push_bind(id);
        let mut boards = self.boards(found).await?;
        let Some(board) = boards.pop().map(Found::direct).transpose()? else {
            return Ok(None);
        };
        let board = Arc::new(board);
        if let Some(fill) = fill {
            self.shared.boards.put(id, fill, Arc::clone(&board));
        }
        Ok(Some(board))
    }

    async fn boards(&self, found: Query) -> Result<Vec<Found>> {
        let rows = self.rows(board_sql::finish(found)).await?;
        board_sql::collect(&rows)
    }
}

/// Adds the conditions on boards of a list.
fn push_listed(query: &mut Query, reach: Reach, filter: BoardFilter) {
    push_owned(query, reach, Owned::Boards);
    if let Some(owner) = filter.owner {
        query.push(" AND t.owner_user_id = ").push_bind(uuid(owner));
    }
}

/// Tells whether the board has no zones, placements or shares, which are rows of their own.
pub(crate) fn is_one_row(board: &Board) -> bool {
    board.zones.is_empty() && board.placements.is_empty() && board.shares.is_empty()
}

/// Adds the statement that inserts the row of a board.
pub(crate) fn push_insert(script: &mut Query, board: &Board) {
    script
        .push(
            "INSERT INTO boards (id, owner_user_id, owner_key_id, name, description, revision, created_at, updated_at)
             VALUES (",
        )
        .separated(", ")
        .push_bind(uuid(board.id))
        .push_bind(uuid(board.owner.user))
        .push_bind(uuid_opt(board.owner.key))
        .push_bind(board.name.as_str().to_owned())
        .push_bind(board.description.as_ref().map(|d| d.as_str().to_owned()))
        .push_bind(int(board.revision))
        .push_bind(micros(board.created_at))
        .push_bind(micros(board.updated_at))
        .push_unseparated(")");
}

pub(crate) async fn insert_in_txn(batch: &mut Batch<'_>, board: &Board) -> Result<()> {
    let mut insert = Query::new("");
    push_insert(&mut insert, board);
    let is_one_row = is_one_row(board);
    if is_one_row {
        insert.push(KEEP);
    }
    let inserted = insert.build().execute(&mut *batch.conn).await;
    inserted.map_err(|e| insert_error(e, &[]))?;
    if is_one_row {
        batch.kept();
        batch.boards.push(uuid(board.id));
        return Ok(());
    }
    insert_contents(batch, board).await.map_err(store_error)
}

/// Saves a board, and sends the prompts that come of it.
pub(crate) async fn place_in_txn(
    batch: &mut Batch<'_>,
    board: &Board,
    fired: &[Fired],
) -> Result<()> {
    save_in_txn(batch, board).await?;
    for fired in fired {
        match fired {
            Fired::Prompt(turn, rules) => turn::queue_in_txn(batch, turn, *rules).await?,
            Fired::Begin(new) => session::begin_in_txn(batch, new).await?,
        }
    }
    Ok(())
}

pub(crate) async fn save_in_txn(batch: &mut Batch<'_>, board: &Board) -> Result<()> {
    let id = uuid(board.id);
    let updated = sqlx::query(
        "UPDATE boards SET name = ?, description = ?, revision = ?, updated_at = ? WHERE id = ? AND revision = ?",
    )
    .bind(board.name.as_str())
    .bind(board.description.as_ref().map(|d| d.as_str()))
    .bind(int(board.revision))
    .bind(micros(board.updated_at))
    .bind(id)
    .bind(int(board.revision) - 1)
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(why_not_saved(batch, id).await?);
    }
    // Zones last and placements first, because placements refer to zones.
    sqlx::query(
        "DELETE FROM placements WHERE board_id = ?1; DELETE FROM zones WHERE board_id = ?1;
         DELETE FROM board_shares WHERE board_id = ?1",
    )
    .bind(id)
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    insert_contents(batch, board).await.map_err(store_error)
}

async fn why_not_saved(batch: &mut Batch<'_>, id: Uuid) -> Result<StoreError> {
    let exists: bool = sqlx::query_scalar("SELECT count(*) > 0 FROM boards WHERE id = ?")
        .bind(id)
        .fetch_one(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let what = "board";
    Ok(if exists {
        StoreError::Stale { what }
    } else {
        StoreError::NotFound { what }
    })
}

async fn insert_contents(batch: &mut Batch<'_>, board: &Board) -> sqlx::Result<()> {
    let id = uuid(board.id);
    batch.boards.push(id);
    let zones: Vec<_> = board.zones.iter().enumerate().collect();
    for chunk in zones.chunks(ROWS_MAX) {
        let mut query = Query::new(
            "INSERT INTO zones (board_id, id, ord, name, color, x, y, width, height, prompt_template, agent) ",
        );
        query.push_values(chunk, |mut row, (ord, zone)| {
            row.push_bind(id)
                .push_bind(uuid(zone.id))
                .push_bind(int(*ord as u64))
                .push_bind(zone.name.as_str())
                .push_bind(zone.color.map(|c| c.to_string()))
                .push_bind(zone.rect.x)
                .push_bind(zone.rect.y)
                .push_bind(zone.rect.width)
                .push_bind(zone.rect.height)
                .push_bind(zone.prompt_template.as_ref().map(|t| t.as_str()))
                .push_bind(zone.agent.as_ref().map(|a| a.as_str()));
        });
        let insert = query.build().persistent(is_common(chunk.len()));
        insert.execute(&mut *batch.conn).await?;
    }
    let placements: Vec<_> = board.placements.iter().enumerate().collect();
    for chunk in placements.chunks(ROWS_MAX) {
        let mut query = Query::new(
            "INSERT INTO placements (board_id, item_kind, item_id, ord, x, y, zone_id) ",
        );
        query.push_values(chunk, |mut row, (ord, placement)| {
            let (kind, item) = match placement.item {
                BoardItem::Worktree(id) => (board_sql::WORKTREE, uuid(id)),
                BoardItem::Session(id) => (board_sql::SESSION, uuid(id)),
            };
            row.push_bind(id)
                .push_bind(kind)
                .push_bind(item)
                .push_bind(int(*ord as u64))
                .push_bind(placement.position.x)
                .push_bind(placement.position.y)
                .push_bind(uuid_opt(placement.zone));
        });
        let insert = query.build().persistent(is_common(chunk.len()));
        insert.execute(&mut *batch.conn).await?;
    }
    insert_shares(batch, board).await
}

async fn insert_shares(batch: &mut Batch<'_>, board: &Board) -> sqlx::Result<()> {
    let shares: Vec<_> = board.shares.iter().enumerate().collect();
    for chunk in shares.chunks(ROWS_MAX) {
        let mut query = Query::new("INSERT INTO board_shares (board_id, user_id, ord, level) ");
        query.push_values(chunk, |mut row, (ord, share)| {
            row.push_bind(uuid(board.id))
                .push_bind(guests::column(&share.with))
                .push_bind(int(*ord as u64))
                .push_bind(share.level.as_str());
        });
        let insert = query.build().persistent(is_common(chunk.len()));
        insert.execute(&mut *batch.conn).await?;
    }
    Ok(())
}
