//! Size and nesting are bounded before anything is parsed.

use serde_json::{Value, json};
use wh_mcp::transport::TransportConfig;

use crate::harness::{Server, post_modern, post_text};

fn nested(levels: usize) -> String {
    // The request itself is one level, "params" the second.
    let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{open}{close}}}}}"#)
}

#[tokio::test]
async fn nesting_is_bounded() {
    let server = Server::start().await;
    let reply = server.send(post_text(nested(65)).build()).await;
    reply.assert_error(400, -32700, Value::Null);
    let reply = server.send(post_text(nested(200_000)).build()).await;
    reply.assert_error(400, -32700, Value::Null);
    let reply = server
        .send(post_text(nested(64)).agent("bot").build())
        .await;
    assert_eq!(reply.json()["result"], json!({}));
}

#[tokio::test]
async fn brackets_in_text_are_not_nesting() {
    let server = Server::start().await;
    let arguments = json!({"text": "[{".repeat(1000), "quote": "\"[[\\"});
    let params = json!({"name": "echo", "arguments": arguments});
    let reply = server.send(post_modern("tools/call", params).build()).await;
    assert_eq!(reply.tool_text(), arguments.to_string());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let server = Server::with(TransportConfig {
        body_bytes_max: 1000,
        ..TransportConfig::default()
    })
    .await;
    let reply = server.send(post_text(vec![b' '; 1001]).build()).await;
    reply.assert_error(413, -32600, Value::Null);
    let params = json!({"name": "echo", "arguments": {}});
    let reply = server.send(post_modern("tools/call", params).build()).await;
    assert_eq!(reply.tool_text(), "{}");
}
