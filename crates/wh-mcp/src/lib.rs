//! The MCP surface: tools, resources, prompts and completion for every principal, and the transport that carries them.
//!
//! A tool is one place: its request and answer types (from `wh-api`), its description and its handler stand together
//! in `tools/<resource>.rs`; whether it changes anything comes from the permission table. [`endpoint`] serves them over
//! HTTP and [`Endpoint::serve_lines`] over a pair of byte streams. [`DialectEndpoint`] serves the same operations in the words of
//! another system's contract.
//!
//! Nothing of ours lives in a connection: every call carries its principal, and a dropped stream never stops anything.

mod address;
mod complete;
mod dialect;
mod endpoint;
mod error;
mod files;
mod handler;
mod idempotency;
mod progress;
mod prompts;
mod resources;
mod schema;
mod subscribe;
mod summary;
mod task_news;
mod tasks;
mod tools;
mod toolset;
pub mod transport;
mod watched;

pub use dialect::DialectEndpoint;
pub use endpoint::{Endpoint, EndpointConfig};
pub use tools::tool_names;
pub use toolset::Toolsets;
