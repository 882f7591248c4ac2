//! Reads `Accept` and `Content-Type` the way HTTP means them.
//!
//! rmcp looks for two literal strings in the first `Accept` line. Plain HTTP tools send `*/*`, nothing, or
//! only `application/json`; each of them can be served.

use http::{HeaderMap, HeaderValue, header};

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The kinds of answer a client can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) event_stream: bool,
}

/// Returns what the client accepts; a request without `Accept` accepts everything.
pub(super) fn accepts(headers: &HeaderMap) -> Accepts {
    let mut values = headers.get_all(header::ACCEPT).iter();
    // What the specification tells clients to send, so that it is seldom anything else.
    if values.next().is_none_or(|first| first == BOTH) {
        return Accepts {
            json: true,
            event_stream: true,
        };
    }
    let mut found = Accepts {
        json: false,
        event_stream: false,
    };
    for value in headers.get_all(header::ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            if parts.any(refuses) {
                continue;
            }
            found.json |= ["*/*", "application/*", JSON]
                .iter()
                .any(|known| media.eq_ignore_ascii_case(known));
            found.event_stream |= ["*/*", "text/*", EVENT_STREAM]
                .iter()
                .any(|known| media.eq_ignore_ascii_case(known));
        }
    }
    found
}

/// Writes the one `Accept` value that rmcp understands.
pub(super) fn accept_both(headers: &mut HeaderMap) {
    if headers.get(header::ACCEPT) != Some(&BOTH) {
        headers.insert(header::ACCEPT, BOTH);
    }
}

/// Whether the body is declared as JSON. Exact, because rmcp's prefix test lets `application/jsonp` through.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media| media.trim().eq_ignore_ascii_case(JSON))
}

/// Whether an answer is an event stream.
pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(EVENT_STREAM.as_bytes()))
}

/// Whether a parameter is a zero weight, which means "not this one".
fn refuses(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &'static str, json: bool, event_stream: bool) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
        assert_eq!(
            accepts(&headers),
            Accepts { json, event_stream },
            "{accept}"
        );
    }

    #[test]
    fn media_ranges() {
        check("application/json, text/event-stream", true, true);
        check("*/*", true, true);
        check("application/json", true, false);
        check("application/*", true, false);
        check("text/event-stream", false, true);
        check("text/html", false, false);
        check("Application/JSON;charset=utf-8;q=0.5", true, false);
        check("text/html, */*;q=0", false, false);
        check("", false, false);
    }

    #[test]
    fn absent_means_everything() {
        assert!(accepts(&HeaderMap::new()).json);
        assert!(accepts(&HeaderMap::new()).event_stream);
    }

    #[test]
    fn content_type_is_matched_whole() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/Json; charset=utf-8", true),
            ("application/jsonp", false),
            ("text/plain", false),
        ] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
