//! The raw stream of MCP lines, for `wheelhouse mcp` and anything that speaks MCP itself.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use reqwest::header::{CONNECTION, UPGRADE};
use reqwest::{StatusCode, Upgraded};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{Client, ClientError};

/// What the server calls the protocol of the stream.
const PROTOCOL: &str = "mcp-lines";

/// Newline-delimited MCP messages in both directions.
#[derive(Debug)]
pub struct McpLines(Upgraded);

impl Client {
    /// Opens a stream of MCP lines: of our own tools, or of those of a dialect. `parameters` are those of the address over HTTP, such
    /// as `toolsets`.
    pub async fn mcp_lines(
        &self,
        dialect: Option<&str>,
        parameters: &Value,
    ) -> Result<McpLines, ClientError> {
        let path: Vec<_> = ["mcp"]
            .into_iter()
            .chain(dialect)
            .chain(["stdio"])
            .collect();
        let request = self
            .root_request(&path, parameters)?
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, PROTOCOL);
        let answer = self.send(request).await?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            let doing = "the server does not offer a stream of MCP lines";
            let status = answer.status().to_string();
            return Err(ClientError::transport(doing, status));
        }
        let upgraded = answer.upgrade().await;
        let upgraded = upgraded
            .map_err(|error| ClientError::transport("failed to open the MCP stream", error))?;
        Ok(McpLines(upgraded))
    }
}

impl AsyncRead for McpLines {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for McpLines {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
