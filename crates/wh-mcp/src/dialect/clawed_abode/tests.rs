use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    Approval, ApprovalId, ApprovalKind, ApprovalState, Credential, KeyId, Principal,
    SessionId as Id, UserId, UserRole,
};

use super::{views::AskedView, *};

#[test]
fn every_state_has_one_status() {
    for state in SessionStateName::ALL {
        let rows = STATUSES.iter().filter(|(ours, _)| *ours == state);
        assert_eq!(rows.count(), 1, "{}", state.as_str());
    }
}

#[test]
fn a_plan_comes_back_as_the_tool_call_that_the_contract_names() {
    let detail = serde_json::json!({
        "call": { "id": "1", "title": "Ready?", "kind": "switch_mode", "input": { "plan": "1. paint" } },
        "options": [],
    });
    let approval = Approval {
        id: ApprovalId::from_untyped_uuid(Uuid::from_u128(1)),
        session: Id::from_untyped_uuid(Uuid::from_u128(2)),
        turn: None,
        epoch: 1,
        request: "r".to_owned(),
        kind: ApprovalKind::Plan,
        state: ApprovalState::Pending,
        text: "Ready?".to_owned(),
        detail: Some(detail.to_string()),
        answer: None,
        always: false,
        answered_by: None,
        expires_at: None,
        created_at: Timestamp::UNIX_EPOCH,
        settled_at: None,
        delivered_at: None,
    };
    let shown = serde_json::to_value(AskedView::new(&approval, &[])).unwrap();
    let call = serde_json::json!({
        "name": "ExitPlanMode", "description": "Ready?", "input": { "plan": "1. paint" },
    });
    assert_eq!(
        (&shown["kind"], &shown["toolCall"]),
        (&"plan".into(), &call)
    );
}

#[test]
fn callers_are_shown_what_the_permission_table_lets_them_call() {
    let key = KeyId::from_untyped_uuid(Uuid::from_u128(3));
    let session = Id::from_untyped_uuid(Uuid::from_u128(4));
    for credential in [
        Credential::Full { key },
        Credential::Read { key },
        Credential::Client { key },
        Credential::SessionInternal { key, session },
    ] {
        let is_bound = credential.session().is_some();
        let principal = Principal {
            user: UserId::from_untyped_uuid(Uuid::from_u128(5)),
            role: UserRole::Member,
            credential,
        };
        for tool in tools() {
            let allowed = principal.authorize(tool.operation()).is_ok();
            let expected = allowed && (is_bound || tool.name() != "set_session_name");
            assert_eq!(tool.is_shown(&principal), expected, "{}", tool.name());
        }
    }
}
