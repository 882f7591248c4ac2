//! C3: sessions, listed, shown, made and managed.

use std::path::Path;

use serde_json::{Value, json};
use wh_api::{AuditEntryView, AuditListRequest, RepoListRequest};
use wh_testkit::{
    git::{git, repository},
    git_server::{Behaviour, GitServer, basic},
};

use super::{ADDRESSES, Abode, PATIENCE_MS, fields};
use crate::harness::Mcp;

/// What a session in a list has.
const SESSION: [&str; 9] = [
    "branch",
    "createdAt",
    "currentBranch",
    "id",
    "isClaudeRunning",
    "name",
    "repoUrl",
    "status",
    "updatedAt",
];

/// Asks for a list at both addresses, which must be the same.
async fn list(abode: &Abode, arguments: Value) -> Vec<Value> {
    let [one, other] =
        ADDRESSES.map(|address| abode.call_at(address, "list_sessions", arguments.clone()));
    let (one, other) = (one.await, other.await);
    // One that is at work may have changed in between.
    let still = |list: &Value| {
        let mut list = list.clone();
        for session in list.as_array_mut().unwrap() {
            session["updatedAt"].take();
        }
        list
    };
    assert_eq!(still(&one), still(&other));
    one.as_array().unwrap().clone()
}

#[tokio::test]
async fn c3_1_list_sessions_shows_what_tells_them_apart() {
    let abode = Abode::new().await;
    assert!(list(&abode, json!({})).await.is_empty());
    let first = abode.session("first").await;
    let second = abode.session("second").await;
    let all = list(&abode, json!({})).await;
    assert_eq!(all.len(), 2);
    let (newest, oldest) = (&all[0], &all[1]);
    assert_eq!(
        (&newest["id"], &oldest["id"]),
        (&json!(second), &json!(first))
    );
    for session in &all {
        assert_eq!(fields(session), SESSION);
        assert_eq!(session["status"], "running");
        assert_eq!(session["isClaudeRunning"], false);
        assert_eq!(session["branch"], "main");
        assert_ne!(session["currentBranch"], "main");
        assert!(session["repoUrl"].as_str().unwrap().ends_with("/team/app"));
        for time in ["createdAt", "updatedAt"] {
            session[time]
                .as_str()
                .unwrap()
                .parse::<jiff::Timestamp>()
                .unwrap();
        }
    }
    assert_eq!(newest["name"], "second");
    let prompt = json!({ "sessionId": first, "prompt": "sleep 60" });
    abode.call("send_prompt", prompt).await;
    let busy = list(&abode, json!({ "status": "running" })).await;
    assert_eq!(busy.len(), 2);
    assert_eq!(busy[1]["isClaudeRunning"], true);
    abode
        .call(
            "manage_session",
            json!({ "sessionId": first, "action": "stop" }),
        )
        .await;
    abode.until(&first, |it| it["status"] == "stopped").await;
    let stopped = list(&abode, json!({ "status": "stopped" })).await;
    assert_eq!((stopped.len(), &stopped[0]["id"]), (1, &json!(first)));
    abode
        .call(
            "manage_session",
            json!({ "sessionId": first, "action": "start" }),
        )
        .await;
    let archive = wh_api::SessionManageRequest {
        session: first.clone(),
        action: "archive".to_owned(),
        ..wh_api::SessionManageRequest::default()
    };
    abode.admin.session_manage(&archive).await.unwrap();
    assert_eq!(list(&abode, json!({})).await.len(), 1);
    assert_eq!(
        list(&abode, json!({ "includeArchived": true })).await.len(),
        2
    );
    let archived = list(&abode, json!({ "status": "archived" })).await;
    assert_eq!(
        (archived.len(), &archived[0]["status"]),
        (1, &json!("archived"))
    );
}

