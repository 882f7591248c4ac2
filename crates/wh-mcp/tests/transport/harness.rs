//! A server on port 0 with a small handler, and a client that sends exactly what it is told to.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
        Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_util::task::TaskTracker;
use tower::ServiceBuilder;
use wh_mcp::transport::{Caller, McpService, TransportConfig, caller};

pub(crate) const MODERN: &str = "2026-07-28";

/// A handler whose tools show what reached them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handler {
    /// Lets one call of `wait` go on.
    pub(crate) release: Arc<Notify>,
    /// Rung when such a call is about to answer.
    pub(crate) released: Arc<Notify>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tasks()
                .enable_tools()
                .build(),
        )
        .with_server_info(Implementation::new("harness", "1"))
    }

    async fn cancel_task(
        &self,
        _task: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "echo", "Echoes.", schema,
        )]))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = match call.name.as_ref() {
            "echo" => json!(call.arguments).to_string(),
            "whoami" => caller(&context)
                .map_or("nobody", |caller| &caller.id)
                .to_owned(),
            "progress" => {
                if let Some(token) = context.meta.get_progress_token() {
                    let step = ProgressNotificationParam::new(token, 1.0);
                    context.peer.notify_progress(step).await.unwrap();
                }
                "done".to_owned()
            }
            "wait" => {
                self.release.notified().await;
                self.released.notify_one();
                "waited".to_owned()
            }
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// A running server. Its connections end with the test's runtime.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) handler: Handler,
    address: SocketAddr,
    service: McpService<Handler>,
    _connections: TaskTracker,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(TransportConfig::default()).await
    }

    pub(crate) async fn with(config: TransportConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let handler = Handler::default();
        let service = McpService::new(handler.clone(), config);
        let connections = TaskTracker::new();
        let (accepting, endpoint) = (connections.clone(), service.clone());
        connections.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = ServiceBuilder::new()
                    .map_request(authenticated)
                    .service(endpoint.clone());
                accepting.spawn(async move {
                    let service = TowerToHyperService::new(service);
                    let connection = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service);
                    // Clients here hang up whenever they have seen enough.
                    drop(connection.await);
                });
            }
        });
        Self {
            handler,
            address,
            service,
            _connections: connections,
        }
    }

    pub(crate) fn session_count(&self) -> usize {
        self.service.legacy_session_count()
    }

    pub(crate) async fn close_sessions(&self) {
        self.service.close_legacy_sessions().await;
    }

    /// Sends one request and reads the whole answer.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        let response = self.open(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Sends one request and returns as soon as the answer begins.
    pub(crate) async fn open(&self, request: Request<Full<Bytes>>) -> http::Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        self._connections
            .spawn(async move { drop(connection.await) });
        let answer = sender.send_request(request);
        tokio::time::timeout(Duration::from_secs(10), answer)
            .await
            .expect("an answer within ten seconds")
            .unwrap()
    }

    /// Opens a legacy session for a caller and returns its id.
    pub(crate) async fn initialize(&self, caller: &str) -> String {
        let reply = self
            .send(post(&initialize("2025-11-25")).caller(caller).build())
            .await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
        reply.headers["mcp-session-id"].to_str().unwrap().to_owned()
    }
}

/// Stands for the layer that checks credentials.
fn authenticated(mut request: Request<Incoming>) -> Request<Incoming> {
    let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
    let caller = match (header("x-caller"), header("x-agent")) {
        (Some(id), _) => Some(Caller::new(id)),
        (None, Some(id)) => Some(Caller::stateless(id)),
        (None, None) => None,
    };
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    request
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.headers["content-type"] == "text/event-stream"
    }

    /// The last message, whether it came as JSON or as an event.
    pub(crate) fn message(&self) -> Value {
        if !self.is_stream() {
            return self.json();
        }
        let mut data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let last = data.rfind(|data| !data.trim().is_empty());
        serde_json::from_str(last.expect("an event")).unwrap()
    }

    /// Checks a refusal: status, code, and that it is a JSON-RPC error with that id.
    #[track_caller]
    pub(crate) fn assert_error(&self, status: u16, code: i64, id: Value) {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        let json = self.json();
        assert_eq!(json["jsonrpc"], "2.0");
        assert_eq!(json["error"]["code"], code, "{self:?}");
        assert_eq!(json["id"], id, "{self:?}");
        let message = json["error"]["message"].as_str().unwrap();
        assert!(message.contains(' '), "{message} is not a sentence");
    }

    #[track_caller]
    pub(crate) fn tool_text(&self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        let message = self.message();
        let text = message["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no tool result in {message}"))
            .to_owned()
    }
}

/// A request being put together; nothing is added that the test did not ask for, except `Host`.
#[derive(Debug)]
pub(crate) struct Draft {
    method: Method,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

pub(crate) fn draft(method: Method, body: impl Into<Bytes>) -> Draft {
    Draft {
        method,
        headers: Vec::new(),
        body: body.into(),
    }
}

/// A POST as the official clients send it.
pub(crate) fn post(body: &Value) -> Draft {
    post_text(body.to_string())
}

pub(crate) fn post_text(body: impl Into<Bytes>) -> Draft {
    draft(Method::POST, body)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
}

/// A POST in revision 2026-07-28, with the headers it requires.
pub(crate) fn post_modern(method: &str, params: Value) -> Draft {
    let mut params = params;
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut draft = post(&body)
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    let name = ["name", "uri", "taskId"]
        .iter()
        .find_map(|key| params[key].as_str());
    if let Some(name) = name {
        draft = draft.header("mcp-name", name);
    }
    draft
}

impl Draft {
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(existing, _)| *existing != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(existing, _)| *existing != name);
        self
    }

    pub(crate) fn caller(self, id: &str) -> Self {
        self.header("x-caller", id)
    }

    pub(crate) fn agent(self, id: &str) -> Self {
        self.header("x-agent", id)
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("mcp-session-id", id)
    }

    pub(crate) fn build(self) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(self.method)
            .uri("/mcp")
            .header("host", "localhost");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(self.body)).unwrap()
    }
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

pub(crate) fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

pub(crate) fn notification() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}
