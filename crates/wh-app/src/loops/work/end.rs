//! Ends of iterations, and of loops.

use wh_domain::{
    ErrorCode, HookPoint, IDLE_MAX, IterationEnd, LIST_ITEMS_MAX, Loop, LoopFacts, LoopIteration,
    LoopState, NewLoopLogEntry, PageLimit, PageRequest, Reach, SessionId, SessionState, TaskStatus,
    TurnState, Usage, WorktreeState,
};
use wh_store::{LoopSave, SessionWork};

use super::{
    super::{
        hooks::{About, entry},
        list_id,
    },
    Look,
};
use crate::{App, Result, worktree::is_final};

impl App {
    /// An iteration could not begin.
    pub(super) async fn loop_not_begun(
        &self,
        it: &Loop,
        iteration: u32,
        reason: String,
        log: Vec<NewLoopLogEntry>,
    ) -> Result<Look> {
        let now = self.clock.now();
        let mut it = it.clone();
        let worktree = self.worktree_by_id(it.worktree).await?;
        if let WorktreeState::Removed { .. } = worktree.state {
            // No other iteration can do better.
            it.idle = IDLE_MAX - 1;
        }
        let over = LoopIteration {
            loop_id: it.id,
            number: iteration,
            session: None,
            mark: String::new(),
            end: Some(IterationEnd::Failed { reason }),
            changed: false,
            usage: Usage::default(),
            began_at: now,
            ended_at: Some(now),
        };
        self.loop_iteration_over(&it, over, log).await
    }

    /// The session of an iteration has ended, or is not there any more.
    pub(super) async fn loop_over(
        &self,
        it: &Loop,
        iteration: u32,
        work: Option<&SessionWork>,
    ) -> Result<Look> {
        let latest = self.store.loop_iterations(it.id, 1).await?;
        let known = latest.into_iter().find(|known| known.number == iteration);
        let Some(mut over) = known else {
            let reason = "its record is gone".to_owned();
            return self.loop_not_begun(it, iteration, reason, Vec::new()).await;
        };
        over.usage = work.map_or(over.usage, |work| work.session.usage);
        over.ended_at = Some(self.clock.now());
        let mut end = self.iteration_end(over.session, work).await?;
        match self.loop_mark(it).await {
            Ok(mark) => over.changed = mark != over.mark,
            Err(error) if is_final(&error) => {
                end = IterationEnd::Failed {
                    reason: error.to_string(),
                };
            }
            Err(error) => return Err(error),
        }
        over.end = Some(end);
        self.loop_iteration_over(it, over, Vec::new()).await
    }

    /// Returns how the session of an iteration has ended.
    async fn iteration_end(
        &self,
        session: Option<SessionId>,
        work: Option<&SessionWork>,
    ) -> Result<IterationEnd> {
        let failed = |reason: &str| IterationEnd::Failed {
            reason: reason.to_owned(),
        };
        let (Some(session), Some(work)) = (session, work) else {
            return Ok(failed("its session was deleted"));
        };
        if let SessionState::Failed { reason } = &work.session.state {
            return Ok(failed(reason));
        }
        let page = PageRequest::first(PageLimit::clamped(Some(1)));
        let turns = self.store.turn_list(Reach::All, session, page).await?;
        let Some(turn) = turns.items.first() else {
            return Ok(failed("it was told nothing"));
        };
        Ok(match turn.state {
            TurnState::Completed => IterationEnd::Done,
            TurnState::Failed => failed(turn.reason.as_deref().unwrap_or("its turn failed")),
            TurnState::Cancelled | TurnState::Queued | TurnState::Running => {
                IterationEnd::Cancelled
            }
        })
    }

    async fn loop_iteration_over(
        &self,
        it: &Loop,
        over: LoopIteration,
        mut log: Vec<NewLoopLogEntry>,
    ) -> Result<Look> {
        let Some(end) = over.end.clone() else {
            return Ok(Look::Rest);
        };
        let facts = LoopFacts {
            ended: Some((end.clone(), over.changed)),
            is_complete: self.loop_is_complete(it).await?,
            usage: it.usage.plus(over.usage),
        };
        let after = it.step(&facts);
        log.push(entry(
            self.clock.now(),
            over.number,
            "iteration",
            said_of(&over, &end),
        ));
        self.hooks_after(it, &after, &over, &end, &mut log).await?;
        self.loop_settle(it, after, log, Some(over)).await
    }

