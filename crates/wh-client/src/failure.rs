//! Making sense of what HTTP tells of a failure.

use std::error::Error;

use reqwest::StatusCode;
use serde_json::Map;
use wh_api::ErrorView;

/// How much of an answer that is not ours is quoted in an error.
const QUOTE_CHARS_MAX: usize = 200;

/// Tells a server that is not there from one that is there and cannot be used.
pub(crate) fn nobody_there(error: &reqwest::Error) -> bool {
    use std::io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound,
        TimedOut,
    };
    let mut causes = causes(error);
    error.is_timeout()
        || causes.any(|cause| {
            let kind = cause
                .downcast_ref::<std::io::Error>()
                .map(std::io::Error::kind);
            matches!(
                kind,
                Some(
                    AddrNotAvailable
                        | ConnectionRefused
                        | HostUnreachable
                        | NetworkUnreachable
                        | NotFound
                        | TimedOut
                )
            )
        })
}

/// Tells whether the server's name could not be looked up. Its kind of error has no name of its own.
pub(crate) fn is_unknown_name(error: &reqwest::Error) -> bool {
    cause(error).starts_with("failed to lookup address information")
}

/// Returns the innermost cause, which says it best.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    causes(error)
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}

/// Describes a refusal that is not in our shape, such as a proxy's.
pub(crate) fn foreign_error(status: StatusCode, text: &str) -> ErrorView {
    let code = match status.as_u16() {
        401 => "UNAUTHENTICATED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        409 => "CONFLICT",
        413 | 429 => "LIMIT_EXCEEDED",
        400..=499 => "INVALID_INPUT",
        502..=504 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let quote: String = text.trim().chars().take(QUOTE_CHARS_MAX).collect();
    let message = match quote.is_empty() {
        true => format!("the server answered {status}"),
        false => format!("the server answered {status}: {quote}"),
    };
    ErrorView {
        code: code.to_owned(),
        message,
        hint: None,
        advice: Vec::new(),
        details: Map::new(),
    }
}
