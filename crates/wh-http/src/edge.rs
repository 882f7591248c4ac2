//! The whole service: `/mcp` by the shortest way, everything else by the router.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{Router, extract::Request, response::Response};
use futures::future::{BoxFuture, Either};
use tower::Service;

use crate::{
    McpEndpoint,
    auth::{Auth, in_query},
    guard::Guard,
    observe::Observe,
    panic::Catch,
};

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
    /// Dialects whose credential is a parameter of the address: at MCP's address too, whenever it is there.
    pub(crate) by_parameter: Vec<(&'static str, Mcp)>,
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
        if request.uri().path() != MCP_PATH {
            return Either::Right(self.rest.call(request));
        }
        let query = request.uri().query().unwrap_or_default();
        let mut dialects = self.by_parameter.iter_mut();
        let dialect = dialects.find(|(name, _)| !in_query(query, name).is_empty());
        match dialect.map(|(_, dialect)| dialect).or(self.mcp.as_mut()) {
            Some(mcp) => Either::Left(mcp.call(request)),
            None => Either::Right(self.rest.call(request)),
        }
    }
}
