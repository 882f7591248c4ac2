//! B: what belongs to one user does not exist for another.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use wh_api::{MessageListRequest, SessionManageRequest, SessionPromptRequest, SessionWaitRequest};
use wh_testkit::seed::some_id;

use crate::{
    harness::{Setting, World as Contained},
    people::{Mcp, World, board},
    wire::{http, rest},
};

/// Words that only bob's things contain.
const SECRET: &str = "xylophone";

#[tokio::test]
async fn b1_another_users_session_is_not_found_by_any_route() {
    let world = World::new().await;
    let absent = some_id::<wh_domain::SessionId>().to_string();
    let theirs = world.bobs.id.to_string();
    let mut pairs = 0;
    for key in [
        &world.keys.alice,
        &world.keys.alice_read,
        &world.keys.alice_client,
        &world.keys.session,
    ] {
        for (method, path, body) in [
            (Method::GET, "", None),
            (Method::GET, "/tree", None),
            (Method::GET, "/messages", None),
            (Method::GET, "/turns", None),
            (Method::GET, "/runs", None),
            (Method::PATCH, "", Some(json!({ "title": "mine" }))),
            (
                Method::POST,
                "/prompts",
                Some(json!({ "prompt": "say mine" })),
            ),
            (
                Method::POST,
                "/children",
                Some(json!({ "prompt": "say mine" })),
            ),
            (Method::POST, "/interrupt", None),
            (Method::POST, "/manage", Some(json!({ "action": "stop" }))),
            (Method::POST, "/forks", Some(json!({}))),
        ] {
            let send = async |id: &str| {
                let path = format!("/api/v1/sessions/{id}{path}");
                let answer = rest(&world.server, key, method.clone(), &path, body.as_ref()).await;
                (answer.status().as_u16(), answer.text().await.unwrap())
            };
            let (foreign, nothing) = (send(&theirs).await, send(&absent).await);
            assert_eq!(foreign.0, nothing.0, "{method} {path}: {}", foreign.1);
            assert_eq!(
                foreign.1.replace(&theirs, "ID"),
                nothing.1.replace(&absent, "ID"),
                "{method} {path}"
            );
            assert!(
                [403, 404].contains(&foreign.0),
                "{method} {path}: {foreign:?}"
            );
            assert!(!foreign.1.contains("path"), "no such route: {path}");
            pairs += 1;
        }
        // By MCP too, where the answer says not found or, where the key may never do it, forbidden.
        for (tool, arguments) in [
            ("session_get", json!({ "session": theirs })),
            ("message_list", json!({ "session": theirs })),
            (
                "session_prompt",
                json!({ "session": theirs, "prompt": "say mine" }),
            ),
            (
                "session_manage",
                json!({ "session": theirs, "action": "stop" }),
            ),
        ] {
            let result = world.client(key).call(tool, arguments).await;
            let code = Mcp::code(&result).to_owned();
            assert!(
                ["NOT_FOUND", "FORBIDDEN"].contains(&code.as_str()),
                "{tool}: {code}"
            );
            pairs += 1;
        }
    }
    let bob = world.client(&world.keys.bob);
    let own = Mcp::data(&bob.call("session_get", json!({ "session": theirs })).await);
    assert_eq!(own["title"], "bob's");
    let turns = Mcp::data(&bob.call("turn_list", json!({ "session": theirs })).await);
    assert_eq!(turns["turns"], json!([]));
    println!("b1: {pairs} calls, each answered as if the session did not exist");
}

#[tokio::test]
async fn b2_time_does_not_tell_what_exists() {
    const CALLS: usize = 1_000;
    let world = World::new().await;
    let absent = some_id::<wh_domain::SessionId>().to_string();
    let theirs = world.bobs.id.to_string();
    let http = http(&world.server);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..CALLS * 2 {
        let which = round % 2;
        let id = [&theirs, &absent][which];
        let url = format!("{}/api/v1/sessions/{id}", world.server.url());
        let began = Instant::now();
        let answer = http
            .get(url)
            .bearer_auth(&world.keys.alice)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 404);
        answer.bytes().await.unwrap();
        times[which].push(began.elapsed());
    }
    let [theirs, absent] = times.map(|mut times| {
        times.sort();
        times[CALLS / 2]
    });
    let difference = theirs.abs_diff(absent);
    println!(
        "b2: median {theirs:?} for another user's session, {absent:?} for none, over {} calls",
        CALLS * 2
    );
    assert!(difference < Duration::from_millis(1), "{difference:?}");
}

