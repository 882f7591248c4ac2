//! The change feed: by page, by server-sent events, by WebSocket.

use std::time::Duration;

use futures::{StreamExt, stream};
use http::Method;
use serde_json::json;
use wh_http::Mounts;

use crate::{
    browser,
    harness::TestServer,
    streams::{Sse, frame, message, socket_call, upgraded},
};

/// Makes boards and returns the numbers of their events.
async fn boards(server: &TestServer, count: usize) -> Vec<u64> {
    let page = server.get("/api/v1/events?limit=200").key(&server.admin);
    let before = page.send().await.ok(200)["through"].as_u64().unwrap();
    for n in 0..count {
        server.board(&server.admin, &format!("board {n}")).await;
    }
    let path = format!("/api/v1/events?after={before}");
    let page = server.get(&path).key(&server.admin).send().await.ok(200);
    let events = page["events"].as_array().unwrap();
    events.iter().map(|e| e["seq"].as_u64().unwrap()).collect()
}

async fn revoke(server: &TestServer, key: &str) {
    let who = server.get("/api/v1/whoami").key(key).send().await.ok(200);
    let path = format!("/api/v1/keys/{}", who["key_id"].as_str().unwrap());
    let call = server.call(Method::DELETE, &path).key(&server.admin);
    call.send().await.ok(200);
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let server = TestServer::start().await;
    let made = boards(&server, 5).await;
    let mut seen = vec![];
    let mut after = made[0] - 1;
    loop {
        let path = format!("/api/v1/events?after={after}&limit=2");
        let page = server.get(&path).key(&server.admin).send().await.ok(200);
        let events = page["events"].as_array().unwrap();
        seen.extend(events.iter().map(|e| e["seq"].as_u64().unwrap()));
        after = page["through"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn server_sent_events_begin_anywhere_and_follow() {
    let server = TestServer::start().await;
    let made = boards(&server, 3).await;
    let path = format!("/api/v1/events?after={}", made[0]);
    let mut sse = Sse::open(server.get(&path).key(&server.admin)).await;
    for seq in &made[1..] {
        let (id, name, data) = sse.next().await;
        assert_eq!((id, name.as_str()), (*seq, "event"));
        assert_eq!(
            (&data["type"], &data["seq"]),
            (&json!("event"), &json!(seq))
        );
    }
    let live = boards(&server, 1).await;
    assert_eq!(sse.next().await.0, live[0]);

    // A reconnecting browser repeats its address; what it saw last counts more.
    let call = server.get(&path).key(&server.admin);
    let call = call.header("last-event-id", &made[2].to_string());
    assert_eq!(Sse::open(call).await.next().await.0, live[0]);
    server.shutdown.cancel();
    assert_eq!(sse.block().await, None);
}

#[tokio::test]
async fn a_number_that_is_not_kept_means_resync() {
    let server = TestServer::start().await;
    let newest = *boards(&server, 1).await.last().unwrap();
    let path = "/api/v1/events?after=1000000";
    let mut sse = Sse::open(server.get(path).key(&server.admin)).await;
    let (id, name, data) = sse.next().await;
    assert_eq!((id, name.as_str()), (newest, "resync"));
    assert_eq!(data, json!({"type": "resync", "through": newest}));

    let call = socket_call(&server, path).key(&server.admin);
    let mut socket = upgraded(call.open().await).await;
    assert_eq!(message(&mut socket).await, data);
    let live = boards(&server, 1).await;
    assert_eq!(sse.next().await.0, live[0]);
    assert_eq!(message(&mut socket).await["seq"], json!(live[0]));
}

#[tokio::test]
async fn sockets_begin_anywhere_and_say_goodbye() {
    let server = TestServer::start().await;
    let made = boards(&server, 2).await;
    let path = format!("/api/v1/events?after={}", made[0] - 1);
    let call = socket_call(&server, &path).key(&server.admin);
    let mut socket = upgraded(call.open().await).await;
    for seq in made {
        let told = message(&mut socket).await;
        assert_eq!(
            (&told["type"], &told["seq"]),
            (&json!("event"), &json!(seq))
        );
    }
    server.shutdown.cancel();
    let (opcode, bytes) = frame(&mut socket).await;
    assert_eq!((opcode, &bytes[..2]), (8, &1001_u16.to_be_bytes()[..]));
    drop(socket);
    server.stop().await;
}

#[tokio::test]
async fn revoking_the_key_ends_its_streams() {
    let server = TestServer::start().await;
    let key = server.member("mia").await;
    let mut sse = Sse::open(server.get("/api/v1/events").key(&key)).await;
    let call = socket_call(&server, "/api/v1/events").key(&key);
    let mut socket = upgraded(call.open().await).await;
    revoke(&server, &key).await;
    let start = std::time::Instant::now();
    while sse.block().await.is_some() {}
    let (opcode, bytes) = loop {
        let (opcode, bytes) = frame(&mut socket).await;
        if opcode != 1 {
            break (opcode, bytes);
        }
    };
    assert_eq!((opcode, &bytes[..2]), (8, &1008_u16.to_be_bytes()[..]));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn silence_is_broken_by_a_sign_of_life() {
    let quick = |config: &mut wh_http::HttpConfig| {
        config.limits.ping_every = Duration::from_secs(1);
    };
    let server = TestServer::start_with(quick, Mounts::default()).await;
    let mut sse = Sse::open(server.get("/api/v1/events").key(&server.admin)).await;
    let (_, name, data) = sse.next().await;
    assert_eq!((name.as_str(), &data["type"]), ("ping", &json!("idle")));
    let call = socket_call(&server, "/api/v1/events").key(&server.admin);
    let mut socket = upgraded(call.open().await).await;
    assert_eq!(frame(&mut socket).await.0, 9);
}

#[tokio::test]
async fn a_slow_reader_misses_nothing() {
    let server = TestServer::start().await;
    let start = *boards(&server, 1).await.last().unwrap();
    let path = format!("/api/v1/events?after={start}");
    let mut sse = Sse::open(server.get(&path).key(&server.admin)).await;
    let call = socket_call(&server, &path).key(&server.admin);
    let mut socket = upgraded(call.open().await).await;
    // More than the feed reads at once.
    let count: usize = 300;
    let names: Vec<_> = (0..count).map(|n| format!("board {n}")).collect();
    let made = names.iter().map(|name| server.board(&server.admin, name));
    let made = stream::iter(made).buffer_unordered(16).count().await;
    assert_eq!(made, count);
    for n in 1..=count as u64 {
        assert_eq!(sse.next().await.0, start + n);
        assert_eq!(message(&mut socket).await["seq"], json!(start + n));
    }
}

#[tokio::test]
async fn others_see_nothing_of_it() {
    let server = TestServer::start().await;
    let mia = server.member("mia").await;
    let path = "/api/v1/events?after=0&limit=200";
    let before = server.get(path).key(&mia).send().await.ok(200);
    boards(&server, 2).await;
    let after = server.get(path).key(&mia).send().await.ok(200);
    assert_eq!(before["events"], after["events"]);
}

#[tokio::test]
async fn streams_are_limited_and_places_given_back() {
    let few = |config: &mut wh_http::HttpConfig| config.limits.streams_per_principal_max = 1;
    let server = TestServer::start_with(few, Mounts::default()).await;
    let sse = Sse::open(server.get("/api/v1/events").key(&server.admin)).await;
    let call = socket_call(&server, "/api/v1/events").key(&server.admin);
    call.send().await.refused(429, "LIMIT_EXCEEDED");
    drop(sse);
    for _ in 0..50 {
        let call = socket_call(&server, "/api/v1/events").key(&server.admin);
        if call.open().await.status() == 101 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the place was not given back");
}

#[tokio::test]
async fn a_cookie_opens_a_socket_only_from_our_page() {
    let server = TestServer::start().await;
    let cookie = browser::sign_in(&server).await;
    let call = || socket_call(&server, "/api/v1/events").cookie(&cookie);
    call().send().await.refused(403, "FORBIDDEN");
    let same = call().header("sec-fetch-site", "same-origin");
    same.send().await.refused(403, "FORBIDDEN");
    let evil = call().header("origin", "http://evil.example");
    assert_eq!(evil.send().await.status, 403);
    let origin = format!("http://{}", server.address);
    let ours = call().header("origin", &origin);
    assert_eq!(ours.open().await.status(), 101);
}

#[tokio::test]
async fn bad_streams_are_refused_before_they_begin() {
    let server = TestServer::start().await;
    for path in [
        "/api/v1/events?after=x",
        "/api/v1/events?limit=3",
        "/api/v1/events?token=x",
    ] {
        let call = server.get(path).key(&server.admin);
        let answer = call.header("accept", "text/event-stream").send().await;
        answer.refused(400, "INVALID_INPUT");
    }
    let call = server.get("/api/v1/events").key(&server.admin);
    let call = call.header("accept", "text/event-stream");
    let answer = call.header("last-event-id", "x").send().await;
    answer.refused(400, "INVALID_INPUT");
    let call = server.get("/api/v1/events").key(&server.admin);
    let call = call.header("connection", "upgrade");
    let answer = call.header("upgrade", "websocket").send().await;
    answer.refused(400, "INVALID_INPUT");
}
