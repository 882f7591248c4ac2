//! The application on a real database, called the way the surfaces call it.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod boards;
mod cards;
mod dialect_keys;
mod events;
mod harness;
mod identity;
mod reasons;
mod records;
mod sessions;
mod worktrees;