#[tokio::test]
async fn c3_2_get_session_adds_details_and_the_latest_sequence() {
    let abode = Abode::new().await;
    let session = abode.session("detailed").await;
    for address in ADDRESSES {
        let get = || abode.call_at(address, "get_session", json!({ "sessionId": session }));
        let seen = get().await;
        let mut expected = SESSION.to_vec();
        expected.extend(["agent", "lastMessageSequence", "statusMessage"]);
        expected.sort_unstable();
        assert_eq!(fields(&seen), expected);
        assert_eq!(seen["agent"], "echo");
        assert_eq!(seen["statusMessage"], Value::Null);
        let before = seen["lastMessageSequence"].as_u64().unwrap();
        abode.prompt(&session, "say hello").await;
        // The prompt, and the answer.
        assert_eq!(get().await["lastMessageSequence"], before + 2);
    }
    // The branch is the one that is checked out now, whoever did that.
    let ours = abode.admin.session_get(&session).await.unwrap();
    let worktree = abode
        .admin
        .worktree_get(&ours.worktree_id.unwrap())
        .await
        .unwrap();
    git(
        Path::new(&worktree.path),
        &["checkout", "-q", "-b", "elsewhere"],
    );
    let seen = abode
        .call("get_session", json!({ "sessionId": session }))
        .await;
    assert_eq!(seen["currentBranch"], "elsewhere");
    assert_eq!(seen["branch"], "main");
}

#[tokio::test]
async fn c3_5_create_session_answers_at_once_and_goes_on_behind() {
    let abode = Abode::new().await;
    for address in ADDRESSES {
        let new = json!({
            "name": "made", "repoFullName": "team/app", "branch": "main", "initialPrompt": "say begun",
        });
        let made = abode.call_at(address, "create_session", new).await;
        let id = made["sessionId"].as_str().unwrap();
        assert_eq!(made, json!({ "sessionId": id, "status": "creating" }));
        let seen = abode.until(id, |it| {
            it["lastMessageSequence"].as_u64() >= Some(2) && it["isClaudeRunning"] == false
        });
        let seen = seen.await;
        assert_eq!(
            (&seen["name"], &seen["status"]),
            (&json!("made"), &json!("running"))
        );
        let said = abode.call("get_messages", json!({ "sessionId": id })).await;
        assert_eq!(said["messages"][0]["text"], "begun\n");
    }
}

#[tokio::test]
async fn c3_5_a_repository_is_known_by_its_full_name_and_an_unknown_one_says_how_to_add_it() {
    let mut abode = Abode::new().await;
    abode.server.configure("[repos]\nforge = \"\"\n");
    abode.server.restart();
    abode.admin = abode.server.client();
    let client = abode.client(ADDRESSES[1], &abode.key);
    let new = |repo: &str| json!({ "name": "x", "repoFullName": repo, "branch": "main" });
    for known in ["team/app", "app", "team/app.git"] {
        super::data(&client.call("create_session", new(known)).await);
    }
    for unknown in ["team/other", "other/app", "nobody/nothing"] {
        let refused = client.call("create_session", new(unknown)).await;
        assert_eq!(Mcp::code(&refused), "NOT_FOUND");
        let line = refused["content"][0]["text"].as_str().unwrap();
        assert!(line.contains("add the repository first"), "{line}");
    }
    // A branch that is not there is told by the session.
    let mut wrong = new("team/app");
    wrong["branch"] = json!("no-such-branch");
    let made = super::data(&client.call("create_session", wrong).await);
    let id = made["sessionId"].as_str().unwrap();
    let failed = abode.until(id, |it| it["status"] != "creating").await;
    assert_eq!(failed["status"], "error");
    let why = failed["statusMessage"].as_str().unwrap();
    assert!(why.contains("no-such-branch"), "{why}");
}

