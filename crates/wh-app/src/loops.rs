//! Loops: started and looked at; `change` pauses, resumes and stops them. What makes them go on is in `work`.

mod change;
mod hooks;
mod prompt;
mod work;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    AgentName, Budget, EventKind, Facts, IdRef, ListOf, Loop, LoopDetail, LoopId, LoopInput,
    LoopLogEntry, LoopState, LoopWish, McpDialect, Name, NewEvent, Operation, Page, PageRequest,
    Prompt, Reach, Reference, RepoId, SessionState, TaskList, TaskListId, TaskStatus, Usage,
};
use wh_store::{Applied, NewLoop};

pub(crate) use self::work::{LoopWork, Loops};
use crate::{
    App, OpContext, Resource, Result, TaskReason,
    context::facts,
    lookup::{id_of, only_one},
    session_begin::title_of,
    worktree::{WorktreeWanted, worktree_event},
};

/// The iterations that a loop is shown with.
const ITERATIONS_SHOWN: u32 = 20;

/// The most characters of a title that name a worktree.
const NAME_CHARS: usize = 30;

impl App {
    /// Starts a loop: records it with its worktree and its tasks; the reconciler makes its iterations.
    pub async fn loop_start(&self, cx: &OpContext, input: LoopInput) -> Result<LoopDetail> {
        let operation = Operation::LoopStart;
        let facts = facts([
            ("agent", input.agent.as_str()),
            ("repo", input.repo.as_str()),
        ]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let new = self.new_loop(cx, reach, input).await?;
            let mut events = vec![worktree_event(
                EventKind::Created,
                &new.worktree,
                Facts::new(),
            )];
            let mut started = loop_event(EventKind::Created, &new.of);
            started.actor = Some(cx.principal.user);
            events.push(started);
            let commit = cx.commit(operation, new.of.id.into(), facts, events);
            let id = match self.store.loop_insert(&new, commit).await? {
                Applied::Done { .. } => new.of.id,
                Applied::Replayed { subject } => LoopId::from_untyped_uuid(subject.id),
            };
            let found = self.loop_lookup(reach, &Reference::from(id)).await?;
            self.loop_detail(found).await
        })
        .await
    }

    async fn new_loop(&self, cx: &OpContext, reach: Reach, input: LoopInput) -> Result<NewLoop> {
        self.check_agent(&input.agent)?;
        if let Some(template) = &input.template {
            prompt::check(template)?;
        }
        let lead = self.lead(cx).await?;
        let above = lead.as_ref().map(|lead| &lead.session);
        let policy = match above {
            Some(above) => input.policy.under(&above.policy),
            None => input.policy.check(),
        };
        let policy = policy?;
        let repo = self.repo_lookup(reach, &input.repo).await?;
        let mcp_dialect = self.loop_dialect(input.mcp_dialect, &input.agent, repo.id);
        let mcp_dialect = mcp_dialect.await?;
        let board = match &input.board {
            Some(board) => Some(self.board_lookup(reach, board).await?.id),
            None => None,
        };
        self.check_creates_on(lead.as_ref(), board).await?;
        let left = match &lead {
            Some(lead) => lead.budget_left()?,
            None => Budget::default(),
        };
        let id = LoopId::from_untyped_uuid(self.ids.next());
        let about = Prompt::parse(input.spec.as_str())?;
        let title = title_of(input.title, Some(&about), &input.agent)?;
        let name: String = title.as_str().chars().take(NAME_CHARS).collect();
        let owner = cx.principal.owner();
        let wanted = WorktreeWanted {
            owner,
            name: Name::parse(&name)?,
            branch: input.branch,
            base: input.base,
            board,
        };
        let worktree = self.worktree_plan(cx, &repo, wanted)?;
        let list = TaskList {
            id: TaskListId::from_untyped_uuid(id.into_untyped_uuid()),
            owner,
            of: ListOf::Loop(id),
            completed_at: None,
            created_at: cx.now,
        };
        let tasks = self.new_tasks(cx, &list, input.tasks).await?;
        let of = Loop {
            id,
            owner,
            title,
            repo: repo.id,
            worktree: worktree.id,
            board,
            agent: input.agent,
            mode: input.mode,
            model: input.model,
            mcp_dialect,
            policy,
            spec: input.spec,
            template: input.template,
            iterations_max: input.iterations_max,
            budget: input.budget.intersect(left),
            started_by: above.map(|it| it.id),
            tier: above.map(|it| it.tier),
            hosts: above.and_then(|it| it.hosts.clone()),
            usage: Usage::default(),
            state: LoopState::Beginning { iteration: 1 },
            wish: LoopWish::Run,
            idle: 0,
            revision: 1,
            created_at: cx.now,
            updated_at: cx.now,
        };
        Ok(NewLoop {
            of,
            worktree,
            list,
            tasks,
        })
    }

    /// Returns the tools of a loop's agents. A configuration without the tools that a loop needs does not count; asking for such
    /// tools is refused.
    async fn loop_dialect(
        &self,
        asked: Option<McpDialect>,
        agent: &AgentName,
        repo: RepoId,
    ) -> Result<McpDialect> {
        let configured = self.mcp_dialects(Some(repo), agent).await?;
        let fits = configured.map(|it| it.filter(|it| it.has_loop_tools()));
        match asked {
            Some(asked) if !asked.has_loop_tools() => {
                Err(TaskReason::DialectWithoutLoop { dialect: asked }.into())
            }
            asked => Ok(McpDialect::choose(asked, fits)),
        }
    }

    /// Shows a loop and how its work stands.
    pub async fn loop_get(&self, cx: &OpContext, reference: &Reference) -> Result<LoopDetail> {
        let operation = Operation::LoopGet;
        self.read(cx, operation, about(reference), async {
            let reach = cx.authorize(operation)?;
            let found = self.loop_lookup(reach, reference).await?;
            self.loop_detail(found).await
        })
        .await
    }

    /// Lists loops, newest first.
    pub async fn loop_list(
        &self,
        cx: &OpContext,
        open_only: bool,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Loop, Uuid>> {
        let operation = Operation::LoopList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.loop_list(reach, open_only, page).await?)
        })
        .await
    }

    /// Lists what happened in a loop, in order.
    pub async fn loop_log(
        &self,
        cx: &OpContext,
        reference: &Reference,
        page: PageRequest<u64>,
    ) -> Result<Page<LoopLogEntry, u64>> {
        let operation = Operation::LoopLog;
        self.read(cx, operation, about(reference), async {
            let reach = cx.authorize(operation)?;
            let found = self.loop_lookup(reach, reference).await?;
            Ok(self.store.loop_log(found.id, page).await?)
        })
        .await
    }

    pub(crate) async fn loop_lookup(&self, reach: Reach, reference: &Reference) -> Result<Loop> {
        let found = self.store.loop_find(reach, &id_of(reference)?).await?;
        only_one(Resource::Loop, found, |it| {
            format!("{} {}", it.id, it.title)
        })
    }

    /// Returns a loop that is known to be there.
    pub(crate) async fn loop_by_id(&self, id: LoopId) -> Result<Option<Loop>> {
        let id = IdRef::Whole(id.into_untyped_uuid());
        Ok(self.store.loop_find(Reach::All, &id).await?.pop())
    }

    async fn loop_detail(&self, of: Loop) -> Result<LoopDetail> {
        let list = list_id(&of);
        let mut usage = of.usage;
        let mut is_waiting = false;
        if let Some(session) = of.state.session()
            && let Some(work) = self.store.work_get(session).await?
        {
            usage = usage.plus(work.session.usage);
            is_waiting = matches!(work.session.state, SessionState::Waiting { .. });
            if let SessionState::Running { since, .. } | SessionState::Waiting { since, .. } =
                work.session.state
            {
                let seconds = self.clock.now().duration_since(since).as_secs();
                usage.wall_seconds += u64::try_from(seconds).unwrap_or(0);
            }
        }
        let in_progress = TaskStatus::InProgress;
        let task = self
            .store
            .task_list(list, in_progress, None, 1)
            .await?
            .pop();
        let iterations = self.store.loop_iterations(of.id, ITERATIONS_SHOWN).await?;
        Ok(LoopDetail {
            branch: self.worktree_by_id(of.worktree).await?.branch,
            counts: self.store.task_counts(list).await?,
            task,
            usage,
            is_waiting,
            iterations,
            summaries: self.store.iteration_list(list, ITERATIONS_SHOWN).await?,
            of,
        })
    }
}

/// Returns the id of a loop's list.
fn list_id(it: &Loop) -> TaskListId {
    TaskListId::from_untyped_uuid(it.id.into_untyped_uuid())
}

fn about(reference: &Reference) -> Facts {
    facts([("loop", reference.as_str())])
}

/// Says what became of a loop; the actor is added by whoever has one.
fn loop_event(kind: EventKind, it: &Loop) -> NewEvent {
    let mut facts = facts([
        ("state", it.state.name()),
        ("iteration", &it.state.iteration().to_string()),
    ]);
    if let LoopState::Ended { outcome, .. } = &it.state {
        facts.insert("outcome".to_owned(), outcome.as_str().to_owned());
    }
    NewEvent {
        kind,
        subject: it.id.into(),
        owner: it.owner,
        session: it.state.session(),
        actor: None,
        facts,
    }
}