    /// Runs the hook of tasks that were completed while the iteration goes on.
    pub(super) async fn tasks_completed(&self, it: &Loop, iteration: u32) -> Result<Look> {
        if !self.has_hook(HookPoint::OnTaskComplete) {
            return Ok(Look::Rest);
        }
        let latest = self.store.loop_iterations(it.id, 1).await?;
        let Some(under_way) = latest.into_iter().find(|it| it.number == iteration) else {
            return Ok(Look::Rest);
        };
        let mut log = Vec::new();
        self.hooks_of_completed(it, &under_way, &mut log).await?;
        if log.is_empty() {
            return Ok(Look::Rest);
        }
        let mut after = it.clone();
        after.updated_at = self.clock.now();
        let save = LoopSave {
            after,
            session: None,
            iteration: None,
            log,
        };
        self.loop_save(save, Vec::new()).await?;
        Ok(Look::Again)
    }

    /// Runs the hook of each task that was completed in an iteration, once in this life of the server.
    async fn hooks_of_completed(
        &self,
        it: &Loop,
        iteration: &LoopIteration,
        log: &mut Vec<NewLoopLogEntry>,
    ) -> Result<()> {
        if !self.has_hook(HookPoint::OnTaskComplete) {
            return Ok(());
        }
        let (list, completed) = (list_id(it), TaskStatus::Completed);
        let number = iteration.number;
        let tasks = self.store.task_list(list, completed, None, LIST_ITEMS_MAX);
        for task in tasks.await? {
            let is_new = task.updated_at >= iteration.began_at;
            if !is_new || self.loops.is_told(it.id, number, task.id) {
                continue;
            }
            let about = About {
                iteration: number,
                task: Some(&task),
                ..About::default()
            };
            self.hook(HookPoint::OnTaskComplete, it, about, log).await?;
            self.loops.set_told(it.id, number, task.id);
        }
        Ok(())
    }

    pub(super) fn has_hook(&self, point: HookPoint) -> bool {
        self.loops.hooks.commands.contains_key(&point)
    }

    async fn hooks_after(
        &self,
        it: &Loop,
        after: &Loop,
        over: &LoopIteration,
        end: &IterationEnd,
        log: &mut Vec<NewLoopLogEntry>,
    ) -> Result<()> {
        let about = About {
            iteration: over.number,
            after: Some(after),
            ..About::default()
        };
        self.hooks_of_completed(it, over, log).await?;
        if let IterationEnd::Failed { reason } = end {
            let error = Some(reason.as_str());
            let about = About { error, ..about };
            self.hook(HookPoint::OnError, it, about, log).await?;
        }
        if over.session.is_some() {
            self.hook(HookPoint::PostIteration, it, about, log).await?;
        }
        Ok(())
    }

    /// Stores what a loop becomes, with its last hook and its last words if it has ended.
    pub(super) async fn loop_settle(
        &self,
        it: &Loop,
        mut after: Loop,
        mut log: Vec<NewLoopLogEntry>,
        over: Option<LoopIteration>,
    ) -> Result<Look> {
        let now = self.clock.now();
        let iteration = after.state.iteration();
        after.updated_at = now;
        match &after.state {
            LoopState::Ended { outcome, .. } => {
                self.loops.forget(it.id);
                let about = About {
                    iteration,
                    after: Some(&after),
                    ..About::default()
                };
                self.hook(HookPoint::SessionEnd, it, about, &mut log)
                    .await?;
                let text = format!("{}: {}", outcome.as_str(), outcome.reason());
                log.push(entry(now, iteration, "loop", text));
            }
            LoopState::Paused { .. } => log.push(entry(now, iteration, "loop", "paused")),
            LoopState::Beginning { .. } | LoopState::Running { .. } => {}
        }
        let save = LoopSave {
            after,
            session: None,
            iteration: over,
            log,
        };
        match self.loop_save(save, Vec::new()).await {
            Ok(()) => Ok(Look::Again),
            // Another life of the server may have been faster with the same.
            Err(error) if error.code() == ErrorCode::NotFound => Ok(Look::Rest),
            Err(error) => Err(error),
        }
    }
}

/// Says what came of an iteration, in a line.
fn said_of(over: &LoopIteration, end: &IterationEnd) -> String {
    let how = match end {
        IterationEnd::Done => "done".to_owned(),
        IterationEnd::Cancelled => "ended early".to_owned(),
        IterationEnd::Failed { reason } => format!("failed: {reason}"),
    };
    let changed = match over.changed {
        true => "",
        false => ", nothing changed",
    };
    let (tokens, seconds) = (over.usage.tokens(), over.usage.wall_seconds);
    let cost = match over.usage.cost_micros {
        0 => String::new(),
        micros => format!(", ${:.4}", micros as f64 / 1e6),
    };
    format!("{how}{changed}; {tokens} tokens{cost}, {seconds} s")
}
