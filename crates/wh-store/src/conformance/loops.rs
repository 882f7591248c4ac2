//! Checks of loops.

use std::sync::Arc;

use newtype_uuid::GenericUuid;
use wh_domain::{
    AgentName, Budget, Dialect, HostList, IterationEnd, IterationText, KeyScope, ListOf, Loop,
    LoopId, LoopIteration, LoopOutcome, LoopSpec, LoopState, LoopWish, McpDialect, ModelName,
    NewLoopLogEntry, NewNote, NewTask, NoteKind, NoteText, Operation, Owner, PageLimit,
    PageRequest, Policy, PromptTemplate, Reach, SessionState, TaskClaim, TaskList, TaskListId,
    TaskPatch, TaskPriority, TaskStatus, TaskText, Tier, Title, Usage,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, owned_by, pages, whole};
use crate::{LoopSave, NewLoop, NewSession, Store, StoreError, TaskWish};

/// Returns a loop that is about to begin, with one task.
async fn value(store: &Arc<dyn Store>, owner: Owner) -> Made<NewLoop> {
    let repo = fixture::repo(store, owner).await?.id;
    let worktree = fixture::worktree_value(owner, repo)?;
    let (id, at): (LoopId, _) = (fixture::id(), fixture::now());
    let list = TaskList {
        id: TaskListId::from_untyped_uuid(id.into_untyped_uuid()),
        owner,
        of: ListOf::Loop(id),
        completed_at: None,
        created_at: at,
    };
    let task = NewTask {
        id: fixture::id(),
        content: TaskText::parse("a task")?,
        status: TaskStatus::Remaining,
        priority: TaskPriority::default(),
        depends_on: Vec::new(),
    };
    let of = Loop {
        id,
        owner,
        title: Title::parse("a loop")?,
        repo,
        worktree: worktree.id,
        board: None,
        agent: AgentName::parse("echo")?,
        mode: Some("plan".to_owned()),
        model: ModelName::parse("big").ok(),
        mcp_dialect: McpDialect::Of(Dialect::Iteratr),
        policy: Policy::default(),
        spec: LoopSpec::parse("do \"it\" \u{1f980}")?,
        template: Some(PromptTemplate::parse("{{ loop.spec }}")?),
        iterations_max: 7,
        budget: Budget {
            tokens: Some(u64::MAX >> 1),
            ..Budget::default()
        },
        started_by: None,
        tier: Some(Tier::Strict),
        hosts: HostList::parse(["*.example.org:443"]).ok(),
        usage: Usage::default(),
        state: LoopState::Beginning { iteration: 1 },
        wish: LoopWish::Run,
        idle: 0,
        revision: 1,
        created_at: at,
        updated_at: at,
    };
    Ok(NewLoop {
        of,
        worktree,
        list,
        tasks: vec![task],
    })
}

async fn started(store: &Arc<dyn Store>) -> Made<NewLoop> {
    let owner = owned_by(fixture::user(store).await?.id);
    let new = value(store, owner).await?;
    let commit = commit(owner.user, Operation::LoopStart);
    done(store.loop_insert(&new, commit).await?);
    Ok(new)
}

fn save_of(after: &Loop) -> LoopSave {
    LoopSave {
        after: after.clone(),
        session: None,
        iteration: None,
        log: Vec::new(),
    }
}

async fn save(store: &Arc<dyn Store>, save: &LoopSave) -> Result<(), StoreError> {
    let commit = commit(save.after.owner.user, Operation::LoopStart);
    store.loop_save(save, commit).await.map(drop)
}

async fn found(store: &Arc<dyn Store>, id: LoopId) -> Made<Loop> {
    let mut found = store.loop_find(Reach::All, &whole(id)).await?;
    Ok(found.pop().ok_or("no loop")?)
}

/// A loop is found as it was started, by those who reach it alone, with its list.
pub async fn are_found_as_they_were_started(store: Arc<dyn Store>) -> Outcome {
    let new = started(&store).await?;
    let (id, user) = (new.of.id, new.of.owner.user);
    assert_eq!(found(&store, id).await?, new.of);
    assert_eq!(
        store.worktree_by_id(new.of.worktree).await?,
        Some(new.worktree)
    );
    let list = store.task_list_of(new.of.owner, &ListOf::Loop(id)).await?;
    assert_eq!(list, Some(new.list));
    let other = fixture::user(&store).await?.id;
    let key = fixture::key(&store, other, KeyScope::Client).await?.id;
    let whole = whole(id);
    for (reach, sees) in [
        (Reach::User(user), true),
        (Reach::User(other), false),
        (Reach::Key(key), false),
        (Reach::Tree(fixture::id()), false),
    ] {
        let found = store.loop_find(reach, &whole).await?;
        assert_eq!(found.len(), usize::from(sees), "{reach:?}");
        let list = |page| store.loop_list(reach, true, page);
        assert_eq!(pages(1, list).await?.len(), usize::from(sees), "{reach:?}");
    }
    Ok(())
}

