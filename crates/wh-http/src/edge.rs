//! The whole service: `/mcp` by the shortest way, everything else by the router.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{Router, extract::Request, response::Response};
use futures::future::{BoxFuture, Either};
use tower::Service;

use crate::{McpEndpoint, auth::Auth, guard::Guard, observe::Observe, panic::Catch};

/// Where MCP is served.
pub(crate) const MCP_PATH: &str = "/mcp";

/// MCP behind the same layers as every route.
pub(crate) type Mcp = Observe<Guard<Catch<Auth<McpEndpoint>>>>;

/// Every route, and the layers around them; [`crate::serve::serve`] runs it.
///
/// Agents call `/mcp` all the time. A router clones and boxes a route, and the routes inside it, for every request; here it
/// stands beside the router instead.
#[derive(Clone)]
pub struct Edge {
    pub(crate) mcp: Option<Mcp>,
    pub(crate) rest: Router,
}

impl Service<Request> for Edge {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<
        BoxFuture<'static, Result<Response, Infallible>>,
        <Router as Service<Request>>::Future,
    >;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // Neither ever has anything to wait for.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match &mut self.mcp {
            Some(mcp) if request.uri().path() == MCP_PATH => Either::Left(mcp.call(request)),
            _ => Either::Right(self.rest.call(request)),
        }
    }
}