#[tokio::test]
async fn c3_5_an_unknown_repository_is_cloned_from_the_forge() {
    let mut abode = Abode::new().await;
    let home = abode.server.home().to_owned();
    let token = "canary-forge-token";
    let private = Behaviour {
        authorization: Some(basic("x-access-token", token)),
        ..Behaviour::default()
    };
    let forge = GitServer::start(&home.join("forge"), private);
    let from = repository(&home.join("made"));
    let to = forge.dir("else/where.git");
    git(&from, &["clone", "-q", "--bare", ".", to.to_str().unwrap()]);
    let (host, ca) = (forge.host(), forge.ca_file().display());
    abode.server.configure(&format!(
        "[repos]\nforge = \"https://{host}\"\n[repos.hosts.\"{host}\"]\nca_file = \"{ca}\"\ntoken = \"{token}\"\n"
    ));
    abode.server.restart();
    abode.admin = abode.server.client();
    for _ in 0..2 {
        let new = json!({
            "name": "made", "repoFullName": "else/where", "branch": "main", "initialPrompt": "say begun",
        });
        let made = abode.call("create_session", new).await;
        let seen = abode.rest(made["sessionId"].as_str().unwrap()).await;
        assert_eq!(seen["status"], "running", "{seen}");
    }
    // Each call is one entry of the audit log; what was added for the first is a part of it.
    let calls = recorded(&abode, "create_session", false).await;
    let (session, ok) = ("session_create".to_owned(), "ok".to_owned());
    assert!(
        calls
            .iter()
            .all(|it| (&it.operation, &it.outcome) == (&session, &ok))
    );
    assert_eq!(calls.len(), 2, "{calls:?}");
    let mut parts = recorded(&abode, "create_session", true).await;
    parts.retain(|it| it.facts.get("part_of") == Some(&session));
    assert_eq!(parts.len(), 1, "{parts:?}");
    assert_eq!(parts[0].operation, "repo_add");
    assert_eq!(parts[0].request_id, calls[1].request_id);
    // Whoever asks for the operation sees it.
    let about = AuditListRequest {
        operation: Some("repo_add".to_owned()),
        ..AuditListRequest::default()
    };
    let added = abode.admin.audit_list(&about).await.unwrap().entries;
    assert!(added.contains(&parts[0]), "{added:?}");
    // It was added once, with the forge's credential, which is for administrators; the key is one's.
    let repos = abode.admin.repo_list(&RepoListRequest::default()).await;
    let repos = repos.unwrap().repos;
    let cloned: Vec<_> = repos.iter().filter(|it| it.kind == "remote").collect();
    assert_eq!(cloned.len(), 1);
    assert_eq!(cloned[0].name, "else/where");
    assert_eq!(cloned[0].credential.as_deref(), Some("configuration"));
    // What is not there is told by the session, and what is no name of a repository at once.
    let new = |repo: &str| json!({ "name": "x", "repoFullName": repo, "branch": "main" });
    let made = abode.call("create_session", new("no/where")).await;
    let id = made["sessionId"].as_str().unwrap();
    let failed = abode.until(id, |it| it["status"] != "creating").await;
    assert_eq!(failed["status"], "error", "{failed}");
    let why = failed["statusMessage"].as_str().unwrap();
    assert!(
        why.contains("could not be reached or does not exist"),
        "{why}"
    );
    let client = abode.client(ADDRESSES[1], &abode.key);
    let refused = client.call("create_session", new("nowhere")).await;
    assert_eq!(Mcp::code(&refused), "NOT_FOUND");
}

/// Returns the entries of the audit log for a tool, latest first.
async fn recorded(abode: &Abode, tool: &str, include_reads: bool) -> Vec<AuditEntryView> {
    let list = AuditListRequest {
        include_reads: Some(include_reads),
        limit: Some(200),
        ..AuditListRequest::default()
    };
    let mut entries = abode.admin.audit_list(&list).await.unwrap().entries;
    entries.retain(|it| it.facts.get("tool").is_some_and(|it| it == tool));
    entries
}

