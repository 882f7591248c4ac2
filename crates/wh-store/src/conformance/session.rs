//! Checks of sessions.

use std::sync::Arc;

use wh_domain::{
    Archived, Budget, BudgetPatch, Description, KeyScope, ModelName, Operation, Owner, Reach,
    Session, SessionBrief, SessionCounts, SessionEvent, SessionFilter, SessionPatch, SessionRole,
    SessionState, SessionStateName, ShortId, Stage, Title, TitleWords, TurnState, Usage,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, now, owned_by, pages, whole};
use super::turn::{queue, turn_value};
use crate::{NewSession, RunFact, Store, StoreError};

fn every_state() -> Vec<SessionState> {
    let (turn, since) = (fixture::id(), now());
    vec![
        SessionState::Creating,
        SessionState::Idle,
        SessionState::Running { turn, since },
        SessionState::Waiting {
            turn,
            since,
            pending: 3,
        },
        SessionState::Reviewing {
            review: fixture::id(),
        },
        SessionState::Stopping { kill_at: since },
        SessionState::Stopped,
        SessionState::Interrupted,
        SessionState::Completed,
        SessionState::Failed {
            reason: "it \"broke\"\n".to_owned(),
        },
        SessionState::Terminated,
        SessionState::Abandoned,
    ]
}

/// A session is found exactly as it was inserted, whatever its state.
pub async fn is_found_as_it_was_inserted_in_every_state(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let (board, repo) = (
        fixture::board(&store, owner).await?,
        fixture::repo(&store, owner).await?,
    );
    for (n, state) in every_state().into_iter().enumerate() {
        let mut session = fixture::session_value(owner, None)?;
        session.state = state;
        session.role = SessionRole::ALL[n % SessionRole::ALL.len()];
        session.description = (n % 2 == 0)
            .then(|| Description::parse("about it"))
            .transpose()?;
        session.board = (n % 2 == 0).then_some(board.id);
        session.repo = (n % 3 == 0).then_some(repo.id);
        session.worktree = (n % 4 == 0).then(fixture::id);
        session.archived = n % 5 == 0;
        session.budget = Budget {
            tokens: Some(n as u64),
            ..Budget::default()
        };
        session.usage = Usage {
            output_tokens: n as u64,
            turns: 1,
            ..Usage::default()
        };
        session.last_words = Some("words".to_owned());
        fixture::insert_session(&store, &session).await?;
        assert_eq!(
            store.session_find(Reach::All, &whole(session.id)).await?,
            [session]
        );
    }
    let mut orphan = fixture::session_value(owner, None)?;
    orphan.parent = Some(fixture::id());
    (orphan.root, orphan.depth) = (fixture::id(), 1);
    let refused = store
        .session_insert(&orphan, commit(owner.user, Operation::SessionUpdate))
        .await;
    assert!(
        matches!(refused, Err(StoreError::NotFound { .. })),
        "{refused:?}"
    );
    Ok(())
}

/// A patch changes what it names and nothing else; one of no session fails.
pub async fn patches_change_only_what_they_name(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut session = fixture::session(&store, owner, None).await?;
    let titled = SessionPatch {
        title: Some(Title::parse("renamed")?),
        ..SessionPatch::default()
    };
    let described = SessionPatch {
        description: Some(Description::parse("about")?),
        ..SessionPatch::default()
    };
    let limited = |tokens, turns| SessionPatch {
        budget: BudgetPatch {
            tokens,
            turns,
            ..BudgetPatch::default()
        },
        ..SessionPatch::default()
    };
    let patches = [
        titled,
        described,
        limited(Some(Some(7)), Some(Some(3))),
        limited(Some(None), None),
        SessionPatch::default(),
    ];
    for patch in patches {
        let commit = commit(owner.user, Operation::SessionUpdate);
        session.updated_at = commit.audit.at;
        done(store.session_patch(session.id, &patch, commit).await?);
        session.title = patch.title.unwrap_or(session.title);
        session.description = patch.description.or(session.description);
        session.budget = session.budget.changed(patch.budget);
        assert_eq!(
            store.session_find(Reach::All, &whole(session.id)).await?,
            [session.clone()]
        );
    }
    let commit = commit(owner.user, Operation::SessionUpdate);
    let absent = store
        .session_patch(fixture::id(), &SessionPatch::default(), commit)
        .await;
    assert!(
        matches!(absent, Err(StoreError::NotFound { .. })),
        "{absent:?}"
    );
    Ok(())
}

