use std::collections::BTreeSet;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{Credential, KeyId, SessionId, SessionRole, UserId, UserRole};

use super::*;

/// What `tools/list` may cost a caller by default.
const KEY_TOOLS_MAX: (usize, usize) = (18, 16_000);
const SESSION_TOOLS_MAX: (usize, usize) = (14, 12_000);
const LEAD_TOOLS_MAX: (usize, usize) = (18, 20_000);

fn principal(credential: Credential) -> Principal {
    Principal {
        user: UserId::from_untyped_uuid(Uuid::from_u128(1)),
        role: UserRole::Admin,
        credential,
    }
}

fn key() -> KeyId {
    KeyId::from_untyped_uuid(Uuid::from_u128(2))
}

fn full() -> Principal {
    principal(Credential::Full { key: key() })
}

fn session() -> Principal {
    session_of(SessionRole::General)
}

fn session_of(role: SessionRole) -> Principal {
    principal(Credential::Session {
        key: key(),
        session: SessionId::from_untyped_uuid(Uuid::from_u128(3)),
        role,
        lineage: wh_domain::RoleSet::default(),
        epoch: 1,
    })
}

fn names(principal: &Principal, toolsets: &Toolsets) -> Vec<&'static str> {
    shown(principal, toolsets).map(Tool::name).collect()
}

fn cost(principal: &Principal) -> (usize, usize) {
    let models: Vec<_> = shown(principal, &Toolsets::Default)
        .map(|tool| tool.model_for(principal))
        .collect();
    (models.len(), serde_json::to_string(&models).unwrap().len())
}

#[test]
fn callers_are_shown_what_they_use_most() {
    insta::assert_snapshot!(names(&full(), &Toolsets::Default).join(" "), @"agent_list approval_answer approval_list message_list repo_add repo_list session_create session_get session_list session_manage session_prompt session_wait tool_call tool_search");
    insta::assert_snapshot!(names(&session(), &Toolsets::Default).join(" "), @"approval_answer approval_list message_list session_current session_get session_list session_prompt session_spawn session_tree session_update session_wait tool_call tool_search");
    // An iteration of a loop is shown its list and nothing else.
    let worker = session_of(SessionRole::Worker);
    insta::assert_snapshot!(names(&worker, &Toolsets::Default).join(" "), @"iteration_summary loop_complete note_add note_list session_current task_add task_list task_next task_update tool_call tool_search");
    // One that leads is shown what it creates with, besides.
    let lead = session_of(SessionRole::Lead);
    insta::assert_snapshot!(names(&lead, &Toolsets::Default).join(" "), @"agent_list approval_answer approval_list board_create message_list repo_list session_create session_current session_get session_list session_prompt session_spawn session_tree session_update session_wait tool_call tool_search worktree_create");
    let reader = principal(Credential::Read { key: key() });
    insta::assert_snapshot!(names(&reader, &Toolsets::Default).join(" "), @"agent_list approval_list message_list repo_list session_get session_list session_wait tool_call tool_search");
}

#[test]
fn lists_stay_within_their_budget() {
    let (tools, bytes) = cost(&full());
    println!("full key: {tools} tools, {bytes} bytes");
    assert!(tools <= KEY_TOOLS_MAX.0 && bytes <= KEY_TOOLS_MAX.1);
    for role in SessionRole::ALL {
        let (tools, bytes) = cost(&session_of(role));
        println!(
            "session token, {}: {tools} tools, {bytes} bytes",
            role.as_str()
        );
        let max = match role {
            SessionRole::Lead => LEAD_TOOLS_MAX,
            _ => SESSION_TOOLS_MAX,
        };
        assert!(tools <= max.0 && bytes <= max.1);
    }
}

#[test]
fn every_operation_is_a_tool_or_says_why_not() {
    // These belong to other surfaces: the feed, the browser's sign-in, the operator's machine, and files, which would fill whole
    // context windows.
    let elsewhere = [
        "turn_file",
        "event_list",
        "backup_create",
        // A token has no business in a model's context.
        "credential_set",
        // wheelhouse config show; models have config_get.
        "server_config_get",
        "login_link_create",
        "login_redeem",
        "logout",
        "whoami",
    ];
    let tools: BTreeSet<_> = tool_names().collect();
    for operation in Operation::ALL {
        let name = operation.name();
        assert_ne!(tools.contains(name), elsewhere.contains(&name), "{name}");
    }
}

#[test]
fn a_tool_that_may_not_be_called_is_never_shown() {
    let agent = session();
    for name in names(&agent, &Toolsets::All) {
        let allowed = Operation::parse(name).is_none_or(|op| agent.authorize(op).is_ok());
        assert!(allowed, "{name}");
    }
    assert!(!names(&agent, &Toolsets::All).contains(&"key_create"));
}

#[test]
fn agents_are_not_shown_fields_that_they_may_not_use() {
    let update = &CATALOGUE["session_update"];
    let has = |principal: &Principal, field: &str| {
        let schema = &update.model_for(principal).input_schema;
        schema["properties"].get(field).is_some()
    };
    for field in ["budget", "model", "role"] {
        assert!(has(&full(), field) && !has(&session(), field), "{field}");
    }
    assert!(has(&session(), "title"));
}

#[test]
fn hints_follow_the_permission_table() {
    for tool in CATALOGUE.values() {
        let hints = tool.model().annotations.as_ref().unwrap();
        if let Some(operation) = tool.operation {
            let reads = !operation.rule().effect.changes();
            assert_eq!(hints.read_only_hint, Some(reads), "{}", tool.name());
        }
    }
}
