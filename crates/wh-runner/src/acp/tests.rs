use std::time::Instant;

use agent_client_protocol::v1::schema as acp;
use serde_json::json;

use super::{
    map,
    text::*,
    tools::{Close, Tools},
    wire,
};
use crate::event::*;

fn update(json: serde_json::Value) -> acp::ToolCallUpdate {
    serde_json::from_value(json).unwrap()
}

#[test]
fn an_update_without_a_call_creates_it_and_the_next_changes_it() {
    let mut tools = Tools::new(100);
    let first = tools.update(update(
        json!({"toolCallId": "a", "title": "Write", "kind": "edit"}),
    ));
    let [AgentEvent::ToolCall { call }] = first.as_slice() else {
        panic!("{first:?}")
    };
    assert_eq!((call.title.as_str(), call.kind), ("Write", ToolKind::Edit));
    let next = tools.update(update(json!({"toolCallId": "a", "status": "completed"})));
    let [AgentEvent::ToolCallUpdate { call }] = next.as_slice() else {
        panic!("{next:?}")
    };
    assert_eq!(
        (call.title.as_str(), call.status),
        ("Write", ToolStatus::Completed)
    );
}

#[test]
fn long_contents_are_cut_and_it_is_said() {
    let mut tools = Tools::new(10);
    let content = json!([{"type": "diff", "path": "/x", "newText": "ü".repeat(20)}]);
    let events = tools.update(update(json!({"toolCallId": "a", "content": content})));
    assert!(matches!(
        &events[0],
        AgentEvent::Notice { notice: Notice::ContentCut { call } } if call == "a"
    ));
    let AgentEvent::ToolCall { call } = &events[1] else {
        panic!()
    };
    let ToolContent::Diff { new, .. } = &call.content[0] else {
        panic!()
    };
    assert_eq!(new.len(), 10);
}

#[test]
fn a_permission_that_only_names_its_call_is_about_the_call_seen_before() {
    let mut tools = Tools::new(100);
    tools.update(update(json!({"toolCallId": "a", "title": "hub.whoami"})));
    let (call, events) = tools.asked(update(json!({"toolCallId": "a"})));
    assert_eq!(call.title, "hub.whoami");
    assert!(events.is_empty());
}

#[test]
fn words_are_joined_until_someone_else_speaks() {
    let now = Instant::now();
    let mut joiner = Joiner::default();
    assert!(joiner.push(Voice::Text, "Hel", now).is_empty());
    assert!(joiner.push(Voice::Text, "lo", now).is_empty());
    let out = joiner.push(Voice::Thought, "hm", now);
    assert_eq!(
        out,
        [AgentEvent::Text {
            text: "Hello".to_owned()
        }]
    );
    let long = "x".repeat(100_000);
    let out = joiner.push(Voice::Thought, &long, now);
    assert_eq!(out.len(), 3);
    assert!(joiner.flush().is_some() && joiner.due().is_none());
}

