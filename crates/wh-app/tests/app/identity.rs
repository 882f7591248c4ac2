//! Who is let in, for how long, and how far.

use jiff::SignedDuration;
use wh_app::{KeyQuery, Unauthenticated};
use wh_domain::{
    ErrorCode, KeyScope, Name, NewKey, NewUser, PageLimit, PageRequest, Reference, SecretText,
    UserName, UserPatch, UserRole,
};

use crate::harness::{ADDRESS, TestApp, board, reference, refused};

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let test = TestApp::new().await;
    test.member("alice").await;
    let (secret, cx) = test.key_of("alice", KeyScope::Full).await;
    let key = cx.principal.credential.key().unwrap();
    assert!(test.app.authenticate(&secret, Some(ADDRESS)).await.is_ok());
    test.app.key_revoke(&cx, reference(key)).await.unwrap();
    assert!(matches!(
        test.app.authenticate(&secret, Some(ADDRESS)).await,
        Err(Unauthenticated::Invalid)
    ));
    assert!(!test.app.is_still_valid(&cx.principal).await.unwrap());
}

#[tokio::test]
async fn a_key_ends_when_it_should() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    let new = |seconds: i64| NewKey {
        name: Name::parse("short").unwrap(),
        scope: KeyScope::Read,
        user: None,
        expires_at: Some(test.now() + SignedDuration::from_secs(seconds)),
        dialect: None,
        session: None,
    };
    let made = test.app.key_create(&admin, new(60)).await.unwrap();
    let secret = made.secret.unwrap();
    assert!(test.app.authenticate(secret.expose(), None).await.is_ok());
    test.pass(61);
    assert!(test.app.authenticate(secret.expose(), None).await.is_err());
    let past = test.app.key_create(&test.local().await, new(-1)).await;
    assert_eq!(refused(past).0, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn guessing_is_slowed_down_and_honest_keys_go_on() {
    let test = TestApp::new().await;
    test.member("alice").await;
    let (good, _) = test.key_of("alice", KeyScope::Full).await;
    let bad = "wh_full_00000000000000000000000000000000";
    let mut limited = None;
    for attempt in 0..100 {
        if let Err(Unauthenticated::TooMany { retry_after }) =
            test.app.authenticate(bad, Some(ADDRESS)).await
        {
            limited = Some((attempt, retry_after));
            break;
        }
    }
    let (attempt, retry_after) = limited.expect("a limit");
    assert!(attempt >= 10 && retry_after >= 1);
    assert!(test.app.authenticate(&good, Some(ADDRESS)).await.is_ok());
    // Also when it has to be looked up again, and the address is still out of attempts.
    test.pass(1);
    for _ in 0..3 {
        drop(test.app.authenticate(bad, Some(ADDRESS)).await);
    }
    assert!(test.app.authenticate(&good, Some(ADDRESS)).await.is_ok());
    let refused = test.app.authenticate(bad, Some(ADDRESS)).await;
    assert!(matches!(refused, Err(Unauthenticated::TooMany { .. })));
}

#[tokio::test]
async fn a_read_key_changes_nothing_and_a_member_is_no_admin() {
    let test = TestApp::new().await;
    let member = test.member("bob").await;
    let (_, read) = test.key_of("bob", KeyScope::Read).await;
    let denied = test.app.board_create(&read, board("no")).await;
    assert_eq!(refused(denied).0, ErrorCode::Forbidden);
    let new = NewUser {
        name: UserName::parse("eve").unwrap(),
        role: UserRole::Admin,
        email: None,
        avatar_url: None,
    };
    assert_eq!(
        refused(test.app.user_create(&member, new).await).0,
        ErrorCode::Forbidden
    );
    let for_root = NewKey {
        name: Name::parse("steal").unwrap(),
        scope: KeyScope::Full,
        user: Some(Reference::parse("root").unwrap()),
        expires_at: None,
        dialect: None,
        session: None,
    };
    assert_eq!(
        refused(test.app.key_create(&member, for_root).await).0,
        ErrorCode::NotFound
    );
}

#[tokio::test]
async fn keys_are_listed_without_secrets_and_by_a_unique_prefix() {
    let test = TestApp::new().await;
    let member = test.member("carol").await;
    test.key_of("carol", KeyScope::Full).await;
    let page = PageRequest::first(PageLimit::MAX);
    let keys = test
        .app
        .key_list(&member, KeyQuery::default(), page)
        .await
        .unwrap();
    assert_eq!(keys.items.len(), 2);
    let prefixes: Vec<_> = keys.items.iter().map(|key| key.prefix.as_str()).collect();
    assert_ne!(prefixes[0], prefixes[1]);
    assert!(
        prefixes
            .iter()
            .all(|prefix| prefix.len() == "wh_full_".len() + 8)
    );
}

#[tokio::test]
async fn an_administrator_makes_a_link_for_another_user() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    let mia = test.member("mia").await;
    let named = |name: &str| Some(Reference::parse(name).unwrap());
    let link = test.app.login_link_create(&admin, named("mia")).await;
    let (secret, _) = test.app.login_redeem(&link.unwrap().token).await.unwrap();
    let browser = test.app.authenticate(secret.expose(), None).await.unwrap();
    assert_eq!(browser.user, mia.principal.user);
    assert_eq!(browser.role, UserRole::Member);
    let nobody = test.app.login_link_create(&admin, named("nobody")).await;
    assert_eq!(refused(nobody).0, ErrorCode::NotFound);
    let own = test.app.login_link_create(&mia, named("mia")).await;
    assert_eq!(refused(own).0, ErrorCode::Forbidden);
}

