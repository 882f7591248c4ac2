//! Sessions through the real server, with the built-in agent in real runners: what they do, and what survives.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail where it stands, and prints its seed and figures"
)]

mod answer_faults;
mod answers;
mod approvals;
mod breakable_link;
mod budgets;
mod cgroups;
mod claims;
mod deliveries;
mod disabled;
mod echo;
mod family;
mod files;
mod flood;
mod harness;
mod life;
mod loops;
mod models;
mod prompts;
mod real_agents;
mod reap;
mod restart;
mod runs;
mod secrets;
mod tasks;
mod tools;
mod usage;
mod webhooks;
mod worktrees;
mod zones;
