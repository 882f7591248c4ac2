//! The HTTP edge over real sockets: who is let in, and what a slow, greedy or broken client can do.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose world cannot be set up should fail"
)]

mod guard;
mod harness;
mod limits;
mod shutdown;
