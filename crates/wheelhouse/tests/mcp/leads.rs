//! Sessions that lead: what they reach, what they pass on, and what they lose when a person takes the role away.

use serde_json::{Value, json};
use wh_domain::Session;

use crate::{
    harness::{Mcp, World, board},
    worktrees::worktree,
};

fn id_of(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

/// Has a session ask for something, and returns the approval.
async fn asked(by: &Mcp, session: &Session) -> String {
    let prompt = json!({ "session": session.id.to_string(), "prompt": "ask leave", "wait": 60 });
    let asked = Mcp::data(&by.call("session_prompt", prompt).await);
    id_of(&asked["approvals"][0])
}

/// Returns a session as its owner sees it.
async fn seen(by: &Mcp, session: &str) -> Value {
    Mcp::data(&by.call("session_get", json!({ "session": session })).await)
}

#[tokio::test]
async fn a_lead_sees_and_directs_what_its_user_owns() {
    let (world, own) = World::with_lead().await;
    let (alice, lead) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.lead),
    );
    let current = Mcp::data(&lead.call("session_current", json!({})).await);
    assert_eq!(
        (&current["role"], current["id"].as_str()),
        (&json!("lead"), Some(own.id.to_string().as_str()))
    );
    let listed = Mcp::data(&lead.call("session_list", json!({})).await);
    let titles: Vec<_> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["lead", "child", "parent"]);
    // It prompts sessions that it did not create, and answers what they ask.
    let parent = json!({ "session": world.parent.id.to_string(), "prompt": "say led", "wait": 60 });
    let done = Mcp::data(&lead.call("session_prompt", parent).await);
    assert_eq!(done["words"].as_str().map(str::trim), Some("led"), "{done}");
    let approval = asked(&alice, &world.parent).await;
    let listed = Mcp::data(&lead.call("approval_list", json!({})).await);
    assert_eq!(id_of(&listed["approvals"][0]), approval);
    let allow = json!({ "approval": approval, "decision": "allow" });
    assert_eq!(
        Mcp::data(&lead.call("approval_answer", allow).await)["state"],
        "allowed"
    );
    // It makes boards, worktrees, sessions, loops and tasks.
    let made = board(&lead, "of the lead").await;
    let (repo, _) = worktree(&world, &alice).await;
    let tree = json!({ "repo": repo, "name": "led" });
    let tree = Mcp::data(&lead.call("worktree_create", tree).await);
    let new =
        json!({ "agent": "echo", "worktree": tree["id"], "board": made, "prompt": "say begun" });
    let new = Mcp::data(&lead.call("session_create", new).await);
    assert_eq!(new["parent_id"].as_str(), Some(own.id.to_string().as_str()));
    assert_eq!(new["role"], "general");
    let wait = json!({ "sessions": [new["id"]], "timeout": 60 });
    assert_eq!(
        Mcp::data(&lead.call("session_wait", wait).await)["done"],
        true
    );
    let on = json!({ "board": made, "place": [{ "kind": "session", "id": world.parent.id.to_string() }] });
    Mcp::data(&lead.call("board_update", on).await);
    let tasks = json!({ "list": "plan", "tasks": [{ "content": "first" }] });
    Mcp::data(&lead.call("task_add", tasks).await);
    let work =
        json!({ "prompt": "say iterated", "agent": "echo", "repo": repo, "iterations_max": 1 });
    let work = Mcp::data(&lead.call("loop_start", work).await);
    let stop = json!({ "loop": work["id"] });
    Mcp::data(&lead.call("loop_stop", stop).await);
    // The audit log names it.
    let admin = world.client(&world.keys.admin);
    let about = json!({ "operation": "board_create" });
    let log = Mcp::data(&admin.call("audit_list", about).await);
    assert_eq!(
        log["entries"][0]["session_id"].as_str(),
        Some(own.id.to_string().as_str()),
        "{log}"
    );
}

#[tokio::test]
async fn only_a_person_creates_a_session_that_leads() {
    let (world, own) = World::with_lead().await;
    let own = own.id.to_string();
    let lead = world.client(&world.keys.lead);
    let create = json!({ "agent": "echo", "role": "lead" });
    for key in [
        &world.keys.lead,
        &world.keys.session,
        &world.keys.alice_client,
    ] {
        let refused = world
            .client(key)
            .call("session_create", create.clone())
            .await;
        assert_eq!(Mcp::code(&refused), "FORBIDDEN");
    }
    for key in [&world.keys.lead, &world.keys.session, &world.keys.alice] {
        let client = world.client(key);
        let parent = match key == &world.keys.session {
            true => world.parent.id.to_string(),
            false => own.clone(),
        };
        let spawn = json!({ "parent": parent, "prompt": "say x", "agent": "echo", "role": "lead" });
        assert_eq!(
            Mcp::code(&client.call("session_spawn", spawn).await),
            "FORBIDDEN"
        );
    }
    // Neither children nor forks inherit it.
    let spawn = json!({ "prompt": "say x", "agent": "echo", "wait": 60 });
    let child = Mcp::data(&lead.call("session_spawn", spawn).await);
    let alice = world.client(&world.keys.alice);
    let child = seen(&alice, child["session"].as_str().unwrap()).await;
    assert_eq!(
        (&child["role"], child["parent_id"].as_str()),
        (&json!("general"), Some(own.as_str()))
    );
    let prompt = json!({ "session": own, "prompt": "say y", "wait": 60 });
    Mcp::data(&alice.call("session_prompt", prompt).await);
    let fork = Mcp::data(&lead.call("session_fork", json!({ "session": own })).await);
    assert_eq!(
        (&fork["role"], fork["parent_id"].as_str()),
        (&json!("general"), Some(own.as_str()))
    );
    // A person can, with a full key.
    let made = Mcp::data(&alice.call("session_create", create).await);
    assert_eq!(made["role"], "lead");
    // What it is told on connecting says so.
    let prompt = json!({ "session": made["id"], "prompt": "call board_create {\"name\": \"by echo\"}", "wait": 60 });
    let done = Mcp::data(&alice.call("session_prompt", prompt).await);
    assert_eq!(done["turn"]["state"], "completed", "{done}");
    let boards = Mcp::data(&alice.call("board_list", json!({})).await);
    assert_eq!(boards["boards"][0]["name"], "by echo", "{boards}");
}

