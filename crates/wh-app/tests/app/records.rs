//! The audit log, settings and backups.

use wh_domain::{
    AuditQuery, ErrorCode, KeyScope, Operation, Outcome, PageLimit, PageRequest, SettingChange,
    SettingKey, SettingValue,
};

use crate::harness::{TestApp, absent, board, refused};

#[tokio::test]
async fn every_call_is_recorded_reads_and_refusals_too() {
    let test = TestApp::new().await;
    test.member("alice").await;
    let (_, read) = test.key_of("alice", KeyScope::Read).await;
    refused(test.app.board_create(&read, board("no")).await);
    refused(test.app.board_get(&read, &absent()).await);
    let page = PageRequest::first(PageLimit::MAX);
    test.app.board_list(&read, None, page).await.unwrap();
    test.app.health().await.unwrap();
    let admin = test.local().await;
    let entries = loop {
        let query = AuditQuery {
            include_reads: true,
            ..AuditQuery::default()
        };
        let page = PageRequest::first(PageLimit::MAX);
        let list = test.app.audit_list(&admin, query, page).await.unwrap();
        let by_key = |e: &wh_domain::AuditEntry| e.body.key == read.principal.credential.key();
        let found: Vec<_> = list.items.into_iter().filter(by_key).collect();
        // Reads are written a moment later.
        if found.len() == 3 {
            break found;
        }
        tokio::task::yield_now().await;
    };
    let seen: Vec<_> = entries
        .iter()
        .map(|e| (e.body.operation, e.body.outcome))
        .collect();
    assert_eq!(
        seen,
        [
            (Operation::BoardList, Outcome::Done),
            (Operation::BoardGet, Outcome::Refused(ErrorCode::NotFound)),
            (
                Operation::BoardCreate,
                Outcome::Refused(ErrorCode::Forbidden)
            ),
        ]
    );
}

#[tokio::test]
async fn settings_are_set_and_go_back() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    let key = SettingKey::ReviewMaxIterations;
    let value = Some(SettingValue(Some(7)));
    test.app
        .config_set(&admin, SettingChange { key, value })
        .await
        .unwrap();
    let member = test.member("bob").await;
    let shown = test.app.config_get(&member, Some(key)).await.unwrap();
    assert_eq!(
        (shown[0].value, shown[0].is_set),
        (SettingValue(Some(7)), true)
    );
    let denied = test
        .app
        .config_set(&member, SettingChange { key, value })
        .await;
    assert_eq!(refused(denied).0, ErrorCode::Forbidden);
    let back = SettingChange { key, value: None };
    let shown = test.app.config_set(&admin, back).await.unwrap();
    assert_eq!((shown.value, shown.is_set), (SettingValue(Some(3)), false));
    assert_eq!(
        test.app.config_get(&admin, None).await.unwrap().len(),
        SettingKey::ALL.len()
    );
}

#[tokio::test]
async fn a_backup_never_overwrites() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    let file = test.dir.path().join("copy.db");
    test.app.backup_create(&admin, file.clone()).await.unwrap();
    assert!(file.exists());
    let before = std::fs::read(&file).unwrap();
    let again = test.app.backup_create(&admin, file.clone()).await;
    assert_eq!(refused(again).0, ErrorCode::InvalidInput);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let relative = test.app.backup_create(&admin, "copy.db".into()).await;
    assert_eq!(refused(relative).0, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn what_has_expired_is_forgotten_and_followers_are_told() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    for n in 0..3 {
        test.app
            .board_create(&admin, board(&format!("board {n}")))
            .await
            .unwrap();
    }
    assert_eq!(test.app.forget_expired().await.unwrap(), (0, 0));
    test.pass(91 * 86_400);
    let newer = test
        .app
        .board_create(&test.local().await, board("newer"))
        .await
        .unwrap();
    let (events, _) = test.app.forget_expired().await.unwrap();
    assert_eq!(events, 4);
    let mut feed = test
        .app
        .event_follow(&test.local().await, Some(1))
        .await
        .unwrap();
    let first = feed.next().await.unwrap().unwrap();
    assert!(matches!(
        first.as_slice(),
        [wh_app::FeedItem::Resync { .. }]
    ));
    let kept = test
        .app
        .event_list(&test.local().await, None, PageLimit::MAX)
        .await
        .unwrap();
    let wh_app::EventStretch::Page(page) = kept else {
        panic!("the beginning is always kept");
    };
    assert_eq!(page.events.len(), 1);
    assert_eq!(page.events[0].body.subject, newer.id.into());
}
