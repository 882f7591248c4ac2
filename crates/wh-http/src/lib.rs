//! The HTTP edge: who may connect, who is calling, and the REST translation of every operation.
//!
//! ```text
//!  connection ─► serve ─► observe ─► guard ─► panic ─┬─► public: health, login, discovery, pages
//!                         (id, log)  (Host,          └─► auth ─┬─► REST: one row of a table per route
//!                                     Origin)                  ├─► events: page, SSE, WebSocket
//!                                                              └─► mounts: /mcp, /mcp/stdio, dialects
//! ```
//!
//! REST is a table (`routes/`): a row names the operation, the request and the answer, and its handler translates in
//! a line or three. The router and `/openapi.json` are both made from it. No rule lives here; `wh-app` has them.
//!
//! Deliberately absent: MCP itself. The binary mounts it, so that this crate and `wh-mcp` do not know each other.

mod auth;
mod call;
mod config;
mod dashboard;
mod edge;
mod encoding;
mod error;
mod events;
mod fair;
pub mod guard;
mod health;
mod input;
mod limit;
mod lines;
mod login;
mod metrics;
mod mounts;
mod observe;
mod openapi;
mod pages;
mod panic;
mod router;
mod routes;
pub mod serve;
mod state;
mod streams;
mod table;
mod well_known;

pub use config::{DashboardFile, DashboardFiles, HttpConfig, RequestLimits};
pub use edge::Edge;
pub use mounts::{DialectMount, LineServer, LineStream, McpEndpoint, Mounts, mount};
pub use observe::RequestId;
pub use openapi::document as openapi_document;
pub use router::router;
