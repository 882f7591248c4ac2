//! Checks of task lists.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::SignedDuration;
use newtype_uuid::GenericUuid;
use wh_domain::{
    DependencyRefusal, Holder, IterationText, ListOf, Name, NewNote, NewTask, NoteKind, NoteText,
    Operation, Owner, PageLimit, PageRequest, Session, Task, TaskClaim, TaskId, TaskList,
    TaskPatch, TaskPriority, TaskStatus, TaskText,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, owned_by, whole};
use super::run::{begin, idle_session, step};
use crate::{Applied, RunFact, Store, StoreError, TaskWish};

fn list_value(owner: Owner, of: ListOf) -> TaskList {
    TaskList {
        id: fixture::id(),
        owner,
        of,
        completed_at: None,
        created_at: fixture::now(),
    }
}

fn task_value(content: &str, priority: u8, depends_on: &[TaskId]) -> Made<NewTask> {
    Ok(NewTask {
        id: fixture::id(),
        content: TaskText::parse(content)?,
        status: TaskStatus::Remaining,
        priority: TaskPriority::new(priority).ok_or("no priority")?,
        depends_on: depends_on.to_vec(),
    })
}

/// Makes a list with a name, and tasks in it.
async fn filled(store: &Arc<dyn Store>, tasks: &[NewTask]) -> Made<TaskList> {
    let owner = owned_by(fixture::user(store).await?.id);
    let list = list_value(owner, ListOf::Name(Name::parse("work")?));
    let added = store.task_add(&list, tasks, commit(owner.user, Operation::TaskAdd));
    done(added.await?);
    Ok(list)
}

async fn get(store: &Arc<dyn Store>, id: TaskId) -> Made<Task> {
    let mut found = store.task_find(&whole(id)).await?;
    Ok(found.pop().ok_or("no task")?)
}

async fn update(
    store: &Arc<dyn Store>,
    list: &TaskList,
    task: TaskId,
    patch: TaskPatch,
    by: Holder,
) -> Result<Applied, StoreError> {
    let commit = commit(list.owner.user, Operation::TaskUpdate);
    store.task_update(task, &patch, by, commit).await
}

fn to(status: TaskStatus) -> TaskPatch {
    TaskPatch {
        status: Some(status),
        ..TaskPatch::default()
    }
}

