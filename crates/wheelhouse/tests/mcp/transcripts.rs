//! Reading transcripts: little by default, everything on request.

use serde_json::{Value, json};
use wh_domain::{KeyScope, MessageKind, Owner, UserRole};
use wh_testkit::{seed::Seed, server::TestServer};

use crate::harness::Mcp;

/// A server with one session that said a few things.
struct Told {
    _server: TestServer,
    mcp: Mcp,
    stranger: Mcp,
    session: String,
    ids: Vec<String>,
}

async fn told() -> Told {
    let mut server = TestServer::stopped();
    let seed = Seed::open(&server.data_dir()).await.unwrap();
    seed.user("root", UserRole::Admin).await.unwrap();
    let user = seed.user("alice", UserRole::Member).await.unwrap();
    let other = seed.user("bob", UserRole::Member).await.unwrap();
    let owner = Owner {
        user: user.id,
        key: None,
    };
    let session = seed.session(owner, "talks", None).await.unwrap();
    let long = "long ".repeat(2_000);
    let said = [
        (MessageKind::System, "started"),
        (MessageKind::Prompt, "paint the fence"),
        (MessageKind::ToolCall, "edit fence.txt"),
        (MessageKind::Agent, "the fence is blue"),
        (MessageKind::Prompt, "now green"),
        (MessageKind::Agent, long.as_str()),
        (MessageKind::Agent, "the fence is green"),
        (MessageKind::System, "idle"),
    ];
    let ids = seed.messages(session.id, &said).await.unwrap();
    let key = seed.key(user.id, KeyScope::Full, None).await.unwrap().1;
    let strangers = seed.key(other.id, KeyScope::Full, None).await.unwrap().1;
    seed.close().await;
    server.restart();
    drop(server.client());
    let url = server.about().mcp_url.clone();
    Told {
        mcp: Mcp::new(&url, &key),
        stranger: Mcp::new(&url, &strangers),
        _server: server,
        session: session.id.to_string(),
        ids: ids.iter().map(ToString::to_string).collect(),
    }
}