/// Lists hold what the filter asks for, each once, newest first.
pub async fn lists_filter_and_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let board = fixture::board(&store, owner).await?.id;
    let worktree = fixture::id();
    let parent = fixture::session(&store, owner, None).await?;
    let mut made = vec![parent.clone()];
    for (n, state) in every_state().into_iter().enumerate() {
        let mut session = fixture::session_value(owner, (n % 2 == 0).then_some(&parent))?;
        session.state = state;
        session.board = (n % 3 == 0).then_some(board);
        session.worktree = (n % 4 == 0).then_some(worktree);
        session.archived = n % 5 == 0;
        fixture::insert_session(&store, &session).await?;
        made.push(session);
    }
    made.reverse();
    let none = SessionFilter::default;
    let states = vec![SessionStateName::Running, SessionStateName::Failed];
    let filters = [
        none(),
        SessionFilter {
            archived: Archived::Included,
            ..none()
        },
        SessionFilter {
            states,
            archived: Archived::Included,
            ..none()
        },
        SessionFilter {
            board: Some(board),
            ..none()
        },
        SessionFilter {
            worktree: Some(worktree),
            archived: Archived::Included,
            ..none()
        },
        SessionFilter {
            parent: Some(parent.id),
            ..none()
        },
        SessionFilter {
            parent: Some(parent.id),
            board: Some(board),
            archived: Archived::Included,
            ..none()
        },
        SessionFilter {
            archived: Archived::Only,
            ..none()
        },
        SessionFilter {
            parent: Some(parent.id),
            archived: Archived::Only,
            ..none()
        },
        SessionFilter {
            board: Some(fixture::id()),
            ..none()
        },
    ];
    for filter in filters {
        let fits = |s: &&wh_domain::Session| {
            (filter.states.is_empty() || filter.states.contains(&s.state.name()))
                && filter.board.is_none_or(|b| s.board == Some(b))
                && filter.worktree.is_none_or(|w| s.worktree == Some(w))
                && filter.parent.is_none_or(|p| s.parent == Some(p))
                && filter.archived.value().is_none_or(|it| s.archived == it)
        };
        let expected: Vec<_> = made.iter().filter(fits).cloned().collect();
        let reach = Reach::User(owner.user);
        let listed = pages(4, |page| store.session_list(reach, &filter, page)).await?;
        assert_eq!(listed, expected, "{filter:?}");
        let listed = pages(4, |page| store.session_brief_list(reach, &filter, page)).await?;
        let brief: Vec<_> = expected.iter().map(|s| SessionBrief::of(s, None)).collect();
        assert_eq!(listed, brief, "{filter:?}");
        let counted = store.session_count(reach, &filter).await?;
        assert_eq!(counted, expected.len() as u64, "{filter:?}");
    }
    Ok(())
}

