//! G: time, memory, money and loops.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};
use wh_testkit::server::TestServer;

use crate::{
    people::{Mcp, World},
    wire::{head, host, http, open, rest, status_of},
};

/// Far more than the largest body that any route takes.
const TOO_LARGE: usize = 14 << 20;

#[tokio::test]
async fn g1_a_body_that_is_too_large_is_refused_on_every_route() {
    let server = TestServer::start();
    let key = server.key("full");
    let (mut refused, mut chunked) = (0, 0);
    for path in [
        "/mcp",
        "/mcp/agor",
        "/mcp/clawed-abode",
        "/mcp/iteratr",
        "/api/mcp",
        "/api/v1/boards",
        "/api/v1/sessions",
        "/api/v1/keys",
    ] {
        let begin = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n",
            host(&server)
        );
        // A length that is only claimed is refused before anything is sent.
        let claimed = format!("{begin}Content-Length: 1000000000\r\n\r\n");
        let got = status_of(&head(&mut open(&server, &claimed).await).await);
        // A key that is not for this dialect is refused before its body is looked at.
        assert!([413, 401].contains(&got), "{path}: {got}");
        refused += usize::from(got == 413);
        // Without a length, it is refused where it becomes too large.
        let head_only = format!("{begin}Transfer-Encoding: chunked\r\n\r\n");
        let (mut read, mut write) = open(&server, &head_only).await.into_split();
        let send = async {
            let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
            for _ in 0..TOO_LARGE / 0x1_0000 {
                if write.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
            // What was answered is read below; a body that is not refused is never finished.
            pending::<()>().await;
        };
        let mut answer = [0; 12];
        let receive = timeout(Duration::from_secs(5), read.read(&mut answer));
        let received = tokio::select! {
            () = send => unreachable!(),
            received = receive => received.expect("an answer before the body ends"),
        };
        // Whoever goes on sending may lose the answer with the connection.
        let length = received.unwrap_or(0);
        let line = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(
            length == 0 || ["413", "401"].iter().any(|it| line.ends_with(it)),
            "{path}: {line}"
        );
        chunked += usize::from(line.ends_with("413"));
    }
    assert!(refused >= 4 && chunked >= 1, "{refused} {chunked}");
    let who = rest(&server, &key, Method::GET, "/api/v1/whoami", None).await;
    assert_eq!(who.status(), 200);
    println!("g1: {refused} claimed lengths and {chunked} chunked bodies answered 413");
}

/// Calls as quickly as answers come and returns how long the slowest hundredth took.
async fn slowest(server: &TestServer, key: &str, calls: usize) -> Duration {
    let client = http(server);
    let mut times = Vec::new();
    for _ in 0..calls {
        let began = Instant::now();
        let url = format!("{}/api/v1/sessions", server.url());
        let answer = client.get(url).bearer_auth(key).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().await.unwrap();
        times.push(began.elapsed());
    }
    times.sort();
    times[calls * 99 / 100]
}

#[tokio::test]
async fn g2_slow_and_idle_connections_do_not_slow_down_others() {
    const HELD: usize = 400;
    let server = TestServer::start();
    let key = server.key("full");
    let quiet = slowest(&server, &key, 200).await;
    let mut held = Vec::new();
    for number in 0..HELD {
        let bytes = match number % 4 {
            0 => String::new(),
            1 => "GET /api/v1/sessions HTTP/1.1\r\nHost:".to_owned(),
            2 => format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{",
                host(&server)
            ),
            _ => format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host(&server)),
        };
        held.push(open(&server, &bytes).await);
    }
    // Every call is answered; how fast is printed here and measured by `cargo xtask bench`.
    let busy = slowest(&server, &key, 200).await;
    // One that never finishes its headers is closed.
    let answer = head(&mut held[1]).await;
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    println!("g2: p99 {quiet:?} alone, {busy:?} beside {HELD} slow connections");
}

async fn spawn(client: &Mcp, parent: &str, prompt: &str) -> Value {
    let arguments = json!({ "parent": parent, "prompt": prompt });
    client.call("session_spawn", arguments).await
}

