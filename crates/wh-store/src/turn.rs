//! Turns.

use async_trait::async_trait;
use wh_domain::{
    IdRef, NewTurn, Page, PageRequest, PromptFile, Reach, SessionId, SettingKey, Turn, TurnId,
};

use crate::{Applied, Commit, Result, StoreError};

/// Conditions under which a prompt is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRules {
    /// The most prompts that may wait.
    pub waiting_max: u32,
    /// Refuse unless the session is free at once.
    pub only_if_free: bool,
    /// The most prompts that a session may send to another one within a minute; people are not limited by it.
    pub per_minute_max: u32,
}

/// State of a session's queue when a prompt arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Whether the session could start a turn now.
    pub is_free: bool,
    /// Prompts that wait.
    pub waiting: u32,
    /// Prompts of the same sending session within the last minute; 0 for a prompt of a person.
    pub recent: u32,
}

impl QueueRules {
    /// Returns [`StoreError::Busy`] or [`StoreError::Limit`] if the prompt is not accepted.
    pub fn check(&self, queue: QueueState) -> Result<()> {
        if self.only_if_free && (!queue.is_free || queue.waiting > 0) {
            return Err(StoreError::Busy);
        }
        if queue.waiting >= self.waiting_max {
            return Err(StoreError::Limit {
                what: "prompts that wait",
                max: self.waiting_max,
                setting: None,
            });
        }
        if queue.recent >= self.per_minute_max {
            return Err(StoreError::Limit {
                what: "prompts from one session to another within a minute",
                max: self.per_minute_max,
                setting: Some(SettingKey::SessionPromptsPerMinuteMax),
            });
        }
        Ok(())
    }
}

/// Keeps turns. A turn lies within reach of those who reach its session.
#[async_trait]
pub trait TurnStore {
    /// Puts a prompt into the session's queue, behind or, when it is urgent, before the others; an urgent one also asks
    /// for the running turn to end. A session that was stopped or interrupted is resumed by it.
    ///
    /// [`crate::StoreError::Busy`] and [`crate::StoreError::Limit`] as the rules say; [`crate::StoreError::Illegal`] for a
    /// session that takes no prompts any more.
    async fn turn_queue(
        &self,
        turn: &NewTurn,
        rules: QueueRules,
        commit: Commit,
    ) -> Result<Applied>;

    /// Asks for a session's turn to end early: the running one, or the next when none runs. A session without either is left alone.
    async fn turn_cancel(&self, session: SessionId, commit: Commit) -> Result<Applied>;

    /// Ends a prompt that waits behind another turn; asks for the end of one that is under way or may be by now. One that is
    /// over stays as it is.
    async fn turn_withdraw(&self, turn: TurnId, commit: Commit) -> Result<Applied>;

    /// Returns the turns that `id` could mean, at most ten.
    async fn turn_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Turn>>;

    /// Lists the turns of a session, latest first; the cursor is a turn's number.
    async fn turn_list(
        &self,
        reach: Reach,
        session: SessionId,
        page: PageRequest<u64>,
    ) -> Result<Page<Turn, u64>>;

    /// Counts the turns of a session, up to [`crate::COUNT_MAX`].
    async fn turn_count(&self, reach: Reach, session: SessionId) -> Result<u64>;

    /// Returns one turn, for the server itself.
    async fn turn_by_id(&self, id: TurnId) -> Result<Option<Turn>>;

    /// Returns a file that came with a turn's prompt, by its number from 1; nothing if it has no such file.
    async fn turn_file(&self, turn: TurnId, number: u32) -> Result<Option<PromptFile>>;
}