/// An idle session for which prompts wait is running for every filter, total and stage, as it is shown.
pub async fn lists_filter_by_the_state_as_shown(store: Arc<dyn Store>) -> Outcome {
    use SessionStateName::{Failed, Idle, Running, Stopped};
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut made = Vec::new();
    for (state, prompts) in [
        (SessionState::Idle, 0),
        (SessionState::Idle, 2),
        (SessionState::Stopped, 0),
        (SessionState::Failed { reason: "x".into() }, 0),
        (every_state().swap_remove(2), 0),
    ] {
        for is_spent in [false, true] {
            let mut session = fixture::session_value(owner, None)?;
            session.state = state.clone();
            if is_spent {
                session.budget.turns = Some(0);
            }
            fixture::insert_session(&store, &session).await?;
            for _ in 0..prompts {
                queue(&store, &session, &turn_value(&session, "wait")).await?;
            }
            session.has_queue = prompts > 0;
            made.push(session);
        }
    }
    made.reverse();
    let reach = Reach::User(owner.user);
    let mut rows = Vec::new();
    for states in [
        vec![Running],
        vec![Idle],
        vec![Running, Idle],
        vec![Running, Failed],
        vec![Stopped, Running],
        vec![Stopped, Idle],
        vec![Failed],
    ] {
        let shown = |it: &&Session| states.contains(&it.shown_state());
        let expected: Vec<_> = made.iter().filter(shown).map(|it| it.id).collect();
        // With a title the sessions themselves are counted, without one the totals are added up.
        for title in [None, Some(made[0].title.to_string())] {
            let filter = SessionFilter {
                states: states.clone(),
                title: title
                    .map(|it| TitleWords::parse(&it))
                    .transpose()?
                    .flatten(),
                ..SessionFilter::default()
            };
            let listed = pages(2, |page| store.session_list(reach, &filter, page)).await?;
            let listed: Vec<_> = listed.iter().map(|it| it.id).collect();
            assert_eq!(listed, expected, "{filter:?}");
            let brief = pages(2, |page| store.session_brief_list(reach, &filter, page)).await?;
            let brief: Vec<_> = brief.iter().map(|it| it.id).collect();
            assert_eq!(brief, expected, "{filter:?}");
            let counted = store.session_count(reach, &filter).await?;
            assert_eq!(counted, expected.len() as u64, "{filter:?}");
        }
        rows.push(expected.len());
    }
    assert_eq!(rows, [4, 2, 6, 6, 6, 4, 2]);
    let stage = |it: &Session| Stage::of(it.shown_state(), it.budget_left().is_spent(), None);
    let needs_you = made.iter().filter(|it| stage(it) == Stage::NeedsYou);
    let expected: Vec<_> = needs_you.map(|it| it.id).collect();
    let filter = SessionFilter {
        needs_you: true,
        ..SessionFilter::default()
    };
    let listed = pages(9, |page| store.session_list(reach, &filter, page)).await?;
    let listed: Vec<_> = listed.iter().map(|it| it.id).collect();
    assert_eq!(listed, expected);
    let everything = SessionFilter::default();
    let counts = SessionCounts::of(&store.session_tally(reach, &everything).await?);
    for it in Stage::ALL {
        let expected = made.iter().filter(|session| stage(session) == it).count();
        assert_eq!(counts.in_stage(it), expected as u64, "{it:?}");
    }
    Ok(())
}

/// What needs somebody can be listed alone: the store's condition is the domain's rule, for every state and every part of a budget.
pub async fn lists_hold_what_needs_somebody(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let usage = Usage {
        input_tokens: 3,
        cached_tokens: 2,
        output_tokens: 1,
        cost_micros: 6,
        estimated_micros: 2,
        wall_seconds: 6,
        turns: 6,
    };
    let none = Budget::default;
    let tokens = |most| Budget {
        tokens: Some(most),
        ..none()
    };
    let cost = |most| Budget {
        cost_micros: Some(most),
        ..none()
    };
    let wall = |most| Budget {
        wall_seconds: Some(most),
        ..none()
    };
    let turns = |most| Budget {
        turns: Some(most),
        ..none()
    };
    let budgets = [
        none(),
        tokens(7),
        tokens(6),
        cost(7),
        cost(6),
        wall(7),
        wall(5),
        turns(7),
        turns(6),
    ];
    let mut expected = Vec::new();
    for state in every_state() {
        for budget in budgets {
            let mut session = fixture::session_value(owner, None)?;
            (session.state, session.budget, session.usage) = (state.clone(), budget, usage);
            fixture::insert_session(&store, &session).await?;
            let is_spent = session.budget_left().is_spent();
            if Stage::of(session.state.name(), is_spent, None) == Stage::NeedsYou {
                expected.push(session.id);
            }
        }
    }
    expected.reverse();
    // Waiting, failed and interrupted ones with each budget, idle ones with the four that are used up.
    assert_eq!(expected.len(), 3 * budgets.len() + 4);
    let filter = SessionFilter {
        needs_you: true,
        ..SessionFilter::default()
    };
    let listed = pages(20, |page| {
        store.session_list(Reach::User(owner.user), &filter, page)
    })
    .await?;
    let listed: Vec<_> = listed.iter().map(|session| session.id).collect();
    assert_eq!(listed, expected);
    let everything = SessionFilter::default();
    let tallies = store
        .session_tally(Reach::User(owner.user), &everything)
        .await?;
    let counts = SessionCounts::of(&tallies);
    assert_eq!(counts.in_stage(Stage::NeedsYou), expected.len() as u64);
    assert_eq!(counts.total(), (every_state().len() * budgets.len()) as u64);
    let others = Reach::User(fixture::user(&store).await?.id);
    assert_eq!(store.session_tally(others, &everything).await?, []);
    Ok(())
}