async fn session(client: &Mcp, more: Value) -> String {
    let mut arguments = json!({ "agent": "echo" });
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    let made = client.call("session_create", arguments).await;
    Mcp::data(&made)["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn g4_a_tree_of_sessions_grows_three_levels_deep() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let mut parent = session(&alice, json!({})).await;
    let mut depth = 0;
    let refusal = loop {
        let spawned = spawn(&alice, &parent, "say deeper").await;
        if spawned["isError"] == true {
            break spawned;
        }
        parent = Mcp::data(&spawned)["session"].as_str().unwrap().to_owned();
        depth += 1;
        assert!(depth < 10, "there is no limit");
    };
    assert_eq!(depth, 3);
    assert_eq!(Mcp::code(&refusal), "LIMIT_EXCEEDED");
    let words = refusal["content"][0]["text"].as_str().unwrap();
    assert!(
        words.contains("levels below a root session: at most 3"),
        "{words}"
    );
    assert!(refusal.to_string().contains("spawn.depth_max"), "{refusal}");
    // An agent meets the same limit: the deepest session is told so.
    let call = json!({ "session": parent, "prompt": "spawn say deeper", "wait": 30 });
    let told = alice.call("session_prompt", call).await;
    assert!(told.to_string().contains("levels"), "{told}");
    println!("g4: {depth} levels, then: {words}");
}

#[tokio::test]
async fn g5_forty_spawns_at_once_do_not_pass_the_default_limits() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let parent = session(&alice, json!({})).await;
    let spawns = (0..40).map(|_| spawn(&alice, &parent, "sleep 30"));
    let answers = join_all(spawns).await;
    let begun = answers.iter().filter(|it| it["isError"] != true).count();
    for refused in answers.iter().filter(|it| it["isError"] == true) {
        assert_eq!(Mcp::code(refused), "LIMIT_EXCEEDED");
        let text = refused.to_string();
        let names = ["spawn.children_max", "spawn.per_minute_max"];
        assert!(names.iter().any(|name| text.contains(name)), "{text}");
    }
    assert_eq!(begun, 8);
    let tree = Mcp::data(
        &alice
            .call("session_tree", json!({ "session": parent }))
            .await,
    );
    let children = tree["tree"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["depth"] == 1);
    assert_eq!(children.count(), 8);
    // Children of children count for the rate of the whole tree: ten within a minute.
    let child =
        Mcp::data(answers.iter().find(|it| it["isError"] != true).unwrap())["session"].clone();
    let spawns = (0..10).map(|_| spawn(&alice, child.as_str().unwrap(), "say below"));
    let answers = join_all(spawns).await;
    let below = answers.iter().filter(|it| it["isError"] != true).count();
    assert_eq!(below, 2);
    println!("g5: {begun} of 40 children begun, then {below} of 10 below one of them");
}

#[tokio::test]
async fn g7_a_budget_ends_the_work_within_a_turn() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let prompt = async |session: &str, prompt: &str| {
        let arguments = json!({ "session": session, "prompt": prompt, "wait": 30 });
        alice.call("session_prompt", arguments).await
    };
    let mut stopped = 0;
    for (budget, first, what) in [
        (json!({ "turns": 1 }), "say one", "turns"),
        (json!({ "tokens": 1 }), "say one", "tokens"),
        (json!({ "cost_micros": 1_000_000 }), "cost 1.25", "money"),
        (json!({ "wall_seconds": 1 }), "sleep 30", "time"),
    ] {
        let id = session(&alice, json!({ "budget": budget })).await;
        let done = Mcp::data(&prompt(&id, first).await);
        let expected = if what == "time" {
            "cancelled"
        } else {
            "completed"
        };
        assert_eq!(done["turn"]["state"], expected, "{what}: {done}");
        let refused = prompt(&id, "say two").await;
        assert_eq!(Mcp::code(&refused), "LIMIT_EXCEEDED", "{what}");
        assert!(refused.to_string().contains("budget"), "{what}: {refused}");
        // Nor by a child, which would use what its parent has not left.
        let spawned = spawn(&alice, &id, "say three").await;
        assert_eq!(spawned["isError"], true, "{what}: {spawned}");
        stopped += 1;
    }
    // What a child uses is its parent's.
    let parent = session(&alice, json!({ "budget": { "cost_micros": 1_000_000 } })).await;
    let spawned = json!({ "parent": parent, "prompt": "cost 2", "wait": 30, "budget": { "cost_micros": 90_000_000 } });
    Mcp::data(&alice.call("session_spawn", spawned).await);
    let refused = prompt(&parent, "say two").await;
    assert!(refused.to_string().contains("budget"), "{refused}");
    println!("g7: {stopped} budgets and that of a tree held within one turn");
}

#[tokio::test]
async fn g10_a_flood_of_prompts_is_refused_when_the_queue_is_full() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = session(&alice, json!({ "prompt": "sleep 60" })).await;
    let prompts = (0..130).map(|number| {
        let arguments = json!({ "session": id, "prompt": format!("say {number}") });
        alice.call("session_prompt", arguments)
    });
    let answers = join_all(prompts).await;
    let taken = answers.iter().filter(|it| it["isError"] != true).count();
    assert!((99..=100).contains(&taken), "{taken}");
    let refused: Vec<_> = answers.iter().filter(|it| it["isError"] == true).collect();
    for answer in &refused {
        assert_eq!(Mcp::code(answer), "LIMIT_EXCEEDED");
    }
    let words = refused[0]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("100"), "{words}");
    // Another session takes prompts as before.
    let other = session(&alice, json!({})).await;
    let call = json!({ "session": other, "prompt": "say fine", "wait": 30 });
    let done = Mcp::data(&alice.call("session_prompt", call).await);
    assert_eq!(done["turn"]["state"], "completed");
    println!(
        "g10: {taken} prompts queued, {} refused: {words}",
        refused.len()
    );
}

