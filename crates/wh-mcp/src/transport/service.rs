//! The HTTP endpoint as a tower service.

use std::{
    convert::Infallible,
    fmt::{self, Display},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use http_body_util::Full;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::Value;

use super::{
    Caller, TransportConfig, accept,
    answer::{self, Refusal, ResponseBody},
    batch::{self, Element},
    body::read_body,
    depth::{self, Shape},
    ending::ending_with,
    front::{self, Front, SERVER_INFO},
    mend,
    plain::{PlainCall, PlainCalls},
    raw::RawContent,
    session::{Call, Sessions},
    sse,
    task_filter::TaskIds,
};

/// Messages of one batch that run at the same time.
const BATCH_CONCURRENCY: usize = 8;

/// Serves one MCP handler at one HTTP endpoint, in all supported revisions.
///
/// The request's [`Caller`] extension decides whose legacy sessions it may use and whether it gets one at all.
/// Cloning is cheap; clones share their sessions.
pub struct McpService<H> {
    inner: Arc<Inner<H>>,
}

struct Inner<H> {
    with_sessions: StreamableHttpService<Front<H>, Sessions>,
    stateless: StreamableHttpService<Front<H>, NeverSessionManager>,
    sessions: Arc<Sessions>,
    server_info: Arc<Value>,
    /// Who takes plain calls the short way.
    plain: Option<Arc<dyn PlainCalls>>,
    config: TransportConfig,
}

impl<H> McpService<H>
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    /// Builds the endpoint. `handler` is cloned for every request, so that should cost no more than an `Arc`.
    pub fn new(handler: H, config: TransportConfig) -> Self {
        Self::with_plain_calls(handler, None, config)
    }

    /// Builds the endpoint so that plain tool calls go straight to `plain` instead of through rmcp.
    pub(crate) fn with_plain_calls(
        handler: H,
        plain: Option<Arc<dyn PlainCalls>>,
        config: TransportConfig,
    ) -> Self {
        let front = Front::new(handler);
        let server_info = front.server_info().clone();
        let sessions = Arc::new(Sessions::new(&config));
        // Hosts and origins are checked for every route by wh-http, so rmcp's own lists stay empty.
        let rmcp_config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_sse_keep_alive(Some(config.sse_keep_alive))
            .with_max_request_body_bytes(config.body_bytes_max);
        let factory = {
            let front = front.clone();
            move || Ok(front.clone())
        };
        Self {
            inner: Arc::new(Inner {
                with_sessions: StreamableHttpService::new(
                    factory,
                    sessions.clone(),
                    rmcp_config.clone(),
                ),
                stateless: StreamableHttpService::new(
                    move || Ok(front.clone()),
                    Arc::default(),
                    rmcp_config.with_legacy_session_mode(false),
                ),
                sessions,
                server_info,
                plain,
                config,
            }),
        }
    }

    /// Ends every legacy session. Without this they live on until idle, even when the service is dropped.
    pub async fn close_legacy_sessions(&self) {
        self.inner.sessions.close_all().await;
    }

    /// Returns how many legacy sessions are open.
    pub fn legacy_session_count(&self) -> usize {
        self.inner.sessions.book().len()
    }
}