/// Sessions are found by the words of their title, or by part of their id.
pub async fn lists_filter_by_title(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut made = Vec::new();
    for title in ["Fix the Login test", "Test 100% of it", "Größe"] {
        let mut session = fixture::session_value(owner, None)?;
        session.title = Title::parse(title)?;
        fixture::insert_session(&store, &session).await?;
        made.push(session.id);
    }
    let short_id = made[1].short_id();
    for (text, expected) in [
        ("TEST", vec![made[1], made[0]]),
        ("test login", vec![made[0]]),
        ("100%", vec![made[1]]),
        ("1%0", vec![]),
        ("Größe", vec![made[2]]),
        (&short_id, vec![made[1]]),
    ] {
        let filter = SessionFilter {
            title: TitleWords::parse(text).unwrap_or_default(),
            ..SessionFilter::default()
        };
        let reach = Reach::User(owner.user);
        let listed = pages(4, |page| store.session_list(reach, &filter, page)).await?;
        let listed: Vec<_> = listed.iter().map(|session| session.id).collect();
        assert_eq!(listed, expected, "{text}");
    }
    Ok(())
}

/// What was spawned and is shown as idle can be chosen by its latest turn instead of its state.
pub async fn lists_filter_by_the_latest_turn(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let root = fixture::session(&store, owner, None).await?;
    let unused = fixture::session(&store, owner, Some(&root)).await?;
    let waiting = fixture::session(&store, owner, Some(&root)).await?;
    queue(&store, &waiting, &turn_value(&waiting, "do it")).await?;
    let idle = vec![SessionStateName::Idle];
    for (states, turns, expected) in [
        (idle.clone(), vec![], vec![root.id]),
        (idle, vec![None], vec![unused.id, root.id]),
        // The session with queued prompts is shown as running.
        (vec![SessionStateName::Running], vec![], vec![waiting.id]),
        (vec![], vec![Some(TurnState::Queued)], vec![]),
        (vec![], vec![Some(TurnState::Failed)], vec![]),
    ] {
        let filter = SessionFilter {
            states,
            spawned: Some(turns),
            ..SessionFilter::default()
        };
        let listed = pages(4, |page| store.session_list(Reach::All, &filter, page)).await?;
        let listed: Vec<_> = listed.iter().map(|session| session.id).collect();
        assert_eq!(listed, expected, "{filter:?}");
        let counted = store.session_count(Reach::All, &filter).await?;
        assert_eq!(counted, expected.len() as u64, "{filter:?}");
    }
    let all = SessionFilter::default();
    let listed = pages(4, |page| store.session_brief_list(Reach::All, &all, page)).await?;
    let queued = Some(TurnState::Queued);
    let waiting = Session {
        has_queue: true,
        ..waiting
    };
    let expected = [(&waiting, queued), (&unused, None), (&root, None)];
    assert_eq!(
        listed,
        expected.map(|(session, turn)| SessionBrief::of(session, turn))
    );
    Ok(())
}