#[tokio::test]
async fn b4_nothing_leaks_through_side_doors() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    board(&bob, SECRET).await;
    let session = world.bobs.id.to_string();
    let prompt =
        json!({ "session": session, "prompt": format!("say {SECRET}\nask {SECRET}"), "wait": 30 });
    Mcp::data(&bob.call("session_prompt", prompt).await);
    let title = json!({ "session": session, "title": SECRET });
    Mcp::data(&bob.call("session_update", title).await);
    let list = format!("/api/v1/tasks?session={session}");
    let mut read = 0;
    let short = &session[session.len() - 8..];
    for key in [
        &world.keys.alice,
        &world.keys.alice_read,
        &world.keys.alice_client,
        &world.keys.session,
    ] {
        for path in [
            "/api/v1/events",
            "/api/v1/events?after=0&limit=200",
            "/api/v1/search?query=xylophone",
            "/api/v1/sessions",
            "/api/v1/boards",
            "/api/v1/approvals?include_settled=true",
            "/api/v1/audit?limit=200",
            "/api/v1/usage",
            "/api/v1/worktrees",
            "/api/v1/keys",
            "/api/v1/webhooks",
            "/api/v1/loops",
            "/metrics",
            list.as_str(),
        ] {
            let answer = rest(&world.server, key, Method::GET, path, None).await;
            let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
            let told = text.replace(path, "").replace(r#""words":"xylophone""#, "");
            // The caller's own words may be repeated; bob's may not.
            assert!(
                !told.contains(SECRET) && !told.contains(&world.keys.bob),
                "{path} {status}: {text}"
            );
            if !path.contains(&session) {
                assert!(
                    !told.contains(&session) && !told.contains(short),
                    "{path} {status}: {text}"
                );
            }
            read += 1;
        }
        let client = world.client(key);
        for (method, params) in [
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("prompts/list", json!({})),
            (
                "resources/read",
                json!({ "uri": format!("wheelhouse://sessions/{session}") }),
            ),
        ] {
            let answer = client.request(method, params).await;
            assert!(!answer.to_string().contains(SECRET), "{method}: {answer}");
            assert_ne!(answer["result"]["cacheScope"], "public", "{method}");
            read += 1;
        }
    }
    // What bob himself reads shows that there was something to find.
    for path in [
        "/api/v1/search?query=xylophone",
        "/api/v1/sessions",
        "/api/v1/boards",
        "/api/v1/events",
    ] {
        let own = rest(&world.server, &world.keys.bob, Method::GET, path, None).await;
        let text = own.text().await.unwrap();
        assert!(
            text.contains(SECRET) || text.contains(&session),
            "{path}: {text}"
        );
    }
    println!("b4: {read} answers, none tells of another user's things");
}

#[tokio::test]
async fn b7_a_token_ends_with_its_session() {
    let world = Contained::new(Setting::GUARDED).await;
    assert_eq!(world.shell("echo ready").await.trim(), "ready");
    // The token as the agent's runner has it; no agent can read this file.
    let run = format!("runs/{}-1/spec.json", world.session);
    let spec = std::fs::read_to_string(world.server.data_dir().join(run)).unwrap();
    let at = spec.find("wh_sess_").unwrap();
    let token = &spec[at..at + 40];
    let status = async || {
        let answer = rest(&world.server, token, Method::GET, "/api/v1/whoami", None).await;
        answer.status().as_u16()
    };
    assert_eq!(status().await, 200);
    let request = SessionManageRequest {
        session: world.session.clone(),
        action: "stop".to_owned(),
        ..SessionManageRequest::default()
    };
    world.client.session_manage(&request).await.unwrap();
    let wait = SessionWaitRequest {
        sessions: vec![world.session.clone()],
        timeout: Some(60),
        ..SessionWaitRequest::default()
    };
    world.client.session_wait(&wait).await.unwrap();
    let stopped = world.client.session_get(&world.session).await.unwrap();
    assert_eq!(stopped.state, "stopped");
    let ended = Instant::now();
    let refused = loop {
        let asked = ended.elapsed();
        if status().await == 401 {
            break asked;
        }
        assert!(asked < Duration::from_secs(1), "the token still works");
    };
    let prompt = SessionPromptRequest {
        session: world.session.clone(),
        prompt: "say x".to_owned(),
        ..SessionPromptRequest::default()
    };
    drop(world.client.session_prompt(&prompt).await);
    assert_eq!(status().await, 401, "a later run has a token of its own");
    let request = MessageListRequest {
        session: world.session.clone(),
        ..MessageListRequest::default()
    };
    let list = world.client.message_list(&request).await.unwrap();
    assert!(!serde_json::to_string(&list).unwrap().contains(token));
    println!("b7: the token was refused {refused:?} after its session ended");
}

