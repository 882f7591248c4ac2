//! A server with the fixtures of the official MCP conformance suite, on our transport and our edge.
//!
//! The suite calls tools, resources and prompts by fixed names and compares what they answer, so everything it needs
//! is here and nothing else. What is under test is `wh_mcp::transport` behind `wh_http::serve` and the guard.

#![expect(
    deprecated,
    reason = "the suite still tests sampling, roots and logging"
)]

mod ask;
mod handler;
mod input_required;
mod prompts;
mod resources;
mod tasks;
mod tools;

use std::io::Write;

use anyhow::{Context, bail};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::Layer;
use wh_http::{
    guard::{GuardConfig, GuardLayer},
    serve::{Limits, Listener, serve},
};
use wh_mcp::transport::{McpService, TransportConfig};

use crate::handler::Fixtures;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = port_argument(std::env::args().skip(1))?;
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .with_context(|| format!("failed to listen on port {port}"))?;
    let address = listener.local_addr()?;

    let shutdown = CancellationToken::new();
    let config = TransportConfig {
        shutdown: shutdown.clone(),
        ..TransportConfig::default()
    };
    let mcp = McpService::new(Fixtures::default(), config);
    let router = axum::Router::new().route_service("/mcp", mcp);
    let guard = GuardLayer::new(&GuardConfig::for_address(address));

    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    let serving = serve(
        vec![Listener::Tcp(listener)],
        guard.layer(router),
        Limits::default(),
        shutdown.clone(),
    );
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        _ = &mut serving => {}
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            shutdown.cancel();
            serving.await;
        }
    }
    Ok(())
}

fn port_argument(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<u16> {
    match (
        arguments.next().as_deref(),
        arguments.next(),
        arguments.next(),
    ) {
        (None, None, None) => Ok(0),
        (Some("--port"), Some(port), None) => port.parse().context("--port takes a number"),
        _ => bail!("usage: conformance-server [--port N]"),
    }
}
