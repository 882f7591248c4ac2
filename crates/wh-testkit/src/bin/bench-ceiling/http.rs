//! A bare axum handler and a plain rmcp service, with none of our layers.

use std::{io::Write, sync::Arc};

use anyhow::Result;
use axum::{Router, routing::post, serve::ListenerExt};
use http::header;
use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

/// What the bare handler answers: about as many bytes as the echo.
const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}"#;

/// Serves until the process is ended. Prints where, first.
pub(crate) async fn serve() -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    // Without this, answers of several writes wait 40 ms; the product sets it, too.
    let listener = listener.tap_io(|stream| {
        let _best_effort = stream.set_nodelay(true);
    });
    let bare = || async { ([(header::CONTENT_TYPE, "application/json")], BODY) };
    let router = Router::new()
        .route("/bare", post(bare))
        .route_service("/mcp", echo_service());
    writeln!(std::io::stdout(), "http://{address}")?;
    axum::serve(listener, router).await?;
    Ok(())
}

fn echo_service() -> StreamableHttpService<Echo, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(false);
    let echo = Echo {
        tools: Arc::new(Echo::tool_router()),
    };
    StreamableHttpService::new(move || Ok(echo.clone()), Arc::default(), config)
}

/// One tool, with its router made once: the macro's default would make it for every call.
#[derive(Clone)]
struct Echo {
    tools: Arc<ToolRouter<Self>>,
}

/// What to say.
#[derive(Debug, Deserialize, JsonSchema)]
struct EchoRequest {
    text: String,
}

#[tool_router]
impl Echo {
    /// Says the same again.
    #[tool]
    async fn echo(&self, Parameters(request): Parameters<EchoRequest>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(request.text)])
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
