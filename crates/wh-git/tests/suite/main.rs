//! Tests with real git in temporary directories.

mod lab;
mod ledger;
mod mess;
mod remove;
mod rescue_property;
mod worktree;
