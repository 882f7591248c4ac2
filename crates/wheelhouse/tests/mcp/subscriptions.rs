//! `subscriptions/listen`: told of what changed, and only of what one may see.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    harness::{Mcp, World, board},
    worktrees::worktree,
};

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

/// One address of every kind, of things that a session of Alice's works with, and that session.
async fn addresses(world: &World, alice: &Mcp) -> (String, Vec<String>) {
    let (_, worktree) = worktree(world, alice).await;
    let new = json!({ "agent": "echo", "worktree": worktree });
    let session = Mcp::data(&alice.call("session_create", new).await);
    let session = session["id"].as_str().unwrap().to_owned();
    let uris = [
        format!("wheelhouse://session/{session}"),
        format!("wheelhouse://session/{session}/messages"),
        format!("wheelhouse://session/{session}/diff"),
        format!("wheelhouse://worktree/{worktree}"),
        format!("wheelhouse://worktree/{worktree}/files/a.txt"),
        "wheelhouse://agents".to_owned(),
    ];
    (session, uris.to_vec())
}

/// Changes everything that [`addresses`] names: an agent writes a file, and another agent is installed.
async fn change(world: &World, alice: &Mcp, session: &str) {
    let prompt = json!({ "session": session, "prompt": "write a.txt changed" });
    Mcp::data(&alice.call("session_prompt", prompt).await);
    let bin = world.server.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("opencode");
    std::fs::write(&program, "#!/bin/sh\necho 1.2.3\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
}

/// Waits until every address was told of.
async fn until_all_are_told(listening: &mut Listening, uris: &[String]) {
    let mut untold: Vec<_> = uris.iter().collect();
    while !untold.is_empty() {
        let news = listening.next().await.expect("the stream goes on");
        if news["method"] == "notifications/resources/updated" {
            untold.retain(|uri| news["params"]["uri"] != **uri);
        }
    }
}

#[tokio::test]
async fn every_kind_of_resource_is_told_of_in_both_eras() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (session, uris) = addresses(&world, &alice).await;
    let mut modern = Listening::open(&alice, &uris).await;
    let legacy = alice.initialize("2025-11-25").await;
    let mut stream = Listening::of_session(&alice, &legacy).await;
    for uri in &uris {
        let params = json!({ "uri": uri });
        let subscribed = alice.legacy(&legacy, "resources/subscribe", params).await;
        assert!(subscribed["result"].is_object(), "{uri}: {subscribed}");
    }
    // What is looked at is told once at the beginning, whatever changed before the first look.
    let is_looked_at = |uri: &&String| {
        ["worktree", "diff", "agents"]
            .iter()
            .any(|kind| uri.contains(kind))
    };
    let looked_at: Vec<String> = uris.iter().filter(is_looked_at).cloned().collect();
    until_all_are_told(&mut modern, &looked_at).await;
    change(&world, &alice, &session).await;
    until_all_are_told(&mut modern, &uris).await;
    until_all_are_told(&mut stream, &uris).await;
}

#[tokio::test]
async fn somebody_elses_is_like_what_does_not_exist() {
    let world = World::new().await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let (session, mut uris) = addresses(&world, &alice).await;
    // Everyone may see the agents.
    uris.pop();
    let absent = "wheelhouse://session/00000000-0000-7000-8000-000000000000".to_owned();
    uris.push(absent.clone());
    let legacy = bob.initialize("2025-11-25").await;
    let mut answers = vec![];
    for uri in &uris {
        let params = json!({ "uri": uri });
        let refused = bob.legacy(&legacy, "resources/subscribe", params).await;
        answers.push(refused["error"].clone());
    }
    assert_eq!(answers, vec![answers[0].clone(); answers.len()]);
    assert_eq!(answers[0]["message"], "Resource not found");
    let mine = board(&bob, "mine").await;
    uris.push(format!("wheelhouse://board/{mine}"));
    let mut listening = Listening::open(&bob, &uris).await;
    let prompt = json!({ "session": session, "prompt": "write a.txt changed", "wait": 20 });
    Mcp::data(&alice.call("session_prompt", prompt).await);
    let change = json!({ "board": mine, "name": "changed" });
    Mcp::data(&bob.call("board_update", change).await);
    let news = listening.next().await.unwrap();
    assert_eq!(news["params"]["uri"], uris[uris.len() - 1]);
}

#[tokio::test]
async fn what_is_no_address_is_not_acknowledged() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let good = "wheelhouse://agents";
    let uris = json!([good, "file:///etc/passwd", "wheelhouse://user/1"]);
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    let response = alice.send("subscriptions/listen", filter).await;
    let mut listening = Listening {
        bytes: response.bytes_stream().boxed(),
        text: String::new(),
    };
    let told = listening.next().await.unwrap();
    let accepted = &told["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted, &json!([good]), "{told}");
}

/// Opens a subscription to a task, as a client that knows tasks.
async fn listen_to_task(client: &Mcp, task: &str) -> Listening {
    let filter = json!({ "notifications": { "taskIds": [task] } });
    let response = client.send("subscriptions/listen", filter).await;
    assert_eq!(response.status(), 200);
    let mut listening = Listening {
        bytes: response.bytes_stream().boxed(),
        text: String::new(),
    };
    let told = listening.next().await.unwrap();
    assert_eq!(
        told["params"]["notifications"]["taskIds"],
        json!([task]),
        "{told}"
    );
    listening
}

#[tokio::test]
async fn a_task_is_told_of_to_whom_it_belongs() {
    let world = World::new().await;
    let [alice, bob] = [&world.keys.alice, &world.keys.bob].map(|key| {
        let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
        let client = world.client(key);
        client.capable_of(json!({ "extensions": extensions }))
    });
    let made = alice.call("session_create", json!({ "agent": "echo" }));
    let session = Mcp::data(&made.await)["id"].clone();
    let prompt = json!({ "session": session, "prompt": "sleep 2\nsay done", "wait": 60 });
    let begun = alice.call("session_prompt", prompt).await;
    let task = begun["taskId"].as_str().unwrap();
    let mut bobs = listen_to_task(&bob, task).await;
    let mut listening = listen_to_task(&alice, task).await;
    let news = listening.next().await.unwrap();
    assert_eq!(news["method"], "notifications/tasks", "{news}");
    assert_eq!(news["params"]["status"], "working", "{news}");
    let tag = &news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert!(!tag.is_null(), "{news}");
    let news = loop {
        let news = listening.next().await.unwrap();
        if news["params"]["status"] != "working" {
            break news;
        }
    };
    assert_eq!(news["params"]["status"], "completed", "{news}");
    assert!(
        news["params"]["result"].to_string().contains("done"),
        "{news}"
    );
    let heard = timeout(Duration::from_millis(200), bobs.next()).await;
    assert!(heard.is_err(), "{heard:?}");
    // A client that does not know tasks is told so.
    let plain = world.client(&world.keys.alice);
    let filter = json!({ "notifications": { "taskIds": [task] } });
    let refused = plain.send("subscriptions/listen", filter).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let required = &refused["error"]["data"]["requiredCapabilities"];
    assert!(required["extensions"].is_object(), "{refused}");
}
