//! Cards: sessions with what their worktrees have to show, and where their work is.

use wh_domain::{
    BoardChange, ItemReference, NewWorktree, Operation, PageLimit, PageRequest, PlacementInput,
    Position, Stage, Uncommitted, Worktree, WorktreeMerge,
};

use crate::{
    harness::{TestApp, board, reference},
    worktrees::{commit, git, repo},
};

/// Notes that something happened in a worktree, as the end of a turn does, and has it counted.
async fn count(test: &TestApp, made: &Worktree) {
    let touch = wh_store::conformance::fixture::commit(made.owner.user, Operation::WorktreeMerge);
    let _applied = test.store.worktree_touch(made.id, touch).await.unwrap();
    test.app.worktrees_count().await.unwrap();
}

#[tokio::test]
async fn work_is_ready_to_merge_when_it_is_committed_and_done_when_it_is_merged() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let new = NewWorktree {
        repo: reference(repo.id),
        name: Some(wh_domain::Name::parse("one").unwrap()),
        branch: None,
        base: None,
        board: None,
    };
    let made = test.app.worktree_create(&cx, new).await.unwrap();
    crate::sessions::insert_with(&test, "works", None, |session| {
        session.worktree = Some(made.id);
    })
    .await;
    let look = async || {
        let page = PageRequest::first(PageLimit::DEFAULT);
        let query = wh_domain::SessionQuery::default();
        let page = test.app.session_cards(&cx, query, page).await.unwrap();
        let card = page.items.into_iter().next().unwrap();
        let changes = card.worktree.as_ref().unwrap().changes;
        (card.stage(), changes.map(|it| (it.added, it.deleted)))
    };
    assert_eq!(look().await, (Stage::Ready, None));

    std::fs::write(made.path.join("a.txt"), "1\n2\n").unwrap();
    count(&test, &made).await;
    assert_eq!(look().await, (Stage::Ready, Some((2, 1))));
    commit(&made.path, "a.txt", "1\n2\n3\n");
    count(&test, &made).await;
    assert_eq!(look().await, (Stage::ReadyToMerge, Some((3, 1))));

    let merge = WorktreeMerge {
        worktree: reference(made.id),
        into: None,
        message: None,
        uncommitted: Uncommitted::Refuse,
        remove_after: false,
    };
    test.app.worktree_merge(&cx, merge).await.unwrap();
    test.app.worktrees_count().await.unwrap();
    assert_eq!(look().await, (Stage::Done, Some((3, 1))));
    assert_eq!(git(&dir, &["show", "main:a.txt"]), "1\n2\n3");

    // One that is gone keeps what was known of it, and nothing waits for it for ever.
    std::fs::remove_dir_all(&made.path).unwrap();
    count(&test, &made).await;
    assert_eq!(look().await, (Stage::Done, Some((3, 1))));
    assert_eq!(test.store.worktree_uncounted(10).await.unwrap(), []);
}

#[tokio::test]
async fn a_board_shows_its_worktrees_with_their_sessions() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, _) = repo(&test, &cx, "app").await;
    let on = test.app.board_create(&cx, board("work")).await.unwrap();
    let new = NewWorktree {
        repo: reference(repo.id),
        name: Some(wh_domain::Name::parse("one").unwrap()),
        branch: None,
        base: None,
        board: None,
    };
    let made = test.app.worktree_create(&cx, new).await.unwrap();
    let (session, _) = crate::sessions::insert_with(&test, "works", None, |session| {
        session.worktree = Some(made.id);
    })
    .await;
    crate::sessions::insert_with(&test, "elsewhere", None, |_| {}).await;
    let cards = test.app.board_cards(&cx, &reference(on.id)).await.unwrap();
    assert!(cards.sessions.is_empty() && cards.worktrees.is_empty());
    let change = BoardChange {
        board: reference(on.id),
        name: None,
        description: None,
        zones: vec![],
        zones_removed: vec![],
        placements: vec![PlacementInput {
            item: ItemReference::Worktree(reference(made.id)),
            position: Position::default(),
            zone: None,
        }],
        items_removed: vec![],
    };
    test.app.board_update(&cx, change).await.unwrap();
    let cards = test.app.board_cards(&cx, &reference(on.id)).await.unwrap();
    let sessions: Vec<_> = cards.sessions.iter().map(|it| it.session.id).collect();
    assert_eq!(sessions, [session]);
    assert_eq!(cards.worktrees[0].worktree.id, made.id);
    assert_eq!(cards.worktrees[0].repo, repo.name);
}
