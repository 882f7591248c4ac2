//! Calls of our tools, over the address and token that came with the conversation.

use http_body_util::{BodyExt, Full};
use hyper::{Request, body::Bytes, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::task::TaskTracker;

/// The revision of MCP that is spoken: stateless, one call is one request.
const REVISION: &str = "2025-06-18";

pub(super) struct Tools {
    url: http::Uri,
    headers: Vec<(String, String)>,
}

impl Tools {
    /// Takes the first HTTP server of a `mcpServers` list.
    pub(super) fn from_servers(servers: &Value) -> Option<Self> {
        let server = servers
            .as_array()?
            .iter()
            .find(|server| server["type"] == "http")?;
        let headers = server["headers"].as_array()?.iter().filter_map(|header| {
            let text = |name: &str| header[name].as_str().map(str::to_owned);
            Some((text("name")?, text("value")?))
        });
        Some(Self {
            url: server["url"].as_str()?.parse().ok()?,
            headers: headers.collect(),
        })
    }

    /// Calls a tool and returns its words, or why there are none.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = self.post(&call).await?;
        if let Some(message) = answer["error"]["message"].as_str() {
            return Err(message.to_owned());
        }
        let content = answer["result"]["content"].as_array();
        let texts = content
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        match answer["result"]["isError"] == true {
            true => Err(text),
            false => Ok(text),
        }
    }

    async fn post(&self, message: &Value) -> Result<Value, String> {
        let say = |error: &dyn std::fmt::Display| format!("the tools cannot be reached: {error}");
        let authority = self.url.authority().ok_or("the tools have no address")?;
        let stream = TcpStream::connect(authority.as_str())
            .await
            .map_err(|e| say(&e))?;
        let io = TokioIo::new(stream);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io)
            .await
            .map_err(|e| say(&e))?;
        TaskTracker::new().spawn(async move {
            connection.await.ok();
        });
        let mut request = Request::post(self.url.path())
            .header(header::HOST, authority.as_str())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(message.to_string()));
        let request = request.body(body).map_err(|e| say(&e))?;
        let response = sender.send_request(request).await.map_err(|e| say(&e))?;
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|e| say(&e))?
            .to_bytes();
        let text = String::from_utf8_lossy(&body);
        // An answer may come as the one event of a stream.
        let json = text.lines().rev().find_map(|line| {
            serde_json::from_str(line.strip_prefix("data:").unwrap_or(line).trim()).ok()
        });
        json.ok_or_else(|| format!("the tools answered {status}: {text}"))
    }
}
