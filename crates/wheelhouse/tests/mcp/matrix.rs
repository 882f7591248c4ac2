//! Every tool with every kind of credential, generated from the permission table; and the answer to what is somebody
//! else's, which is byte for byte the answer to what does not exist.

use serde_json::{Value, json};
use wh_domain::{
    Credential, KeyId, Operation, Principal, SessionId, SessionRole, UserId, UserRole,
};
use wh_testkit::seed::some_id;

use crate::{
    harness::{Mcp, World, board},
    worktrees::worktree,
};

/// Arguments for a tool that are well-formed and name `id`, which the caller cannot see. Nothing for operations that
/// are no tools.
fn arguments(operation: Operation, id: &str) -> Option<Value> {
    Some(match operation {
        Operation::SessionCurrent | Operation::ConfigGet => json!({}),
        Operation::SessionList
        | Operation::BoardList
        | Operation::RepoList
        | Operation::WorktreeList
        | Operation::UserList
        | Operation::KeyList
        | Operation::WebhookList
        | Operation::CredentialList
        | Operation::LoopList
        | Operation::AuditList => json!({ "limit": 1 }),
        Operation::UsageReport => json!({ "since": "2d" }),
        Operation::SessionSearch => json!({ "query": "word" }),
        Operation::MessageList => json!({ "session": id, "after": "0" }),
        Operation::MessageGet => json!({ "message": id }),
        Operation::AgentList => json!({}),
        Operation::AgentGet => json!({ "agent": "echo" }),
        Operation::SessionGet
        | Operation::SessionTree
        | Operation::SessionFork
        | Operation::SessionInterrupt
        | Operation::RunList
        | Operation::TurnList => json!({ "session": id }),
        Operation::SessionCreate => json!({ "agent": "echo" }),
        Operation::SessionSpawn => json!({ "parent": id, "prompt": "say mine" }),
        Operation::SessionPrompt => json!({ "session": id, "prompt": "say mine" }),
        Operation::SessionWait => json!({ "sessions": [id], "timeout": 1 }),
        Operation::SessionManage => json!({ "session": id, "action": "stop" }),
        Operation::TurnGet => json!({ "turn": id }),
        Operation::ApprovalList => json!({ "session": id }),
        Operation::ApprovalAnswer => json!({ "approval": id, "decision": "allow" }),
        Operation::SessionUpdate => json!({ "session": id, "title": "mine" }),
        Operation::WorktreeGet
        | Operation::WorktreeDiff
        | Operation::WorktreeMerge
        | Operation::WorktreeRemove => json!({ "worktree": id }),
        Operation::WorktreeCreate => json!({ "repo": id, "name": "mine" }),
        Operation::BoardGet => json!({ "board": id }),
        Operation::BoardUpdate => json!({ "board": id, "name": "mine" }),
        Operation::BoardShare => json!({ "board": id, "with": "everyone", "level": "read" }),
        Operation::BoardDuplicate => json!({ "board": id, "name": "mine" }),
        Operation::BoardCreate => json!({ "name": "matrix" }),
        Operation::RepoAdd => {
            json!({ "source": format!("https://example.org/{}.git", some_id::<UserId>()) })
        }
        Operation::BoardDelete => json!({ "board": id }),
        Operation::RepoTrust | Operation::RepoCheck | Operation::RepoDelete => {
            json!({ "repo": id })
        }
        Operation::CredentialDelete => json!({ "credential": id }),
        Operation::TaskAdd => json!({ "session": id, "tasks": [{ "content": "mine" }] }),
        Operation::TaskUpdate => json!({ "session": id, "task": "1", "status": "completed" }),
        Operation::TaskList | Operation::TaskNext | Operation::NoteList => {
            json!({ "session": id })
        }
        Operation::LoopComplete => json!({ "session": id }),
        Operation::LoopStart => json!({ "spec": "mine", "agent": "echo", "repo": id }),
        Operation::LoopGet
        | Operation::LoopLog
        | Operation::LoopPause
        | Operation::LoopResume
        | Operation::LoopStop => json!({ "loop": id }),
        Operation::NoteAdd => {
            json!({ "session": id, "notes": [{ "content": "mine", "kind": "tip" }] })
        }
        Operation::IterationSummary => json!({ "session": id, "summary": "mine" }),
        Operation::UserCreate => json!({ "name": format!("u{}", some_id::<UserId>()) }),
        Operation::UserGet => json!({ "user": id }),
        Operation::UserDelete => json!({ "user": id }),
        Operation::UserUpdate => json!({ "user": id, "disabled": false }),
        Operation::KeyCreate => json!({ "name": "matrix", "scope": "read" }),
        Operation::KeyRevoke => json!({ "key": id }),
        Operation::WebhookCreate => json!({ "url": "https://hooks.example/x" }),
        Operation::WebhookUpdate => json!({ "webhook": id, "active": false }),
        Operation::WebhookDelete => json!({ "webhook": id }),
        Operation::ConfigSet => json!({ "key": "review.max_iterations", "value": 4 }),
        Operation::TurnFile
        | Operation::EventList
        | Operation::BackupCreate
        | Operation::ServerConfigGet
        | Operation::CredentialSet
        | Operation::LoginLinkCreate
        | Operation::LoginRedeem
        | Operation::Logout
        | Operation::WhoAmI => return None,
    })
}