/// Totals follow every change of what they distinguish.
pub async fn totals_follow_every_change(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let made_by_key = Owner {
        user,
        key: Some(key),
    };
    let other = fixture::session(&store, owned_by(fixture::user(&store).await?.id), None).await?;
    let kept = fixture::session(&store, made_by_key, None).await?;
    let session = fixture::session(&store, owned_by(user), None).await?;
    let idle = kept.state.name();
    let totals = async |states: &[SessionStateName], archived| -> Made<[u64; 4]> {
        let filter = SessionFilter {
            states: states.to_vec(),
            archived,
            ..SessionFilter::default()
        };
        let reaches = [
            Reach::All,
            Reach::User(user),
            Reach::Key(key),
            Reach::User(other.owner.user),
        ];
        let mut totals = [0; 4];
        for (total, reach) in totals.iter_mut().zip(reaches) {
            *total = store.session_count(reach, &filter).await?;
        }
        Ok(totals)
    };
    assert_eq!(totals(&[], Archived::Excluded).await?, [3, 2, 1, 1]);
    assert_eq!(totals(&[idle], Archived::Excluded).await?, [3, 2, 1, 1]);
    let commit = || fixture::commit(user, Operation::SessionManage);
    let completed = SessionEvent::WorkCompleted;
    done(store.session_move(session.id, &completed, commit()).await?);
    assert_eq!(totals(&[idle], Archived::Excluded).await?, [2, 1, 1, 1]);
    assert_eq!(
        totals(&[idle, SessionStateName::Completed], Archived::Excluded).await?,
        [3, 2, 1, 1]
    );
    done(store.session_archive(kept.id, true, None, commit()).await?);
    assert_eq!(totals(&[], Archived::Excluded).await?, [2, 1, 0, 1]);
    assert_eq!(totals(&[], Archived::Included).await?, [3, 2, 1, 1]);
    assert_eq!(totals(&[], Archived::Only).await?, [1, 1, 1, 0]);
    done(store.session_delete(session.id, commit()).await?);
    assert_eq!(totals(&[], Archived::Excluded).await?, [1, 0, 0, 1]);
    done(
        store
            .session_archive(kept.id, false, None, commit())
            .await?,
    );
    assert_eq!(totals(&[], Archived::Excluded).await?, [2, 1, 1, 1]);
    Ok(())
}

/// A tree is listed from its root down, parents before children, within reach and up to the limit.
pub async fn trees_list_parents_first(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let root = fixture::session(&store, owner, None).await?;
    let mut made = vec![root.clone()];
    for n in 0..8 {
        let parent = made[n / 2].clone();
        made.push(fixture::session(&store, owner, Some(&parent)).await?);
    }
    fixture::session(&store, owner, None).await?;
    let tree = store
        .session_tree(Reach::User(owner.user), root.id, 100)
        .await?;
    assert_eq!(tree.len(), made.len());
    for (n, session) in tree.iter().enumerate() {
        let above = &tree[..n];
        assert!(
            session
                .parent
                .is_none_or(|p| above.iter().any(|s| s.id == p)),
            "parents come first"
        );
    }
    assert_eq!(store.session_tree(Reach::All, root.id, 3).await?, tree[..3]);
    let within = |ids: &[wh_domain::Session], top| {
        let mut ids: Vec<_> = ids.iter().map(|s| s.id).collect();
        ids.retain(|id| *id != top);
        ids.len()
    };
    // The second session has the fourth and fifth below it, and below those two each.
    let part = store
        .session_tree(Reach::Tree(made[1].id), root.id, 100)
        .await?;
    assert_eq!(part[0].id, made[1].id);
    assert_eq!(within(&part, made[1].id), part.len() - 1);
    let below = store.session_tree(Reach::All, made[1].id, 100).await?;
    assert_eq!(part, below);
    let other = fixture::user(&store).await?.id;
    assert_eq!(
        store.session_tree(Reach::User(other), root.id, 100).await?,
        []
    );
    assert_eq!(
        store.session_tree(Reach::All, fixture::id(), 100).await?,
        []
    );
    Ok(())
}

/// A session is within itself and its ancestors, and within nothing else.
pub async fn descent_is_known(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let root = fixture::session(&store, owner, None).await?;
    let child = fixture::session(&store, owner, Some(&root)).await?;
    let grandchild = fixture::session(&store, owner, Some(&child)).await?;
    let sibling = fixture::session(&store, owner, Some(&root)).await?;
    for (session, ancestor, expected) in [
        (&root, &root, true),
        (&grandchild, &root, true),
        (&grandchild, &child, true),
        (&child, &grandchild, false),
        (&sibling, &child, false),
        (&root, &child, false),
    ] {
        assert_eq!(
            store.session_is_within(session.id, ancestor.id).await?,
            expected
        );
    }
    assert!(!store.session_is_within(fixture::id(), root.id).await?);
    assert!(!store.session_is_within(root.id, fixture::id()).await?);
    Ok(())
}