#[tokio::test]
async fn what_a_lead_creates_is_limited_as_it_is() {
    let (world, own) = World::with_lead().await;
    let own = own.id.to_string();
    let (alice, lead) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.lead),
    );
    let budget = json!({ "session": own, "budget": { "turns": 3, "tokens": 5000 } });
    Mcp::data(&alice.call("session_update", budget).await);
    let wide = json!({ "turns": 50, "tokens": 900_000 });
    let allow = json!({ "default": "allow" });
    let create = json!({ "agent": "echo", "budget": wide, "policy": allow, "prompt": "say one" });
    let made = Mcp::data(&lead.call("session_create", create.clone()).await);
    assert_eq!(
        (&made["budget"]["turns"], &made["budget"]["tokens"]),
        (&json!(3), &json!(5000))
    );
    // The policy of the lead asks, so that of its child does.
    assert_eq!(made["policy"]["default"], "ask", "{made}");
    let narrowed: Vec<_> = made["narrowed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["setting"].as_str().unwrap())
        .collect();
    assert_eq!(narrowed, ["budget.tokens", "budget.turns", "policy"]);
    let tier = json!({ "agent": "echo", "tier": "none" });
    assert_eq!(
        Mcp::code(&lead.call("session_create", tier).await),
        "FORBIDDEN"
    );
    // What its children use is used of its own budget, in loops too.
    let wait = json!({ "sessions": [made["id"]], "timeout": 60 });
    Mcp::data(&lead.call("session_wait", wait).await);
    let (repo, _) = worktree(&world, &alice).await;
    let work = json!({ "prompt": "say two", "agent": "echo", "repo": repo, "budget": wide, "iterations_max": 9 });
    let work = Mcp::data(&lead.call("loop_start", work).await);
    assert_eq!(work["budget"]["turns"], 2, "{work}");
    let ended = async || {
        for _ in 0..600 {
            let found = Mcp::data(&alice.call("loop_get", json!({ "loop": work["id"] })).await);
            if found["state"] == "ended" {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the loop does not end");
    };
    ended().await;
    // No loop continues past the budget of the lead that started it, and only people raise that of the loop.
    let more = json!({ "loop": work["id"], "budget": { "turns": 50 } });
    let refused = lead.call("loop_resume", more.clone()).await;
    assert_eq!(Mcp::code(&refused), "FORBIDDEN", "{refused}");
    let refused = alice.call("loop_resume", more).await;
    assert_eq!(Mcp::code(&refused), "LIMIT_EXCEEDED", "{refused}");
    let spent = lead.call("session_create", create).await;
    assert_eq!(Mcp::code(&spent), "LIMIT_EXCEEDED", "{spent}");
    // Budgets are raised by people, for the lead as for all that it reaches.
    for session in [own, world.parent.id.to_string()] {
        let raise = json!({ "session": session, "budget": { "turns": 99 } });
        assert_eq!(
            Mcp::code(&lead.call("session_update", raise).await),
            "FORBIDDEN"
        );
    }
}

#[tokio::test]
async fn the_reach_ends_when_a_person_takes_the_role_away() {
    let (world, own) = World::with_lead().await;
    let own = own.id.to_string();
    let (alice, lead) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.lead),
    );
    let other = json!({ "session": world.parent.id.to_string() });
    Mcp::data(&lead.call("session_get", other.clone()).await);
    let role = |role: &str| json!({ "session": own, "role": role });
    assert_eq!(
        Mcp::code(&lead.call("session_update", role("general")).await),
        "FORBIDDEN"
    );
    let long = json!({ "sessions": [world.child.id.to_string()], "timeout": 1 });
    Mcp::data(&lead.call("session_wait", long).await);
    let changed = Mcp::data(&alice.call("session_update", role("coding")).await);
    assert_eq!(changed["role"], "coding");
    // At once, with the same token.
    assert_eq!(
        Mcp::code(&lead.call("session_get", other).await),
        "NOT_FOUND"
    );
    let listed = Mcp::data(&lead.call("session_list", json!({})).await);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let create = json!({ "agent": "echo" });
    assert_eq!(
        Mcp::code(&lead.call("session_create", create).await),
        "FORBIDDEN"
    );
    // It is given at creation alone, and other roles stay as they are.
    for to in ["lead", "worker"] {
        assert_eq!(
            Mcp::code(&alice.call("session_update", role(to)).await),
            "CONFLICT"
        );
    }
}

