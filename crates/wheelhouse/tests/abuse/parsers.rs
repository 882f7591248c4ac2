//! F: addresses that the server connects to, and what its parsers are given.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};

use crate::{
    people::{Mcp, World, board},
    wire::http,
};

#[tokio::test]
async fn f7_a_webhook_is_not_sent_to_addresses_of_this_network() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let port = world.server.url().rsplit(':').next().unwrap();
    let mut refused = 0;
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00::1]",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
    ] {
        for url in [
            format!("https://{host}:{port}/x"),
            format!("http://{host}:{port}/x"),
        ] {
            let result = alice.call("webhook_create", json!({ "url": url })).await;
            assert_eq!(result["isError"], true, "{url}: {result}");
            refused += 1;
        }
    }
    for url in [
        "file:///etc/passwd",
        "gopher://x/",
        "https://user:pw@hooks.example/x",
        "javascript:alert(1)",
        "",
    ] {
        let result = alice.call("webhook_create", json!({ "url": url })).await;
        assert_eq!(Mcp::code(&result), "INVALID_INPUT", "{url}");
        refused += 1;
    }
    // A name is resolved when something is sent: what it stands for is checked then, and nothing connects.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let hook = json!({ "url": format!("https://localhost:{own}/x") });
    Mcp::data(&alice.call("webhook_create", hook).await);
    board(&alice, "told").await;
    let failed = async {
        loop {
            let list = Mcp::data(&alice.call("webhook_list", json!({})).await);
            if list["webhooks"][0]["failures"] != 0 {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let list = tokio::select! {
        list = timeout(Duration::from_secs(10), failed) => list.expect("the delivery fails"),
        _ = listener.accept() => panic!("the server connected to itself"),
    };
    assert_eq!(list["webhooks"].as_array().unwrap().len(), 1);
    println!("f7: {refused} addresses refused, and one name when it was resolved");
}

#[tokio::test]
async fn f10_json_that_breaks_parsers_is_refused() {
    let world = World::new().await;
    let client = http(&world.server);
    let alice = world.client(&world.keys.alice);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"name\":{}1{}}}", "{\"a\":".repeat(100), "}".repeat(100));
    let number = format!("{{\"name\":\"x\",\"limit\":{}}}", "9".repeat(500_000));
    let keys: String = (0..60_000).map(|n| format!("\"k{n}\":1,")).collect();
    let mut refused = 0;
    for (what, body) in [
        ("depth", deep),
        ("depth of objects", nested),
        ("a long number", number),
        ("a huge exponent", "{\"name\":1e999999999}".to_owned()),
        (
            "a field twice",
            "{\"name\":\"a\",\"name\":\"b\"}".to_owned(),
        ),
        ("a lone surrogate", "{\"name\":\"\\ud800\"}".to_owned()),
        (
            "bytes that are no text",
            "{\"name\":\"\\u0000\"}".to_owned(),
        ),
        ("many fields", format!("{{{keys}\"name\":\"x\"}}")),
        ("two values", "{\"name\":\"a\"}{\"name\":\"b\"}".to_owned()),
        ("not finished", "{\"name\":\"a\"".to_owned()),
    ] {
        let url = format!("{}/api/v1/boards", world.server.url());
        let request = client.post(url).bearer_auth(&world.keys.alice);
        let request = request
            .header("content-type", "application/json")
            .body(body.clone());
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 400, "REST, {what}");
        // The same as a message, and as the arguments of a call.
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"board_create\",\"arguments\":{body}}}}}"
        );
        for body in [body, call] {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", HeaderValue::from_static("application/json"));
            headers.insert(
                "accept",
                HeaderValue::from_static("application/json, text/event-stream"),
            );
            let answer = alice.raw(headers, body).await;
            let status = answer.status().as_u16();
            let text = answer.text().await.unwrap();
            assert!(
                status < 500 && text.contains("rror"),
                "MCP, {what}: {status} {text}"
            );
            refused += 1;
        }
        refused += 1;
    }
    let boards = Mcp::data(&alice.call("board_list", json!({})).await);
    assert_eq!(boards["boards"], json!([]));
    println!("f10: {refused} bodies refused, nothing made");
}
