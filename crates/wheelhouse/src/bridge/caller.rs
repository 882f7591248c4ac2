//! A client of the line stream that makes one call after the other.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};
use wh_client::{Client, McpLines};
use wh_domain::ErrorCode;

use super::line::LineReader;
use crate::exit::{CliError, CliResult};

/// The revision this caller speaks; the server speaks them all.
const PROTOCOL: &str = "2025-11-25";
/// How long a call may take: somewhat more than the longest wait a tool offers.
const ANSWER_WITHIN: Duration = Duration::from_secs(330);

/// Calls MCP methods and waits for their results.
pub(crate) struct McpCaller {
    from_server: LineReader<ReadHalf<McpLines>>,
    to_server: WriteHalf<McpLines>,
    last_id: u64,
}

impl McpCaller {
    /// Opens a stream that shows every tool, and introduces itself.
    pub(crate) async fn open(client: &Client) -> CliResult<Self> {
        let (read, write) = tokio::io::split(
            client
                .mcp_lines(None, &json!({ "toolsets": "all" }))
                .await?,
        );
        let mut caller = Self {
            from_server: LineReader::new(read),
            to_server: write,
            last_id: 0,
        };
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": "wheelhouse", "version": env!("CARGO_PKG_VERSION") },
        });
        caller.request("initialize", params).await?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        caller.send(&initialized).await?;
        Ok(caller)
    }

    /// Calls a method and returns its result.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> CliResult<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        let answer = tokio::time::timeout(ANSWER_WITHIN, self.answer(id)).await;
        let mut answer = answer.map_err(|_| broken("no answer within 330 s"))??;
        if let Some(message) = answer["error"]["message"].as_str() {
            let code = match answer["error"]["code"].as_i64() {
                Some(-32602..=-32600) => ErrorCode::InvalidInput,
                _ => ErrorCode::Internal,
            };
            return Err(CliError::new(code, message));
        }
        Ok(answer["result"].take())
    }

    async fn answer(&mut self, id: u64) -> CliResult<Value> {
        loop {
            let line = self.from_server.next().await;
            let Some(line) = line.map_err(|error| broken(&error.to_string()))? else {
                return Err(broken("the server closed the stream"));
            };
            let message: Value = serde_json::from_slice(&line)
                .map_err(|error| broken(&format!("the server sent no JSON: {error}")))?;
            if message["id"].as_u64() == Some(id) && message["method"].is_null() {
                return Ok(message);
            }
        }
    }

    async fn send(&mut self, message: &Value) -> CliResult {
        let line = format!("{message}\n");
        let sent = self.to_server.write_all(line.as_bytes()).await;
        sent.map_err(|error| broken(&error.to_string()))?;
        let flushed = self.to_server.flush().await;
        flushed.map_err(|error| broken(&error.to_string()))
    }
}

fn broken(why: &str) -> CliError {
    CliError::new(
        ErrorCode::Unavailable,
        format!("the call got no answer: {why}"),
    )
    .hint("see whether the server runs well with `wheelhouse doctor`")
}
