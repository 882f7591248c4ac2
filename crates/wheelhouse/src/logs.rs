//! Log lines, always on stderr: stdout is for answers, and for MCP.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat, Source};

/// Begins to log as configured. `unless_set` is the filter when nobody configured one.
pub(crate) fn start(config: &Config, unless_set: &str) {
    let filter = match &config.log_filter.source {
        Source::Default => unless_set,
        _ => &config.log_filter.value,
    };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(unless_set));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_writer(io::stderr);
    let started = match config.log_format.value {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    // Only a test that runs several commands in one process gets here twice.
    started.ok();
}
