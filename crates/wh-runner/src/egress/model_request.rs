//! Filters an agent's request before it is forwarded to a model server.

use http::{
    HeaderMap, Method, Request, StatusCode, Uri,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderName,
        PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};
use url::{Url, form_urlencoded};

use super::refusal::Refusal;

/// Headers about one connection, which are not passed on.
const CONNECTION_HEADERS: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Headers by which model servers take a key, and what the client sets anew.
const REPLACED_HEADERS: [HeaderName; 8] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
    COOKIE,
    HOST,
    EXPECT,
    CONTENT_LENGTH,
];

/// Query parameters by which model servers take a key, in lower case.
const KEY_PARAMETERS: [&str; 5] = ["key", "api_key", "api-key", "apikey", "access_token"];

/// Refuses requests that are not plain HTTP to one server.
pub(super) fn check_request<B>(request: &Request<B>) -> Result<(), Refusal> {
    // TRACE is answered with the headers of the request, the key among them.
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        let why = "the model gateway supports neither CONNECT nor TRACE";
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, why));
    }
    let mut upgrades = request.headers().get_all(UPGRADE).iter();
    let is_websocket = |value: &http::HeaderValue| {
        let text = value.as_bytes().to_ascii_lowercase();
        text.windows(b"websocket".len())
            .any(|part| part == b"websocket")
    };
    if upgrades.any(is_websocket) {
        // Codex falls back to plain HTTP for this status, and for no other.
        let why = "the model gateway does not support WebSocket; use plain HTTP";
        return Err(Refusal::new(StatusCode::UPGRADE_REQUIRED, why));
    }
    Ok(())
}

/// Appends the path and query of a request to the upstream's URL, without keys. Nothing when the path could lead out of the
/// upstream's path.
pub(super) fn upstream_url(upstream: &Url, requested: &Uri) -> Option<Url> {
    let path = requested.path();
    if !path.starts_with('/') || has_dot_segment(path) {
        return None;
    }
    let base = upstream.path().trim_end_matches('/');
    let mut url = upstream.clone();
    url.set_path(&format!("{base}{path}"));
    let query = requested.query().map(without_keys);
    url.set_query(query.as_deref().filter(|query| !query.is_empty()));
    let rest = url.path().strip_prefix(base)?;
    rest.starts_with('/').then_some(url)
}

/// Tells whether any server could read `.` or `..` in a path, however it is encoded.
fn has_dot_segment(path: &str) -> bool {
    let mut decoded = path.to_ascii_lowercase();
    for (code, character) in [
        ("%25", "%"),
        ("%2e", "."),
        ("%2f", "/"),
        ("%5c", "/"),
        ("\\", "/"),
    ] {
        decoded = decoded.replace(code, character);
    }
    let mut segments = decoded.split('/');
    segments.any(|segment| matches!(segment.split(';').next(), Some("." | "..")))
}

/// Removes the parameters that carry keys; the others stay as they were written.
fn without_keys(query: &str) -> String {
    let carries_key = |pair: &str| {
        let parsed = form_urlencoded::parse(pair.as_bytes()).next();
        parsed.is_some_and(|(name, _)| {
            let name = name.to_ascii_lowercase();
            KEY_PARAMETERS.contains(&name.as_str())
        })
    };
    let kept: Vec<_> = query.split('&').filter(|pair| !carries_key(pair)).collect();
    kept.join("&")
}

/// Removes headers about one connection, those that `Connection` names among them.
pub(super) fn remove_connection_headers(headers: &mut HeaderMap) {
    let mut named = Vec::new();
    for value in headers.get_all(CONNECTION) {
        let tokens = value.as_bytes().split(|byte| *byte == b',');
        named.extend(tokens.filter_map(|it| HeaderName::from_bytes(it.trim_ascii()).ok()));
    }
    for name in named.iter().chain(&CONNECTION_HEADERS) {
        headers.remove(name);
    }
}

/// Removes whatever the agent sends as a key, and what the client sets anew.
pub(super) fn remove_credentials(headers: &mut HeaderMap) {
    for name in &REPLACED_HEADERS {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(upstream: &str, requested: &str, expected: Option<&str>) {
        let url = upstream_url(&upstream.parse().unwrap(), &requested.parse().unwrap());
        let url = url.as_ref().map(Url::as_str);
        assert_eq!(url, expected, "{upstream} and {requested}");
    }

    #[test]
    fn paths_are_appended() {
        let plain = "https://api.example.com";
        check(plain, "/v1/x", Some("https://api.example.com/v1/x"));
        check(plain, "/", Some("https://api.example.com/"));
        check(
            plain,
            "//evil.com/x",
            Some("https://api.example.com//evil.com/x"),
        );
        check(
            plain,
            "http://evil.com/v1/x?a=b",
            Some("https://api.example.com/v1/x?a=b"),
        );
        let deep = "http://10.0.0.1:8080/proxy/anthropic/";
        check(
            deep,
            "/v1/messages?beta=true",
            Some("http://10.0.0.1:8080/proxy/anthropic/v1/messages?beta=true"),
        );
        check(
            deep,
            "/v1/a:b%20c..d/...",
            Some("http://10.0.0.1:8080/proxy/anthropic/v1/a:b%20c..d/..."),
        );
        for out in [
            "/../x",
            "/v1/..",
            "/./x",
            "/%2e%2e/x",
            "/.%2E/x",
            "/..%2fx",
            "/a%5c..%5Cx",
            "/%252e%252e/x",
            "/..;a=b/x",
            "*",
        ] {
            check(deep, out, None);
        }
    }

    #[test]
    fn keys_are_removed_from_the_query() {
        let plain = "https://api.example.com";
        for (query, kept) in [
            ("key=abc", ""),
            ("alt=sse&key=abc", "?alt=sse"),
            ("KEY=abc&alt=sse&key=", "?alt=sse"),
            ("k%65y=abc&a=%20+b", "?a=%20+b"),
            (
                "api_key=1&api-key=2&apikey=3&access_token=4&monkey=5",
                "?monkey=5",
            ),
            ("key", ""),
            ("a=key&b", "?a=key&b"),
        ] {
            let expected = format!("https://api.example.com/x{kept}");
            check(plain, &format!("/x?{query}"), Some(&expected));
        }
    }

    #[test]
    fn headers_of_one_connection_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("te", "trailers"),
            ("proxy-authorization", "Basic x"),
            ("x-kept", "1"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        remove_connection_headers(&mut headers);
        let names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-kept"]);
    }
}