fn principal(role: UserRole, credential: impl Fn(KeyId) -> Credential) -> Principal {
    Principal {
        user: some_id::<UserId>(),
        role,
        credential: credential(some_id()),
    }
}

fn callers(world: &World) -> Vec<(&str, Principal)> {
    let keys = &world.keys;
    let session = |role| {
        move |key| Credential::Session {
            key,
            session: some_id::<SessionId>(),
            role,
            lineage: wh_domain::RoleSet::default(),
            epoch: 1,
        }
    };
    use UserRole::{Admin, Member};
    vec![
        (
            &keys.admin,
            principal(Admin, |key| Credential::Full { key }),
        ),
        (
            &keys.alice,
            principal(Member, |key| Credential::Full { key }),
        ),
        (
            &keys.alice_read,
            principal(Member, |key| Credential::Read { key }),
        ),
        (
            &keys.alice_client,
            principal(Member, |key| Credential::Client { key }),
        ),
        (
            &keys.session,
            principal(Member, session(SessionRole::General)),
        ),
        (&keys.lead, principal(Member, session(SessionRole::Lead))),
    ]
}

#[tokio::test]
async fn each_tool_refuses_whom_the_table_refuses() {
    let (world, _) = World::with_lead().await;
    let mut calls = 0;
    for operation in Operation::ALL {
        let Some(arguments) = arguments(*operation, &some_id::<UserId>().to_string()) else {
            continue;
        };
        for (key, principal) in callers(&world) {
            let result = world
                .client(key)
                .call(operation.name(), arguments.clone())
                .await;
            let code = result["structuredContent"]["error"]["code"].as_str();
            let refused = principal.authorize(*operation).is_err();
            let kind = principal.credential.kind().as_str();
            assert_eq!(
                code == Some("FORBIDDEN"),
                refused,
                "{} by {kind}: {result}",
                operation.name()
            );
            calls += 1;
        }
    }
    println!("{calls} calls");
}

