//! The ceilings that benchmarks compare with, measured in the same run: what axum, rmcp and the store give before anything
//! of the application is put on top.
//!
//! - `bench-ceiling serve` answers at `/bare` with a fixed body and at `/mcp` with an rmcp echo tool, until it is ended.
//! - `bench-ceiling commits DATA_DIR WRITERS SECONDS` commits through the store and counts, then syncs a plain file and counts.
//! - `bench-ceiling reads DATA_DIR SECONDS` reads the change feed through the store and counts.

mod http;
mod store;

use std::{io::Write, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};

/// As in the product, so that the comparison is fair.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str =
    "usage: bench-ceiling serve | commits DATA_DIR WRITERS SECONDS | reads DATA_DIR SECONDS";

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context(USAGE);
    let measured = match next()?.as_str() {
        "serve" => return http::serve().await,
        "commits" => {
            let (data_dir, writers) = (PathBuf::from(next()?), next()?.parse()?);
            store::commits(&data_dir, writers, seconds(&next()?)?).await?
        }
        "reads" => {
            let data_dir = PathBuf::from(next()?);
            store::reads(&data_dir, seconds(&next()?)?).await?
        }
        _ => bail!(USAGE),
    };
    writeln!(std::io::stdout(), "{measured}")?;
    Ok(())
}

fn seconds(text: &str) -> Result<Duration> {
    Ok(Duration::from_secs(text.parse().context(USAGE)?))
}
