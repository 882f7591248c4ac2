//! What makes loops go on.
//!
//! A loop is a row, and each of its steps is one transaction: the row and the session of the next iteration are written
//! together, and so are the row and the end of an iteration. A server that is killed between two steps goes on from the row,
//! so that no iteration is lost or made twice; the session of an iteration has its own keeper and goes on by itself. Hooks
//! run before the step that they belong to is stored, so a server that is killed in between runs them again.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use jiff::SignedDuration;
use wh_domain::{
    ErrorCode, EventKind, Facts, HookPoint, Loop, LoopFacts, LoopHooks, LoopId, LoopState,
    LoopWish, NewEvent, Operation, PageLimit, PageRequest, Reach, Reference, SessionEvent,
    SessionId, SessionInput, SessionPlace, SessionRole, SessionState, ShortId, TaskId, Title,
};
use wh_store::{LoopSave, NewSession, SessionWork, StoreError};

use super::{hooks::entry, list_id, loop_event};
use crate::{
    App, AppError, Reason, Result, TaskReason,
    context::facts,
    reconcile::{Reconciler, event_gathered},
    worktree::is_final,
};

mod end;

/// How often loops are looked at though nothing has happened.
const PERIOD: Duration = Duration::from_secs(1);

/// How long to wait for more to happen before they are looked at.
const GATHER: Duration = Duration::from_millis(50);

/// How long the process of an iteration that is over may take to end.
const STOP_WITHIN: SignedDuration = SignedDuration::from_secs(5);

/// What the work of loops needs, and which are being looked at.
pub(crate) struct LoopWork {
    pub(super) hooks: LoopHooks,
    busy: Mutex<HashSet<LoopId>>,
    /// The tasks that were completed in the iteration of this number and whose hook has run.
    completed: Mutex<HashMap<LoopId, (u32, HashSet<TaskId>)>>,
    /// The iteration for which the hooks before it have gone well, so that another try to begin it does not run them again.
    ready: Mutex<HashMap<LoopId, u32>>,
}

impl LoopWork {
    pub(crate) fn new(hooks: LoopHooks) -> Self {
        Self {
            hooks,
            busy: Mutex::default(),
            completed: Mutex::default(),
            ready: Mutex::default(),
        }
    }

    /// Notes that a loop is looked at; false when it is already.
    fn begin(&self, id: LoopId) -> bool {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(id)
    }

    fn end(&self, id: LoopId) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.remove(&id);
    }

    /// Tells whether the hook for a task that was completed in an iteration has run.
    fn is_told(&self, id: LoopId, iteration: u32, task: TaskId) -> bool {
        let all = self
            .completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let of_loop = all.get(&id).filter(|(of, _)| *of == iteration);
        of_loop.is_some_and(|(_, tasks)| tasks.contains(&task))
    }

    /// Notes that the hook for a task that was completed in an iteration has run.
    fn set_told(&self, id: LoopId, iteration: u32, task: TaskId) {
        let mut all = self
            .completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let of_loop = all.entry(id).or_default();
        if of_loop.0 != iteration {
            *of_loop = (iteration, HashSet::new());
        }
        of_loop.1.insert(task);
    }

    /// Removes the state of a loop that has ended.
    fn forget(&self, id: LoopId) {
        let mut all = self
            .completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.remove(&id);
    }

    fn is_ready(&self, id: LoopId, iteration: u32) -> bool {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.get(&id) == Some(&iteration)
    }

    /// Notes for which iteration the hooks before it have gone well.
    fn set_ready(&self, id: LoopId, iteration: Option<u32>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        match iteration {
            Some(iteration) => ready.insert(id, iteration),
            None => ready.remove(&id),
        };
    }
}

/// Makes loops go on.
pub(crate) struct Loops(pub(crate) Arc<App>);

#[async_trait]
impl Reconciler for Loops {
    fn name(&self) -> &'static str {
        "loops"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        event_gathered(app, GATHER).await;
    }

    /// Looks at each loop in a task of its own: a hook of one holds up no other.
    async fn reconcile(&self, app: &App) -> Result<()> {
        let due = app.store.loop_due().await?;
        let mut due: HashSet<_> = due.into_iter().map(|it| it.id).collect();
        if app.has_hook(HookPoint::OnTaskComplete) {
            // Tasks are completed while a session is at work, when a loop is not due by itself.
            let page = PageRequest::first(PageLimit::MAX);
            let open = app.store.loop_list(Reach::All, true, page).await?;
            let running = open
                .items
                .into_iter()
                .filter(|it| it.state.session().is_some());
            due.extend(running.map(|it| it.id));
        }
        for id in due {
            if !app.loops.begin(id) {
                continue;
            }
            let app = Arc::clone(&self.0);
            self.0.tasks.spawn(async move {
                let work = app.loop_advance(id);
                if let Some(Err(error)) = app.shutdown.run_until_cancelled(work).await {
                    tracing::warn!(%id, %error, "a loop did not go on and is tried again");
                }
                app.loops.end(id);
            });
        }
        Ok(())
    }
}

