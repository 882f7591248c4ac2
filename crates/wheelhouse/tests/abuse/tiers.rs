//! A tier that does not work is refused with what to do, and lowering the server's minimum is recorded.

use wh_api::{AuditListRequest, SessionCreateRequest};

use crate::harness::{Setting, World};

#[tokio::test]
async fn a_tier_that_does_not_work_is_refused_with_its_remedy() {
    let world = World::new(Setting::GUARDED.as_user().without_namespaces()).await;
    let request = SessionCreateRequest {
        agent: "scripted".to_owned(),
        tier: Some("strict".to_owned()),
        ..SessionCreateRequest::default()
    };
    let refused = world.client.session_create(&request).await.unwrap_err();
    let refused = format!("{refused:?}");
    assert!(refused.contains("remove `namespaces = false`"), "{refused}");
}

#[tokio::test]
async fn lowering_the_minimum_is_in_the_audit_log() {
    let setting = Setting {
        tier: "none",
        ..Setting::GUARDED
    };
    let world = World::new(setting).await;
    let list = AuditListRequest::default();
    let entries = world.client.audit_list(&list).await.unwrap().entries;
    let found = entries.iter().find(|entry| {
        entry.facts.get("key").map(String::as_str) == Some("containment.minimum")
            && entry.facts.get("value").map(String::as_str) == Some("none")
    });
    assert_eq!(found.unwrap().outcome, "ok");
}