#[tokio::test]
async fn what_is_somebody_elses_looks_like_nothing_at_all() {
    let (world, _) = World::with_lead().await;
    let bob = world.client(&world.keys.bob);
    let bobs_board = board(&bob, "bob's").await;
    let key = json!({ "name": "bob's", "scope": "read" });
    let made = Mcp::data(&bob.call("key_create", key).await);
    let hook = json!({ "url": "https://hooks.example/x" });
    let bobs_hook = Mcp::data(&bob.call("webhook_create", hook).await);
    let ask = json!({ "session": world.bobs.id.to_string(), "prompt": "ask leave", "wait": 60 });
    let asked = Mcp::data(&bob.call("session_prompt", ask).await);
    let (bobs_repo, bobs_worktree) = worktree(&world, &bob).await;
    let work = json!({ "prompt": "sleep 60", "agent": "echo", "repo": bobs_repo });
    let bobs_loop = Mcp::data(&bob.call("loop_start", work).await);
    let bobs = |operation: Operation| match operation {
        Operation::BoardGet
        | Operation::BoardUpdate
        | Operation::BoardShare
        | Operation::BoardDuplicate => bobs_board.clone(),
        Operation::SessionGet
        | Operation::SessionTree
        | Operation::SessionUpdate
        | Operation::SessionPrompt
        | Operation::SessionWait
        | Operation::SessionInterrupt
        | Operation::SessionManage
        | Operation::TurnList
        | Operation::ApprovalList
        | Operation::TaskAdd
        | Operation::TaskUpdate
        | Operation::TaskList
        | Operation::TaskNext
        | Operation::NoteAdd
        | Operation::NoteList
        | Operation::IterationSummary
        | Operation::LoopComplete
        | Operation::MessageList => world.bobs.id.to_string(),
        Operation::TurnGet => asked["turn"]["id"].as_str().unwrap().to_owned(),
        Operation::ApprovalAnswer => asked["approvals"][0]["id"].as_str().unwrap().to_owned(),
        Operation::WorktreeCreate | Operation::LoopStart => bobs_repo.clone(),
        Operation::LoopGet
        | Operation::LoopLog
        | Operation::LoopPause
        | Operation::LoopResume
        | Operation::LoopStop => bobs_loop["id"].as_str().unwrap().to_owned(),
        Operation::WorktreeGet
        | Operation::WorktreeDiff
        | Operation::WorktreeMerge
        | Operation::WorktreeRemove => bobs_worktree.clone(),
        Operation::WebhookUpdate | Operation::WebhookDelete => {
            bobs_hook["id"].as_str().unwrap().to_owned()
        }
        Operation::KeyRevoke => made["id"].as_str().unwrap().to_owned(),
        _ => made["user_id"].as_str().unwrap().to_owned(),
    };
    let mut pairs = 0;
    for operation in Operation::ALL {
        let absent = some_id::<UserId>().to_string();
        let Some(nothing) = arguments(*operation, &absent) else {
            continue;
        };
        if !nothing.to_string().contains(&absent) {
            continue;
        }
        let foreign = arguments(*operation, &bobs(*operation)).unwrap();
        for (key, principal) in callers(&world) {
            if principal.role == UserRole::Admin {
                continue;
            }
            let client = world.client(key);
            let send = async |arguments: &Value| {
                let params = json!({ "name": operation.name(), "arguments": arguments });
                client
                    .send("tools/call", params)
                    .await
                    .text()
                    .await
                    .unwrap()
            };
            assert_eq!(
                send(&foreign).await,
                send(&nothing).await,
                "{}",
                operation.name()
            );
            pairs += 1;
        }
    }
    println!("{pairs} pairs of answers, identical");
    assert!(pairs >= 20);
    // Nothing of bob's was touched.
    let board = Mcp::data(&bob.call("board_get", json!({ "board": bobs_board })).await);
    assert_eq!(
        (&board["name"], &board["revision"]),
        (&json!("bob's"), &json!(1))
    );
}

#[tokio::test]
async fn a_token_reaches_down_its_tree_and_nowhere_else() {
    let world = World::new().await;
    let agent = world.client(&world.keys.session);
    let get = async |id: String| agent.call("session_get", json!({ "session": id })).await;
    Mcp::data(&get(world.child.id.to_string()).await);
    assert_eq!(
        Mcp::code(&get(world.bobs.id.to_string()).await),
        "NOT_FOUND"
    );
    let rename = json!({ "session": world.child.id.to_string(), "title": "x" });
    assert_eq!(
        Mcp::code(&agent.call("session_update", rename).await),
        "NOT_FOUND"
    );
    let own = Mcp::data(
        &agent
            .call("session_update", json!({ "title": "renamed" }))
            .await,
    );
    assert_eq!(own["title"], "renamed");
}
