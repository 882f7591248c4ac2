//! Appending events through REST against the store's own commits, and reading the feed by cursor against the store's own
//! reads.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::fixture::{Programs, Running, Seeded};
use super::measured::{self, Measured, Series};
use super::request;
use super::wrk::{self, Load};
use crate::ui;
use crate::workspace::Workspace;

const EVENTS: u32 = 100_000;
const ROUNDS: u32 = 3;
const SECONDS: u64 = 4;
const WRITERS: [u32; 2] = [8, 64];

/// Events of one page of the feed, the most that REST gives.
const PAGE: u32 = 200;

pub(super) fn run(workspace: &Workspace, programs: &Programs) -> Result<String> {
    let seeded = programs.seed("events", 0, EVENTS)?;
    let product = programs.serve(&seeded.dir)?;
    let bench = Bench {
        workspace,
        programs,
        seeded: &seeded,
        product: &product,
    };
    // Reading first: appending makes the feed longer.
    let reads = bench.reads()?;
    let mut tables = vec![];
    for writers in WRITERS {
        tables.push(bench.appends(writers)?);
    }
    tables.push(reads);
    Ok(tables.join("\n\n"))
}

struct Bench<'a> {
    workspace: &'a Workspace,
    programs: &'a Programs,
    seeded: &'a Seeded,
    product: &'a Running,
}

impl Bench<'_> {
    /// Makes boards: one change, one audit entry and one event each.
    fn appends(&self, writers: u32) -> Result<String> {
        let mut store = Series::new(format!("store alone, {writers} writers"));
        let mut rest = Series::new(format!("POST /boards, {writers} writers"));
        let mut syncs = Series::new("fdatasync of 4 KiB, 1 thread");
        for round in 1..=ROUNDS {
            ui::progress(&format!("appending, round {round} of {ROUNDS}"));
            let dir = self
                .programs
                .data_dir(&format!("commits-{writers}-{round}"));
            let measured = self.ceiling(&[
                "commits",
                &dir.to_string_lossy(),
                &writers.to_string(),
                &SECONDS.to_string(),
            ])?;
            let number = |name: &str| {
                measured[name]
                    .as_f64()
                    .with_context(|| format!("no {name}"))
            };
            store.samples.push(Measured {
                requests_per_second: number("per_second")?,
                p50: Duration::from_secs_f64(number("p50")?),
                p99: Duration::from_secs_f64(number("p99")?),
                ..Measured::default()
            });
            syncs.samples.push(Measured {
                requests_per_second: number("syncs_per_second")?,
                ..Measured::default()
            });
            let body = r#"{"name":"bench"}"#;
            rest.samples
                .push(self.load("post-boards", "POST", "/api/v1/boards", writers, body)?);
        }
        Ok(measured::table("events/s", &[store, rest, syncs]))
    }

    /// Reads the whole feed as one stream, and its first page again and again.
    fn reads(&self) -> Result<String> {
        let mut store = Series::new("store alone, 1 reader");
        let mut stream = Series::new("SSE from 0, 1 reader");
        let mut pages = Series::new(format!("GET /events pages of {PAGE}, 1 reader"));
        // The server holds the product's data, so the store alone reads a copy of the same size.
        let copy = self.programs.seed("events-copy", 0, EVENTS)?;
        for round in 1..=ROUNDS {
            ui::progress(&format!("reading, round {round} of {ROUNDS}"));
            let dir = copy.dir.to_string_lossy();
            let measured = self.ceiling(&["reads", &dir, &SECONDS.to_string()])?;
            let rate = measured["per_second"].as_f64().context("no rate")?;
            store.samples.push(rate_of(rate));
            stream.samples.push(rate_of(self.stream()?));
            let path = format!("/api/v1/events?after=0&limit={PAGE}");
            let mut page = self.load("get-events", "GET", &path, 1, "")?;
            page.requests_per_second *= f64::from(PAGE);
            page.cpu = page.cpu.map(|cpu| cpu / PAGE);
            pages.samples.push(page);
        }
        Ok(measured::table("events/s", &[store, stream, pages]))
    }

    fn stream(&self) -> Result<f64> {
        let url = format!("{}/api/v1/events?after=0", self.product.url);
        let start = Instant::now();
        let mut seen = 0_u32;
        request::follow(&url, self.seeded.key()?, |line| {
            match line {
                "event: event" => seen += 1,
                "event: resync" => bail!("the server has forgotten the events"),
                _ => {}
            }
            Ok(seen < EVENTS)
        })?;
        Ok(f64::from(seen) / start.elapsed().as_secs_f64())
    }

    fn ceiling(&self, arguments: &[&str]) -> Result<Value> {
        // Measuring takes its time twice: commits, then syncs.
        let time = Duration::from_secs(2 * SECONDS);
        self.programs.ceiling(arguments, time)
    }

    fn load(
        &self,
        name: &str,
        method: &str,
        path: &str,
        connections: u32,
        body: &str,
    ) -> Result<Measured> {
        let (authorization, key) = request::bearer(self.seeded.key()?);
        let load = Load {
            name,
            url: &format!("{}{path}", self.product.url),
            connections,
            seconds: SECONDS,
            headers: &[
                (authorization, &key),
                ("Content-Type", "application/json"),
                ("Accept", "application/json"),
            ],
            method,
            body,
        };
        wrk::measure_process(self.workspace, &load, self.product.server.pid())
    }
}

fn rate_of(requests_per_second: f64) -> Measured {
    Measured {
        requests_per_second,
        ..Measured::default()
    }
}
