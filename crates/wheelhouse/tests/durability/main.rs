//! What was acknowledged is kept: the real server, killed and loaded through its public API.
#![expect(
    clippy::disallowed_methods,
    reason = "a test waits for the tasks it spawns itself"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail where it stands, and prints its seed and figures"
)]

mod claims;
mod crash_ledger;
mod worktrees;
mod writers;