impl<H> Inner<H>
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        if self.config.shutdown.is_cancelled() {
            return Refusal::unavailable("The server is shutting down: try again soon")
                .into_response();
        }
        let (mut parts, body) = request.into_parts();
        if !parts.headers.contains_key(header::HOST) && parts.uri.authority().is_none() {
            // A request over the Unix socket may have none, and rmcp insists.
            let host = HeaderValue::from_static("localhost");
            parts.headers.insert(header::HOST, host);
        }
        let handled = match parts.method {
            Method::POST => self.post(parts, body).await,
            Method::GET => self.get(parts).await,
            _ => self.other(parts).await,
        };
        handled.unwrap_or_else(Refusal::into_response)
    }

    async fn post<B>(&self, mut parts: Parts, body: B) -> Result<Response<ResponseBody>, Refusal>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        let accepts = accept::accepts(&parts.headers);
        if !accepts.json {
            return Err(not_acceptable("application/json"));
        }
        if !accept::is_json(&parts.headers) {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                answer::INVALID_REQUEST,
                "Unsupported Media Type: send Content-Type: application/json",
            ));
        }
        accept::accept_both(&mut parts.headers);
        normalize_content_type(&mut parts.headers);
        let text = read_body(body, self.config.body_bytes_max).await?;
        match depth::scan(&text, self.config.json_depth_max) {
            Shape::TooDeep => Err(Refusal::too_deep(self.config.json_depth_max)),
            Shape::Array => self.batch(parts, &text).await,
            Shape::Other => {
                let response = self.message(parts, text).await;
                if accepts.event_stream || !accept::is_event_stream(response.headers()) {
                    return Ok(response);
                }
                sse::flattened(response).await
            }
        }
    }

    /// Runs every message of a batch as if it had come alone, and collects the answers.
    async fn batch(&self, parts: Parts, text: &[u8]) -> Result<Response<ResponseBody>, Refusal> {
        if !batch::allowed_by(&parts.headers) {
            return Err(batch::not_allowed());
        }
        let elements = batch::split(text, self.config.batch_length_max)?;
        let answers = futures::stream::iter(elements)
            .map(|element| {
                let parts = parts.clone();
                async move {
                    match element {
                        Element::Refused(refusal) => Some(refusal.to_json().into()),
                        Element::Message(text) => {
                            sse::answer_of(self.message(parts, text).await).await
                        }
                    }
                }
            })
            .buffered(BATCH_CONCURRENCY)
            .filter_map(std::future::ready)
            .collect::<Vec<Bytes>>()
            .await;
        Ok(batch::response(&answers))
    }

    /// Runs one message: the short way if it is a plain call, else through rmcp and out again.
    async fn message(&self, mut parts: Parts, text: Bytes) -> Response<ResponseBody> {
        let kind = Kind::of(&parts.headers);
        let raw = is_modern(&parts.headers).then(|| RawContent::offer(&mut parts));
        if let Some(calls) = &self.plain
            && let Some(raw) = &raw
            && let Some(call) = PlainCall::read(&parts, &text)
            && let Some(answer) = call.answer(calls.as_ref(), &parts, &self.server_info)
        {
            let answer = raw.put(answer.await);
            return answer::json_response(StatusCode::OK, answer);
        }
        let tasks = match kind {
            Kind::Subscription => match TaskIds::read(&text) {
                Ok(tasks) => tasks,
                Err(refusal) => return refusal.into_response(),
            },
            Kind::TaskAcknowledgement | Kind::Other => None,
        };
        if let Some(tasks) = &tasks {
            parts.extensions.insert(tasks.clone());
        }
        let removed = raw.is_some().then(|| front::removed_method(&parts.headers));
        let request = Request::from_parts(parts, Full::new(text.clone()));
        let response = self.run(request).await;
        if !response.status().is_success() {
            return match removed.flatten() {
                Some(method) => mend::refused_removed(response, &text, method).await,
                None => mend::refused(response, &text).await,
            };
        }
        match kind {
            Kind::TaskAcknowledgement if accept::is_json(response.headers()) => {
                self.stamped(response).await
            }
            Kind::Subscription => response.map(|body| {
                let body = match tasks {
                    Some(tasks) => tasks.acknowledged(body),
                    None => body,
                };
                ending_with(&self.config.shutdown, body)
            }),
            Kind::TaskAcknowledgement | Kind::Other => match raw {
                Some(raw) => raw.fill(response).await,
                None => response,
            },
        }
    }

    async fn get(&self, mut parts: Parts) -> Result<Response<ResponseBody>, Refusal> {
        if !accept::accepts(&parts.headers).event_stream {
            return Err(not_acceptable("text/event-stream"));
        }
        accept::accept_both(&mut parts.headers);
        let response = self.run(Request::from_parts(parts, empty())).await;
        if response.status().is_success() {
            Ok(response.map(|body| ending_with(&self.config.shutdown, body)))
        } else {
            Ok(mend::refused(response, &Bytes::new()).await)
        }
    }

    async fn other(&self, parts: Parts) -> Result<Response<ResponseBody>, Refusal> {
        let ends_session = parts.method == Method::DELETE;
        let response = self.run(Request::from_parts(parts, empty())).await;
        if !response.status().is_success() {
            return Ok(mend::refused(response, &Bytes::new()).await);
        }
        if ends_session && response.status() == StatusCode::ACCEPTED {
            // 202 says "not yet"; official clients log it as a failure.
            return Ok(answer::empty_response(StatusCode::NO_CONTENT));
        }
        Ok(response)
    }

    /// Chooses the service for the caller and holds its session while it works.
    ///
    /// rmcp's future has many kilobytes. It is boxed here, at the bottom, because every future that holds it by value is
    /// copied whole when it is made.
    async fn run(&self, request: Request<Full<Bytes>>) -> Response<ResponseBody> {
        let caller = request.extensions().get::<Caller>();
        if caller.is_some_and(|caller| caller.stateless) {
            return Box::pin(self.stateless.handle(request)).await;
        }
        let caller: Arc<str> = caller.map_or_else(|| "".into(), |caller| caller.id.clone());
        // A modern message has no session, whatever its headers say. A handshake with a modern header is
        // still a legacy one; there the session manager checks the owner.
        let is_stateless = is_modern(request.headers()) && request.method() == Method::POST;
        let session = request
            .headers()
            .get("mcp-session-id")
            .filter(|_| !is_stateless);
        let in_use = match session.map(|id| id.to_str().unwrap_or_default()) {
            None => None,
            Some(id) => match self.sessions.book().open(id, &caller) {
                Some(in_use) => Some(in_use),
                None => return Refusal::session_not_found().into_response(),
            },
        };
        let call = Call::new(caller);
        let handled = Box::pin(self.with_sessions.handle(request));
        let response = call.scope(handled).await;
        let response = or_unavailable(response, &call);
        match in_use {
            Some(in_use) => response.map(|body| in_use.hold_during(body)),
            None => response,
        }
    }

    /// Adds the server's name to the acknowledgement of a task, which rmcp builds after the handler has answered.
    async fn stamped(&self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        mend::rewritten(response, |value| {
            if let Some(result) = value.get_mut("result").and_then(Value::as_object_mut)
                && let Some(meta) = result
                    .entry("_meta")
                    .or_insert_with(|| Value::Object(serde_json::Map::new()))
                    .as_object_mut()
            {
                meta.entry(SERVER_INFO)
                    .or_insert_with(|| Value::clone(&self.server_info));
            }
        })
        .await
    }
}

