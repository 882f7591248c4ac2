//! Tasks: added, changed, listed, and handed to one caller at a time.

use std::collections::HashMap;
use std::time::Duration;

use newtype_uuid::GenericUuid;
use wh_domain::{
    ADD_MAX, EventKind, Facts, Holder, IdRef, ListRef, NewTask, Operation, PageRequest, Reference,
    Task, TaskClaim, TaskGroup, TaskId, TaskInput, TaskList, TaskNext, TaskOverview, TaskPatch,
    TaskPatchInput, TaskPosition, TaskStatus,
};
use wh_store::{StoreError, TaskWish};

use crate::{
    App, AppError, OpContext, Resource, Result, TaskReason, context::facts,
    task_lists::added_together,
};

/// How long somebody who is not an agent of ours has a task unless another time is asked for.
const LEASE: Duration = Duration::from_secs(3600);

/// The longest time that can be asked for.
const LEASE_MAX: Duration = Duration::from_secs(86_400);

impl App {
    /// Adds tasks to a list.
    pub async fn task_add(
        &self,
        cx: &OpContext,
        list: &ListRef,
        tasks: Vec<TaskInput>,
    ) -> Result<(TaskList, Vec<Task>)> {
        let operation = Operation::TaskAdd;
        let count = tasks.len().to_string();
        let facts = facts([("tasks", &count)]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            check_count("tasks", tasks.len())?;
            let list = self.list_meant(cx, reach, list).await?;
            let new = self.new_tasks(cx, &list, tasks).await?;
            let event = cx.list_event(EventKind::Updated, &list, facts.clone());
            let commit = cx.commit(operation, list.id.into(), facts, vec![event]);
            let _applied = self.store.task_add(&list, &new, commit).await?;
            let mut added = Vec::with_capacity(new.len());
            for task in &new {
                added.push(self.task_by_id(task.id).await?);
            }
            Ok((list, added))
        })
        .await
    }

    pub(crate) async fn new_tasks(
        &self,
        cx: &OpContext,
        list: &TaskList,
        tasks: Vec<TaskInput>,
    ) -> Result<Vec<NewTask>> {
        let ids: Vec<_> = (0..tasks.len())
            .map(|n| TaskId::from_untyped_uuid(self.made_id(cx, n)))
            .collect();
        let mut new = Vec::with_capacity(tasks.len());
        for (task, id) in tasks.into_iter().zip(&ids) {
            let depends_on = self.dependencies(list, &task.depends_on, &ids).await?;
            new.push(NewTask {
                id: *id,
                content: task.content,
                status: task.status,
                priority: task.priority,
                depends_on,
            });
        }
        Ok(new)
    }

    /// Finds the tasks of a list that another is to depend on.
    async fn dependencies(
        &self,
        list: &TaskList,
        on: &[Reference],
        added: &[TaskId],
    ) -> Result<Vec<TaskId>> {
        let mut ids = Vec::with_capacity(on.len());
        for reference in on {
            if let Some(together) = added_together(reference.as_str(), added) {
                ids.push(together?);
                continue;
            }
            let found = self.task_in_list(list, reference).await;
            let unknown = || TaskReason::NotInList {
                field: TaskReason::DEPENDS_ON,
                task: reference.as_str().to_owned(),
            };
            ids.push(found?.ok_or_else(unknown)?.id);
        }
        Ok(ids)
    }

    /// Changes a task: only what is given.
    pub async fn task_update(
        &self,
        cx: &OpContext,
        list: &ListRef,
        task: &Reference,
        patch: TaskPatchInput,
    ) -> Result<Task> {
        let operation = Operation::TaskUpdate;
        let status = patch.status.map_or("", TaskStatus::as_str);
        let facts = facts([("task", task.as_str()), ("status", status)]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            if patch == TaskPatchInput::default() {
                return Err(TaskReason::NothingToChange.into());
            }
            let task = self.task_meant(cx, reach, list, task).await?;
            let list = self.list_of(&task).await?;
            let depends_on = match &patch.depends_on {
                Some(on) => Some(self.dependencies(&list, on, &[]).await?),
                None => None,
            };
            let patch = TaskPatch {
                content: patch.content,
                status: patch.status,
                priority: patch.priority,
                depends_on,
            };
            let event = cx.list_event(EventKind::Updated, &list, facts.clone());
            let commit = cx.commit(operation, list.id.into(), facts, vec![event]);
            let by = cx.holder();
            let _applied = self.store.task_update(task.id, &patch, by, commit).await?;
            self.task_by_id(task.id).await
        })
        .await
    }

    /// Shows a page of a list by status. It begins after a position in the list, or a task named by its number or id.
    pub async fn task_list(
        &self,
        cx: &OpContext,
        list: &ListRef,
        status: Option<TaskStatus>,
        page: PageRequest<Reference>,
    ) -> Result<TaskOverview> {
        let operation = Operation::TaskList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let list = self.list_meant(cx, reach, list).await?;
            let after = match &page.after {
                Some(after) => Some(self.task_position(&list, after).await?),
                None => None,
            };
            let page = page.after(after);
            let counts = self.store.task_counts(list.id).await?;
            let counts = TaskStatus::ALL.into_iter().zip(counts);
            let counts = counts
                .filter(|(it, total)| *total > 0 && status.is_none_or(|status| status == *it));
            self.task_page(list, counts, page).await
        })
        .await
    }

    /// Returns the position after which a page of a list begins.
    async fn task_position(&self, list: &TaskList, after: &Reference) -> Result<TaskPosition> {
        if let Some(position) = TaskPosition::parse(after.as_str()) {
            return Ok(position);
        }
        let found = self.task_in_list(list, after).await?;
        let unknown = || TaskReason::NotInList {
            field: TaskReason::CURSOR,
            task: after.as_str().to_owned(),
        };
        Ok(TaskPosition::after(&found.ok_or_else(unknown)?))
    }

    /// Reads a page of the tasks of some statuses, of which there are so many.
    async fn task_page(
        &self,
        list: TaskList,
        counts: impl Iterator<Item = (TaskStatus, u64)>,
        page: PageRequest<TaskPosition>,
    ) -> Result<TaskOverview> {
        let mut room = page.limit.get();
        let (mut last, mut next) = (page.after, None);
        let mut shown = TaskOverview {
            list,
            groups: Vec::new(),
            total: 0,
            next: None,
        };
        for (status, total) in counts {
            let begins = match page.after {
                Some(after) => after.within(status),
                None => Some(None),
            };
            let mut tasks = match begins {
                Some(after) if next.is_none() => {
                    let (list, limit) = (shown.list.id, room + 1);
                    self.store.task_list(list, status, after, limit).await?
                }
                _ => Vec::new(),
            };
            let has_more = tasks.len() > room as usize;
            tasks.truncate(room as usize);
            room -= tasks.len() as u32;
            last = tasks.last().map(TaskPosition::after).or(last);
            next = next.or(last.filter(|_| has_more));
            shown.total += total;
            shown.groups.push(TaskGroup {
                status,
                total,
                tasks,
            });
        }
        Ok(TaskOverview { next, ..shown })
    }

    /// Returns the most urgent task that can be begun, and hands it to the caller alone if it is claimed: to an agent until its
    /// process ends, to anybody else for a time.
    pub async fn task_next(
        &self,
        cx: &OpContext,
        list: &ListRef,
        claim: bool,
        lease: Option<Duration>,
    ) -> Result<TaskNext> {
        let operation = Operation::TaskNext;
        let claimed = if claim { "claim" } else { "look" };
        let facts = facts([("for", claimed)]);
        let work = async {
            let reach = cx.authorize(operation)?;
            let list = self.list_meant(cx, reach, list).await?;
            let task = match claim {
                true => self.claimed(cx, &list, lease, facts.clone()).await?,
                false => self.store.task_peek(list.id, cx.holder(), cx.now).await?,
            };
            let counts = self.store.task_counts(list.id).await?;
            Ok(TaskNext { task, counts })
        };
        match claim {
            true => self.change(cx, operation, facts.clone(), work).await,
            false => self.read(cx, operation, facts.clone(), work).await,
        }
    }

    async fn claimed(
        &self,
        cx: &OpContext,
        list: &TaskList,
        lease: Option<Duration>,
        facts: Facts,
    ) -> Result<Option<Task>> {
        let lease = lease.unwrap_or(LEASE).min(LEASE_MAX);
        let holder = cx.holder();
        let wish = TaskWish {
            list: list.id,
            claim: TaskClaim {
                holder,
                until: match holder {
                    Holder::Session(_) => None,
                    Holder::Caller(_) => Some(cx.now + lease),
                },
            },
            id: self.made_id(cx, 0),
        };
        let event = cx.list_event(EventKind::Updated, list, facts.clone());
        let commit = cx.commit(Operation::TaskNext, list.id.into(), facts, vec![event]);
        match self.store.task_claim(&wish, commit).await {
            Ok(_applied) => Ok(self.store.task_wished(wish.id).await?),
            Err(StoreError::NotFound { what: "task" }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Says that the work of a list is done. It is not while a task is open.
    pub async fn loop_complete(&self, cx: &OpContext, list: &ListRef) -> Result<TaskList> {
        let operation = Operation::LoopComplete;
        self.change(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let list = self.list_meant(cx, reach, list).await?;
            let event = cx.list_event(EventKind::StateChanged, &list, Facts::new());
            let commit = cx.commit(operation, list.id.into(), Facts::new(), vec![event]);
            match self.store.task_list_complete(&list, commit).await {
                Ok(_applied) => {}
                Err(StoreError::InUse { .. }) => return Err(self.open_tasks(&list).await?),
                Err(error) => return Err(error.into()),
            }
            let done = self.store.task_list_by_id(list.id).await?;
            done.ok_or_else(|| AppError::not_found(Resource::TaskList))
        })
        .await
    }

    /// Says which tasks are open.
    async fn open_tasks(&self, list: &TaskList) -> Result<AppError> {
        /// How many are named.
        const NAMED_MAX: u32 = 10;
        let counts = self.store.task_counts(list.id).await?;
        let mut open = 0;
        let mut named = Vec::new();
        for (status, count) in TaskStatus::ALL.into_iter().zip(counts) {
            if status.is_settled() || count == 0 {
                continue;
            }
            open += count;
            for task in self
                .store
                .task_list(list.id, status, None, NAMED_MAX)
                .await?
            {
                let line = task.content.as_str().lines().next().unwrap_or_default();
                let line: String = line.chars().take(80).collect();
                named.push(format!("#{} [{}] {line}", task.number, status.as_str()));
            }
        }
        named.truncate(NAMED_MAX as usize);
        Ok(TaskReason::OpenTasks { open, named }.into())
    }

    /// Returns the numbers of tasks that were shown and of those that they depend on, which are on the same list.
    pub async fn task_numbers(&self, shown: &[Task]) -> Result<HashMap<TaskId, u64>> {
        let mut numbers: HashMap<_, _> = shown.iter().map(|it| (it.id, it.number)).collect();
        for on in shown.iter().flat_map(|task| &task.depends_on) {
            if !numbers.contains_key(on) {
                numbers.insert(*on, self.task_by_id(*on).await?.number);
            }
        }
        Ok(numbers)
    }

    async fn task_by_id(&self, id: TaskId) -> Result<Task> {
        let id = IdRef::Whole(id.into_untyped_uuid());
        let found = self.store.task_find(&id).await?.into_iter().next();
        found.ok_or_else(|| AppError::not_found(Resource::Task))
    }

    async fn list_of(&self, task: &Task) -> Result<TaskList> {
        let list = self.store.task_list_by_id(task.list).await?;
        list.ok_or_else(|| AppError::not_found(Resource::TaskList))
    }
}

/// Checks how many are added at once.
pub(crate) fn check_count(what: &str, count: usize) -> Result<()> {
    match count {
        1..=ADD_MAX => Ok(()),
        0 => Err(TaskReason::CountEmpty {
            what: what.to_owned(),
        }
        .into()),
        _ => Err(TaskReason::CountTooLarge {
            what: what.to_owned(),
            max: ADD_MAX,
        }
        .into()),
    }
}
