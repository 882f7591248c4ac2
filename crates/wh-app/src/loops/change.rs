//! Loops paused, resumed and stopped by callers.

use wh_domain::{
    Budget, EventKind, Facts, LoopDetail, LoopState, LoopTerms, LoopWish, NewLoopLogEntry,
    Operation, Reference,
};
use wh_store::{LoopSave, StoreError};

use super::{Loop, about, hooks::entry, loop_event};
use crate::{App, OpContext, Result, budget::budget_facts};

/// How often a change is tried again because the loop changed in between.
const SAVE_TRIES_MAX: usize = 5;

/// What a caller asks of a loop.
#[derive(Clone, Copy)]
enum Change {
    Pause,
    Stop,
    Resume(LoopTerms),
}

impl App {
    /// Pauses a loop after the iteration that is running.
    pub async fn loop_pause(&self, cx: &OpContext, reference: &Reference) -> Result<LoopDetail> {
        self.loop_change(cx, Operation::LoopPause, reference, Change::Pause)
            .await
    }

    /// Resumes a loop that is paused or has reached one of its limits, with new limits if they are given.
    pub async fn loop_resume(
        &self,
        cx: &OpContext,
        reference: &Reference,
        terms: LoopTerms,
    ) -> Result<LoopDetail> {
        let change = Change::Resume(terms);
        self.loop_change(cx, Operation::LoopResume, reference, change)
            .await
    }

    /// Ends a loop, and the iteration that is running.
    pub async fn loop_stop(&self, cx: &OpContext, reference: &Reference) -> Result<LoopDetail> {
        self.loop_change(cx, Operation::LoopStop, reference, Change::Stop)
            .await
    }

    async fn loop_change(
        &self,
        cx: &OpContext,
        operation: Operation,
        reference: &Reference,
        change: Change,
    ) -> Result<LoopDetail> {
        let mut facts = about(reference);
        if let Change::Resume(terms) = change {
            facts.extend(terms_facts(terms));
        }
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            for _ in 0..SAVE_TRIES_MAX {
                let found = self.loop_lookup(reach, reference).await?;
                if let Some(claim) = cx.claim(operation, found.id.into())
                    && self.store.replayed(&claim, cx.now).await?.is_some()
                {
                    return self.loop_detail(found).await;
                }
                let Some(after) = self.loop_changed(cx, &found, change).await? else {
                    return self.loop_detail(found).await;
                };
                let mut event = loop_event(EventKind::StateChanged, &after);
                event.actor = Some(cx.principal.user);
                let commit = cx.commit(operation, after.id.into(), facts.clone(), vec![event]);
                let save = LoopSave {
                    log: resumed_entry(&found, &after).into_iter().collect(),
                    after,
                    session: None,
                    iteration: None,
                };
                match self.store.loop_save(&save, commit).await {
                    Ok(_applied) => {
                        let found = self.loop_lookup(reach, reference).await?;
                        return self.loop_detail(found).await;
                    }
                    // It took a step meanwhile.
                    Err(StoreError::Stale { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(StoreError::Stale { what: "the loop" }.into())
        })
        .await
    }

    /// Returns the loop after a change; `None` if that changes nothing.
    async fn loop_changed(
        &self,
        cx: &OpContext,
        found: &Loop,
        change: Change,
    ) -> Result<Option<Loop>> {
        let after = match change {
            Change::Pause => found.paused_or_stopped(LoopWish::Pause)?,
            Change::Stop => found.paused_or_stopped(LoopWish::Stop)?,
            Change::Resume(terms) => {
                self.refuse_disabled_owner(cx, found.owner).await?;
                terms.check_set_by(&cx.principal, self.budget_default().await?)?;
                found.resumed(terms, self.starter_budget(found).await?)?
            }
        };
        Ok(after.map(|after| Loop {
            updated_at: cx.now,
            ..after
        }))
    }

    /// Returns what is left of the budget of the session that started a loop.
    async fn starter_budget(&self, it: &Loop) -> Result<Budget> {
        let Some(starter) = it.started_by else {
            return Ok(Budget::default());
        };
        let work = self.store.work_get(starter).await?;
        Ok(work.map_or(Budget::default(), |work| work.budget_left))
    }
}

/// Returns the limits that a request sets or removes, for the audit log.
fn terms_facts(terms: LoopTerms) -> Facts {
    let mut facts = budget_facts(terms.budget);
    let iterations = terms.iterations_max.map(|max| max.to_string());
    facts.extend(iterations.map(|max| ("iterations_max".to_owned(), max)));
    facts
}

/// Returns the log entry of a loop that continues after its end or with other limits.
fn resumed_entry(before: &Loop, after: &Loop) -> Option<NewLoopLogEntry> {
    let changed = after.changed_limits(before);
    let has_ended = matches!(before.state, LoopState::Ended { .. });
    if changed.is_empty() && !has_ended {
        return None;
    }
    let words = changed.into_iter().map(|limit| match limit.of(after) {
        Some(max) => format!("at most {}", limit.words(max)),
        None => format!("no limit of {}", limit.name()),
    });
    let words: Vec<_> = words.collect();
    let text = match words.is_empty() {
        true => "resumed".to_owned(),
        false => format!("resumed: {}", words.join(", ")),
    };
    Some(entry(
        after.updated_at,
        before.state.iteration(),
        "loop",
        text,
    ))
}
