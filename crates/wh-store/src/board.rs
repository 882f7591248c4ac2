//! Boards.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{Board, BoardFilter, IdRef, NewTurn, Page, PageRequest, Reach};

use crate::{Applied, Commit, NewSession, QueueRules, Result};

/// What comes of something being placed in a zone that prompts.
#[derive(Clone, Debug)]
pub enum Fired {
    /// A session is prompted.
    Prompt(NewTurn, QueueRules),
    /// A session is begun with the prompt.
    Begin(Box<NewSession>),
}

/// Keeps boards with their zones and placements. A session's tree reaches the boards its sessions lie on.
#[async_trait]
pub trait BoardStore {
    /// Adds a board.
    async fn board_insert(&self, board: &Board, commit: Commit) -> Result<Applied>;

    /// Replaces a board if its stored revision is `board.revision - 1`; [`crate::StoreError::Stale`] otherwise.
    ///
    /// An idempotency claim is looked at before the revision, so that a repeat is recognised as one.
    async fn board_save(&self, board: &Board, commit: Commit) -> Result<Applied>;

    /// As [`Self::board_save`], and sends what comes of what was placed: all of it or nothing.
    async fn board_place(&self, board: &Board, fired: &[Fired], commit: Commit) -> Result<Applied>;

    /// Returns the boards that `id` could mean, at most ten. The hottest read there is.
    async fn board_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Arc<Board>>>;

    /// Lists boards, newest first.
    async fn board_list(
        &self,
        reach: Reach,
        filter: BoardFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Board, Uuid>>;

    /// Counts boards, up to [`crate::COUNT_MAX`].
    async fn board_count(&self, reach: Reach, filter: BoardFilter) -> Result<u64>;
}
