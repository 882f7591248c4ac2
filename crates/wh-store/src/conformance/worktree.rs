//! Checks of worktrees.

use std::sync::Arc;

use wh_domain::{
    BoardItem, KeyScope, Operation, Owner, Placement, Position, Reach, SessionFilter, SessionState,
    Worktree, WorktreeBase, WorktreeChanges, WorktreeFilter, WorktreeRemoval, WorktreeState,
    WorktreeStateName, WorktreeStep,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, owned_by, pages, whole};
use super::turn::{queue, turn_value};
use crate::{Counted, RunFact, Store, StoreError};

/// Adds a worktree as it is.
async fn insert(store: &Arc<dyn Store>, worktree: &Worktree) -> Made<()> {
    let commit = commit(worktree.owner.user, Operation::RepoAdd);
    done(store.worktree_insert(worktree, commit).await?);
    Ok(())
}

/// Moves a worktree on and returns what became of it.
async fn step(store: &Arc<dyn Store>, before: &Worktree, step: WorktreeStep) -> Made<Worktree> {
    let mut after = before.clone();
    after.apply(step)?;
    let commit = commit(before.owner.user, Operation::RepoAdd);
    done(store.worktree_move(before, &after, commit).await?);
    Ok(after)
}

fn made() -> WorktreeStep {
    WorktreeStep::Made {
        git_dir: "/srv/app/.git/worktrees/ünï".into(),
        base_sha: "a".repeat(40),
    }
}

/// A worktree is found exactly as it was inserted, with every kind of base.
pub async fn is_found_as_it_was_inserted(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repo = fixture::repo(&store, owner).await?.id;
    let board = fixture::board(&store, owner).await?.id;
    for base in [
        None,
        Some(WorktreeBase::Branch(wh_domain::BranchName::parse("main")?)),
        Some(WorktreeBase::Commit("b".repeat(40))),
    ] {
        let mut worktree = fixture::worktree_value(owner, repo)?;
        worktree.base = base;
        worktree.board = Some(board);
        insert(&store, &worktree).await?;
        let found = store.worktree_find(Reach::All, &whole(worktree.id)).await?;
        assert_eq!(found, [worktree.clone()]);
        assert_eq!(store.worktree_by_id(worktree.id).await?, Some(worktree));
    }
    assert_eq!(store.worktree_by_id(fixture::id()).await?, None);
    let homeless = fixture::worktree_value(owner, fixture::id())?;
    let refused = store
        .worktree_insert(&homeless, commit(owner.user, Operation::RepoAdd))
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })));
    Ok(())
}

/// A worktree passes through its states, and a step from a state that has passed is refused and changes nothing.
pub async fn moves_only_from_the_state_it_was_seen_in(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repo = fixture::repo(&store, owner).await?.id;
    let making = fixture::worktree(&store, owner, repo).await?;
    let ready = step(&store, &making, made()).await?;
    assert_eq!(store.worktree_by_id(making.id).await?, Some(ready.clone()));
    let commit_of = || commit(owner.user, Operation::RepoAdd);
    let again = store.worktree_move(&making, &ready, commit_of()).await;
    assert!(matches!(again, Err(StoreError::Stale { .. })), "{again:?}");
    let how = WorktreeRemoval::RescueButIgnored;
    let removing = step(&store, &ready, WorktreeStep::Remove { how }).await?;
    assert_eq!(
        store.worktree_by_id(making.id).await?,
        Some(removing.clone())
    );
    let kept = step(&store, &removing, WorktreeStep::Kept).await?;
    assert_eq!(kept, ready);
    let removing = step(&store, &kept, WorktreeStep::Remove { how }).await?;
    let at = fixture::now();
    let removed = step(&store, &removing, WorktreeStep::Gone { at }).await?;
    assert_eq!(store.worktree_by_id(making.id).await?, Some(removed));
    let unknown = fixture::worktree_value(owner, repo)?;
    let mut after = unknown.clone();
    after.apply(made())?;
    let refused = store.worktree_move(&unknown, &after, commit_of()).await;
    assert!(refused.is_err());
    Ok(())
}

/// A branch can have one worktree of a repository at a time.
pub async fn branches_are_taken_until_it_is_removed(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repo = fixture::repo(&store, owner).await?.id;
    let first = fixture::worktree(&store, owner, repo).await?;
    let mut second = fixture::worktree_value(owner, repo)?;
    second.branch = first.branch.clone();
    let refused = store
        .worktree_insert(&second, commit(owner.user, Operation::RepoAdd))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    let at = fixture::now();
    step(&store, &first, WorktreeStep::Gone { at }).await?;
    insert(&store, &second).await
}

