//! A typed client of a running server: REST over its local Unix socket or over the network with a key, the event feed,
//! and the raw stream of MCP lines.
//!
//! It translates and holds no rule: requests and views are `wh-api`'s, and whatever the server refuses is handed on as
//! [`ClientError::Refused`]. Over the socket the server knows the caller by its uid, so no key is involved.

mod client;
mod error;
mod events;
mod failure;
mod lines;
mod operations;
mod query;

pub use client::{Client, Method};
pub use error::ClientError;
pub use events::EventFeed;
pub use lines::McpLines;
