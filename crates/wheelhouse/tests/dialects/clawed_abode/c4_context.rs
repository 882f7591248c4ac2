//! C4: what an answer costs its reader.

use serde_json::{Value, json};

use super::{ADDRESSES, Abode, fields};

#[tokio::test]
async fn c4_1_what_a_person_would_read_comes_first_and_the_rest_by_its_id() {
    let abode = Abode::new().await;
    let session = abode.session("long").await;
    let filler = "x".repeat(20_000);
    let prompt = format!("say early\nwrite big.txt {filler}\nsay The file is written.");
    abode.prompt(&session, &prompt).await;
    for address in ADDRESSES {
        let latest = abode.call_at(address, "get_messages", json!({ "sessionId": session }));
        let latest = latest.await;
        assert_eq!(latest["messages"].as_array().unwrap().len(), 1);
        assert_eq!(latest["messages"][0]["text"], "The file is written.\n");
        let bytes = latest.to_string().len();
        println!("the default answer beyond the words: {} bytes", bytes - 21);
        assert!(bytes < 600, "{latest}");
        // All of it, without what went into tools and came out; that is one call away.
        let all = json!({ "sessionId": session, "afterMessageId": 1 });
        let all = abode.call_at(address, "get_messages", all).await;
        assert!(!all.to_string().contains(&filler));
        let call = &all["messages"][1]["toolCalls"][0]["id"];
        let whole = abode.call_at(address, "get_message", json!({ "messageId": call }));
        assert!(whole.await.to_string().contains(&filler));
    }
}

#[tokio::test]
async fn c4_1_a_long_transcript_is_read_in_parts() {
    let abode = Abode::new().await;
    let session = abode.session("longer").await;
    for _ in 0..3 {
        abode.prompt(&session, "flood 20000").await;
    }
    let mut after = json!(0);
    let mut seen = Vec::new();
    loop {
        let part = json!({ "sessionId": session, "afterMessageId": after });
        let part = abode.call("get_messages", part).await;
        assert!(part.to_string().len() < 60_000);
        let messages = part["messages"].as_array().unwrap();
        seen.extend(messages.iter().map(|it| it["sequence"].as_u64().unwrap()));
        match part.get("nextAfterMessageId") {
            Some(next) => after = next.clone(),
            None => break,
        }
    }
    assert_eq!(seen, (1..=6).collect::<Vec<_>>());
}

#[tokio::test]
async fn c4_2_a_summary_tells_the_state_and_cites_what_matters() {
    let abode = Abode::new().await;
    let session = abode.session("summed up").await;
    let first = abode
        .prompt(&session, "say Which way?\ncall no_such_tool")
        .await;
    abode
        .prompt(&session, "say See https://example.org/team/app/pull/7")
        .await;
    let cited = |read: &Value, label: &str| {
        let text = read["summary"]["text"].as_str().unwrap().to_owned();
        let line = text.lines().find(|line| line.starts_with(label));
        let line = line.unwrap_or_else(|| panic!("no {label} in {text}"));
        let (_, rest) = line.split_once("(message ").unwrap();
        rest.split_once(')').unwrap().0.to_owned()
    };
    for address in ADDRESSES {
        let arguments = json!({ "sessionId": session, "summarize": true });
        let read = abode
            .call_at(address, "get_messages", arguments.clone())
            .await;
        let summary = &read["summary"];
        assert_eq!(
            fields(summary),
            ["generatedBy", "messageIds", "state", "text"]
        );
        assert_eq!(
            (&summary["generatedBy"], &summary["state"]),
            (&json!("extract"), &json!("idle"))
        );
        // The latest words in full, beside it.
        let words = "See https://example.org/team/app/pull/7\n";
        assert_eq!(read["messages"][0]["text"], words);
        assert_eq!(cited(&read, "Pull request"), read["messages"][0]["id"]);
        assert_eq!(cited(&read, "Question"), first["messages"][0]["id"]);
        assert_eq!(cited(&read, "Error"), first["messages"][1]["id"]);
        let ids = summary["messageIds"].as_array().unwrap();
        for label in ["First asked", "Last asked", "Latest words", "Error"] {
            let id = cited(&read, label);
            assert!(ids.contains(&json!(id)), "{label}");
            let whole = abode.call_at(address, "get_message", json!({ "messageId": id }));
            assert_eq!(whole.await["sessionId"], session);
        }
        assert!(summary["text"].as_str().unwrap().len() < 4_000);
        // The same every time, and only if asked.
        assert_eq!(
            abode.call_at(address, "get_messages", arguments).await,
            read
        );
        let plain = abode.call_at(address, "get_messages", json!({ "sessionId": session }));
        assert!(plain.await.get("summary").is_none());
    }
    abode.prompt(&session, "ask open it").await;
    let waiting = json!({ "sessionId": session, "summarize": true });
    let waiting = abode.call("get_messages", waiting).await;
    assert_eq!(waiting["summary"]["state"], "waiting for input");
    let text = waiting["summary"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("State: waiting for input (permission: open it)."),
        "{text}"
    );
}