#[tokio::test]
async fn g10_a_session_that_floods_another_is_slowed_down() {
    const SENT: usize = 30;
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let parent = session(&alice, json!({})).await;
    let child = Mcp::data(&spawn(&alice, &parent, "say ready").await)["session"].clone();
    let call = json!({ "session": child, "prompt": "say once more" });
    let flood = format!("call session_prompt {call}\n").repeat(SENT);
    let call = json!({ "session": parent, "prompt": flood, "wait": 60 });
    let done = Mcp::data(&alice.call("session_prompt", call).await);
    let said = done.to_string();
    assert!(said.contains("session.prompts_per_minute_max"), "{done}");
    let turns = json!({ "session": child, "limit": 100 });
    let turns = Mcp::data(&alice.call("turn_list", turns).await);
    let taken = turns["turns"].as_array().unwrap().len();
    // The prompt of the spawn and twenty of the flood.
    assert_eq!(taken, 21, "{turns}");
    // A person is not held up by it.
    let call = json!({ "session": child, "prompt": "say fine", "wait": 30 });
    let done = Mcp::data(&alice.call("session_prompt", call).await);
    assert_eq!(done["turn"]["state"], "completed");
    println!(
        "g10: {} of {SENT} prompts of one session to another were accepted",
        taken - 1
    );
}

#[tokio::test]
async fn g11_patterns_and_references_cost_nothing() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let session = world.parent.id.to_string();
    let text = format!("{}!", "a".repeat(30_000));
    let prompt = json!({ "session": session, "prompt": format!("say {text}"), "wait": 30 });
    Mcp::data(&alice.call("session_prompt", prompt).await);
    let mut calls = 0;
    for query in [
        "(a+)+$".to_owned(),
        "(a|a)*b".to_owned(),
        format!("{}$", "(a*)*".repeat(30)),
        "a* AND a* AND a* NEAR(a b, 999999)".to_owned(),
        "\"a\" OR ".repeat(40),
        "*".repeat(100),
        "((((((((((((((((".to_owned(),
        format!("{{\"$ref\":\"{address}\"}}"),
    ] {
        let search = alice.call("session_search", json!({ "query": query }));
        // Only an expression that backtracks for ever takes so long.
        let found = timeout(Duration::from_secs(20), search).await;
        let found = found.unwrap_or_else(|_| panic!("{query} does not end"));
        assert_ne!(
            found["structuredContent"]["error"]["code"], "INTERNAL",
            "{query}: {found}"
        );
        calls += 1;
    }
    // A reference in arguments, in capabilities or in an address of a schema is text, and is not fetched.
    for arguments in [
        json!({ "$ref": address }),
        json!({ "name": { "$ref": address } }),
        json!({ "name": "x", "$schema": address }),
    ] {
        let result = alice.call("board_create", arguments).await;
        assert_eq!(Mcp::code(&result), "INVALID_INPUT");
        calls += 1;
    }
    let capable = world
        .client(&world.keys.alice)
        .capable_of(json!({ "experimental": { "x": { "$ref": address } } }));
    capable
        .request("tools/list", json!({ "inputSchema": { "$ref": address } }))
        .await;
    let fetched = timeout(Duration::from_millis(200), listener.accept()).await;
    assert!(fetched.is_err(), "the reference was fetched");
    println!("g11: {calls} patterns and references, none slow and none fetched");
}

#[tokio::test]
async fn g13_a_noisy_user_does_not_starve_another() {
    let world = World::new().await;
    let alone = slowest(&world.server, &world.keys.bob, 200).await;
    let alice = world.client(&world.keys.alice);
    let noise = async {
        let mut sent = 0;
        loop {
            let calls = (0..16).map(|number| {
                let name = format!("noise {number}");
                let arguments = json!({ "name": name });
                alice.call("board_create", arguments)
            });
            sent += join_all(calls).await.len();
            if sent > 4_000 {
                break;
            }
        }
        sent
    };
    let quiet = slowest(&world.server, &world.keys.bob, 100);
    let beside = tokio::select! {
        beside = quiet => beside,
        sent = noise => panic!("bob was not answered while {sent} calls of alice were"),
    };
    // A queue behind alice would have made bob wait until all her calls were answered.
    println!("g13: p99 {alone:?} alone, {beside:?} beside a user with 16 calls at once");
}
