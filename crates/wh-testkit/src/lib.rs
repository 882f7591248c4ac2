//! What tests and benchmarks need and the product must not contain: a server on a temporary directory, a database
//! filled with known users, sessions and keys, a container image, a cgroup, an agent and a model that follow a script, a count of tokens, and the
//! binaries `conformance-server`, `scripted-agent`, `scripted-model` and the benchmarks.

pub mod cgroup;
pub mod dice;
pub mod git;
pub mod git_server;
pub mod image;
pub mod model;
pub mod plain_http;
pub mod run;
pub mod scripted;
pub mod seed;
pub mod server;
pub mod tokens;
