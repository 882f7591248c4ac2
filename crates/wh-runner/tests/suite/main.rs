//! The runner as a process of its own, with real agents below it and real connections to it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod answers;
mod echo;
mod egress;
mod flood;
mod harness;
mod life;
mod lost;
mod reap;
#[expect(
    unreachable_pub,
    reason = "it is public where it is a module of the test kit"
)]
#[path = "../../../wh-testkit/src/run.rs"]
mod run;
