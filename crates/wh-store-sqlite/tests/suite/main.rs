//! What the conformance suite cannot see: the file, the process, the disk and the speed.

mod backup;
mod cache;
mod crash;
mod full_disk;
mod opening;
mod poison;
mod support;
mod throughput;
