//! What the conformance suite cannot see: the file, the process, the disk and the speed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod backup;
mod cache;
mod crash;
mod full_disk;
mod opening;
mod poison;
mod support;
mod throughput;
mod usage;
