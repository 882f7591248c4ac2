//! Checks of sessions.

use std::sync::Arc;

use wh_domain::{
    Budget, Description, Operation, Reach, SessionFilter, SessionPatch, SessionRole, SessionState,
    SessionStateName, Title, Usage,
};

use super::Outcome;
use super::fixture::{self, commit, done, now, owned_by, pages, whole};
use crate::{Store, StoreError};

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
        description: None,
    };
    let described = SessionPatch {
        title: None,
        description: Some(Description::parse("about")?),
    };
    for patch in [titled, described, SessionPatch::default()] {
        let commit = commit(owner.user, Operation::SessionUpdate);
        session.updated_at = commit.audit.at;
        done(store.session_patch(session.id, &patch, commit).await?);
        session.title = patch.title.unwrap_or(session.title);
        session.description = patch.description.or(session.description);
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
            include_archived: true,
            ..none()
        },
        SessionFilter {
            states,
            include_archived: true,
            ..none()
        },
        SessionFilter {
            board: Some(board),
            ..none()
        },
        SessionFilter {
            worktree: Some(worktree),
            include_archived: true,
            ..none()
        },
        SessionFilter {
            parent: Some(parent.id),
            ..none()
        },
        SessionFilter {
            parent: Some(parent.id),
            board: Some(board),
            include_archived: true,
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
                && (filter.include_archived || !s.archived)
        };
        let expected: Vec<_> = made.iter().filter(fits).cloned().collect();
        let reach = Reach::User(owner.user);
        let listed = pages(4, |page| store.session_list(reach, &filter, page)).await?;
        assert_eq!(listed, expected, "{filter:?}");
    }
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