/// Lists hold what their filter says, newest first.
pub async fn lists_filter_and_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repos = [
        fixture::repo(&store, owner).await?.id,
        fixture::repo(&store, owner).await?.id,
    ];
    let board = fixture::board(&store, owner).await?.id;
    let mut all = Vec::new();
    for n in 0..8 {
        let mut worktree = fixture::worktree_value(owner, repos[n % 2])?;
        worktree.board = (n % 3 == 0).then_some(board);
        insert(&store, &worktree).await?;
        let worktree = match n {
            0..4 => step(&store, &worktree, made()).await?,
            4 => {
                let at = fixture::now();
                step(&store, &worktree, WorktreeStep::Gone { at }).await?
            }
            _ => worktree,
        };
        all.push(worktree);
    }
    for (n, state) in [(1, SessionState::Idle), (2, SessionState::Completed)] {
        let mut session = fixture::session_value(owner, None)?;
        (session.worktree, session.state) = (Some(all[n].id), state);
        fixture::insert_session(&store, &session).await?;
    }
    all.reverse();
    use WorktreeStateName as Name;
    let reach = Reach::User(owner.user);
    let busy = all[6].id;
    let filter = WorktreeFilter::default;
    for filter in [
        filter(),
        WorktreeFilter {
            repo: Some(repos[1]),
            ..filter()
        },
        WorktreeFilter {
            board: Some(board),
            states: vec![Name::Making, Name::Ready],
            ..filter()
        },
        WorktreeFilter {
            states: vec![Name::Removed],
            ..filter()
        },
        WorktreeFilter {
            finished: true,
            ..filter()
        },
    ] {
        let matching = |w: &&Worktree| {
            let name = w.state.name();
            let state = if filter.states.is_empty() {
                name != Name::Removed
            } else {
                filter.states.contains(&name)
            };
            state
                && filter.repo.is_none_or(|repo| w.repo == repo)
                && filter.board.is_none_or(|board| w.board == Some(board))
                && (!filter.finished || (w.id != busy && name == Name::Ready))
        };
        let expected: Vec<_> = all.iter().filter(matching).cloned().collect();
        assert!(!expected.is_empty(), "{filter:?}");
        for size in [1, 3, 50] {
            let listed = pages(size, |page| store.worktree_list(reach, &filter, page)).await?;
            assert_eq!(listed, expected, "{filter:?}");
        }
        let counted = store.worktree_count(reach, &filter).await?;
        assert_eq!(counted, expected.len() as u64, "{filter:?}");
    }
    Ok(())
}

/// Each reach sees exactly its worktrees: an owner its own, a session's tree those it works in.
pub async fn reach_is_exact(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    );
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let owners = [
        owned_by(user),
        Owner {
            user,
            key: Some(key),
        },
        owned_by(other),
    ];
    let (mut worktrees, mut roots) = (Vec::new(), Vec::new());
    for owner in owners {
        let repo = fixture::repo(&store, owner).await?.id;
        let worktree = fixture::worktree(&store, owner, repo).await?;
        fixture::worktree(&store, owner, repo).await?;
        let root = fixture::session(&store, owner, None).await?;
        let mut child = fixture::session_value(owner, Some(&root))?;
        child.worktree = Some(worktree.id);
        fixture::insert_session(&store, &child).await?;
        worktrees.push(worktree.id);
        roots.push(root.id);
    }
    for (reach, seen, listed) in [
        (Reach::User(user), &[0, 1][..], 4),
        (Reach::Key(key), &[1], 2),
        (Reach::User(other), &[2], 2),
        (Reach::Tree(roots[0]), &[0], 1),
        (Reach::Tree(roots[2]), &[2], 1),
        (Reach::Tree(fixture::id()), &[], 0),
        (Reach::User(fixture::id()), &[], 0),
    ] {
        for (n, id) in worktrees.iter().enumerate() {
            let found = store.worktree_find(reach, &whole(*id)).await?;
            assert_eq!(found.len(), usize::from(seen.contains(&n)), "{n} {reach:?}");
        }
        let filter = WorktreeFilter::default();
        let all = pages(2, |page| store.worktree_list(reach, &filter, page)).await?;
        assert_eq!(all.len(), listed, "{reach:?}");
        assert!(all.iter().all(|w| w.state == WorktreeState::Making));
    }
    Ok(())
}

