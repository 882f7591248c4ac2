//! What a step means to the sessions above: what was used, and what is to be told.

use wh_domain::{ApprovalId, Budget, NewsKind, Route, TurnId, Usage};
use wh_store::Result;

use super::Applying;
use crate::delivery;
use crate::error::store_error;
use crate::row::{int, uuid};
use crate::{setting, usage_day, work};

impl Applying<'_> {
    /// Counts what was used since `before` for the owner's day, and for every session above.
    pub(super) async fn count_above(&mut self, before: Usage) -> Result<()> {
        let used = self.session.usage.since(before);
        if used == Usage::default() {
            return Ok(());
        }
        usage_day::add_in_txn(self.conn, self.session.owner.user, self.at, used).await?;
        // Above an iteration of a loop is the session that started the loop.
        sqlx::query(
            "WITH RECURSIVE above (id) AS (
                 SELECT ?1
                 UNION SELECT coalesce(s.parent_id, (SELECT l.started_by FROM loop_iterations i
                         JOIN loops l ON l.id = i.loop_id WHERE i.session_id = s.id))
                     FROM above JOIN sessions s ON s.id = above.id)
             UPDATE sessions SET below_input_tokens = below_input_tokens + ?2, below_cached_tokens = below_cached_tokens + ?3,
                 below_output_tokens = below_output_tokens + ?4, below_cost_micros = below_cost_micros + ?5,
                 below_estimated_micros = below_estimated_micros + ?6, below_wall_seconds = below_wall_seconds + ?7,
                 below_turns = below_turns + ?8
             WHERE id IN (SELECT id FROM above) AND id <> ?1",
        )
        .bind(uuid(self.session.id))
        .bind(int(used.input_tokens))
        .bind(int(used.cached_tokens))
        .bind(int(used.output_tokens))
        .bind(int(used.cost_micros))
        .bind(int(used.estimated_micros))
        .bind(int(used.wall_seconds))
        .bind(int(used.turns))
        .execute(&mut *self.conn)
        .await
        .map(drop)
        .map_err(store_error)
    }

    /// Returns whether a budget that the session's next turn counts for is used up: its own, one above it, or its owner's of the day.
    pub(super) async fn is_budget_spent(&mut self) -> Result<bool> {
        if self.session.budget_left().is_spent() {
            return Ok(true);
        }
        // For the others this step counts when it ends.
        let uncounted = self.session.usage.since(self.used_before);
        let above = work::budget_above(self.conn, &self.session).await?;
        if above.less(uncounted).is_spent() {
            return Ok(true);
        }
        let budget = setting::budget_of_day_on_conn(self.conn).await?;
        if budget == Budget::default() {
            return Ok(false);
        }
        let owner = self.session.owner.user;
        let used = usage_day::get_on_conn(self.conn, owner, self.at).await?;
        Ok(budget.less(used.plus(uncounted)).is_spent())
    }

    /// Has the parent told, if it wants to be.
    pub(super) async fn news(
        &mut self,
        kind: NewsKind,
        words: &str,
        approval: Option<ApprovalId>,
    ) -> Result<()> {
        let child = &self.session;
        let asks = approval.is_some() && child.policy.route == Route::Parent;
        if child.parent.is_none() || !(child.callback || asks) {
            return Ok(());
        }
        delivery::insert_in_txn(self.conn, child, kind, words, approval, self.at).await
    }

    /// Returns the last thing that the agent said in a turn.
    pub(super) async fn words_of(&mut self, turn: TurnId) -> Result<String> {
        self.write_words().await?;
        let sql = "SELECT text FROM messages WHERE session_id = ? AND turn_id = ? AND kind = 'agent' ORDER BY seq DESC LIMIT 1";
        let found = sqlx::query_scalar(sql)
            .bind(uuid(self.session.id))
            .bind(uuid(turn))
            .fetch_optional(&mut *self.conn)
            .await;
        found.map(Option::unwrap_or_default).map_err(store_error)
    }
}