/// The few methods whose answers need something; the header is checked against the body by rmcp.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Subscription,
    TaskAcknowledgement,
    Other,
}

impl Kind {
    fn of(headers: &HeaderMap) -> Self {
        match headers.get("mcp-method").map(HeaderValue::as_bytes) {
            Some(b"subscriptions/listen") => Self::Subscription,
            Some(b"tasks/update" | b"tasks/cancel") => Self::TaskAcknowledgement,
            _ => Self::Other,
        }
    }
}

fn empty() -> Full<Bytes> {
    Full::new(Bytes::new())
}

fn is_modern(headers: &HeaderMap) -> bool {
    headers
        .get("mcp-protocol-version")
        .is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
}

fn not_acceptable(media: &str) -> Refusal {
    Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        answer::INVALID_REQUEST,
        format!("Not Acceptable: send Accept: {media}"),
    )
}

fn or_unavailable(response: Response<ResponseBody>, call: &Call) -> Response<ResponseBody> {
    if call.was_refused() {
        return Refusal::unavailable(
            "Too many MCP sessions are in use: end one with DELETE, or try again later",
        )
        .into_response();
    }
    response
}

/// Writes the content type in the one spelling rmcp compares with.
fn normalize_content_type(headers: &mut HeaderMap) {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    if headers.get(header::CONTENT_TYPE) != Some(&JSON) {
        headers.insert(header::CONTENT_TYPE, JSON);
    }
}

impl<H> Clone for McpService<H> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<H> fmt::Debug for McpService<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpService").finish_non_exhaustive()
    }
}

impl<H, B> tower::Service<Request<B>> for McpService<H>
where
    H: ServerHandler + Clone + Send + Sync + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Display + Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = self.inner.clone();
        Box::pin(async move { Ok(inner.handle(request).await) })
    }
}
