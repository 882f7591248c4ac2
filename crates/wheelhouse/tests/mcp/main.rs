//! The canonical MCP surface of the real server, over real HTTP.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod accepted;
mod bad_input;
mod calls;
mod clones;
mod context;
mod credentials;
mod deletions;
mod families;
mod harness;
mod leads;
mod list_walk;
mod lists;
mod local_paths;
mod matrix;
mod numbers;
mod plain;
mod progress;
mod prompts;
mod remote_repos;
mod resources;
mod sharing;
mod subscriptions;
mod summaries;
mod task_lists;
mod tasks;
mod transcripts;
mod worktree_named;
mod worktrees;
