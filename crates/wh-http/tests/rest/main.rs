//! REST, events and sign-in over real sockets, with the real store.

#![expect(
    clippy::unwrap_used,
    reason = "helpers are test code too, where a panic is the report"
)]

mod auth;
mod browser;
mod client;
mod dashboard;
mod edge;
mod events;
mod harness;
mod input;
mod logs;
mod matrix;
mod mounts;
mod resources;
mod streams;
