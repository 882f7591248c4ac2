//! A dialect as a service, for `wh-http` to mount.

use std::{
    convert::Infallible,
    fmt::Display,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tower::Service;
use wh_app::App;
use wh_domain::{Dialect, Principal};

use super::{CONTRACTS, Contract, handler::DialectHandler};
use crate::{
    EndpointConfig,
    endpoint::caller_id,
    transport::{
        Caller, McpService, ResponseBody,
        lines::{self, LinesConfig, LinesError},
    },
};

/// Serves one dialect. The request's extensions must hold a [`Principal`].
///
/// Every revision is answered without a session: what a contract was written for, and nothing that a restart could lose.
#[derive(Clone)]
pub struct DialectEndpoint {
    contract: &'static Contract,
    service: McpService<DialectHandler>,
    handler: DialectHandler,
    lines: LinesConfig,
}

impl DialectEndpoint {
    /// Puts every dialect together.
    pub fn all(app: &Arc<App>, config: &EndpointConfig) -> Vec<Self> {
        let endpoint = |contract: &&'static Contract| {
            let (version, time_max) = (config.version, config.call_time_max);
            let handler = DialectHandler::new(Arc::clone(app), contract, version, time_max);
            let plain = Some(Arc::new(handler.clone()) as Arc<_>);
            let transport = config.transport.clone();
            Self {
                contract,
                service: McpService::with_plain_calls(handler.clone(), plain, transport),
                handler,
                lines: config.lines.clone(),
            }
        };
        CONTRACTS.iter().map(endpoint).collect()
    }

    /// Serves one connection of newline-delimited JSON, until it ends or `ended` is cancelled.
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
        let principal = extensions.get::<Principal>();
        if let Some(caller) = principal.map(caller_id).map(Caller::stateless) {
            extensions.insert(caller);
        }
        let (handler, config) = (self.handler.clone(), self.lines.clone());
        lines::serve(handler, reader, writer, extensions, config, ended).await
    }

    /// Returns which dialect it is.
    pub fn dialect(&self) -> Dialect {
        self.contract.dialect
    }

    /// Returns where it is to be served.
    pub fn addresses(&self) -> &'static [&'static str] {
        self.contract.addresses
    }

    /// Returns the parameter of the address that may carry the credential.
    pub fn token_parameter(&self) -> Option<&'static str> {
        self.contract.token_parameter
    }
}

impl<B> Service<Request<B>> for DialectEndpoint
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
        let principal = request.extensions().get::<Principal>();
        if let Some(caller) = principal.map(caller_id).map(Caller::stateless) {
            request.extensions_mut().insert(caller);
        }
        self.service.call(request)
    }
}
