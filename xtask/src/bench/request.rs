//! MCP requests as benchmarks send them, and a client for the few that are sent one at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(30);

/// One request of the revision 2026-07-28.
#[derive(Debug)]
pub(super) struct McpRequest {
    headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl McpRequest {
    pub(super) fn tool(name: &str, arguments: &Value) -> Self {
        let params = json!({"name": name, "arguments": arguments});
        let mut request = Self::new("tools/call", params);
        request.headers.push(("Mcp-Name", name.to_owned()));
        request
    }

    pub(super) fn new(method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let header = |name, value: &str| (name, value.to_owned());
        Self {
            headers: vec![
                header("Content-Type", "application/json"),
                header("Accept", "application/json, text/event-stream"),
                header("MCP-Protocol-Version", "2026-07-28"),
                header("Mcp-Method", method),
            ],
            body: body.to_string(),
        }
    }

    pub(super) fn with_key(mut self, key: &str) -> Self {
        self.headers.push(bearer(key));
        self
    }

    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let pairs = self.headers.iter();
        pairs.map(|(name, value)| (*name, value.as_str())).collect()
    }
}

pub(super) fn bearer(key: &str) -> (&'static str, String) {
    ("Authorization", format!("Bearer {key}"))
}

/// Posts a request and returns the body of the answer, which must be a success.
pub(super) fn post(url: &str, request: &McpRequest) -> Result<String> {
    let mut stream = send(url, "POST", &request.headers(), &request.body)?;
    let length = head(&mut stream)?.context("the answer has no length")?;
    let mut body = vec![0; length];
    stream
        .read_exact(&mut body)
        .context("reading the answer's body")?;
    Ok(String::from_utf8(body)?)
}

/// Opens an event stream and calls `line` with each of its lines until that returns false.
pub(super) fn follow(
    url: &str,
    key: &str,
    mut line: impl FnMut(&str) -> Result<bool>,
) -> Result<()> {
    let (name, value) = bearer(key);
    let headers = [(name, value.as_str()), ("Accept", "text/event-stream")];
    let mut stream = send(url, "GET", &headers, "")?;
    head(&mut stream)?;
    let mut text = String::new();
    loop {
        text.clear();
        if stream.read_line(&mut text)? == 0 {
            bail!("the event stream ended early");
        }
        if !line(text.trim_end())? {
            return Ok(());
        }
    }
}

fn send(
    url: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<BufReader<TcpStream>> {
    let rest = url.strip_prefix("http://").context("not an http address")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut request = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\n");
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(host).with_context(|| format!("connecting to {host}"))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    Ok(BufReader::with_capacity(64 * 1024, stream))
}

/// Reads status and headers; returns the length of the body if it is told.
fn head(stream: &mut impl BufRead) -> Result<Option<usize>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    if line.split(' ').nth(1) != Some("200") {
        let mut rest = String::new();
        // The connection stays open, so there is no end to wait for: what has come is enough to tell.
        while stream.read_line(&mut rest)? > 2 {}
        bail!("the server answered {}{rest}", line.trim());
    }
    let mut length = None;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            return Ok(length);
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse()?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_names_itself_in_the_headers() {
        let request = McpRequest::tool("board_get", &json!({"board": "x"})).with_key("k");
        let headers = request.headers();
        assert!(headers.contains(&("Mcp-Name", "board_get")));
        assert!(headers.contains(&("Authorization", "Bearer k")));
        assert!(request.body.contains(r#""method":"tools/call""#));
    }

    #[test]
    fn the_head_tells_the_length() {
        let mut answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX: y\r\n\r\nbody".as_bytes();
        assert_eq!(head(&mut answer).unwrap(), Some(7));
        assert_eq!(answer, b"body");
        let mut refused = "HTTP/1.1 401 Unauthorized\r\nX: y\r\n\r\n".as_bytes();
        let error = head(&mut refused).unwrap_err().to_string();
        assert!(error.contains("401"), "{error}");
    }
}
