//! Other systems' contracts, held against the real server over real HTTP: a module per dialect, a test per requirement.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod agents;
mod agor;
mod calls;
mod clawed_abode;
mod iteratr;

#[path = "../mcp/harness.rs"]
#[allow(dead_code, reason = "it is made for the tests of our own tools")]
mod harness;
