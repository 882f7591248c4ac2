//! C3: what is said to sessions, and what is read of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wh_testkit::server::built;

use super::{ADDRESSES, Abode, fields};
use crate::harness::Mcp;

async fn messages(abode: &Abode, address: &str, arguments: Value) -> Vec<Value> {
    let read = abode.call_at(address, "get_messages", arguments).await;
    read["messages"].as_array().unwrap().clone()
}

fn ids(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn c3_3_get_messages_tells_the_latest_words_and_the_tools_used_since() {
    let abode = Abode::new().await;
    let session = abode.session("talks").await;
    for address in ADDRESSES {
        abode.prompt(&session, "say one\nwrite a.txt hi").await;
        let arguments = json!({ "sessionId": session });
        let read = abode.call_at(address, "get_messages", arguments).await;
        let names = ["lastMessageSequence", "messages", "sessionId", "status"];
        assert_eq!(fields(&read), names);
        assert_eq!(read["messages"].as_array().unwrap().len(), 1);
        let latest = &read["messages"][0];
        let names = ["id", "sequence", "text", "toolCalls", "type"];
        assert_eq!(fields(latest), names);
        assert_eq!(
            (&latest["type"], &latest["text"]),
            (&json!("assistant"), &json!("one\n"))
        );
        let tool = &latest["toolCalls"][0];
        let id = tool["id"].clone();
        let expected = json!({ "id": id, "name": "edit", "description": "Write a.txt" });
        assert_eq!(latest["toolCalls"], json!([expected]));
    }
}

#[tokio::test]
async fn c3_3_after_message_id_takes_an_id_or_a_sequence() {
    let abode = Abode::new().await;
    let session = abode.session("talks").await;
    abode.prompt(&session, "say one").await;
    abode
        .prompt(&session, "say two\nwrite b.txt hi\nsay three")
        .await;
    for address in ADDRESSES {
        let after = |cursor: Value| json!({ "sessionId": session, "afterMessageId": cursor });
        let all = messages(&abode, address, after(json!(0))).await;
        let texts: Vec<_> = all.iter().map(|it| it["text"].as_str().unwrap()).collect();
        let prompt = "say two\nwrite b.txt hi\nsay three";
        assert_eq!(texts, ["say one", "one\n", prompt, "two\n", "", "three\n"]);
        let kinds: Vec<_> = all.iter().map(|it| it["type"].as_str().unwrap()).collect();
        let (user, assistant) = ("user", "assistant");
        assert_eq!(
            kinds,
            [user, assistant, user, assistant, assistant, assistant]
        );
        assert_eq!(all[4]["toolCalls"][0]["description"], "Write b.txt");
        let sequence = all[2]["sequence"].clone();
        let by_text = json!(sequence.to_string());
        for cursor in [all[2]["id"].clone(), sequence, by_text] {
            let later = messages(&abode, address, after(cursor.clone())).await;
            assert_eq!(ids(&later), ids(&all[3..]), "{cursor}");
        }
        let last = all[5]["id"].clone();
        assert!(messages(&abode, address, after(last)).await.is_empty());
    }
}

#[tokio::test]
async fn c3_3_system_messages_are_shown_only_if_asked() {
    let abode = Abode::new().await;
    let session = abode.session("falls").await;
    abode.prompt(&session, "say before").await;
    let fell = abode.prompt(&session, "crash").await;
    assert_eq!(fell["outcome"], "failed");
    for address in ADDRESSES {
        let after = json!({ "sessionId": session, "afterMessageId": 0 });
        let usual = messages(&abode, address, after.clone()).await;
        assert!(usual.iter().all(|it| it["type"] != "system"));
        let mut with = after;
        with["includeSystem"] = json!(true);
        let with = messages(&abode, address, with).await;
        assert!(with.iter().any(|it| it["type"] == "system"));
        // Words are looked for past them.
        let latest = messages(&abode, address, json!({ "sessionId": session })).await;
        assert_eq!(latest[0]["text"], "before\n");
    }
}

#[tokio::test]
async fn c3_4_get_message_shows_everything_of_one() {
    let abode = Abode::new().await;
    let session = abode.session("writes").await;
    let done = abode.prompt(&session, "write c.txt secret words").await;
    let call = done["messages"][0]["toolCalls"][0]["id"].as_str().unwrap();
    for address in ADDRESSES {
        let arguments = json!({ "messageId": call });
        let whole = abode.call_at(address, "get_message", arguments).await;
        let names = [
            "content",
            "createdAt",
            "id",
            "kind",
            "sequence",
            "sessionId",
            "text",
            "type",
        ];
        assert_eq!(fields(&whole), names);
        assert_eq!(
            (&whole["id"], &whole["sessionId"]),
            (&json!(call), &json!(session))
        );
        assert_eq!(whole["content"]["status"], "completed");
        assert!(whole["content"].to_string().contains("secret words"));
    }
}

#[tokio::test]
async fn c3_6_a_prompt_is_taken_at_once_and_its_sequence_finds_what_came_of_it() {
    let abode = Abode::new().await;
    let session = abode.session("fire").await;
    let mut before = 0;
    for address in ADDRESSES {
        let arguments = json!({ "sessionId": session, "prompt": "say forgotten" });
        let sent = abode.call_at(address, "send_prompt", arguments).await;
        assert_eq!(sent, json!({ "started": true, "startSequence": before }));
        // It is at work from this moment on, so that a caller that polls does not stop too early.
        abode.rest(&session).await;
        let after = json!({ "sessionId": session, "afterMessageId": before });
        let came = messages(&abode, address, after).await;
        assert_eq!(came.len(), 2);
        assert_eq!(came[1]["text"], "forgotten\n");
        before += 2;
    }
}

#[tokio::test]
async fn c3_6_waiting_returns_the_result_or_what_there_is_when_time_is_up() {
    let abode = Abode::new().await;
    let session = abode.session("waits").await;
    for address in ADDRESSES {
        let start = abode
            .call("get_session", json!({ "sessionId": session }))
            .await;
        let start = start["lastMessageSequence"].clone();
        let wait = |prompt: &str, timeout_ms: u64| {
            json!({
                "sessionId": session, "prompt": prompt,
                "waitForCompletion": true, "timeoutMs": timeout_ms,
            })
        };
        let done = abode
            .call_at(address, "send_prompt", wait("say done", 999_999_999))
            .await;
        let names = [
            "completed",
            "messages",
            "outcome",
            "startSequence",
            "started",
        ];
        assert_eq!(fields(&done), names);
        assert_eq!(
            (&done["startSequence"], &done["started"]),
            (&start, &json!(true))
        );
        assert_eq!(
            (&done["completed"], &done["outcome"]),
            (&json!(true), &json!("completed"))
        );
        assert_eq!(done["messages"].as_array().unwrap().len(), 1);
        assert_eq!(done["messages"][0]["text"], "done\n");
        let begun = Instant::now();
        let late = wait("say so far\nsleep 60", 3_000);
        let late = abode.call_at(address, "send_prompt", late).await;
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert_eq!(
            (&late["completed"], &late["outcome"]),
            (&json!(false), &json!("timeout"))
        );
        assert_eq!(late["messages"][0]["text"], "so far\n");
        abode
            .call("interrupt_session", json!({ "sessionId": session }))
            .await;
        abode.rest(&session).await;
    }
}

#[tokio::test]
async fn c3_6_a_question_returns_with_the_tool_call_that_asked_and_the_next_prompt_goes_on() {
    let abode = Abode::new().await;
    let session = abode.session("asks").await;
    for (prompt, kind, name, description) in [
        (
            "say thinking\nquestion which colour?",
            "question",
            "AskUserQuestion",
            "which colour?",
        ),
        (
            "say thinking\nask open it",
            "permission",
            "other",
            "open it",
        ),
    ] {
        let asked = abode.prompt(&session, prompt).await;
        assert_eq!(
            (&asked["completed"], &asked["outcome"]),
            (&json!(false), &json!("needs_input"))
        );
        assert_eq!(asked["messages"][0]["text"], "thinking\n");
        let by = &asked["interruptedBy"][0];
        assert_eq!(fields(by), ["approvalId", "kind", "toolCall"]);
        assert_eq!(by["kind"], kind);
        let call = &by["toolCall"];
        match kind {
            // What asks for leave is a call, which can be read.
            "permission" => {
                assert_eq!(fields(call), ["description", "id", "input", "name"]);
                let whole = json!({ "messageId": call["id"] });
                let whole = abode.call("get_message", whole).await;
                assert_eq!(whole["sessionId"], session);
            }
            _ => assert_eq!(fields(call), ["description", "input", "name"]),
        }
        assert_eq!(by["toolCall"]["name"], name);
        assert_eq!(by["toolCall"]["description"], description);
        // It waits for its caller, and so it is not at work.
        let seen = abode
            .call("get_session", json!({ "sessionId": session }))
            .await;
        assert_eq!(
            (&seen["status"], &seen["isClaudeRunning"]),
            (&json!("running"), &json!(false))
        );
        let on = abode.prompt(&session, "say blue").await;
        assert_eq!(
            (&on["outcome"], &on["messages"][0]["text"]),
            (&json!("completed"), &json!("blue\n"))
        );
    }
}

#[tokio::test]
async fn c3_6_of_parallel_calls_the_one_that_asked_is_the_triggering_one() {
    let mut abode = Abode::new().await;
    let agent = built("scripted-agent");
    let table = format!("[agents.scripted]\ncommand = [{agent:?}]\n");
    abode.server.configure(&table);
    abode.server.restart();
    abode.admin = abode.server.client();
    let url = format!("{}{}?agent=scripted", abode.server.url(), ADDRESSES[0]);
    let new = json!({ "name": "parallel", "repoFullName": "team/app", "branch": "main" });
    let made = Mcp::new(&url, &abode.key).call("create_session", new).await;
    let session = super::data(&made)["sessionId"].as_str().unwrap().to_owned();
    abode.rest(&session).await;
    let title = |n: u32| json!({ "toolCallId": format!("call-{n}"), "title": format!("Read {n}") });
    for (n, asks, name, expected) in [
        (1, format!("permission {}", title(1)), "other", true),
        (
            3,
            "question {\"toolCallId\": \"call-3\", \"message\": \"which?\"}".to_owned(),
            "other",
            true,
        ),
        // Which of them asks the agent does not say, and nobody else knows.
        (
            5,
            "question {\"message\": \"which?\"}".to_owned(),
            "AskUserQuestion",
            false,
        ),
    ] {
        // The first of two calls asks while both are in progress.
        let m = n + 1;
        let prompt = format!("call call-{n} Read {n}\ncall call-{m} Read {m}\n{asks}");
        let asked = abode.prompt(&session, &prompt).await;
        assert_eq!(asked["outcome"], "needs_input", "{asked}");
        let calls = asked["messages"].as_array().unwrap().iter();
        let calls = calls.filter(|it| !it["toolCalls"].is_null());
        assert_eq!(calls.count(), 2, "{asked}");
        let call = &asked["interruptedBy"][0]["toolCall"];
        assert_eq!(call["name"], name, "{asked}");
        assert_eq!(call.get("id").is_some(), expected, "{asked}");
        if expected {
            let whole = json!({ "messageId": call["id"] });
            let whole = abode.call("get_message", whole).await;
            assert_eq!(whole["content"]["id"], format!("call-{n}"), "{whole}");
        }
    }
}