fn seqs(view: &Value) -> Vec<u64> {
    let messages = view["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["seq"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn the_latest_words_are_all_one_gets_unless_one_asks() {
    let told = told().await;
    let list = async |more: Value| {
        let mut arguments = json!({ "session": told.session });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Mcp::data(&told.mcp.call("message_list", arguments).await)
    };
    let latest = list(json!({})).await;
    assert_eq!(latest["messages"][0]["text"], "the fence is green");
    assert_eq!((seqs(&latest), &latest["last_seq"]), (vec![7], &json!(8)));
    assert!(latest["messages"][0]["detail"].is_null());
    // A number and an id name the same place.
    let by_seq = list(json!({ "after": "4", "max_bytes": 100_000 })).await;
    let by_id = list(json!({ "after": told.ids[3], "max_bytes": 100_000 })).await;
    assert_eq!((seqs(&by_seq), &by_seq), (vec![5, 6, 7], &by_id));
    let notes =
        list(json!({ "after": "0", "include_system": true, "view": "full", "max_bytes": 100_000 }))
            .await;
    assert_eq!(seqs(&notes), (1..=8).collect::<Vec<_>>());
    assert_eq!(notes["messages"][1]["detail"]["raw"], "paint the fence");
}

#[tokio::test]
async fn a_summary_cites_messages_and_comes_only_if_asked() {
    let told = told().await;
    let ask = json!({ "session": told.session, "summarize": true });
    let read = Mcp::data(&told.mcp.call("message_list", ask.clone()).await);
    let summary = &read["summary"];
    assert_eq!(
        (&summary["by"], &summary["state"]),
        (&json!("extract"), &json!("idle"))
    );
    let text = summary["text"].as_str().unwrap();
    for (label, id, words) in [
        ("First asked", &told.ids[1], "paint the fence"),
        ("Last asked", &told.ids[4], "now green"),
        ("Latest words", &told.ids[6], "the fence is green"),
    ] {
        let line = format!("{label} (message {id}): {words}\n");
        assert!(text.contains(&line), "{text}");
        assert!(
            summary["message_ids"]
                .as_array()
                .unwrap()
                .contains(&json!(id))
        );
    }
    assert_eq!(seqs(&read), [7]);
    assert_eq!(
        Mcp::data(&told.mcp.call("message_list", ask.clone()).await),
        read
    );
    assert_eq!(
        Mcp::code(&told.stranger.call("message_list", ask).await),
        "NOT_FOUND"
    );
    let plain = told
        .mcp
        .call("message_list", json!({ "session": told.session }));
    assert!(Mcp::data(&plain.await).get("summary").is_none());
}

#[tokio::test]
async fn answers_are_bounded_and_say_where_to_go_on() {
    let told = told().await;
    let mut after = "0".to_owned();
    let mut seen = vec![];
    loop {
        let arguments =
            json!({ "session": told.session, "after": after, "max_bytes": 200, "limit": 3 });
        let view = Mcp::data(&told.mcp.call("message_list", arguments).await);
        seen.extend(seqs(&view));
        let Some(next) = view["next_after"].as_u64() else {
            break;
        };
        after = next.to_string();
    }
    assert_eq!(seen, [2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn one_message_is_shown_whole_and_words_are_found() {
    let told = told().await;
    let got = Mcp::data(
        &told
            .mcp
            .call("message_get", json!({ "message": told.ids[2] }))
            .await,
    );
    assert_eq!(
        (&got["kind"], &got["detail"]["raw"]),
        (&json!("tool_call"), &json!("edit fence.txt"))
    );
    let query = json!({ "query": "blue FENCE" });
    let found = Mcp::data(&told.mcp.call("session_search", query.clone()).await);
    assert_eq!(found["hits"][0]["message"], told.ids[3]);
    let nothing = Mcp::data(&told.stranger.call("session_search", query).await);
    assert_eq!(nothing["hits"], json!([]));
    let foreign = told
        .stranger
        .call("message_get", json!({ "message": told.ids[2] }))
        .await;
    assert_eq!(Mcp::code(&foreign), "NOT_FOUND");
    let foreign = told
        .stranger
        .call("message_list", json!({ "session": told.session }))
        .await;
    assert_eq!(Mcp::code(&foreign), "NOT_FOUND");
    for (tool, arguments) in [
        (
            "message_list",
            json!({ "session": told.session, "view": "all" }),
        ),
        (
            "message_list",
            json!({ "session": told.session, "after": "soon" }),
        ),
        ("session_search", json!({ "query": " " })),
        ("message_get", json!({ "message": "89abcdef" })),
    ] {
        assert_eq!(
            Mcp::code(&told.mcp.call(tool, arguments).await),
            "INVALID_INPUT",
            "{tool}"
        );
    }
}

#[tokio::test]
async fn a_transcript_is_walked_by_the_numbers_that_it_returns() {
    let told = told().await;
    let (mut seen, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let page = json!({
            "session": told.session, "after": after, "limit": 3, "include_system": true, "max_bytes": 100_000,
        });
        let page = Mcp::data(&told.mcp.call("message_list", page).await);
        seen.extend(seqs(&page));
        after = page["next_after"].clone();
    }
    assert_eq!(seen, (1..=8).collect::<Vec<_>>());
    // Numbers as text, and ids, name the same messages.
    for after in [json!(6), json!("6"), json!(told.ids[5])] {
        let rest = json!({ "session": told.session, "after": after, "include_system": true });
        let rest = Mcp::data(&told.mcp.call("message_list", rest).await);
        assert_eq!(seqs(&rest), [7, 8], "{after}");
    }
    let wrong = json!({ "session": told.session, "after": 1.5 });
    let refused = told.mcp.call("message_list", wrong).await;
    assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
}

#[tokio::test]
async fn a_task_is_named_by_its_number() {
    let told = told().await;
    let call = async |tool: &str, arguments: Value| {
        let mut arguments = arguments;
        arguments["list"] = json!("release");
        Mcp::data(&told.mcp.call(tool, arguments).await)
    };
    let add = json!({ "tasks": [{ "content": "build" }, { "content": "ship", "depends_on": [] }] });
    let added = call("task_add", add).await;
    let (build, ship) = (&added["tasks"][0], &added["tasks"][1]);
    let after = json!({ "task": ship["number"], "depends_on": [build["number"]] });
    let ship = call("task_update", after).await;
    assert_eq!(ship["depends_on"], json!([build["id"]]));
}
