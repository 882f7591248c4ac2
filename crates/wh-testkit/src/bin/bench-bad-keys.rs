//! Measures valid calls while somebody at the same address presents invalid keys, and prints the figures as JSON.
//!
//! `bench-bad-keys [SECONDS]` starts a server of its own, calls it for that long (default 30) undisturbed and then for as long
//! beside 100 invalid keys a second, each on a connection of its own as a web page would send them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use wh_testkit::plain_http::{Calls, Connection};
use wh_testkit::server::TestServer;

const SECONDS: u64 = 30;
/// Between two invalid keys, and between two valid calls.
const INTERVAL: Duration = Duration::from_millis(10);
/// Says who the key belongs to.
const PATH: &str = "/api/v1/whoami";

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn main() -> Result<()> {
    let seconds = match std::env::args().nth(1) {
        Some(text) => text.parse().context("the number of seconds")?,
        None => SECONDS,
    };
    let time = Duration::from_secs(seconds);
    let server = TestServer::start();
    let host = server.url().trim_start_matches("http://");
    let key = server.key("full");
    let quiet = valid_calls(host, &key, time)?;
    let is_over = AtomicBool::new(false);
    let sent = AtomicU64::new(0);
    let attacked = thread::scope(|scope| {
        let flood = scope.spawn(|| invalid_keys(host, &is_over, &sent));
        let attacked = valid_calls(host, &key, time);
        is_over.store(true, Ordering::Relaxed);
        let flooded = flood.join().expect("the flood does not panic");
        flooded.and(attacked)
    })?;
    let (before, during) = (quiet.p99(), attacked.p99());
    let figures = json!({
        "seconds": seconds,
        "invalid_keys": sent.load(Ordering::Relaxed),
        "valid_calls": attacked.latencies.len(),
        "refused_valid_calls": quiet.refused + attacked.refused,
        "p99_quiet_ms": before,
        "p99_attacked_ms": during,
        "ratio": during / before,
    });
    println!("{figures:#}");
    Ok(())
}

/// Calls with a valid key on one connection, at a steady rate.
fn valid_calls(host: &str, key: &str, time: Duration) -> Result<Calls> {
    let mut connection = Connection::open(host)?;
    Calls::measure(time, INTERVAL, || connection.get(PATH, key))
}

/// Sends invalid keys, each another one on another connection, until it is over.
fn invalid_keys(host: &str, is_over: &AtomicBool, sent: &AtomicU64) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        let number = sent.fetch_add(1, Ordering::Relaxed);
        let status = Connection::open(host)?.get(PATH, &format!("wh_full_{number:032x}"))?;
        anyhow::ensure!(
            matches!(status, 401 | 429),
            "an invalid key was answered {status}"
        );
        thread::sleep(INTERVAL.saturating_sub(start.elapsed()));
    }
    Ok(())
}
