//! Boards: concurrent changes, repeats, and what is not yours.

use std::sync::Arc;

use futures::future::join_all;
use wh_app::{Idempotency, OpContext};
use wh_domain::{
    BoardChange, ErrorCode, IdempotencyKey, KeyScope, Name, PageLimit, PageRequest, Reference,
    ShortId, ZoneInput,
};

use crate::harness::{TestApp, absent, board, reference, refused};

fn change(board: Reference) -> BoardChange {
    BoardChange {
        board,
        name: None,
        description: None,
        zones: vec![],
        zones_removed: vec![],
        placements: vec![],
        items_removed: vec![],
    }
}

fn new_zone(name: &str) -> ZoneInput {
    ZoneInput {
        zone: None,
        name: Some(Name::parse(name).unwrap()),
        color: None,
        rect: None,
        prompt_template: None,
        no_prompt: false,
        agent: None,
    }
}

fn marked(mut cx: OpContext, mark: &str, request: u8) -> OpContext {
    cx.idempotency = Some(Idempotency {
        mark: IdempotencyKey::parse(mark).unwrap(),
        request: [request; 32],
    });
    cx
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_all_happen() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let made = test.app.board_create(&cx, board("shared")).await.unwrap();
    let changes = (0..16).map(|n| {
        let (app, cx, id) = (Arc::clone(&test.app), cx.clone(), reference(made.id));
        async move {
            let zones = vec![new_zone(&format!("zone {n}"))];
            app.board_update(
                &cx,
                BoardChange {
                    zones,
                    ..change(id)
                },
            )
            .await
        }
    });
    for result in join_all(changes).await {
        result.unwrap();
    }
    let board = test.app.board_get(&cx, &reference(made.id)).await.unwrap();
    assert_eq!((board.zones.len(), board.revision), (16, 17));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_makes_nothing_twice_even_at_the_same_time() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let made = join_all((0..5).map(|_| test.app.board_create(&cx, board("unmarked")))).await;
    assert_eq!(made.len(), 5);
    let repeats = (0..5).map(|_| {
        let cx = marked(cx.clone(), "once", 1);
        let app = Arc::clone(&test.app);
        async move { app.board_create(&cx, board("marked")).await.unwrap().id }
    });
    let mut ids = join_all(repeats).await;
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let other = test
        .app
        .board_create(&marked(cx.clone(), "once", 2), board("other"))
        .await;
    assert_eq!(refused(other).0, ErrorCode::Conflict);
    let page = PageRequest::first(PageLimit::MAX);
    assert_eq!(
        test.app
            .board_list(&cx, None, page)
            .await
            .unwrap()
            .items
            .len(),
        6
    );
    // A day later the mark is forgotten.
    test.pass(25 * 3_600);
    let again = marked(test.local().await, "once", 2);
    test.app.board_create(&again, board("other")).await.unwrap();
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there() {
    let test = TestApp::new().await;
    let (alice, bob) = (test.member("alice").await, test.member("bob").await);
    let made = test
        .app
        .board_create(&alice, board("alice's"))
        .await
        .unwrap();
    let foreign = refused(test.app.board_get(&bob, &reference(made.id)).await);
    assert_eq!(foreign, refused(test.app.board_get(&bob, &absent()).await));
    let foreign = refused(
        test.app
            .board_update(&bob, change(reference(made.id)))
            .await,
    );
    assert_eq!(
        foreign,
        refused(test.app.board_update(&bob, change(absent())).await)
    );
    assert_eq!(foreign.0, ErrorCode::NotFound);
    let admin = test.local().await;
    test.app
        .board_get(&admin, &reference(made.id))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_client_key_sees_only_what_it_made() {
    let test = TestApp::new().await;
    let full = test.member("carol").await;
    let (_, one) = test.key_of("carol", KeyScope::Client).await;
    let (_, two) = test.key_of("carol", KeyScope::Client).await;
    let by_user = test.app.board_create(&full, board("user's")).await.unwrap();
    let by_one = test.app.board_create(&one, board("one's")).await.unwrap();
    for (cx, id, visible) in [
        (&one, by_one.id, true),
        (&one, by_user.id, false),
        (&two, by_one.id, false),
        (&full, by_one.id, true),
    ] {
        let got = test.app.board_get(cx, &reference(id)).await;
        assert_eq!(got.is_ok(), visible);
    }
}

#[tokio::test]
async fn short_ids_work_and_nonsense_is_named() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let made = test.app.board_create(&cx, board("short")).await.unwrap();
    let short = reference(made.id.short_id());
    assert_eq!(test.app.board_get(&cx, &short).await.unwrap().id, made.id);
    let nonsense = test.app.board_get(&cx, &reference("not-an-id")).await;
    assert_eq!(refused(nonsense).0, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn an_ambiguous_prefix_lists_the_candidates() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let one = test.app.board_create(&cx, board("one")).await.unwrap();
    let two = test.app.board_create(&cx, board("two")).await.unwrap();
    // Made within the same minute, both begin with the same digits.
    let prefix = one.id.to_string()[..8].to_owned();
    if two.id.to_string().starts_with(&prefix) {
        let error = test
            .app
            .board_get(&cx, &reference(prefix))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::AmbiguousId);
        assert_eq!(error.details["candidates"].as_array().unwrap().len(), 2);
    }
}
