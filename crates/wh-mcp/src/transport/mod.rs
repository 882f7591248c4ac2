//! Carries MCP over Streamable HTTP and over newline-delimited JSON, in every revision from 2025-03-26 on.
//!
//! rmcp speaks the protocol; this module stands around it and mends what a careful client would stumble over:
//!
//! ```text
//!  http request ─► service ─► depth ─► [batch] ─► rmcp (with sessions | stateless) ─► mend ─► response
//!                  accept                              │
//!                                                   Front ─► the handler
//!  lines ───────► lines ─────► depth ─► [batch] ─► rmcp ┘
//! ```
//!
//! A modern tool call with nothing unusual about it does not pass through rmcp at all: see `plain`.
//!
//! - [`McpService`] is a plain tower service: one endpoint, all revisions, no web framework.
//! - [`lines::serve`] is the same handler on a pair of byte streams, for stdio.
//! - [`Caller`] says whose request it is. Legacy sessions belong to the caller that made them, and
//!   callers marked stateless never get one.
//!
//! Deliberately absent: `Host` and `Origin` checks and authentication. They guard every route, not only
//! this one, so `wh-http` does them before a request arrives here.

mod accept;
mod answer;
mod batch;
mod body;
mod caller;
mod config;
mod depth;
mod ending;
mod front;
pub mod lines;

mod mend;
mod plain;
mod raw;
mod service;
mod session;
mod sse;
mod task_filter;

pub use answer::ResponseBody;
pub use caller::{Caller, caller, caller_extensions};
pub use config::TransportConfig;
pub(crate) use plain::PlainCalls;
pub(crate) use raw::structured;
pub use service::McpService;
pub(crate) use task_filter::TaskIds;