async fn claim(
    store: &Arc<dyn Store>,
    list: &TaskList,
    claim: TaskClaim,
) -> Result<Option<Task>, StoreError> {
    let wish = TaskWish {
        list: list.id,
        claim,
        id: fixture::id::<wh_domain::TaskKind>().into_untyped_uuid(),
    };
    let commit = commit(list.owner.user, Operation::TaskNext);
    match store.task_claim(&wish, commit).await {
        Ok(_) => store.task_wished(wish.id).await,
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes a task for a minute, as somebody who is not an agent.
fn for_a_minute() -> TaskClaim {
    TaskClaim {
        holder: Holder::Caller(None),
        until: Some(fixture::now() + SignedDuration::from_mins(1)),
    }
}

const NOBODY: Holder = Holder::Caller(None);

/// Tasks are numbered from one, found by id and number, and listed the most urgent first.
pub async fn are_numbered_and_listed_by_urgency(store: Arc<dyn Store>) -> Outcome {
    let first = task_value("first", 2, &[])?;
    let second = task_value("second", 0, &[first.id])?;
    let third = task_value("third", 2, &[second.id, first.id])?;
    let new = [first, second, third];
    let list = filled(&store, &new).await?;
    let found = store.task_list_of(list.owner, &list.of).await?;
    assert_eq!(found.as_ref(), Some(&list));
    assert_eq!(store.task_list_by_id(list.id).await?, Some(list.clone()));
    for (task, number) in new.iter().zip(1..) {
        let stored = get(&store, task.id).await?;
        assert_eq!((stored.number, &stored.content), (number, &task.content));
        assert_eq!((stored.list, stored.claim), (list.id, None));
        let by_number = store.task_by_number(list.id, number).await?;
        assert_eq!(by_number, Some(stored));
    }
    assert_eq!(
        get(&store, new[2].id).await?.depends_on,
        [new[0].id, new[1].id]
    );
    let listed = store
        .task_list(list.id, TaskStatus::Remaining, None, 2)
        .await?;
    let listed: Vec<_> = listed.iter().map(|task| task.id).collect();
    assert_eq!(listed, [new[1].id, new[0].id]);
    let first = get(&store, new[1].id).await?;
    let after = Some((first.priority, first.number));
    let rest = store
        .task_list(list.id, TaskStatus::Remaining, after, 9)
        .await?;
    let rest: Vec<_> = rest.iter().map(|task| task.id).collect();
    assert_eq!(rest, [new[0].id, new[2].id]);
    assert_eq!(store.task_counts(list.id).await?, [0, 3, 0, 0, 0]);
    // More go to the end, also when somebody else thinks that there is no list yet.
    let more = task_value("more", 4, &[])?;
    let added = store.task_add(
        &list,
        std::slice::from_ref(&more),
        commit(list.owner.user, Operation::TaskAdd),
    );
    done(added.await?);
    assert_eq!(get(&store, more.id).await?.number, 4);
    Ok(())
}

/// What is not given stays, and the most urgent priority is a value like others.
pub async fn change_only_where_they_are_told_to(store: Arc<dyn Store>) -> Outcome {
    let task = task_value("work", 3, &[])?;
    let list = filled(&store, std::slice::from_ref(&task)).await?;
    let urgent = TaskPatch {
        priority: TaskPriority::new(0),
        ..TaskPatch::default()
    };
    done(update(&store, &list, task.id, urgent, NOBODY).await?);
    let stored = get(&store, task.id).await?;
    assert_eq!(
        (stored.priority.get(), stored.status),
        (0, TaskStatus::Remaining)
    );
    assert_eq!(stored.content, task.content);
    done(update(&store, &list, task.id, to(TaskStatus::Blocked), NOBODY).await?);
    let stored = get(&store, task.id).await?;
    assert_eq!(
        (stored.priority.get(), stored.status),
        (0, TaskStatus::Blocked)
    );
    let nothing = update(&store, &list, fixture::id(), TaskPatch::default(), NOBODY).await;
    assert!(matches!(nothing, Err(StoreError::NotFound { .. })));
    Ok(())
}

/// Circles are refused and leave everything as it was, and so are tasks of another list.
pub async fn never_wait_for_themselves(store: Arc<dyn Store>) -> Outcome {
    let first = task_value("first", 2, &[])?;
    let second = task_value("second", 2, &[first.id])?;
    let list = filled(&store, &[first.clone(), second.clone()]).await?;
    let elsewhere = task_value("elsewhere", 2, &[])?;
    filled(&store, std::slice::from_ref(&elsewhere)).await?;
    let on = |id| TaskPatch {
        depends_on: Some(vec![id]),
        ..TaskPatch::default()
    };
    let circle = update(&store, &list, first.id, on(second.id), NOBODY).await;
    assert!(matches!(
        circle,
        Err(StoreError::Dependency(DependencyRefusal::Cycle))
    ));
    let itself = update(&store, &list, first.id, on(first.id), NOBODY).await;
    assert!(matches!(
        itself,
        Err(StoreError::Dependency(DependencyRefusal::Itself))
    ));
    for unknown in [elsewhere.id, fixture::id()] {
        let refused = update(&store, &list, first.id, on(unknown), NOBODY).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })));
    }
    assert_eq!(get(&store, first.id).await?.depends_on, []);
    let none = TaskPatch {
        depends_on: Some(Vec::new()),
        ..TaskPatch::default()
    };
    done(update(&store, &list, second.id, none, NOBODY).await?);
    assert_eq!(get(&store, second.id).await?.depends_on, []);
    Ok(())
}

/// Many who ask at the same time get a task each, what must be done first comes first, and none is left over.
pub async fn are_handed_to_one_of_many(store: Arc<dyn Store>) -> Outcome {
    let first = task_value("first", 4, &[])?;
    let mut new = vec![first.clone()];
    for n in 0..40 {
        new.push(task_value("later", n % 5, &[first.id])?);
    }
    let list = filled(&store, &new).await?;
    let only = claim(&store, &list, for_a_minute()).await?;
    assert_eq!(only.map(|task| task.id), Some(first.id));
    assert_eq!(claim(&store, &list, for_a_minute()).await?, None);
    done(update(&store, &list, first.id, to(TaskStatus::Completed), NOBODY).await?);
    assert_eq!(get(&store, first.id).await?.claim, None);
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, list) = (Arc::clone(&store), list.clone());
        callers.spawn(async move {
            let mut taken = Vec::new();
            while let Some(task) = claim(&store, &list, for_a_minute()).await? {
                taken.push((task.priority, task.id));
            }
            Ok::<_, StoreError>(taken)
        });
    }
    let mut taken = Vec::new();
    while let Some(ended) = callers.join_next().await {
        let one = ended??;
        assert!(one.is_sorted_by_key(|(priority, _)| *priority));
        taken.extend(one);
    }
    let distinct: HashSet<_> = taken.iter().map(|(_, id)| *id).collect();
    assert_eq!((taken.len(), distinct.len()), (40, 40));
    Ok(())
}

