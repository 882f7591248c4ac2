//! Tests with real git in temporary directories.

mod lab;
mod worktree;
