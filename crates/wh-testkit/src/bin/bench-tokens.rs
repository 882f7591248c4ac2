//! Counts tokens: reads a JSON list of texts from a file and prints the list of their counts.

use std::io::Write;

use anyhow::{Context, Result};
use wh_testkit::tokens;

fn main() -> Result<()> {
    let file = std::env::args().nth(1);
    let file = file.context("usage: bench-tokens FILE")?;
    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {file}"))?;
    let texts: Vec<String> = serde_json::from_str(&text).context("a JSON list of texts")?;
    let counts: Vec<_> = texts.iter().map(|text| tokens::count(text)).collect();
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&counts)?)?;
    Ok(())
}
