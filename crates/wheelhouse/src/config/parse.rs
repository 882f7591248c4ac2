//! Reading single values. An error completes the sentence "the variable X …".

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use wh_domain::SecretText;

use super::LogFormat;

type Parsed<T> = Result<T, String>;

pub(super) fn path(text: &str) -> Parsed<PathBuf> {
    std::path::absolute(text).map_err(|error| format!("is not a path: {error}"))
}

/// Reads where to listen. A port alone, or one of `localhost`, is on this machine only.
pub(crate) fn listen(text: &str) -> Parsed<SocketAddr> {
    let text = text.trim();
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        format!("must be an address and port like 127.0.0.1:4180 or 0.0.0.0:4180, not {text:?}")
    })
}

/// What seed 001 calls the port.
pub(super) fn loopback_port(text: &str) -> Parsed<SocketAddr> {
    let port: u16 = text
        .trim()
        .parse()
        .map_err(|_| format!("must be a port number, not {text:?}"))?;
    Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

pub(super) fn switch(text: &str) -> Parsed<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("must be true or false, not {text:?}")),
    }
}

pub(super) fn list(text: &str) -> Parsed<Vec<String>> {
    let items = text.split(',').map(str::trim).filter(|i| !i.is_empty());
    Ok(items.map(str::to_owned).collect())
}

pub(super) fn log_filter(text: &str) -> Parsed<String> {
    match tracing_subscriber::EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!(
            "must be a level (error, warn, info, debug, trace) or a filter like info,wh_app=debug: {error}"
        )),
    }
}

pub(super) fn log_level(text: &str) -> Parsed<String> {
    let level = text.trim().to_ascii_lowercase();
    match level.as_str() {
        "error" | "warn" | "info" | "debug" | "trace" => Ok(level),
        "warning" => Ok("warn".to_owned()),
        "critical" | "fatal" => Ok("error".to_owned()),
        _ => Err(format!(
            "must be error, warn, info, debug or trace, not {text:?}"
        )),
    }
}

pub(super) fn log_format(text: &str) -> Parsed<LogFormat> {
    match text.trim() {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("must be text or json, not {text:?}")),
    }
}

/// Reads `90s`, `5m`, `1h` or `500ms`; a bare number is seconds.
pub(super) fn duration(text: &str) -> Parsed<Duration> {
    let text = text.trim();
    let refuse = || format!("must be a time like 60s, 5m or 1h, not {text:?}");
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| refuse())?;
    let seconds = match &text[digits..] {
        "ms" => return nonzero(Duration::from_millis(number)).ok_or_else(refuse),
        "" | "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    };
    let duration = seconds.map(Duration::from_secs).and_then(nonzero);
    duration.ok_or_else(refuse)
}

/// Reads `500 MB` or `2 GiB`; a bare number is bytes.
pub(super) fn bytes(text: &str) -> Parsed<u64> {
    let text = text.trim();
    let refuse = || format!("must be a size like 500 MB or 2 GiB, not {text:?}");
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| refuse())?;
    let unit: u64 = match text[digits..].trim_start() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(refuse()),
    };
    number.checked_mul(unit).ok_or_else(refuse)
}

/// Reads `MCP_TOOL_TIMEOUT`, which other MCP programs count in milliseconds; with a unit it is read as ours.
pub(super) fn milliseconds(text: &str) -> Parsed<Duration> {
    match text.trim().parse() {
        Ok(number) => nonzero(Duration::from_millis(number))
            .ok_or_else(|| "must be more than 0 milliseconds".to_owned()),
        Err(_) => duration(text),
    }
}

fn nonzero(duration: Duration) -> Option<Duration> {
    (!duration.is_zero()).then_some(duration)
}

/// Takes a secret. What it is never appears in an error.
pub(super) fn secret(text: &str) -> Parsed<Option<SecretText>> {
    let text = text.trim();
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("must be one word".to_owned());
    }
    Ok(Some(SecretText::new(text.to_owned())))
}
