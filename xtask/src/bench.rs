//! `cargo xtask bench`: measurements, each as a table with the ceiling measured in the same run. One file per benchmark; they are
//! not tests, and of those that measure the server nothing fails on a slow machine.

mod bad_keys;
mod context;
mod events;
mod fairness;
mod fixture;
mod lists;
mod mcp;
mod measured;
mod process;
mod request;
mod sessions;
mod startup;
mod subscribers;
mod web;
mod wrk;

use std::process::ExitCode;

use anyhow::{Result, bail};

use self::fixture::Programs;
use crate::ui;
use crate::web::Web;
use crate::workspace::Workspace;

struct Benchmark {
    name: &'static str,
    run: BenchmarkFn,
}

/// Measures, and returns the table.
type BenchmarkFn = fn(&Workspace, &Programs) -> Result<String>;

/// The one that looks at the dashboard, which the others do without.
const WEB: &str = "web";

const BENCHMARKS: &[Benchmark] = &[
    benchmark("mcp", mcp::run),
    benchmark("events", events::run),
    benchmark("startup", startup::run),
    benchmark("context", context::run),
    benchmark("sessions", sessions::run),
    benchmark("lists", lists::run),
    benchmark("subscribers", subscribers::run),
    benchmark("bad-keys", bad_keys::run),
    benchmark("fairness", fairness::run),
    benchmark(WEB, web::run),
];

const fn benchmark(name: &'static str, run: BenchmarkFn) -> Benchmark {
    Benchmark { name, run }
}

/// Runs the named benchmarks, or all, and prints their tables. One that cannot run fails the command after the others.
pub(crate) fn bench(workspace: &Workspace, names: &[String]) -> Result<ExitCode> {
    if let Some(unknown) = names
        .iter()
        .find(|name| BENCHMARKS.iter().all(|bench| bench.name != **name))
    {
        let known: Vec<_> = BENCHMARKS.iter().map(|bench| bench.name).collect();
        bail!(
            "there is no benchmark `{unknown}`; the benchmarks are {}",
            known.join(", ")
        );
    }
    let chosen =
        |bench: &&Benchmark| names.is_empty() || names.iter().any(|name| name == bench.name);
    if BENCHMARKS
        .iter()
        .filter(chosen)
        .any(|bench| bench.name == WEB)
    {
        // Before the binary that embeds it.
        Web::ready(workspace)?.build()?;
    }
    let programs = Programs::build(workspace)?;
    let mut code = ExitCode::SUCCESS;
    for bench in BENCHMARKS.iter().filter(chosen) {
        match (bench.run)(workspace, &programs) {
            Ok(table) => ui::line(&format!("{}\n{table}\n", bench.name)),
            Err(error) => {
                ui::error(&format!("bench {}: {error:#}", bench.name));
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}