/// What a look at a loop came to.
enum Look {
    /// It took a step: look again.
    Again,
    /// Nothing to do until something happens.
    Rest,
}

impl App {
    /// Takes every step of a loop that can be taken now.
    async fn loop_advance(&self, id: LoopId) -> Result<()> {
        while let Some(it) = self.loop_by_id(id).await? {
            let look = match &it.state {
                LoopState::Ended { .. } => Ok(Look::Rest),
                LoopState::Paused { .. } if it.wish != LoopWish::Stop => Ok(Look::Rest),
                LoopState::Paused { .. } | LoopState::Beginning { .. } => {
                    self.loop_before(&it).await
                }
                LoopState::Running { iteration, session } => {
                    self.loop_during(&it, *iteration, *session).await
                }
            };
            match look {
                Ok(Look::Again) => {}
                Ok(Look::Rest) => return Ok(()),
                // Somebody wished for something meanwhile: decide again.
                Err(error) if is_stale(&error) => {}
                // There is room for another session later.
                Err(error) if error.code() == ErrorCode::LimitExceeded => {
                    tracing::debug!(%id, %error, "an iteration waits");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// An iteration is about to begin, unless something speaks against it.
    async fn loop_before(&self, it: &Loop) -> Result<Look> {
        let facts = LoopFacts {
            ended: None,
            is_complete: self.loop_is_complete(it).await?,
            usage: it.usage,
        };
        let after = it.step(&facts);
        match after.state {
            LoopState::Beginning { iteration } => self.loop_begin(it, iteration).await,
            _ => self.loop_settle(it, after, Vec::new(), None).await,
        }
    }

    async fn loop_begin(&self, it: &Loop, iteration: u32) -> Result<Look> {
        let mut log = Vec::new();
        match self.loop_prepare(it, iteration, &mut log).await {
            Ok((mark, new, events)) => {
                let now = self.clock.now();
                let session = new.session.id;
                let text = format!("session {} begins", session.short_id());
                log.push(entry(now, iteration, "iteration", text));
                let mut after = it.clone();
                after.state = LoopState::Running { iteration, session };
                after.updated_at = now;
                let save = LoopSave {
                    iteration: Some(wh_domain::LoopIteration {
                        loop_id: it.id,
                        number: iteration,
                        session: Some(session),
                        mark,
                        end: None,
                        changed: false,
                        usage: wh_domain::Usage::default(),
                        began_at: now,
                        ended_at: None,
                    }),
                    session: Some(new),
                    after,
                    log,
                };
                self.loop_save(save, events).await?;
                self.loops.set_ready(it.id, None);
                self.wake(session);
                Ok(Look::Again)
            }
            Err(error) if is_final(&error) && error.code() != ErrorCode::LimitExceeded => {
                self.loop_not_begun(it, iteration, error.in_words(), log)
                    .await
            }
            Err(error) => Err(error),
        }
    }

    /// Makes everything that an iteration needs. An error that is final is about the iteration.
    async fn loop_prepare(
        &self,
        it: &Loop,
        iteration: u32,
        log: &mut Vec<wh_domain::NewLoopLogEntry>,
    ) -> Result<(String, NewSession, Vec<NewEvent>)> {
        self.worktree_ensure(it.worktree).await?;
        if !self.loops.is_ready(it.id, iteration) {
            self.hooks_before(it, iteration, log).await?;
            self.loops.set_ready(it.id, Some(iteration));
        }
        let mark = self.loop_mark(it).await?;
        let prompt = self.loop_prompt(it, iteration).await?;
        let cx = self.server_context(it.owner);
        let number = format!(" #{iteration}");
        let room = Title::BYTES_MAX - number.len();
        let title = it.title.as_str();
        let title = format!("{}{number}", &title[..title.floor_char_boundary(room)]);
        let input = SessionInput {
            agent: it.agent.clone(),
            prompt: Some(prompt),
            files: Vec::new(),
            title: Some(Title::parse(&title)?),
            description: None,
            role: SessionRole::Worker,
            place: SessionPlace::Worktree(Reference::from(it.worktree)),
            board: it.board.map(Reference::from),
            zone: None,
            budget: it.budget_left(),
            policy: it.policy.clone(),
            mode: it.mode.clone(),
            model: it.model.clone(),
            tier: it.tier,
            hosts: it.hosts.clone(),
            mcp_dialect: Some(it.mcp_dialect),
        };
        let mut new = self.beginning(&cx, Reach::All, input).await?;
        new.session.owner = it.owner;
        let (new, events) = self.new_session(&cx, new).await?;
        Ok((mark, new, events))
    }

    async fn hooks_before(
        &self,
        it: &Loop,
        iteration: u32,
        log: &mut Vec<wh_domain::NewLoopLogEntry>,
    ) -> Result<()> {
        let points = match iteration {
            1 => &[HookPoint::SessionStart, HookPoint::PreIteration][..],
            _ => &[HookPoint::PreIteration][..],
        };
        for point in points {
            let about = super::hooks::About {
                iteration,
                ..Default::default()
            };
            if let Some(failure) = self.hook(*point, it, about, log).await? {
                let hook = point.as_str();
                return Err(TaskReason::HookFailed { hook, failure }.into());
            }
        }
        Ok(())
    }

    /// A session is at work: ends it when it has come to its end, and takes the next step when its process is gone.
    async fn loop_during(&self, it: &Loop, iteration: u32, session: SessionId) -> Result<Look> {
        let work = self.store.work_get(session).await?;
        let Some(work) = work else {
            return self.loop_over(it, iteration, None).await;
        };
        let state = &work.session.state;
        if state.name().is_end() || *state == SessionState::Stopped {
            return self.loop_over(it, iteration, Some(&work)).await;
        }
        let is_wanted = it.wish != LoopWish::Stop && !has_come_to_its_end(&work);
        if is_wanted || matches!(state, SessionState::Stopping { .. }) {
            return self.tasks_completed(it, iteration).await;
        }
        let kill_at = self.clock.now() + STOP_WITHIN;
        let event = SessionEvent::StopRequested { kill_at };
        let operation = Operation::SessionManage;
        let facts = facts([("loop", &it.id.to_string()), ("action", "stop")]);
        let commit = self.server_commit(operation, it.owner, session.into(), facts, Vec::new());
        match self.store.session_move(session, &event, commit).await {
            // Somebody was faster.
            Ok(_) | Err(StoreError::Illegal(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.wake(session);
        Ok(Look::Rest)
    }

    pub(super) async fn loop_is_complete(&self, it: &Loop) -> Result<bool> {
        let list = self.store.task_list_by_id(list_id(it)).await?;
        Ok(list.is_some_and(|list| list.completed_at.is_some()))
    }

    /// Returns a mark of everything that an iteration can change.
    pub(super) async fn loop_mark(&self, it: &Loop) -> Result<String> {
        let list = self.store.task_list_mark(list_id(it)).await?;
        let worktree = self.worktree_by_id(it.worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        let _alone = self.repo_locks.take(repo.id).await;
        let files = self.worktree_handle(&repo, &worktree)?.mark().await?;
        Ok(format!("{list}-{files}"))
    }

    pub(super) async fn loop_save(&self, save: LoopSave, mut events: Vec<NewEvent>) -> Result<()> {
        let after = &save.after;
        events.push(loop_event(EventKind::StateChanged, after));
        let said = [
            ("state", after.state.name()),
            ("iteration", &after.state.iteration().to_string()),
        ];
        let (owner, facts): (_, Facts) = (after.owner, facts(said));
        let operation = Operation::LoopStart;
        let commit = self.server_commit(operation, owner, after.id.into(), facts, events);
        let _applied = self.store.loop_save(&save, commit).await?;
        Ok(())
    }
}

/// Tells whether nothing more is to come of an iteration's session.
fn has_come_to_its_end(work: &SessionWork) -> bool {
    let is_free = work.next.is_none() && work.running.is_none();
    match work.session.state {
        SessionState::Idle => is_free,
        SessionState::Interrupted => true,
        _ => false,
    }
}

fn is_stale(error: &AppError) -> bool {
    matches!(*error.reason, Reason::Store(StoreError::Stale { .. }))
}