#[tokio::test]
async fn a_login_link_works_once_and_not_for_long() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    let link = test.app.login_link_create(&admin, None).await.unwrap();
    let (secret, _) = test.app.login_redeem(&link.token).await.unwrap();
    let browser = test.app.authenticate(secret.expose(), None).await.unwrap();
    assert_eq!(browser.user, admin.principal.user);
    assert_eq!(
        refused(test.app.login_redeem(&link.token).await).0,
        ErrorCode::Unauthenticated
    );
    let late = test.app.login_link_create(&admin, None).await.unwrap();
    test.pass(16 * 60);
    assert!(test.app.login_redeem(&late.token).await.is_err());
    let made_up = SecretText::new("0".repeat(32));
    assert!(test.app.login_redeem(&made_up).await.is_err());
    test.app.logout(&test.by(&browser)).await.unwrap();
    assert!(test.app.authenticate(secret.expose(), None).await.is_err());
}

fn disabled(disabled: bool) -> UserPatch {
    UserPatch {
        disabled: Some(disabled),
        ..UserPatch::default()
    }
}

fn role(role: UserRole) -> UserPatch {
    UserPatch {
        role: Some(role),
        ..UserPatch::default()
    }
}

#[tokio::test]
async fn a_disabled_user_is_let_in_nowhere_until_enabled() {
    let test = TestApp::new().await;
    let admin = test.local().await;
    test.member("alice").await;
    let (secret, cx) = test.key_of("alice", KeyScope::Full).await;
    let alice = || Reference::parse("alice").unwrap();
    let link = test
        .app
        .login_link_create(&admin, Some(alice()))
        .await
        .unwrap();
    let update = async |patch| test.app.user_update(&admin, alice(), patch).await.unwrap();
    assert!(update(disabled(true)).await.disabled_at.is_some());
    assert!(matches!(
        test.app.authenticate(&secret, Some(ADDRESS)).await,
        Err(Unauthenticated::Invalid)
    ));
    assert!(!test.app.is_still_valid(&cx.principal).await.unwrap());
    let late = refused(test.app.login_redeem(&link.token).await);
    assert_eq!(late.0, ErrorCode::Unauthenticated);
    let link = test.app.login_link_create(&admin, Some(alice())).await;
    assert_eq!(refused(link).0, ErrorCode::Conflict);
    let key = NewKey {
        name: Name::parse("new").unwrap(),
        scope: KeyScope::Full,
        user: Some(alice()),
        expires_at: None,
        dialect: None,
        session: None,
    };
    let (code, message) = refused(test.app.key_create(&admin, key).await);
    assert_eq!(code, ErrorCode::Conflict);
    assert!(message.contains("user alice is disabled"), "{message}");

    assert!(update(disabled(false)).await.disabled_at.is_none());
    assert!(test.app.authenticate(&secret, Some(ADDRESS)).await.is_ok());
    assert!(test.app.is_still_valid(&cx.principal).await.unwrap());
}

#[tokio::test]
async fn a_role_changes_at_once_and_the_last_administrator_stays() {
    let test = TestApp::new().await;
    let root = test.local().await;
    let bob = test.member("bob").await;
    let named = |name: &str| Reference::parse(name).unwrap();
    let by_member = test
        .app
        .user_update(&bob, named("bob"), role(UserRole::Admin))
        .await;
    assert_eq!(refused(by_member).0, ErrorCode::Forbidden);
    for patch in [disabled(true), role(UserRole::Member)] {
        let last = test.app.user_update(&root, named("root"), patch).await;
        assert_eq!(refused(last).0, ErrorCode::Conflict);
    }
    let admin = role(UserRole::Admin);
    test.app
        .user_update(&root, named("bob"), admin)
        .await
        .unwrap();
    assert!(!test.app.is_still_valid(&bob.principal).await.unwrap());
    let (_, bob) = test.key_of("bob", KeyScope::Full).await;
    test.app
        .user_update(&bob, named("root"), disabled(true))
        .await
        .unwrap();
    // The local socket speaks for an administrator who is let in.
    assert_eq!(test.local().await.principal.user, bob.principal.user);
}