/// A session keeps what it took, alone, until its process is gone; anybody else for the time that was asked for.
pub async fn of_a_session_are_given_back_when_its_process_is_gone(
    store: Arc<dyn Store>,
) -> Outcome {
    let tasks = [task_value("one", 1, &[])?, task_value("two", 2, &[])?];
    let session: Session = idle_session(&store).await?;
    let list = list_value(session.owner, ListOf::Session(session.root));
    let added = store.task_add(
        &list,
        &tasks,
        commit(session.owner.user, Operation::TaskAdd),
    );
    done(added.await?);
    let (run, _) = begin(&store, &session).await?;
    let own = TaskClaim {
        holder: Holder::Session(session.id),
        until: None,
    };
    for _ in 0..2 {
        let given = claim(&store, &list, own).await?.ok_or("nothing")?;
        assert_eq!((given.id, given.claim), (tasks[0].id, Some(own)));
    }
    let other = Holder::Session(fixture::id());
    let refused = update(&store, &list, tasks[0].id, to(TaskStatus::Completed), other).await;
    assert!(matches!(refused, Err(StoreError::Held { by }) if by == own.holder));
    let over = TaskClaim {
        until: Some(fixture::now() - SignedDuration::from_mins(1)),
        ..for_a_minute()
    };
    for _ in 0..2 {
        let given = claim(&store, &list, over).await?;
        assert_eq!(given.map(|task| task.id), Some(tasks[1].id));
    }
    let gone = RunFact::Gone {
        ending: "killed".to_owned(),
        failed: None,
    };
    store.run_apply(step(&run, vec![gone])).await?;
    let free = get(&store, tasks[0].id).await?;
    assert_eq!((free.status, free.claim), (TaskStatus::Remaining, None));
    // A process that is gone takes nothing more.
    assert!(claim(&store, &list, own).await.is_err());
    let peeked = store.task_peek(list.id, NOBODY, fixture::now()).await?;
    assert_eq!(peeked, Some(free));
    Ok(())
}

/// A list is done when nothing is open, and not any more when something is added.
pub async fn lists_are_done_when_nothing_is_open(store: Arc<dyn Store>) -> Outcome {
    let task = task_value("work", 1, &[])?;
    let list = filled(&store, std::slice::from_ref(&task)).await?;
    let complete = async || {
        let commit = commit(list.owner.user, Operation::LoopComplete);
        store.task_list_complete(&list, commit).await
    };
    let is_done = async || -> Made<bool> {
        let list = store.task_list_by_id(list.id).await?.ok_or("no list")?;
        Ok(list.completed_at.is_some())
    };
    assert!(matches!(complete().await, Err(StoreError::InUse { .. })));
    done(update(&store, &list, task.id, to(TaskStatus::Cancelled), NOBODY).await?);
    done(complete().await?);
    assert!(is_done().await?);
    let more = [task_value("more", 1, &[])?];
    done(
        store
            .task_add(&list, &more, commit(list.owner.user, Operation::TaskAdd))
            .await?,
    );
    assert!(!is_done().await?);
    Ok(())
}

/// Notes are read back by kind, the latest first; a session has one iteration and may say again what it came to.
pub async fn notes_and_iterations_are_kept(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let user = session.owner.user;
    let list = list_value(session.owner, ListOf::Session(session.root));
    let note = |kind, text: &str| -> Made<NewNote> {
        Ok(NewNote {
            id: fixture::id(),
            kind,
            content: NoteText::parse(text)?,
        })
    };
    let notes = [note(NoteKind::Tip, "a")?, note(NoteKind::Stuck, "b")?];
    let added = store.note_add(
        &list,
        &notes,
        Some(session.id),
        commit(user, Operation::NoteAdd),
    );
    done(added.await?);
    let all = fixture::pages(1, |page| store.note_list(list.id, None, page)).await?;
    let all: Vec<_> = all
        .iter()
        .map(|it| (it.kind, it.content.as_str()))
        .collect();
    assert_eq!(all, [(NoteKind::Stuck, "b"), (NoteKind::Tip, "a")]);
    let page = PageRequest::first(PageLimit::DEFAULT).counted();
    let tips = store.note_list(list.id, Some(NoteKind::Tip), page).await?;
    assert_eq!((tips.items.len(), tips.total), (1, Some(1)));
    assert_eq!(tips.items[0].session, Some(session.id));
    let nothing = page.after(Some(tips.items[0].list.into_untyped_uuid()));
    let refused = store.note_list(list.id, None, nothing).await;
    assert!(
        matches!(refused, Err(StoreError::NotFound { .. })),
        "{refused:?}"
    );
    for (by, text) in [
        (Some(session.id), "1"),
        (None, "2"),
        (Some(session.id), "3"),
        (None, "4"),
    ] {
        let text = IterationText::parse(text)?;
        let commit = commit(user, Operation::IterationSummary);
        done(store.iteration_summary(&list, by, &text, commit).await?);
    }
    let all = store.iteration_list(list.id, 10).await?;
    let all: Vec<_> = all
        .iter()
        .map(|it| (it.number, it.summary.as_str()))
        .collect();
    assert_eq!(all, [(3, "4"), (2, "2"), (1, "3")]);
    Ok(())
}