/// A session begins together with its first prompt, unless its owner has as many under way as may be.
pub async fn begins_with_its_first_prompt_while_there_is_room(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let begin = async |live_max: u32| -> Made<_> {
        let mut session = fixture::session_value(owner, None)?;
        session.state = SessionState::Creating;
        session.epoch = 0;
        session.path = Some("/srv/work".into());
        session.mode = Some("plan".to_owned());
        session.model = ModelName::parse("big").ok();
        session.current_model = Some("big".to_owned());
        session.policy.default = wh_domain::Verdict::Deny;
        let turn = super::turn::turn_value(&session, "begin");
        let new = NewSession {
            session,
            worktree: None,
            turn: Some(turn),
            live_max,
            spawn: None,
            laid: None,
        };
        let commit = fixture::commit(owner.user, Operation::SessionCreate);
        Ok((store.session_begin(&new, commit).await, new))
    };
    let (begun, new) = begin(1).await?;
    fixture::done(begun?);
    let work = store.work_get(new.session.id).await?.ok_or("no work")?;
    assert_eq!(work.session, new.session);
    assert_eq!(work.next.map(|it| it.id), new.turn.map(|it| it.id));
    let (refused, new) = begin(1).await?;
    assert!(matches!(refused, Err(StoreError::Limit { max: 1, .. })));
    assert_eq!(store.work_get(new.session.id).await?, None);
    Ok(())
}

/// A state follows another only where the one function says so.
pub async fn moves_only_where_it_may(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?;
    let commit = || fixture::commit(owner.user, Operation::SessionManage);
    let resume = SessionEvent::ResumeRequested;
    let refused = store.session_move(session.id, &resume, commit()).await;
    assert!(matches!(refused, Err(StoreError::Illegal(_))));
    let done = SessionEvent::WorkCompleted;
    fixture::done(store.session_move(session.id, &done, commit()).await?);
    fixture::done(
        store
            .session_archive(session.id, true, None, commit())
            .await?,
    );
    let found = store.session_find(Reach::All, &whole(session.id)).await?;
    assert_eq!(found[0].state, SessionState::Completed);
    assert!(found[0].archived);
    Ok(())
}

/// A stop that comes with archiving is part of the same change: both happen, or neither.
pub async fn is_stopped_and_archived_at_once(store: Arc<dyn Store>) -> Outcome {
    let session = super::run::idle_session(&store).await?;
    let commit = || fixture::commit(session.owner.user, Operation::SessionManage);
    let stop = SessionEvent::StopRequested {
        kill_at: fixture::now(),
    };
    let archive = store.session_archive(session.id, true, Some(&stop), commit());
    fixture::done(archive.await?);
    let found = store.session_find(Reach::All, &whole(session.id)).await?;
    assert!(matches!(found[0].state, SessionState::Stopping { .. }));
    assert!(found[0].archived);
    fixture::done(
        store
            .session_archive(session.id, false, None, commit())
            .await?,
    );
    let resume = SessionEvent::ResumeRequested;
    let refused = store.session_archive(session.id, true, Some(&resume), commit());
    assert!(matches!(refused.await, Err(StoreError::Illegal(_))));
    let found = store.session_find(Reach::All, &whole(session.id)).await?;
    assert!(!found[0].archived);
    Ok(())
}

/// A session with children or a process stays; otherwise it goes with everything it said.
pub async fn is_deleted_only_when_nothing_hangs_on_it(store: Arc<dyn Store>) -> Outcome {
    let parent = super::run::idle_session(&store).await?;
    let child = fixture::session(&store, parent.owner, Some(&parent)).await?;
    let commit = || fixture::commit(parent.owner.user, Operation::SessionManage);
    let refused = store.session_delete(parent.id, commit()).await;
    assert!(matches!(refused, Err(StoreError::InUse { .. })));
    fixture::done(store.session_delete(child.id, commit()).await?);
    let (run, _) = super::run::begin(&store, &parent).await?;
    let refused = store.session_delete(parent.id, commit()).await;
    assert!(matches!(refused, Err(StoreError::InUse { .. })));
    let gone = RunFact::Gone {
        ending: "put away".to_owned(),
        failed: None,
    };
    store.run_apply(super::run::step(&run, vec![gone])).await?;
    fixture::done(store.session_delete(parent.id, commit()).await?);
    assert_eq!(store.session_find(Reach::All, &whole(parent.id)).await?, []);
    Ok(())
}
