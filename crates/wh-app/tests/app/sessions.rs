//! Sessions and the tokens bound to them.

use newtype_uuid::GenericUuid;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wh_app::OpContext;
use wh_domain::{
    AgentName, CredentialKind, ErrorCode, Facts, Key, KeyBinding, KeyHash, KeyId, KeyScope, Name,
    NewAuditEntry, Operation, Outcome, PageLimit, PageRequest, Secret, Session, SessionId,
    SessionPatch, SessionQuery, SessionState, Subject, Surface, Title,
};
use wh_store::Commit;

use crate::harness::{TestApp, absent, reference, refused};

fn commit(cx: &OpContext, subject: Subject) -> Commit {
    Commit {
        audit: NewAuditEntry {
            at: cx.now,
            request: cx.request,
            user: cx.principal.user,
            credential: CredentialKind::Local,
            key: None,
            session: None,
            surface: Surface::Server,
            operation: Operation::SessionUpdate,
            subject: Some(subject),
            outcome: Outcome::Done,
            facts: Facts::new(),
        },
        events: vec![],
        idempotency: None,
    }
}

/// No operation makes sessions yet; the store does.
pub(crate) async fn insert(
    test: &TestApp,
    title: &str,
    parent: Option<SessionId>,
) -> (SessionId, OpContext) {
    insert_with(test, title, parent, |_| {}).await
}

/// The same with a change to the session first.
pub(crate) async fn insert_with(
    test: &TestApp,
    title: &str,
    parent: Option<SessionId>,
    change: impl FnOnce(&mut Session),
) -> (SessionId, OpContext) {
    let cx = test.local().await;
    let id = SessionId::from_untyped_uuid(Uuid::now_v7());
    let (agent, title) = (
        AgentName::parse("echo").unwrap(),
        Title::parse(title).unwrap(),
    );
    let mut session = Session {
        state: SessionState::Idle,
        parent,
        root: parent.unwrap_or(id),
        depth: u32::from(parent.is_some()),
        epoch: 1,
        ..Session::new(id, cx.principal.owner(), agent, title, cx.now)
    };
    change(&mut session);
    let _applied = test
        .store
        .session_insert(&session, commit(&cx, id.into()))
        .await
        .unwrap();
    let secret = Secret::from_random(None, KeyScope::Session, Uuid::new_v4().as_u128()).unwrap();
    let key = Key {
        id: KeyId::from_untyped_uuid(Uuid::now_v7()),
        user: cx.principal.user,
        name: Name::parse("token").unwrap(),
        scope: KeyScope::Session,
        prefix: secret.prefix(),
        hash: KeyHash(Sha256::digest(secret.expose()).into()),
        session: Some(KeyBinding::Run {
            session: id,
            epoch: 1,
        }),
        dialect: None,
        created_at: cx.now,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    let _applied = test
        .store
        .key_insert(&key, commit(&cx, key.id.into()))
        .await
        .unwrap();
    let principal = test.app.authenticate(secret.expose(), None).await.unwrap();
    (id, test.by(&principal))
}

fn renamed(title: &str) -> SessionPatch {
    SessionPatch {
        title: Some(Title::parse(title).unwrap()),
        ..SessionPatch::default()
    }
}

#[tokio::test]
async fn a_token_sees_its_own_tree_and_renames_only_itself() {
    let test = TestApp::new().await;
    let (root, _) = test.session("root", None).await;
    let (child, token) = test.session("child", Some(root)).await;
    let (other, _) = test.session("other", None).await;
    assert_eq!(test.app.session_current(&token).await.unwrap().id, child);
    for foreign in [reference(root), reference(other), absent()] {
        assert_eq!(
            refused(test.app.session_get(&token, &foreign).await).0,
            ErrorCode::NotFound
        );
        let rename = test
            .app
            .session_update(&token, Some(foreign), renamed("mine now"))
            .await;
        assert_eq!(refused(rename).0, ErrorCode::NotFound);
    }
    let own = test
        .app
        .session_update(&token, None, renamed("renamed"))
        .await
        .unwrap();
    assert_eq!(own.title.as_str(), "renamed");
    let page = PageRequest::first(PageLimit::MAX);
    let list = test
        .app
        .session_list(&token, SessionQuery::default(), page)
        .await
        .unwrap();
    assert_eq!(list.items.iter().map(|s| s.id).collect::<Vec<_>>(), [child]);
}

#[tokio::test]
async fn a_parent_sees_its_children_but_cannot_rename_them() {
    let test = TestApp::new().await;
    let (root, token) = test.session("root", None).await;
    let (child, _) = test.session("child", Some(root)).await;
    test.app
        .session_get(&token, &reference(child))
        .await
        .unwrap();
    let rename = test
        .app
        .session_update(&token, Some(reference(child)), renamed("x"))
        .await;
    assert_eq!(refused(rename).0, ErrorCode::NotFound);
    let family = test
        .app
        .session_tree(&token, &reference(child))
        .await
        .unwrap();
    assert_eq!(
        family.tree.iter().map(|s| s.id).collect::<Vec<_>>(),
        [root, child]
    );
}

#[tokio::test]
async fn agents_cannot_make_keys_boards_or_read_the_audit_log() {
    let test = TestApp::new().await;
    let (_, token) = test.session("agent", None).await;
    for operation in [
        Operation::KeyCreate,
        Operation::BoardCreate,
        Operation::AuditList,
    ] {
        assert!(
            token.principal.authorize(operation).is_err(),
            "{}",
            operation.name()
        );
    }
    let nothing = test
        .app
        .session_update(&token, None, SessionPatch::default())
        .await;
    assert_eq!(refused(nothing).0, ErrorCode::InvalidInput);
}
