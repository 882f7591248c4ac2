//! Time until ready and memory at start, with an empty data directory and with 100 000 events, against a server that does
//! nothing but listen.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::fixture::{Programs, Running};
use super::measured::median;
use super::process::{self, Memory};
use crate::ui;
use crate::workspace::Workspace;

const EVENTS: u32 = 100_000;
const ROUNDS: usize = 7;

/// Memory is looked at so long after the server says it is ready: what it still does then counts, too.
const SETTLE: Duration = Duration::from_millis(200);

const MEGABYTE: f64 = 1024.0 * 1024.0;

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    let seeded = programs.seed("startup", 0, EVENTS)?;
    let empty = programs.data_dir("startup-empty");
    let mut starts = [
        Starts::new("axum and rmcp alone"),
        Starts::new("new data directory"),
        Starts::new("the same, again"),
        Starts::new("100 000 events"),
    ];
    for round in 1..=ROUNDS {
        ui::progress(&format!("round {round} of {ROUNDS}"));
        let [alone, new, again, full] = &mut starts;
        alone.add(programs.serve_ceiling()?)?;
        if empty.exists() {
            fs::remove_dir_all(&empty).context("removing the last round's data")?;
        }
        new.add(programs.serve(&empty)?)?;
        again.add(programs.serve(&empty)?)?;
        full.add(programs.serve(&seeded.dir)?)?;
    }
    let rows: Vec<_> = starts.iter().map(Starts::row).collect();
    let header = [
        "",
        "ready ms",
        "slowest ms",
        "RSS MB",
        "PSS MB",
        "anonymous MB",
    ];
    Ok(ui::table(&header, &rows))
}

struct Starts {
    name: &'static str,
    ready: Vec<Duration>,
    memory: Vec<Memory>,
}

impl Starts {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            ready: vec![],
            memory: vec![],
        }
    }

    /// Looks at a server that has just started, and ends it.
    fn add(&mut self, running: Running) -> Result<()> {
        thread::sleep(SETTLE);
        self.ready.push(running.ready_after);
        self.memory.push(process::memory(running.server.pid())?);
        Ok(())
    }

    fn row(&self) -> Vec<String> {
        let millis = |ready: &Duration| ready.as_secs_f64() * 1e3;
        let megabytes = |part: fn(&Memory) -> u64| {
            let bytes = self.memory.iter().map(|memory| part(memory) as f64);
            format!("{:.1}", median(bytes.collect()) / MEGABYTE)
        };
        let slowest = self.ready.iter().max().map_or(0.0, millis);
        vec![
            self.name.to_owned(),
            format!("{:.0}", median(self.ready.iter().map(millis).collect())),
            format!("{slowest:.0}"),
            megabytes(|memory| memory.resident),
            megabytes(|memory| memory.proportional),
            megabytes(|memory| memory.anonymous),
        ]
    }
}
