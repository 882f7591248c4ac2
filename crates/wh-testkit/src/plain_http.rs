//! A small HTTP client for benchmarks: one connection, one thread, and times that hold nothing of a runtime's own queueing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to a server on this machine.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    /// Connects to `host`, an address with a port.
    pub fn open(host: &str) -> Result<Self> {
        let stream = TcpStream::connect(host).with_context(|| format!("connecting to {host}"))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
        })
    }

    /// Requests a path of the REST API and returns the status of the response.
    pub fn get(&mut self, path: &str, key: &str) -> Result<u16> {
        self.send(&format!("GET {path}"), key, "")
    }

    /// Posts JSON to a path of the REST API and returns the status of the response.
    pub fn post(&mut self, path: &str, key: &str, json: &str) -> Result<u16> {
        self.send(&format!("POST {path}"), key, json)
    }

    fn send(&mut self, method_and_path: &str, key: &str, body: &str) -> Result<u16> {
        let request = format!(
            "{method_and_path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.read_response()
    }

    /// Reads a response with a `Content-Length` to its end.
    fn read_response(&mut self) -> Result<u16> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.with_context(|| format!("the response begins with {line:?}"))?;
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(status)
    }
}

/// Response times of many calls.
#[derive(Debug, Default)]
pub struct Calls {
    pub latencies: Vec<Duration>,
    /// Responses with a status other than 200.
    pub refused: u64,
}

impl Calls {
    /// Sends `call` again and again for `time`, at most once per `interval`.
    pub fn measure(
        time: Duration,
        interval: Duration,
        mut call: impl FnMut() -> Result<u16>,
    ) -> Result<Self> {
        let mut calls = Self::default();
        let end = Instant::now() + time;
        while Instant::now() < end {
            let start = Instant::now();
            let status = call()?;
            calls.latencies.push(start.elapsed());
            calls.refused += u64::from(status != 200);
            std::thread::sleep(interval.saturating_sub(start.elapsed()));
        }
        Ok(calls)
    }

    /// Adds the calls of another measurement.
    pub fn extend(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.refused += other.refused;
    }

    /// Returns the 50th percentile in milliseconds.
    pub fn p50(&self) -> f64 {
        self.percentile(50)
    }

    /// Returns the 99th percentile in milliseconds.
    pub fn p99(&self) -> f64 {
        self.percentile(99)
    }

    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort();
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        let found = sorted.get(index);
        found.map_or(f64::NAN, |it| it.as_secs_f64() * 1000.0)
    }
}
