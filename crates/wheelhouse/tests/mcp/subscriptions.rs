//! `subscriptions/listen`: told of what changed, and only of what one may see.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{Mcp, World, board};

const SOON: Duration = Duration::from_secs(20);

/// An open subscription.
struct Listening {
    bytes: futures::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

impl Listening {
    async fn open(client: &Mcp, uris: &[String]) -> Self {
        let filter = json!({ "notifications": { "resourceSubscriptions": uris, "resourcesListChanged": true } });
        let response = client.send("subscriptions/listen", filter).await;
        assert_eq!(response.status(), 200);
        let mut listening = Self {
            bytes: response.bytes_stream().boxed(),
            text: String::new(),
        };
        let acknowledged = listening.next().await.unwrap();
        assert_eq!(
            acknowledged["method"],
            "notifications/subscriptions/acknowledged"
        );
        listening
    }

    /// Follows the stream of a legacy session.
    async fn of_session(client: &Mcp, session: &str) -> Self {
        let response = client.get_stream(session).await;
        assert_eq!(response.status(), 200);
        Self {
            bytes: response.bytes_stream().boxed(),
            text: String::new(),
        }
    }

    /// Returns the next message; nothing when the stream is over.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                let data = block.lines().find_map(|line| line.strip_prefix("data:"));
                if let Some(data) = data.map(str::trim).filter(|data| !data.is_empty()) {
                    return Some(serde_json::from_str(data).unwrap());
                }
                continue;
            }
            let chunk = timeout(SOON, self.bytes.next())
                .await
                .expect("news, soon")?;
            let chunk = chunk.ok()?;
            self.text
                .push_str(&String::from_utf8_lossy(&chunk).replace("\r\n", "\n"));
        }
    }
}

#[tokio::test]
async fn a_listener_is_told_of_its_own_and_not_of_others() {
    let world = World::new().await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let mine = board(&alice, "mine").await;
    let theirs = board(&bob, "theirs").await;
    let uris = [&mine, &theirs].map(|id| format!("wheelhouse://board/{id}"));
    let mut listening = Listening::open(&alice, &uris).await;
    for (client, id) in [(&bob, &theirs), (&alice, &mine)] {
        let change = json!({ "board": id, "name": "changed" });
        Mcp::data(&client.call("board_update", change).await);
    }
    let news = listening.next().await.unwrap();
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["uri"], uris[0]);
    board(&alice, "another").await;
    let news = listening.next().await.unwrap();
    assert_eq!(news["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn a_subscription_ends_with_its_key() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let made = json!({ "name": "short-lived", "scope": "full" });
    let made = Mcp::data(&alice.call("key_create", made).await);
    let client = world.client(made["key"].as_str().unwrap());
    let mut listening = Listening::open(&client, &[]).await;
    Mcp::data(&alice.call("key_revoke", json!({ "key": made["id"] })).await);
    while listening
        .next()
        .await
        .is_some_and(|message| message["result"].is_null())
    {}
    let refused = client.send("tools/list", json!({})).await;
    assert_eq!(refused.status(), 401);
}

#[tokio::test]
async fn a_legacy_client_subscribes_on_its_session() {
    let world = World::new().await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let id = board(&alice, "watched").await;
    let uri = format!("wheelhouse://board/{id}");
    let session = alice.initialize("2025-11-25").await;
    let mut stream = Listening::of_session(&alice, &session).await;
    let params = json!({ "uri": uri });
    let subscribed = alice
        .legacy(&session, "resources/subscribe", params.clone())
        .await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let change = json!({ "board": id, "name": "changed" });
    Mcp::data(&alice.call("board_update", change).await);
    let news = stream.next().await.unwrap();
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["uri"], uri);
    // Somebody else neither subscribes to it nor uses the session.
    let bobs = bob.initialize("2025-11-25").await;
    let refused = bob
        .legacy(&bobs, "resources/subscribe", params.clone())
        .await;
    assert_eq!(refused["error"]["message"], "Resource not found");
    let stolen = bob.legacy(&session, "resources/unsubscribe", params).await;
    assert!(stolen["error"].is_object(), "{stolen}");
}
