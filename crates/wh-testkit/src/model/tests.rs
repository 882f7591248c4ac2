//! Each protocol over a real connection, as an agent would use it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{ModelServer, Script};

const SCRIPT: &str = r#"[
    {"match": "^USE$", "turns": [{"tool": "hub__look", "args": {"at": "x"}}, {"text": "used"}]},
    {"match": "^COUNT$", "turns": [{"text": "tick", "repeat": 1000, "delay_ms": 20}]}
]"#;
const PATIENCE: Duration = Duration::from_secs(20);

async fn server() -> ModelServer {
    ModelServer::start(Script::from_json(SCRIPT).unwrap())
        .await
        .unwrap()
}

async fn connect(server: &ModelServer, path: &str, body: &Value) -> TcpStream {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

async fn post(server: &ModelServer, path: &str, body: Value) -> String {
    let mut answer = String::new();
    connect(server, path, &body)
        .await
        .read_to_string(&mut answer)
        .await
        .unwrap();
    answer
}

#[tokio::test]
async fn messages_call_a_tool_and_go_on_after_its_result() {
    let server = server().await;
    let mut request = json!({"model": "m", "stream": true, "tools": [{"name": "hub__look"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "USE"}]}]});
    let said = post(&server, "/v1/messages", request.clone()).await;
    assert!(said.contains("event: message_stop") && said.contains(r#"{\"at\":\"x\"}"#));
    let more = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "hub__look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "seen"}]}]);
    let messages = request["messages"].as_array_mut().unwrap();
    messages.extend(more.as_array().unwrap().clone());
    request["stream"] = false.into();
    let said = post(&server, "/v1/messages", request).await;
    assert!(said.contains(r#""text":"used""#), "{said}");
    let answers: Vec<_> = server.requests().into_iter().map(|it| it.answer).collect();
    assert_eq!(answers, ["call hub__look", "used"]);
}

#[tokio::test]
async fn responses_search_for_what_is_deferred_and_know_groups() {
    let server = server().await;
    let human = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "USE"}]});
    let mut request =
        json!({"model": "m", "stream": true, "tools": [{"type": "tool_search"}], "input": [human]});
    let said = post(&server, "/v1/responses", request.clone()).await;
    assert!(said.contains(r#""type":"tool_search_call""#), "{said}");
    let look = json!({"type": "namespace", "name": "hub", "tools": [{"type": "function", "name": "look"}]});
    let input = request["input"].as_array_mut().unwrap();
    input.push(json!({"type": "tool_search_call", "call_id": "1", "arguments": {}}));
    input.push(json!({"type": "tool_search_output", "call_id": "1", "tools": [look]}));
    let said = post(&server, "/v1/responses", request).await;
    assert!(
        said.contains(r#""namespace":"hub""#) && said.contains("response.completed"),
        "{said}"
    );
}

#[tokio::test]
async fn chat_completions_and_gemini_call_tools() {
    let server = server().await;
    let chat = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "USE"}],
        "tools": [{"type": "function", "function": {"name": "hub__look"}}]});
    let said = post(&server, "/v1/chat/completions", chat).await;
    assert!(
        said.contains("tool_calls") && said.contains("data: [DONE]"),
        "{said}"
    );
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "USE"}]}],
        "tools": [{"functionDeclarations": [{"name": "hub__look"}]}]});
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let said = post(&server, path, gemini.clone()).await;
    assert!(
        said.contains(r#""functionCall""#) && said.contains("STOP"),
        "{said}"
    );
    let said = post(&server, "/v1beta/models/m:generateContent", gemini).await;
    assert!(said.contains(r#""functionCall""#), "{said}");
}

#[tokio::test]
async fn an_undeclared_tool_gives_words_and_a_schema_an_instance() {
    let server = server().await;
    let messages = json!([{"role": "user", "content": "USE"}]);
    let plain = json!({"model": "m", "messages": messages});
    let said = post(&server, "/v1/chat/completions", plain).await;
    assert!(said.contains("there is no tool hub__look"), "{said}");
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    let format = json!({"type": "json_schema", "json_schema": {"schema": schema}});
    let typed = json!({"model": "m", "messages": messages, "response_format": format});
    let said = post(&server, "/v1/chat/completions", typed).await;
    assert!(said.contains(r#"{\"title\":\"scripted\"}"#), "{said}");
}

#[tokio::test]
async fn whoever_hangs_up_is_recorded_and_an_unknown_route_is_refused() {
    let server = server().await;
    let count =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "COUNT"}]});
    let mut stream = connect(&server, "/v1/chat/completions", &count).await;
    let mut some = [0; 512];
    assert!(stream.read(&mut some).await.unwrap() > 0);
    drop(stream);
    let cut = server.request(PATIENCE, |it| it.is_cut).await;
    assert_eq!(cut.unwrap().path, "/v1/chat/completions");
    let said = post(&server, "/v1/embeddings", json!({})).await;
    assert!(said.starts_with("HTTP/1.1 404"), "{said}");
    assert_eq!(server.requests()[1].status, 404);
}
