//! Keys that were made for a dialect: what they look like, where they are taken, and how little the bound ones may do.

use wh_app::{OpContext, Unauthenticated};
use wh_domain::{
    Credential, Dialect, ErrorCode, KeyScope, Name, NewKey, Operation, PageLimit, PageRequest,
    Reference, SessionAction, SessionId, SessionPatch, Title,
};

use crate::harness::{TestApp, reference, refused};

const ABODE: Option<Dialect> = Some(Dialect::ClawedAbode);

fn new(scope: KeyScope, dialect: Option<Dialect>, session: Option<SessionId>) -> NewKey {
    NewKey {
        name: Name::parse("orchestrator").unwrap(),
        scope,
        user: None,
        expires_at: None,
        dialect,
        session: session.map(Reference::from),
    }
}

async fn secret_of(test: &TestApp, new: NewKey) -> String {
    let made = test.app.key_create(&test.local().await, new).await.unwrap();
    made.secret.unwrap().expose().to_owned()
}

/// Makes a key for a session's name and a call with it.
async fn internal(test: &TestApp, session: SessionId) -> (String, OpContext) {
    let secret = secret_of(test, new(KeyScope::SessionInternal, ABODE, Some(session))).await;
    let principal = test
        .app
        .authenticate_at(ABODE, &secret, None)
        .await
        .unwrap();
    (secret, test.by(&principal))
}

#[tokio::test]
async fn a_key_for_a_dialect_opens_that_dialect_alone() {
    let test = TestApp::new().await;
    let secret = secret_of(&test, new(KeyScope::Full, ABODE, None)).await;
    assert!(
        secret.starts_with("ca_full_") && secret.len() == 40,
        "{secret}"
    );
    for _ in 0..2 {
        // The second time it is remembered.
        let inside = test
            .app
            .authenticate_at(ABODE, &secret, None)
            .await
            .unwrap();
        assert!(matches!(inside.credential, Credential::Full { .. }));
        let elsewhere = test.app.authenticate(&secret, None).await;
        assert!(matches!(
            elsewhere,
            Err(Unauthenticated::OtherDoor(Dialect::ClawedAbode))
        ));
    }
    let ours = secret_of(&test, new(KeyScope::Full, None, None)).await;
    assert!(test.app.authenticate_at(ABODE, &ours, None).await.is_ok());
}

#[tokio::test]
async fn only_the_keys_of_the_contract_are_made() {
    let test = TestApp::new().await;
    let (id, _) = test.session("one", None).await;
    let admin = test.local().await;
    for wrong in [
        new(KeyScope::Client, ABODE, None),
        new(KeyScope::Session, ABODE, Some(id)),
        new(KeyScope::SessionInternal, None, Some(id)),
        new(KeyScope::SessionInternal, ABODE, None),
        new(KeyScope::Full, ABODE, Some(id)),
    ] {
        let refusal = refused(test.app.key_create(&admin, wrong.clone()).await);
        assert_eq!(refusal.0, ErrorCode::InvalidInput, "{wrong:?}");
    }
    // Somebody else's session is not there; an administrator says whose the key will be.
    let member = test.member("ann").await;
    let foreign = new(KeyScope::SessionInternal, ABODE, Some(id));
    let refusal = refused(test.app.key_create(&member, foreign.clone()).await);
    assert_eq!(refusal.0, ErrorCode::NotFound);
    let for_ann = NewKey {
        user: Some(Reference::parse("ann").unwrap()),
        ..foreign
    };
    let refusal = refused(test.app.key_create(&admin, for_ann).await);
    assert_eq!(refusal.0, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn prefixes_of_one_scope_differ() {
    let test = TestApp::new().await;
    let mut prefixes = Vec::new();
    for _ in 0..20 {
        let admin = test.local().await;
        let made = test
            .app
            .key_create(&admin, new(KeyScope::Full, ABODE, None));
        prefixes.push(made.await.unwrap().key.prefix.as_str().to_owned());
    }
    prefixes.sort();
    prefixes.dedup();
    assert_eq!(prefixes.len(), 20);
    assert!(
        prefixes
            .iter()
            .all(|prefix| prefix.len() == "ca_full_".len() + 8)
    );
}

#[tokio::test]
async fn a_bound_key_renames_its_session_and_does_nothing_else() {
    let test = TestApp::new().await;
    let (id, _) = test.session("before", None).await;
    let (child, _) = test.session("child", Some(id)).await;
    let (secret, cx) = internal(&test, id).await;
    assert!(
        secret.starts_with("ca_sess_") && secret.len() == 40,
        "{secret}"
    );
    let title = |text: &str| SessionPatch {
        title: Some(Title::parse(text).unwrap()),
        ..SessionPatch::default()
    };
    let renamed = test.app.session_update(&cx, None, title("after")).await;
    assert_eq!(renamed.unwrap().title.as_str(), "after");
    let other = test
        .app
        .session_update(&cx, Some(reference(child)), title("x"));
    assert_eq!(refused(other.await).0, ErrorCode::NotFound);
    let described = SessionPatch {
        description: Some(wh_domain::Description::parse("no").unwrap()),
        ..SessionPatch::default()
    };
    let described = test.app.session_update(&cx, None, described).await;
    assert_eq!(refused(described).0, ErrorCode::Forbidden);
    let read = test.app.session_get(&cx, &reference(id)).await;
    assert_eq!(refused(read).0, ErrorCode::Forbidden);
    let listed = test
        .app
        .session_list(&cx, Default::default(), PageRequest::first(PageLimit::MAX));
    assert_eq!(refused(listed.await).0, ErrorCode::Forbidden);
    assert!(cx.principal.authorize(Operation::SessionPrompt).is_err());
}

#[tokio::test]
async fn a_bound_key_goes_with_its_session() {
    let test = TestApp::new().await;
    let (id, _) = test.session("short", None).await;
    let (secret, cx) = internal(&test, id).await;
    assert!(test.app.is_still_valid(&cx.principal).await.unwrap());
    let (admin, session) = (test.local().await, reference(id));
    let deleted = test
        .app
        .session_manage(&admin, &session, SessionAction::Delete);
    deleted.await.unwrap();
    assert!(!test.app.is_still_valid(&cx.principal).await.unwrap());
    // It was remembered as good for a moment.
    test.pass(2);
    assert!(
        test.app
            .authenticate_at(ABODE, &secret, None)
            .await
            .is_err()
    );
}
