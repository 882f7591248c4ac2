//! What others serve behind our guard and authentication.

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::future::BoxFuture;
use http::{Extensions, Request, Response};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};
use wh_domain::Dialect;

/// An HTTP endpoint. Requests arrive with [`wh_domain::Principal`], [`crate::RequestId`] and [`crate::serve::Peer`] in
/// their extensions.
///
/// A clone is one more owner of the same service: routers clone what they hold for every request, several times.
#[derive(Clone)]
pub struct McpEndpoint(Arc<dyn Fn(Request<Body>) -> Answered + Send + Sync>);

type Answered = BoxFuture<'static, Result<Response<Body>, Infallible>>;

impl Service<Request<Body>> for McpEndpoint {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answered;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answered {
        (self.0)(request)
    }
}

/// Both directions of a connection that left HTTP.
pub type LineStream = TokioIo<Upgraded>;

/// Serves MCP as lines on a connection that left HTTP.
pub trait LineServer: Send + Sync + 'static {
    /// Serves one connection until the client hangs up or `ended` is cancelled, because the server stops or the
    /// credential does. Shortly after that the future is dropped. `extensions` are those of the request.
    fn serve(
        &self,
        stream: LineStream,
        extensions: Extensions,
        ended: CancellationToken,
    ) -> BoxFuture<'static, ()>;
}

/// Makes an endpoint of any HTTP service, so that whoever mounts one need not know our body type.
pub fn mount<S, B>(service: S) -> McpEndpoint
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    McpEndpoint(Arc::new(move |request| {
        let answered = service.clone().oneshot(request);
        Box::pin(async move { Ok(answered.await?.map(Body::new)) })
    }))
}

/// MCP in the words of another system's contract, at addresses of its own.
#[derive(Clone)]
pub struct DialectMount {
    pub dialect: Dialect,
    /// Where it is served, all methods.
    pub addresses: &'static [&'static str],
    /// The parameter of the address that may carry the credential, if the contract has one. What comes to `/mcp` with it is for
    /// this dialect too.
    pub token_parameter: Option<&'static str>,
    pub endpoint: McpEndpoint,
    /// At `GET /mcp/<name>/stdio`, as [`Mounts::lines`].
    pub lines: Option<Arc<dyn LineServer>>,
}

/// What is mounted besides our own routes.
#[derive(Clone, Default)]
pub struct Mounts {
    /// At `/mcp`, all methods, query and all.
    pub mcp: Option<McpEndpoint>,
    /// At `GET /mcp/stdio`, after the connection was upgraded to `mcp-lines`.
    pub lines: Option<Arc<dyn LineServer>>,
    /// Behind the same guard and the same authentication; keys that were made for one open it alone.
    pub dialects: Vec<DialectMount>,
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounts")
            .field("mcp", &self.mcp.is_some())
            .field("lines", &self.lines.is_some())
            .field("dialects", &self.dialects.len())
            .finish()
    }
}
