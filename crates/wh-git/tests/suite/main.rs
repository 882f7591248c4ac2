//! Tests with real git in temporary directories.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that panics is a test that fails"
)]

mod content;
mod ensure;
mod hostile;
mod lab;
mod ledger;
mod mess;
mod private_clone;
mod remove;
mod rescue_property;
mod transfer;
mod trap;
mod worktree;