#[tokio::test]
async fn a_lead_directs_nothing_that_may_do_more_than_itself() {
    let (world, own) = World::with_lead().await;
    let (alice, lead) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.lead),
    );
    let forbidden = async |tool: &str, arguments: Value| {
        let refused = lead.call(tool, arguments).await;
        assert_eq!(Mcp::code(&refused), "FORBIDDEN", "{tool}: {refused}");
    };
    // Itself, and another one that leads.
    let own = own.id.to_string();
    forbidden(
        "session_prompt",
        json!({ "session": own, "prompt": "say x" }),
    )
    .await;
    forbidden(
        "session_manage",
        json!({ "session": own, "action": "stop" }),
    )
    .await;
    let second = json!({ "agent": "echo", "role": "lead" });
    let second = id_of(&Mcp::data(&alice.call("session_create", second).await));
    forbidden(
        "session_prompt",
        json!({ "session": second, "prompt": "say x" }),
    )
    .await;
    forbidden(
        "session_manage",
        json!({ "session": second, "action": "stop" }),
    )
    .await;
    let prompt = json!({ "session": second, "prompt": "ask leave", "wait": 60 });
    let asking = Mcp::data(&alice.call("session_prompt", prompt).await);
    let answer = json!({ "approval": id_of(&asking["approvals"][0]), "decision": "allow" });
    forbidden("approval_answer", answer).await;
    // Children of sessions that it did not create would have their rights.
    let spawn =
        json!({ "parent": world.parent.id.to_string(), "prompt": "say x", "agent": "echo" });
    forbidden("session_spawn", spawn).await;
    // A directory that a person did not give it.
    let path = world.server.home().display().to_string();
    forbidden("session_create", json!({ "agent": "echo", "path": path })).await;
    // What its own policy denies.
    let policy = json!({ "deny": [{ "kinds": ["execute", "edit", "other"] }] });
    let strict = json!({ "agent": "echo", "role": "lead", "policy": policy });
    let strict = id_of(&Mcp::data(&alice.call("session_create", strict).await));
    let approval = asked(&alice, &world.parent).await;
    let call = json!({ "approval": approval, "decision": "allow" });
    let prompt =
        json!({ "session": strict, "prompt": format!("call approval_answer {call}"), "wait": 60 });
    Mcp::data(&alice.call("session_prompt", prompt).await);
    let of_parent = json!({ "session": world.parent.id.to_string() });
    let open = Mcp::data(&alice.call("approval_list", of_parent).await);
    assert_eq!(id_of(&open["approvals"][0]), approval, "{open}");
    // What others see is for people to decide.
    let shared = board(&alice, "shared").await;
    let share = json!({ "board": shared, "with": "everyone", "level": "read" });
    Mcp::data(&alice.call("board_share", share).await);
    let place = json!({ "board": shared, "place": [{ "kind": "session", "id": world.parent.id.to_string() }] });
    forbidden("board_update", place).await;
    forbidden(
        "session_create",
        json!({ "agent": "echo", "board": shared }),
    )
    .await;
    let named = json!({ "board": shared, "name": "renamed" });
    assert_eq!(
        Mcp::data(&lead.call("board_update", named).await)["name"],
        "renamed"
    );
}

#[tokio::test]
async fn the_feed_of_a_lead_has_nothing_about_keys_and_ends_with_the_role() {
    let (world, own) = World::with_lead().await;
    let alice = world.client(&world.keys.alice);
    let made = json!({ "name": "a key of alice", "scope": "read" });
    Mcp::data(&alice.call("key_create", made).await);
    board(&alice, "seen by the lead").await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/api/v1/events", world.server.url());
    let events = async |key: &str| {
        let answer = http.get(&url).bearer_auth(key).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (_, all) = events(&world.keys.alice).await;
    assert!(
        all.contains("a key of alice") && all.contains("seen by the lead"),
        "{all}"
    );
    let (status, seen) = events(&world.keys.lead).await;
    assert_eq!(status, 200);
    assert!(
        seen.contains("seen by the lead") && !seen.contains("a key of alice"),
        "{seen}"
    );
    // Whoever follows the feed as the lead is disconnected when the role is taken away.
    let stream = http
        .get(format!("{}/api/v1/events", world.server.url()))
        .header("Accept", "text/event-stream")
        .bearer_auth(&world.keys.lead);
    let mut stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let demote = json!({ "session": own.id.to_string(), "role": "general" });
    Mcp::data(&alice.call("session_update", demote).await);
    let end = async { while stream.chunk().await.unwrap().is_some() {} };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(30), end).await;
    assert!(ended.is_ok(), "the stream goes on");
}
