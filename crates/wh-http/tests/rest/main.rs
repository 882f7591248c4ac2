//! REST, events and sign-in over real sockets, with the real store.

mod auth;
mod browser;
mod client;
mod edge;
mod events;
mod harness;
mod input;
mod mounts;
mod resources;
