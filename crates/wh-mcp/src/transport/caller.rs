//! Who is calling, as far as the transport needs to know.

use std::sync::Arc;

use rmcp::{RoleServer, service::RequestContext};

/// The identity an outer layer puts into a request's extensions once it has checked the credentials.
///
/// Without one, the request counts as [`Caller::anonymous`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Names the credential. Two requests with the same id may share a legacy session; no others may.
    pub id: Arc<str>,
    /// Whether every protocol revision is answered without a session.
    ///
    /// Set for agents: their MCP connection outlives server restarts, so there must be no session that
    /// a restart could lose.
    pub stateless: bool,
}

impl Caller {
    /// Returns a caller that may hold legacy sessions.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            stateless: false,
        }
    }

    /// Returns a caller that is answered without a session in every revision.
    pub fn stateless(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            stateless: true,
        }
    }

    /// Returns the caller of a request that nobody vouched for.
    pub fn anonymous() -> Self {
        Self::new("")
    }
}

/// Returns what the outer layers attached to the request: over HTTP the request's extensions, over
/// [`lines`](super::lines) the ones given to `serve`.
pub fn caller_extensions(context: &RequestContext<RoleServer>) -> Option<&http::Extensions> {
    Some(&context.extensions.get::<http::request::Parts>()?.extensions)
}

/// Returns the [`Caller`] of a request, if an outer layer named one.
pub fn caller(context: &RequestContext<RoleServer>) -> Option<&Caller> {
    caller_extensions(context)?.get()
}
