//! The same handler over lines of JSON, on in-memory streams.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_mcp::transport::{
    Caller,
    lines::{LinesConfig, LinesError, serve},
};

use crate::harness::{Handler, MODERN, call, initialize, notification};

struct Client {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    served: JoinHandle<Result<(), LinesError>>,
    shutdown: CancellationToken,
}

impl Client {
    fn connect() -> Self {
        Self::with(LinesConfig::default())
    }

    fn with(config: LinesConfig) -> Self {
        let (input, reader) = tokio::io::duplex(1024);
        let (writer, output) = tokio::io::duplex(1024);
        let mut extensions = http::Extensions::new();
        extensions.insert(Caller::new("stdio"));
        let shutdown = CancellationToken::new();
        let serving = serve(
            Handler::default(),
            reader,
            writer,
            extensions,
            config,
            shutdown.clone(),
        );
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            served: TaskTracker::new().spawn(serving),
            shutdown,
        }
    }

    async fn say(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(10), self.output.next_line());
        let line = line.await.expect("an answer within ten seconds").unwrap();
        serde_json::from_str(&line.expect("the server to be there")).unwrap()
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.say(message.to_string()).await;
        self.hear().await
    }

    async fn start(version: &str) -> Self {
        let mut client = Self::connect();
        let answer = client.ask(&initialize(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        client.say(notification().to_string()).await;
        client
    }

    async fn end(mut self) -> Result<(), LinesError> {
        drop(self.input.take());
        self.served.await.unwrap()
    }
}

fn modern(id: u64, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn legacy_clients_shake_hands_and_call() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(version).await;
        let answer = client.ask(&call(2, "whoami")).await;
        assert_eq!(answer["result"]["content"][0]["text"], "stdio");
        client.end().await.unwrap();
    }
}

#[tokio::test]
async fn modern_clients_probe_and_call() {
    let mut client = Client::connect();
    let answer = client.ask(&modern(1, "server/discover", json!({}))).await;
    assert_eq!(
        answer["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    let params = json!({"name": "whoami", "arguments": {}});
    let answer = client.ask(&modern(2, "tools/call", params)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "stdio");
    let stamp = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(stamp["name"], "harness");
    let answer = client.ask(&modern(3, "ping", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32601);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ping")
    );
    client.end().await.unwrap();
}

#[tokio::test]
async fn garbage_is_answered_before_and_after_the_handshake() {
    let mut client = Client::connect();
    for round in 0..2 {
        client.say("nonsense").await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], -32700);
        assert_eq!(answer["id"], Value::Null);

        client.say(r#"{"jsonrpc":"2.0","id":9}"#).await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], -32600);
        assert_eq!(answer["id"], 9);

        client.say(b"\xff\xfe").await;
        assert_eq!(client.hear().await["error"]["code"], -32700);

        client.say("").await;
        if round == 0 {
            client.ask(&initialize("2025-11-25")).await;
        }
    }
    let answer = client.ask(&call(2, "echo")).await;
    assert_eq!(answer["id"], 2);
    client.end().await.unwrap();
}

#[tokio::test]
async fn long_and_deep_lines_are_refused_and_the_next_is_served() {
    let mut client = Client::with(LinesConfig {
        line_bytes_max: 1000,
        ..LinesConfig::default()
    });
    client.ask(&initialize("2025-11-25")).await;
    client.say(vec![b'x'; 100_000]).await;
    assert_eq!(client.hear().await["error"]["code"], -32600);
    client.say("[".repeat(65)).await;
    assert_eq!(client.hear().await["error"]["code"], -32700);
    assert_eq!(client.ask(&call(2, "echo")).await["id"], 2);
    client.end().await.unwrap();
}

#[tokio::test]
async fn an_end_before_any_request_is_a_clean_one() {
    Client::connect().end().await.unwrap();

    let mut client = Client::connect();
    client.say("nonsense").await;
    client.hear().await;
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_message_before_any_request_is_not_the_end() {
    let mut client = Client::connect();
    client.say(notification().to_string()).await;
    let answer = client.ask(&initialize("2025-11-25")).await;
    assert_eq!(answer["id"], 1);
    client.end().await.unwrap();
}

#[tokio::test]
async fn the_first_revision_batches_and_later_ones_do_not() {
    let mut client = Client::start("2025-03-26").await;
    let answer = client
        .ask(&json!([
            call(2, "echo"),
            notification(),
            call(3, "whoami"),
            5
        ]))
        .await;
    let mut ids: Vec<_> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(2), json!(3), Value::Null]);
    assert_eq!(client.ask(&json!([])).await["error"]["code"], -32600);
    client.say(json!([notification()]).to_string()).await;
    assert_eq!(client.ask(&call(4, "echo")).await["id"], 4);
    client.end().await.unwrap();

    let mut client = Client::start("2025-06-18").await;
    let answer = client.ask(&json!([call(2, "echo")])).await;
    assert_eq!(answer["error"]["code"], -32600);
    client.end().await.unwrap();
}

#[tokio::test]
async fn answers_on_their_way_arrive_after_the_input_has_ended() {
    let mut client = Client::start("2025-11-25").await;
    for id in 2..20 {
        client.say(call(id, "echo").to_string()).await;
    }
    drop(client.input.take());
    let mut ids = Vec::new();
    for _ in 2..20 {
        ids.push(client.hear().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (2..20).collect::<Vec<_>>());
    client.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn shutdown_ends_the_connection() {
    let client = Client::start("2025-11-25").await;
    client.shutdown.cancel();
    client.served.await.unwrap().unwrap();

    let client = Client::connect();
    client.shutdown.cancel();
    client.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_connection() {
    let mut client = Client::start("2025-11-25").await;
    let (_, unused) = tokio::io::duplex(1);
    client.output = BufReader::new(unused).lines();
    client.say(call(2, "echo").to_string()).await;
    assert!(matches!(
        client.served.await.unwrap(),
        Err(LinesError::Write(_))
    ));
}
