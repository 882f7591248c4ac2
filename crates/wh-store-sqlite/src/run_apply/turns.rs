//! What a step means to turns: begun, ended, and what they cost.

use sqlx::{Column, Row};
use wh_domain::{
    EventKind, Facts, NewEvent, NewsKind, SessionEvent, SessionState, TurnId, TurnState, Usage,
};
use wh_store::Result;

use super::Applying;
use crate::error::store_error;
use crate::row::{self, int, micros, uuid};
use crate::worktree_count;

/// How a turn ended.
pub(super) struct TurnEnd {
    pub(super) state: TurnState,
    pub(super) reason: Option<String>,
    pub(super) commit_after: Option<String>,
    pub(super) usage: Usage,
    pub(super) estimate_micros: u64,
}

impl Applying<'_> {
    /// A turn runs, and its prompt brought the reasons that the agent had not read. Nobody else can have been given another one then, so those that were to end before they began are over.
    pub(super) async fn turn_started(
        &mut self,
        turn: TurnId,
        commit_before: Option<String>,
    ) -> Result<()> {
        let at = self.at;
        // A run that is followed again says so again.
        let rows = sqlx::query(
            "UPDATE turns SET state = 'running', commit_before = ? WHERE id = ? AND state = 'queued' RETURNING id AS started;
             UPDATE turns SET state = 'cancelled', reason = 'it was withdrawn', finished_at = ?
                 WHERE session_id = ? AND state = 'queued' AND cancel_requested = 1 RETURNING id AS withdrawn;
             UPDATE approvals SET reason_unread = 0 WHERE session_id = ? AND reason_unread = 1",
        )
        .bind(commit_before)
        .bind(uuid(turn))
        .bind(micros(at))
        .bind(uuid(self.session.id))
        .bind(uuid(self.session.id))
        .fetch_all(&mut *self.conn)
        .await
        .map_err(store_error)?;
        for row in &rows {
            match row.column(0).name() {
                "started" => self.happens(SessionEvent::TurnStarted { turn, at }),
                _ => {
                    let id = row::direct("turn", row::id(row, "withdrawn"))?;
                    self.announce_turn(id, TurnState::Cancelled);
                }
            }
        }
        Ok(())
    }

    pub(super) fn announce_turn(&mut self, turn: TurnId, state: TurnState) {
        self.events.push(NewEvent {
            kind: EventKind::StateChanged,
            subject: turn.into(),
            owner: self.session.owner,
            session: Some(self.session.id),
            actor: None,
            facts: Facts::from([("state".to_owned(), state.as_str().to_owned())]),
        });
    }

    pub(super) async fn turn_ended(&mut self, turn: TurnId, end: TurnEnd) -> Result<()> {
        let since = match &self.session.state {
            SessionState::Running { since, .. } | SessionState::Waiting { since, .. } => *since,
            _ => self.at,
        };
        let wall = self.at.as_second().saturating_sub(since.as_second());
        let is_current = self.session.state.turn() == Some(turn);
        // A prompt that never reached the agent has used nothing.
        let usage = match is_current || self.running_turn().await? == Some(turn) {
            true => Usage {
                wall_seconds: u64::try_from(wall).unwrap_or(0),
                turns: 1,
                ..end.usage
            }
            .costing(self.cost_of_no_turn().await?, end.estimate_micros),
            false => Usage::default(),
        };
        let ended = sqlx::query(
            "UPDATE turns SET state = ?, reason = ?, commit_after = ?, used_input_tokens = ?, used_cached_tokens = ?,
                 used_output_tokens = ?, used_cost_micros = ?, used_estimated_micros = ?, used_wall_seconds = ?, finished_at = ?
             WHERE id = ? AND finished_at IS NULL",
        )
        .bind(end.state.as_str())
        .bind(end.reason.as_deref())
        .bind(end.commit_after)
        .bind(int(usage.input_tokens))
        .bind(int(usage.cached_tokens))
        .bind(int(usage.output_tokens))
        .bind(int(usage.cost_micros))
        .bind(int(usage.estimated_micros))
        .bind(int(usage.wall_seconds))
        .bind(micros(self.at))
        .bind(uuid(turn))
        .execute(&mut *self.conn)
        .await
        .map_err(store_error)?;
        if ended.rows_affected() == 0 {
            return Ok(());
        }
        if let Some(worktree) = self.session.worktree {
            worktree_count::touch_in_txn(self.conn, worktree).await?;
        }
        // What the agent reported was counted then; an estimate was not.
        self.session.usage = self.session.usage.plus(Usage {
            cost_micros: usage.estimated_micros,
            ..usage
        });
        if is_current {
            // A session that waits for nothing has nothing to take back.
            if matches!(self.session.state, SessionState::Waiting { .. }) {
                self.withdraw().await?;
            }
            self.happens(SessionEvent::TurnFinished);
        }
        self.announce_turn(turn, end.state);
        // The parent hears of it when the agent has done what the reasons ask for.
        if self.queue_reasons(turn, end.state).await? {
            return Ok(());
        }
        let (kind, words) = match end.state {
            TurnState::Completed if self.session.callback => {
                (NewsKind::Finished, self.words_of(turn).await?)
            }
            TurnState::Completed => (NewsKind::Finished, String::new()),
            TurnState::Cancelled => (NewsKind::Cancelled, end.reason.unwrap_or_default()),
            _ => (NewsKind::Failed, end.reason.unwrap_or_default()),
        };
        self.news(kind, &words, None).await
    }

    /// The agent says what everything has cost so far. What was told once stays, whatever is said later.
    pub(super) fn costs(&mut self, micros: u64) {
        let known = &mut self.session.usage.cost_micros;
        *known = (*known).max(micros);
    }

    /// Returns what the session had cost when this run began: what its turns until then did.
    pub(super) async fn cost_before_run(&mut self) -> Result<u64> {
        let sql = "SELECT coalesce(sum(used_cost_micros), 0) FROM turns WHERE session_id = ?1 AND finished_at <=
                 (SELECT started_at FROM runs WHERE session_id = ?1 AND epoch = ?2)";
        let sum = sqlx::query_scalar::<_, i64>(sql)
            .bind(uuid(self.session.id))
            .bind(int(self.epoch))
            .fetch_one(&mut *self.conn)
            .await
            .map_err(store_error)?;
        Ok(u64::try_from(sum).unwrap_or(0))
    }

    /// Returns how much of what the session has cost no turn is known to have: that is the cost of the turn that ends.
    pub(super) async fn cost_of_no_turn(&mut self) -> Result<u64> {
        if self.session.usage.cost_micros == 0 {
            return Ok(0);
        }
        let sql = "SELECT coalesce(sum(used_cost_micros), 0) FROM turns WHERE session_id = ?";
        let sum = sqlx::query_scalar::<_, i64>(sql)
            .bind(uuid(self.session.id))
            .fetch_one(&mut *self.conn)
            .await
            .map_err(store_error)?;
        let told = u64::try_from(sum).unwrap_or(0);
        Ok(self.session.usage.cost_micros.saturating_sub(told))
    }

    pub(super) async fn running_turn(&mut self) -> Result<Option<TurnId>> {
        let found = sqlx::query_scalar::<_, uuid::Uuid>(
            "SELECT id FROM turns WHERE session_id = ? AND state = 'running'",
        )
        .bind(uuid(self.session.id))
        .fetch_optional(&mut *self.conn)
        .await
        .map_err(store_error)?;
        Ok(found.map(newtype_uuid::GenericUuid::from_untyped_uuid))
    }

    pub(super) async fn cancel_queue(&mut self, reason: &str) -> Result<()> {
        crate::turn::cancel_queue_in_txn(self.conn, self.session.id, reason, self.at).await
    }
}
