//! Worktrees: checkouts in which agents work.
//!
//! A worktree is recorded before it is made and until it is gone (`make`), so that a crash at any step leaves something
//! that can be finished.

mod error;
mod make;

pub use make::WorktreeWanted;