#[tokio::test]
async fn b8_what_one_user_was_given_is_nothing_to_another() {
    let world = World::new().await;
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let (alice, bob) = (
        world
            .client(&world.keys.alice)
            .capable_of(capabilities.clone()),
        world.client(&world.keys.bob).capable_of(capabilities),
    );
    // A task of bob's, asked after, answered and cancelled by alice.
    let arguments =
        json!({ "session": world.bobs.id.to_string(), "prompt": "ask leave", "wait": 30 });
    let begun = bob.call("session_prompt", arguments).await;
    let task = begun["taskId"].as_str().unwrap();
    let mut refused = 0;
    for (method, more) in [
        ("tasks/get", json!({})),
        (
            "tasks/update",
            json!({ "inputResponses": { "x": { "action": "accept", "content": { "decision": "allow" } } } }),
        ),
        ("tasks/cancel", json!({})),
    ] {
        let with = |id: &str| {
            let mut params = more.clone();
            params["taskId"] = json!(id);
            params
        };
        let foreign = alice.request(method, with(task)).await;
        // The same kind of id, of nothing that exists.
        let kind = &task[..task.len() - 36];
        let absent = format!("{kind}{}", some_id::<wh_domain::TurnId>());
        let nothing = alice.request(method, with(&absent)).await;
        assert!(foreign["error"].is_object(), "{method}: {foreign}");
        let same =
            foreign.to_string().replace(task, "") == nothing.to_string().replace(&absent, "");
        assert!(same, "{method}: {foreign} {nothing}");
        refused += 1;
    }
    let own = bob.request("tasks/get", json!({ "taskId": task })).await;
    assert!(own["result"].is_object(), "{own}");
    assert_ne!(own["result"]["status"], "cancelled");
    // State that the server never gave out is no authority.
    let call = json!({ "name": "session_get", "arguments": { "session": world.bobs.id.to_string() },
        "requestState": format!("user={}", world.bobs.owner.user) });
    let answer = alice.request("tools/call", call).await;
    assert!(
        answer["error"].is_object() || answer["result"]["isError"] == true,
        "{answer}"
    );
    refused += 1;
    // A cursor of bob's list continues alice's list, not his.
    for number in 0..3 {
        board(&bob, &format!("{SECRET} {number}")).await;
    }
    let page = Mcp::data(&bob.call("board_list", json!({ "limit": 1 })).await);
    let cursor = page["next_cursor"].as_str().unwrap();
    let swapped = alice.call("board_list", json!({ "cursor": cursor })).await;
    assert!(!swapped.to_string().contains(SECRET), "{swapped}");
    refused += 1;
    // A repeat with bob's idempotency key makes something of alice's own.
    let marked = json!({ "name": "marked", "idempotency_key": "k" });
    let first = Mcp::data(&bob.call("board_create", marked.clone()).await);
    let second = Mcp::data(&alice.call("board_create", marked).await);
    assert_ne!(first["id"], second["id"]);
    refused += 1;
    // A sign-in link works once.
    let link = world
        .server
        .client()
        .login_link_create(&Default::default())
        .await
        .unwrap();
    let http = http(&world.server);
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(http.get(&link.url).send().await.unwrap().status().as_u16());
    }
    assert_eq!(answers, [303, 401]);
    println!("b8: {} replays and swaps refused", refused + 1);
}
