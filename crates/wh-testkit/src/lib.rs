//! What tests and benchmarks need and the product must not contain: a server on a temporary directory, a database
//! filled with known users, sessions and keys, and the binaries `conformance-server`, `bench-ceiling` and `bench-seed`.

pub mod scripted;
pub mod seed;
pub mod server;
