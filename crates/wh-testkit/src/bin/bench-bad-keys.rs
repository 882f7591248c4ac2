//! Measures valid calls while somebody at the same address presents invalid keys, and prints the figures as JSON.
//!
//! `bench-bad-keys [SECONDS]` starts a server of its own, calls it for that long (default 30) undisturbed and then for as long
//! beside 100 invalid keys a second, each on a connection of its own as a web page would send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use wh_testkit::server::TestServer;

const SECONDS: u64 = 30;
/// Between two invalid keys, and between two valid calls.
const EVERY: Duration = Duration::from_millis(10);
const TIMEOUT: Duration = Duration::from_secs(30);

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

#[derive(Default)]
struct Calls {
    latencies: Vec<Duration>,
    refused: u64,
}

impl Calls {
    /// Returns the 99th percentile in milliseconds.
    fn p99(&self) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort();
        let at = (sorted.len() * 99 / 100).min(sorted.len().saturating_sub(1));
        sorted
            .get(at)
            .map_or(f64::NAN, |it| it.as_secs_f64() * 1000.0)
    }
}

/// Calls with a valid key on one connection, at a steady rate.
fn valid_calls(host: &str, key: &str, time: Duration) -> Result<Calls> {
    let mut stream = connect(host)?;
    let mut calls = Calls::default();
    let end = Instant::now() + time;
    while Instant::now() < end {
        let start = Instant::now();
        let status = call(&mut stream, host, key)?;
        calls.latencies.push(start.elapsed());
        calls.refused += u64::from(status != 200);
        thread::sleep(EVERY.saturating_sub(start.elapsed()));
    }
    Ok(calls)
}

/// Sends invalid keys, each another one on another connection, until it is over.
fn invalid_keys(host: &str, is_over: &AtomicBool, sent: &AtomicU64) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        let number = sent.fetch_add(1, Ordering::Relaxed);
        let status = call(&mut connect(host)?, host, &format!("wh_full_{number:032x}"))?;
        anyhow::ensure!(
            matches!(status, 401 | 429),
            "an invalid key was answered {status}"
        );
        thread::sleep(EVERY.saturating_sub(start.elapsed()));
    }
    Ok(())
}

fn connect(host: &str) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(host).with_context(|| format!("connecting to {host}"))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

/// Asks who the key belongs to and returns the status of the answer.
fn call(stream: &mut BufReader<TcpStream>, host: &str, key: &str) -> Result<u16> {
    let request = format!(
        "GET /api/v1/whoami HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    stream.get_mut().write_all(request.as_bytes())?;
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .with_context(|| format!("the answer begins with {line:?}"))?;
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(status)
}
