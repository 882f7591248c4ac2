//! The canonical endpoint: the handler on the transport, for whoever the layer in front let in.

use std::{
    convert::Infallible,
    fmt::Display,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tower::Service;
use wh_app::App;
use wh_domain::{CredentialKind, Principal};

use crate::{
    handler::Handler,
    transport::{
        Caller, McpService, ResponseBody, TransportConfig,
        lines::{self, LinesConfig, LinesError},
    },
};

/// How the endpoint is set up.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// The version in `serverInfo`.
    pub version: &'static str,
    /// How long a tool call may take. Reached: the caller is told; what was recorded as intended goes on.
    pub call_time_max: Duration,
    pub transport: TransportConfig,
    pub lines: LinesConfig,
}

/// Serves the canonical tools at one address. The request's extensions must hold a [`Principal`].
#[derive(Clone)]
pub struct Endpoint {
    service: McpService<Handler>,
    handler: Handler,
    lines: LinesConfig,
}

impl Endpoint {
    /// Puts the endpoint together.
    pub fn new(app: Arc<App>, config: EndpointConfig) -> Self {
        let handler = Handler::new(app, config.version, config.call_time_max);
        Self {
            service: McpService::with_plain_calls(
                handler.clone(),
                Some(Arc::new(handler.clone())),
                config.transport,
            ),
            handler,
            lines: config.lines,
        }
    }

    /// Serves one connection of newline-delimited JSON, such as a client's stdio, until it ends or `ended` is
    /// cancelled.
    pub async fn serve_lines<R, W>(
        &self,
        reader: R,
        writer: W,
        mut extensions: http::Extensions,
        ended: CancellationToken,
    ) -> Result<(), LinesError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        name_caller(&mut extensions);
        let handler = self.handler.clone();
        lines::serve(
            handler,
            reader,
            writer,
            extensions,
            self.lines.clone(),
            ended,
        )
        .await
    }
}

/// Tells the transport whose request it is. Agents get no legacy sessions, so that a restart can lose none.
fn name_caller(extensions: &mut http::Extensions) {
    let Some(principal) = extensions.get::<Principal>() else {
        return;
    };
    let id = caller_id(principal);
    let caller = match principal.credential.kind() {
        CredentialKind::Session => Caller::stateless(id),
        _ => Caller::new(id),
    };
    extensions.insert(caller);
}

/// Names the credential behind a request.
pub(crate) fn caller_id(principal: &Principal) -> String {
    match principal.credential.key() {
        Some(key) => key.to_string(),
        None => format!("local:{}", principal.user),
    }
}

impl<B> Service<Request<B>> for Endpoint
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Display + Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        name_caller(request.extensions_mut());
        self.service.call(request)
    }
}