/// A step that was decided on what has passed is refused and changes nothing; one that is taken is kept whole.
pub async fn take_each_step_once(store: Arc<dyn Store>) -> Outcome {
    let new = started(&store).await?;
    let at = fixture::now();
    let mut ended = new.of.clone();
    ended.usage.output_tokens = 5;
    ended.idle = 2;
    ended.wish = LoopWish::Pause;
    ended.iterations_max = 9;
    ended.budget = Budget {
        cost_micros: Some(5),
        wall_seconds: Some(6),
        turns: Some(7),
        ..Budget::default()
    };
    let reason = "no".to_owned();
    ended.state = LoopState::Ended {
        after: 1,
        outcome: LoopOutcome::Failed {
            reason: reason.clone(),
        },
    };
    let iteration = LoopIteration {
        loop_id: new.of.id,
        number: 1,
        session: None,
        mark: "mark".to_owned(),
        end: Some(IterationEnd::Failed { reason }),
        changed: true,
        usage: Usage::default(),
        began_at: at,
        ended_at: Some(at),
    };
    let entry = |text: &str| NewLoopLogEntry {
        at,
        iteration: 1,
        about: "loop".to_owned(),
        text: text.to_owned(),
    };
    let step = LoopSave {
        iteration: Some(iteration.clone()),
        log: vec![entry("one"), entry("two")],
        ..save_of(&ended)
    };
    let due = store.loop_due().await?;
    assert!(due.iter().any(|it| it.id == new.of.id));
    save(&store, &step).await?;
    let again = save(&store, &step).await;
    assert!(matches!(again, Err(StoreError::Stale { .. })), "{again:?}");
    ended.revision = 2;
    assert_eq!(found(&store, new.of.id).await?, ended);
    assert_eq!(store.loop_iterations(new.of.id, 5).await?, [iteration]);
    let first = PageRequest::first(PageLimit::clamped(Some(1)));
    let log = store.loop_log(new.of.id, first.counted()).await?;
    assert_eq!((log.next, log.total), (Some(1), Some(2)));
    let log = pages(1, |page| store.loop_log(new.of.id, page)).await?;
    let texts: Vec<_> = log
        .iter()
        .map(|it| (it.seq, it.body.text.as_str()))
        .collect();
    assert_eq!(texts, [(1, "one"), (2, "two")]);
    let due = store.loop_due().await?;
    assert!(due.iter().all(|it| it.id != new.of.id));
    Ok(())
}

/// The row of a loop and the session of its next iteration are stored together or not at all.
pub async fn begin_an_iteration_and_its_session_together(store: Arc<dyn Store>) -> Outcome {
    let new = started(&store).await?;
    let mut session = fixture::session_value(new.of.owner, None)?;
    session.state = SessionState::Creating;
    let mut after = new.of.clone();
    after.state = LoopState::Running {
        iteration: 1,
        session: session.id,
    };
    let mut step = LoopSave {
        session: Some(NewSession {
            session: session.clone(),
            worktree: None,
            turn: None,
            live_max: 0,
            spawn: None,
            laid: None,
        }),
        iteration: Some(LoopIteration {
            loop_id: new.of.id,
            number: 1,
            session: Some(session.id),
            mark: "before".to_owned(),
            end: None,
            changed: false,
            usage: Usage::default(),
            began_at: fixture::now(),
            ended_at: None,
        }),
        ..save_of(&after)
    };
    let full = save(&store, &step).await;
    assert!(matches!(full, Err(StoreError::Limit { .. })), "{full:?}");
    assert_eq!(found(&store, new.of.id).await?, new.of);
    assert!(store.loop_iterations(new.of.id, 5).await?.is_empty());
    step.session.as_mut().ok_or("no session")?.live_max = 5;
    save(&store, &step).await?;
    let of = store.loop_of_session(session.id).await?;
    assert_eq!(of.map(|it| it.state), Some(after.state));
    // The session reaches the loop that it belongs to.
    let reach = Reach::Tree(session.id);
    let reached = store.loop_find(reach, &whole(new.of.id)).await?;
    assert_eq!(reached.len(), 1);
    // A second server that decided the same comes too late, and begins no second session.
    let mut second = step.clone();
    second.session.as_mut().ok_or("no session")?.session.id = fixture::id();
    let late = save(&store, &second).await;
    assert!(matches!(late, Err(StoreError::Stale { .. })), "{late:?}");
    Ok(())
}

/// A list's mark changes with its tasks, notes and summaries, and not with who has a task.
pub async fn marks_of_lists_tell_what_has_changed(store: Arc<dyn Store>) -> Outcome {
    let new = started(&store).await?;
    let (list, user) = (&new.list, new.of.owner.user);
    let mark = async || store.task_list_mark(list.id).await;
    let mut last = mark().await?;
    let wish = TaskWish {
        list: list.id,
        claim: TaskClaim {
            holder: wh_domain::Holder::Caller(None),
            until: None,
        },
        id: fixture::id::<wh_domain::TaskKind>().into_untyped_uuid(),
    };
    done(
        store
            .task_claim(&wish, commit(user, Operation::TaskNext))
            .await?,
    );
    assert_eq!(mark().await?, last);
    let mut changed = async |what: &str| -> Made<()> {
        let now = mark().await?;
        assert_ne!(now, last, "{what}");
        last = now;
        Ok(())
    };
    let patch = TaskPatch {
        status: Some(TaskStatus::Completed),
        ..TaskPatch::default()
    };
    let by = wh_domain::Holder::Caller(None);
    let update = commit(user, Operation::TaskUpdate);
    done(
        store
            .task_update(new.tasks[0].id, &patch, by, update)
            .await?,
    );
    changed("a task").await?;
    let note = NewNote {
        id: fixture::id(),
        kind: NoteKind::Tip,
        content: NoteText::parse("beware")?,
    };
    let add = commit(user, Operation::NoteAdd);
    done(store.note_add(list, &[note], None, add).await?);
    changed("a note").await?;
    let summary = IterationText::parse("did it")?;
    let say = || commit(user, Operation::IterationSummary);
    done(store.iteration_summary(list, None, &summary, say()).await?);
    changed("a summary").await?;
    // What was said before is nothing new.
    let before = mark().await?;
    done(store.iteration_summary(list, None, &summary, say()).await?);
    assert_eq!(mark().await?, before);
    Ok(())
}
