//! The MCP transport over real sockets and streams: what a client sees, byte for byte where it matters.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose world cannot be set up should fail"
)]

mod accept;
mod batch;
mod harness;
mod limits;
mod lines;
mod malformed;
mod modern;
mod sessions;
mod stateless;