#[test]
fn envelopes_are_told_apart() {
    use wire::Message;
    let read = |line| wire::read(line);
    assert!(matches!(
        read(r#"{"id":"x","method":"m"}"#),
        Some(Message::Request { .. })
    ));
    assert!(matches!(
        read(r#"{"method":"m","params":{}}"#),
        Some(Message::Notification { .. })
    ));
    assert!(matches!(
        read(r#"{"id":3,"result":null}"#),
        Some(Message::Response {
            id: 3,
            result: Ok(_)
        })
    ));
    assert!(matches!(
        read(r#"{"id":3,"error":{"code":1,"message":"no"}}"#),
        Some(Message::Response { result: Err(_), .. })
    ));
    for garbage in ["", "hello", "[]", "{}", "{\"id\":\"a\",\"result\":1}"] {
        assert!(read(garbage).is_none(), "{garbage}");
    }
}

#[test]
fn gemini_tells_its_tokens_elsewhere() {
    let answer = json!({"stopReason": "end_turn",
        "_meta": {"quota": {"token_count": {"input_tokens": 7, "output_tokens": 2}}}});
    let answer: acp::PromptResponse = serde_json::from_value(answer).unwrap();
    let usage = map::turn_usage(&answer, false).unwrap();
    assert_eq!((usage.input, usage.output), (7, 2));
}

#[test]
fn a_call_that_did_not_change_is_not_told_again() {
    let mut tools = Tools::new(100);
    let call = json!({"toolCallId": "a", "title": "Write", "kind": "edit"});
    assert_eq!(tools.update(update(call.clone())).len(), 1);
    assert_eq!(tools.update(update(call)), []);
}

#[test]
fn what_a_command_prints_is_told_with_its_end() {
    let mut tools = Tools::new(100);
    let content = json!([{"type": "terminal", "terminalId": "a"}]);
    tools.update(update(
        json!({"toolCallId": "a", "title": "make", "status": "in_progress", "content": content}),
    ));
    let printed = json!({"toolCallId": "a", "_meta": {"terminal_output_delta": {"data": "one\n"}}});
    assert_eq!(tools.update(update(printed)), []);
    let ended = json!({"toolCallId": "a", "status": "completed", "name": "exec_command",
        "_meta": {"terminal_output_delta": {"data": "two\n"}}});
    let ended = tools.update(update(ended));
    let [AgentEvent::ToolCallUpdate { call }] = ended.as_slice() else {
        panic!("{ended:?}")
    };
    let text = "one\ntwo\n".to_owned();
    assert_eq!(call.content, [ToolContent::Text { text }]);
    assert_eq!(call.title, "make");
}

#[test]
fn a_call_that_is_open_when_its_turn_ends_has_failed() {
    let mut tools = Tools::new(100);
    for (id, status) in [("a", "pending"), ("b", "in_progress"), ("c", "completed")] {
        tools.update(update(json!({"toolCallId": id, "status": status})));
    }
    let failed = |events: &[AgentEvent]| -> Vec<String> {
        let call = |event: &AgentEvent| match event {
            AgentEvent::ToolCallUpdate { call } if call.status == ToolStatus::Failed => {
                call.id.clone()
            }
            other => panic!("{other:?}"),
        };
        events.iter().map(call).collect()
    };
    assert_eq!(failed(&tools.close(Close::Finished)), ["a"]);
    tools.update(update(json!({"toolCallId": "b", "status": "in_progress"})));
    assert_eq!(failed(&tools.close(Close::Broken)), ["b"]);
    assert_eq!(tools.close(Close::Broken), []);
}

#[test]
fn tools_of_a_server_are_known_by_what_the_agents_program_says() {
    let call = |json: serde_json::Value| {
        let update: acp::ToolCallUpdate = update(json);
        Tools::new(1_000).asked(update).0
    };
    let ours = [
        json!({"toolCallId": "1", "name": "mcp__hub__whoami", "title": "whoami"}),
        json!({"toolCallId": "1", "title": "mcp.hub.whoami", "rawInput": {"server": "hub", "tool": "whoami"}}),
        json!({"toolCallId": "mcp_hub_whoami__call_1", "title": "whoami (hub MCP Server)"}),
    ];
    for json in ours {
        assert_eq!(call(json.clone()).tool_of("hub"), Some("whoami"), "{json}");
        assert_eq!(call(json).tool_of("other"), None);
    }
    let others = [
        json!({"toolCallId": "1", "name": "Bash", "title": "mcp__hub__whoami"}),
        json!({"toolCallId": "1", "name": "mcp__hub__who am i"}),
        json!({"toolCallId": "1", "name": "mcp__hubs__whoami"}),
        json!({"toolCallId": "run_shell_command__mcp_hub_whoami__1", "title": "mcp_hub_whoami"}),
        json!({"toolCallId": "1", "title": "x", "rawInput": {"command": "mcp.hub.whoami"}}),
        json!({"toolCallId": "1", "title": "x", "rawInput": {"command": "reboot", "server": "hub", "tool": "whoami"}}),
        json!({"toolCallId": "1", "name": "Bash", "rawInput": {"server": "hub", "tool": "whoami"}}),
    ];
    for json in others {
        assert_eq!(call(json.clone()).tool_of("hub"), None, "{json}");
    }
}
