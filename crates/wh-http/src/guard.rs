//! Refuses requests that a browser was tricked into sending, before any routing.
//!
//! A server on loopback is reachable by every web page its user visits. Two headers tell such requests apart:
//! `Host` names the attacker's domain when DNS was rebound to us, and `Origin` names the page's site. Both are
//! compared with explicit lists; that they agree with each other proves nothing, since the attacker chooses both.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::future::{BoxFuture, Either, Ready};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http::{Uri, uri::Authority};
use serde_json::json;

use crate::serve::Peer;

/// Headers on every answer: content is what it says it is, and no other site may frame or read it.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'self'",
        ),
    ),
];

/// Which `Host` and `Origin` values are ours.
#[derive(Debug, Clone, Default)]
pub struct GuardConfig {
    /// `name` (any port) or `name:port`.
    pub hosts: Vec<String>,
    /// `scheme://name[:port]`, compared whole.
    pub origins: Vec<String>,
}

impl GuardConfig {
    /// Allows the loopback names and the bound address, each with the bound port.
    ///
    /// An unspecified address (`0.0.0.0`) has no name of its own: whoever listens there must list the
    /// names by which the server is meant to be reached.
    pub fn for_address(bound: SocketAddr) -> Self {
        let port = bound.port();
        let mut hosts = vec![
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
        ];
        if !bound.ip().is_unspecified() {
            let own = match bound.ip() {
                IpAddr::V4(ip) => format!("{ip}:{port}"),
                IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            };
            if !hosts.contains(&own) {
                hosts.push(own);
            }
        }
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Self { hosts, origins }
    }

    /// Allows further hosts, from the setting `allowed_hosts`.
    #[must_use]
    pub fn with_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Allows further origins, from the setting `allowed_origins`.
    #[must_use]
    pub fn with_origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.origins.extend(origins.into_iter().map(Into::into));
        self
    }
}

/// The layer. It belongs outside the router, so that an unknown path is guarded too.
#[derive(Debug, Clone)]
pub struct GuardLayer {
    rules: Arc<Rules>,
}

impl GuardLayer {
    /// Builds the layer. Entries that cannot be parsed are reported in the log and match nothing.
    pub fn new(config: &GuardConfig) -> Self {
        let hosts = config.hosts.iter().filter_map(|entry| {
            let parsed = entry.parse::<Authority>().ok().map(|authority| HostRule {
                name: authority.host().to_ascii_lowercase(),
                port: authority.port_u16(),
            });
            if parsed.is_none() {
                tracing::warn!(entry, "allowed_hosts has an entry that is not a host name");
            }
            parsed
        });
        let hosts: Vec<_> = hosts.collect();
        let exact = |rule: &HostRule| Some(format!("{}:{}", rule.name, rule.port?));
        Self {
            rules: Arc::new(Rules {
                exact_hosts: hosts.iter().filter_map(exact).collect(),
                hosts,
                origins: config
                    .origins
                    .iter()
                    .map(|origin| normal_origin(origin))
                    .collect(),
            }),
        }
    }
}

impl<S> tower::Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Guard {
            rules: self.rules.clone(),
            inner,
        }
    }
}

/// A service behind the guard.
#[derive(Debug, Clone)]
pub struct Guard<S> {
    rules: Arc<Rules>,
    inner: S,
}

impl<S, B> tower::Service<Request<B>> for Guard<S>
where
    S: tower::Service<Request<B>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<
        Ready<Result<Response<Body>, Infallible>>,
        BoxFuture<'static, Result<Response<Body>, Infallible>>,
    >;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if let Err(refusal) = self.rules.check(&request) {
            tracing::warn!(reason = refusal.message, "refused a request at the edge");
            return Either::Left(futures::future::ready(Ok(secured(refusal.into_response()))));
        }
        let response = self.inner.call(request);
        Either::Right(Box::pin(async move { response.await.map(secured) }))
    }
}

#[derive(Debug)]
struct Rules {
    hosts: Vec<HostRule>,
    /// Those of `hosts` that have a port, written as a header.
    exact_hosts: Vec<String>,
    origins: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct HostRule {
    name: String,
    /// `None` matches every port: what an attacker cannot choose is the name.
    port: Option<u16>,
}

impl Rules {
    fn check<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        // Browsers cannot open Unix sockets, and their clients invent host names freely.
        let is_local = matches!(request.extensions().get(), Some(Peer::Unix { .. }));
        if !is_local {
            self.check_host(request.headers(), request.uri())?;
        }
        self.check_origin(request.headers())
    }

    fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
        let mut values = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (values.next(), values.next()) else {
            return Err(Refusal::bad_host("exactly one Host header is required"));
        };
        // The address the server printed, as nearly every client sends it, needs no parsing.
        let is_exact = |known: &String| known.as_bytes().eq_ignore_ascii_case(host.as_bytes());
        if uri.authority().is_none() && self.exact_hosts.iter().any(is_exact) {
            return Ok(());
        }
        let host = host
            .to_str()
            .ok()
            .filter(|host| !host.contains('@'))
            .and_then(|host| host.parse::<Authority>().ok())
            .ok_or_else(|| Refusal::bad_host("the Host header is not a host name"))?;
        // A request line with an absolute address overrides Host, so both must be ours.
        let is_allowed = self.allows_host(&host)
            && uri
                .authority()
                .is_none_or(|authority| self.allows_host(authority));
        if is_allowed {
            return Ok(());
        }
        Err(Refusal {
            status: StatusCode::FORBIDDEN,
            code: "FORBIDDEN",
            message: "the Host header names a server that this is not",
            hint: "use the address the server printed at start, or add this host to allowed_hosts",
        })
    }

    fn allows_host(&self, authority: &Authority) -> bool {
        self.hosts.iter().any(|rule| {
            rule.name.eq_ignore_ascii_case(authority.host())
                && rule
                    .port
                    .is_none_or(|port| port == authority.port_u16().unwrap_or(80))
        })
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().map(normal_origin).unwrap_or_default();
            if origin == "null" || !self.origins.contains(&origin) {
                return Err(Refusal {
                    status: StatusCode::FORBIDDEN,
                    code: "FORBIDDEN",
                    message: "the Origin header names a site that may not call this server",
                    hint: "open the page from the server's own address, or add its origin to allowed_origins",
                });
            }
        }
        Ok(())
    }
}

/// Lower case and without the port that the scheme implies, as browsers write origins.
fn normal_origin(origin: &str) -> String {
    let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let implied = match origin.split_once("://") {
        Some(("http", _)) => ":80",
        Some(("https", _)) => ":443",
        _ => return origin,
    };
    match origin.strip_suffix(implied) {
        Some(short) => short.to_owned(),
        None => origin,
    }
}

#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: &'static str,
    hint: &'static str,
}

impl Refusal {
    fn bad_host(message: &'static str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "INVALID_INPUT",
            message,
            hint: "send one Host header with the address the server printed at start",
        }
    }

    fn into_response(self) -> Response<Body> {
        error_response(self.status, self.code, self.message, self.hint)
    }
}

/// Builds the JSON error that the edge answers with.
pub(crate) fn error_response(
    status: StatusCode,
    code: &str,
    message: &str,
    hint: &str,
) -> Response<Body> {
    let body = json!({"error": {"code": code, "message": message, "hint": hint}});
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// Adds the security headers that the answer does not have yet.
fn secured(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in SECURITY_HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Arc<Rules> {
        let config = GuardConfig::for_address(([192, 168, 1, 5], 4180).into())
            .with_hosts(["wheel.example", "proxy.example:8443"])
            .with_origins(["https://wheel.example:443"]);
        GuardLayer::new(&config).rules
    }

    fn host(values: &[&str]) -> Result<(), StatusCode> {
        let mut request = Request::new(());
        for value in values {
            request
                .headers_mut()
                .append(header::HOST, value.parse().unwrap());
        }
        rules().check(&request).map_err(|refusal| refusal.status)
    }

    fn origin(value: &str) -> Result<(), StatusCode> {
        let mut request = Request::new(());
        request
            .headers_mut()
            .insert(header::HOST, HeaderValue::from_static("localhost:4180"));
        request
            .headers_mut()
            .insert(header::ORIGIN, value.parse().unwrap());
        rules().check(&request).map_err(|refusal| refusal.status)
    }

    #[test]
    fn only_our_names_are_hosts() {
        for ours in [
            "localhost:4180",
            "LOCALHOST:4180",
            "127.0.0.1:4180",
            "[::1]:4180",
            "192.168.1.5:4180",
            "wheel.example",
            "wheel.example:9",
            "proxy.example:8443",
        ] {
            assert_eq!(host(&[ours]), Ok(()), "{ours}");
        }
        for other in [
            "attacker.com:4180",
            "localhost:1",
            "localhost",
            "proxy.example",
            "localhost.attacker.com:4180",
            "192.168.1.6:4180",
        ] {
            assert_eq!(host(&[other]), Err(StatusCode::FORBIDDEN), "{other}");
        }
    }

    #[test]
    fn exactly_one_well_formed_host() {
        for bad in [
            &[][..],
            &["localhost:4180", "localhost:4180"],
            &["a b"],
            &["user@localhost:4180"],
            &[""],
        ] {
            assert_eq!(host(bad), Err(StatusCode::BAD_REQUEST), "{bad:?}");
        }
    }

    #[test]
    fn an_absolute_address_must_be_ours_too() {
        let mut request = Request::new(());
        *request.uri_mut() = Uri::from_static("http://attacker.com:4180/mcp");
        request
            .headers_mut()
            .insert(header::HOST, HeaderValue::from_static("localhost:4180"));
        assert!(rules().check(&request).is_err());
    }

    #[test]
    fn only_listed_origins_pass() {
        for ours in [
            "http://localhost:4180",
            "http://[::1]:4180",
            "https://wheel.example",
            "HTTPS://Wheel.Example",
        ] {
            assert_eq!(origin(ours), Ok(()), "{ours}");
        }
        for other in [
            "null",
            "http://attacker.com",
            "http://localhost:3000",
            "https://localhost:4180",
            "http://wheel.example",
            "",
        ] {
            assert_eq!(origin(other), Err(StatusCode::FORBIDDEN), "{other}");
        }
    }

    #[test]
    fn the_unix_socket_needs_no_host_but_still_no_foreign_origin() {
        let mut request = Request::new(());
        request
            .extensions_mut()
            .insert(Peer::Unix { uid: 0, pid: None });
        assert!(rules().check(&request).is_ok());
        request
            .headers_mut()
            .insert(header::ORIGIN, HeaderValue::from_static("http://x"));
        assert!(rules().check(&request).is_err());
    }
}
