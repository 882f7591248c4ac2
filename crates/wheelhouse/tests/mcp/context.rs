//! What answers cost in a model's context window. `cargo xtask bench context` prints these figures and more.

use serde_json::{Value, json};
use wh_domain::{KeyScope, MessageKind, Owner, UserRole};
use wh_testkit::{seed::Seed, server::TestServer, tokens};

use crate::harness::Mcp;

/// More than a list shows.
const SESSIONS: usize = 60;
const SESSION_LIST_TOKENS_MAX: usize = 2_000;
const MESSAGE_LIST_TOKENS_MAX: usize = 500;

/// A server with many sessions, one of which has said something long.
struct Busy {
    _server: TestServer,
    mcp: Mcp,
    /// With the token of the session that spoke.
    agent: Mcp,
    session: String,
}

const WORDS: &str =
    "I looked at every file that mentions the fence and painted the ones that were not blue yet. ";

async fn busy() -> Busy {
    let mut server = TestServer::stopped();
    let seed = Seed::open(&server.data_dir()).await.unwrap();
    let user = seed.user("root", UserRole::Admin).await.unwrap();
    let owner = Owner {
        user: user.id,
        key: None,
    };
    let spoke = seed.session(owner, "talks", None).await.unwrap();
    let words = WORDS.repeat(20);
    let said = [
        (MessageKind::Prompt, "paint the fence"),
        (MessageKind::Agent, words.as_str()),
    ];
    seed.messages(spoke.id, &said).await.unwrap();
    seed.sessions(owner, SESSIONS, 0).await.unwrap();
    let longest = "The longest title that a session can have. ".repeat(4);
    for _ in 0..5 {
        seed.session(owner, longest.trim(), None).await.unwrap();
    }
    let key = seed.key(user.id, KeyScope::Full, None).await.unwrap().1;
    let token = seed.key(user.id, KeyScope::Session, Some(spoke.id));
    let token = token.await.unwrap().1;
    seed.close().await;
    server.restart();
    drop(server.client());
    let url = server.about().mcp_url.clone();
    Busy {
        mcp: Mcp::new(&url, &key),
        agent: Mcp::new(&url, &token),
        _server: server,
        session: spoke.id.to_string(),
    }
}

fn cost(answer: &Value) -> usize {
    assert_ne!(answer["isError"], true, "{answer}");
    tokens::count(&answer.to_string())
}

#[tokio::test]
async fn fifty_sessions_cost_little() {
    let busy = busy().await;
    let answer = busy.mcp.call("session_list", json!({})).await;
    let list = &answer["structuredContent"];
    assert_eq!(list["sessions"].as_array().unwrap().len(), 50);
    let first = list["sessions"][0].as_object().unwrap();
    let told: Vec<_> = first.keys().map(String::as_str).collect();
    assert_eq!(told, ["id", "title", "agent", "state"]);
    assert!(first["title"].as_str().unwrap().ends_with('…'));
    let cost = cost(&answer);
    println!("session_list of 50: {cost} tokens");
    assert!(cost <= SESSION_LIST_TOKENS_MAX, "{cost} tokens");
}

#[tokio::test]
async fn the_latest_words_cost_little_more_than_themselves() {
    let busy = busy().await;
    for (who, mcp) in [("a key", &busy.mcp), ("an agent", &busy.agent)] {
        let asked = json!({ "session": busy.session });
        let mut answer = mcp.call("message_list", asked).await;
        let said = answer["structuredContent"]["messages"][0]["text"].clone();
        let said = said.as_str().unwrap();
        // An agent gets the data as text too, because some show their model nothing else: one of the two is read.
        if who == "an agent" {
            answer["structuredContent"].take();
        }
        let beyond = cost(&answer) - tokens::count(said);
        println!("message_list by {who}: {beyond} tokens beyond the words");
        assert!(beyond <= MESSAGE_LIST_TOKENS_MAX, "{beyond} tokens");
    }
}