/// What happens in a worktree is noted until it is counted; the numbers are announced when they are others than before.
pub async fn is_counted_when_something_happened(store: Arc<dyn Store>) -> Outcome {
    let mut session = super::run::idle_session(&store).await?;
    let owner = session.owner;
    let repo = fixture::repo(&store, owner).await?.id;
    let worktree = fixture::worktree(&store, owner, repo).await?;
    session = fixture::session_value(owner, None)?;
    (session.epoch, session.worktree) = (0, Some(worktree.id));
    fixture::insert_session(&store, &session).await?;
    let waiting = async || -> Made<Option<u64>> {
        let all = store.worktree_uncounted(1_000).await?;
        let own = all.into_iter().find(|it| it.worktree.id == worktree.id);
        Ok(own.map(|it| it.touched))
    };
    assert_eq!(waiting().await?, None);

    // The end of a turn is noted by itself, and so is whatever else is said to have happened.
    let turn = turn_value(&session, "do it");
    queue(&store, &session, &turn).await?;
    let (run, _) = super::run::begin(&store, &session).await?;
    let ended = RunFact::TurnEnded {
        turn: turn.id,
        state: wh_domain::TurnState::Completed,
        reason: None,
        commit_after: None,
        usage: wh_domain::Usage::default(),
        estimate_micros: 0,
    };
    let facts = vec![super::run::started(&turn), ended];
    store.run_apply(super::run::step(&run, facts)).await?;
    assert_eq!(waiting().await?, Some(1));
    let touch = commit(owner.user, Operation::WorktreeMerge);
    done(store.worktree_touch(worktree.id, touch).await?);
    assert_eq!(waiting().await?, Some(2));

    let changes = WorktreeChanges {
        added: 3,
        deleted: 1,
        ahead: 2,
        unmerged: 2,
        is_clean: true,
    };
    let counted = |touched, changes| Counted {
        worktree: worktree.id,
        touched,
        changes,
        at: fixture::now(),
        event: wh_domain::NewEvent {
            kind: wh_domain::EventKind::Updated,
            subject: worktree.id.into(),
            owner,
            session: None,
            actor: None,
            facts: wh_domain::Facts::new(),
        },
    };
    // What happened while it was counted is counted next.
    assert!(store.worktree_counted(counted(1, Some(changes))).await?);
    assert_eq!(waiting().await?, Some(2));
    assert!(!store.worktree_counted(counted(2, Some(changes))).await?);
    assert_eq!(waiting().await?, None);
    let mut other = changes;
    other.is_clean = false;
    assert!(store.worktree_counted(counted(2, Some(other))).await?);
    assert!(!store.worktree_counted(counted(2, None)).await?);
    let found = store.worktree_many(&[worktree.id, fixture::id()]).await?;
    let known: Vec<_> = found.iter().map(|it| it.changes).collect();
    assert_eq!(known, [Some(other)]);
    assert_eq!(store.worktree_many(&[]).await?, []);
    Ok(())
}

/// A board shows what belongs to it, what lies on it, and the sessions of worktrees that lie on it.
pub async fn lies_on_a_board_with_its_sessions(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repo = fixture::repo(&store, owner).await?.id;
    let mut board = fixture::board(&store, owner).await?;
    let placed = fixture::worktree(&store, owner, repo).await?;
    let mut belongs = fixture::worktree_value(owner, repo)?;
    belongs.board = Some(board.id);
    insert(&store, &belongs).await?;
    fixture::worktree(&store, owner, repo).await?;
    let mut sessions = Vec::new();
    for (on, at) in [
        (None, None),
        (Some(board.id), None),
        (None, Some(placed.id)),
        (None, None),
    ] {
        let mut session = fixture::session_value(owner, None)?;
        (session.board, session.worktree) = (on, at);
        fixture::insert_session(&store, &session).await?;
        sessions.push(session.id);
    }
    let lies = |item| Placement {
        item,
        position: Position::default(),
        zone: None,
    };
    board.placements = vec![
        lies(BoardItem::Worktree(placed.id)),
        lies(BoardItem::Session(sessions[0])),
    ];
    board.revision += 1;
    let saved = commit(owner.user, Operation::BoardUpdate);
    done(store.board_place(&board, &[], saved).await?);
    let reach = Reach::User(owner.user);
    let filter = WorktreeFilter {
        on_board: Some(board.id),
        ..WorktreeFilter::default()
    };
    let listed = pages(1, |page| store.worktree_list(reach, &filter, page)).await?;
    let listed: Vec<_> = listed.iter().map(|it| it.id).collect();
    assert_eq!(listed, [belongs.id, placed.id]);
    let filter = SessionFilter {
        on_board: Some(board.id),
        ..SessionFilter::default()
    };
    let listed = pages(2, |page| store.session_list(reach, &filter, page)).await?;
    let listed: Vec<_> = listed.iter().map(|it| it.id).collect();
    assert_eq!(listed, [sessions[2], sessions[1], sessions[0]]);
    Ok(())
}
