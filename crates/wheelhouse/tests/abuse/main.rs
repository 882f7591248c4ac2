//! The abuse suite: what an agent, a client or a repository must not be able to do, tried through the real surfaces with an agent
//! that obeys whatever it is told. Tests are named by the rows of the list of abuse cases (A1, D5, …).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail where it stands, and prints its table"
)]

mod administrator;
mod container;
mod containment;
mod dashboard;
mod git;
mod git_rows;
mod harness;
mod images;
mod keys;
mod leads;
mod limits;
mod operations;
mod parsers;
#[allow(
    dead_code,
    reason = "shared with the MCP tests, which use more of it than these"
)]
#[path = "../mcp/harness.rs"]
mod people;
mod project_config;
mod resources;
mod strict;
mod tenancy;
mod texts;
mod tiers;
mod transport;
mod wire;