#[tokio::test]
async fn c3_5_the_address_says_what_the_contract_has_no_words_for() {
    let abode = Abode::new().await;
    let at = |query: &str| {
        let url = format!("{}{}?{query}", abode.server.url(), ADDRESSES[1]);
        Mcp::new(&url, &abode.key)
    };
    let new = json!({ "name": "free", "repoFullName": "team/app", "branch": "main" });
    let free = at("agent=echo&permissions=allow&model=echo%2D2");
    let made = super::data(&free.call("create_session", new.clone()).await);
    let id = made["sessionId"].as_str().unwrap();
    abode.rest(id).await;
    let shown = abode.admin.session_get(id).await.unwrap();
    assert_eq!(shown.model_requested.as_deref(), Some("echo-2"));
    let done = abode.prompt(id, "ask open it").await;
    assert_eq!(done["outcome"], "completed");
    // Without a word on the address the server's setting decides.
    let usual = at("agent=echo");
    for (value, expected) in [("allow", "completed"), ("ask", "needs_input")] {
        let set = wh_api::ConfigSetRequest {
            key: "clawed_abode.permissions".to_owned(),
            value: Some(wh_api::SettingInput::Name(value.to_owned())),
            ..Default::default()
        };
        abode.admin.config_set(&set).await.unwrap();
        let made = super::data(&usual.call("create_session", new.clone()).await);
        let id = made["sessionId"].as_str().unwrap();
        abode.rest(id).await;
        let done = abode.prompt(id, "ask open it").await;
        assert_eq!(done["outcome"], expected, "{value}");
    }
    for wrong in [
        "agent=echo&permissions=none",
        "agent=no-such-agent",
        "model=-x",
    ] {
        let refused = at(wrong).call("create_session", new.clone()).await;
        assert_eq!(Mcp::code(&refused), "INVALID_INPUT", "{wrong}");
    }
}

#[tokio::test]
async fn c3_7_manage_session_stops_starts_and_deletes() {
    let abode = Abode::new().await;
    for address in ADDRESSES {
        let session = abode.session("managed").await;
        abode.prompt(&session, "say kept").await;
        let manage = async |action: &str| {
            let arguments = json!({ "sessionId": session, "action": action });
            let done = abode.call_at(address, "manage_session", arguments).await;
            assert_eq!(fields(&done), ["session", "success"]);
            assert_eq!(done["success"], true);
            assert_eq!(fields(&done["session"]), SESSION);
            assert_eq!(done["session"]["id"], session);
            done["session"]["status"].clone()
        };
        manage("stop").await;
        abode.until(&session, |it| it["status"] == "stopped").await;
        assert_eq!(manage("start").await, "creating");
        abode.rest(&session).await;
        abode.prompt(&session, "say again").await;
        // It is shown as it was, and then it is gone with what was said, from the archive too.
        let before = recorded(&abode, "manage_session", false).await.len();
        assert_eq!(manage("delete").await, "running");
        let recorded = recorded(&abode, "manage_session", false).await;
        assert_eq!(recorded.len(), before + 1, "{recorded:?}");
        assert_eq!(recorded[0].facts["action"], "delete");
        let url = format!("{}{address}", abode.server.url());
        let gone = Mcp::new(&url, &abode.key);
        let said = gone
            .call("get_messages", json!({ "sessionId": session }))
            .await;
        assert_eq!(Mcp::code(&said), "NOT_FOUND");
        let all = list(&abode, json!({ "includeArchived": true })).await;
        assert!(all.iter().all(|it| it["id"] != session), "{all:?}");
    }
}

#[tokio::test]
async fn c3_8_interrupt_session_tells_whether_there_was_something_to_interrupt() {
    let abode = Abode::new().await;
    let session = abode.session("busy").await;
    for address in ADDRESSES {
        let interrupt = || {
            abode.call_at(
                address,
                "interrupt_session",
                json!({ "sessionId": session }),
            )
        };
        assert_eq!(interrupt().await, json!({ "interrupted": false }));
        let prompt = json!({ "sessionId": session, "prompt": format!("sleep {PATIENCE_MS}") });
        abode.call("send_prompt", prompt).await;
        let state = async || abode.admin.session_get(&session).await.unwrap().state;
        for _ in 0..1_000 {
            if state().await == "running" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(interrupt().await, json!({ "interrupted": true }));
        let rested = abode.rest(&session).await;
        assert_eq!(rested["status"], "running");
    }
}
