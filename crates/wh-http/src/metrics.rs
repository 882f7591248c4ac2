//! `/metrics`: numbers for Prometheus.

use std::{cell::RefCell, collections::HashMap, sync::OnceLock, time::Duration};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use wh_domain::{CredentialKind, ErrorCode, Principal, UserRole};

use crate::{call, error::ApiError, state::Server};

/// How long a request took, by method and route template.
const LATENCY: &str = "wheelhouse_http_request_seconds";

/// The upper bounds of the latency histogram, in seconds.
const BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0,
];

/// How often samples are folded into the histogram. Until then they take up memory.
const UPKEEP_EVERY: Duration = Duration::from_secs(10);

/// Where requests of one kind are counted.
struct Handles {
    method: &'static str,
    status: u16,
    requests: Counter,
    latency: Histogram,
}

thread_local! {
    /// What this thread has counted before, by route: looking it up in the recorder costs several allocations.
    static HANDLES: RefCell<HashMap<Box<str>, Vec<Handles>>> = RefCell::default();
}

/// Counts one request. Only after [`recorder`] was called.
pub(crate) fn count(method: &'static str, route: &str, status: u16, elapsed: Duration) {
    HANDLES.with_borrow_mut(|known| {
        if !known.contains_key(route) {
            known.insert(route.into(), vec![]);
        }
        let Some(of_route) = known.get_mut(route) else {
            return;
        };
        let is_this = |handles: &Handles| handles.method == method && handles.status == status;
        let at = of_route.iter().position(is_this).unwrap_or_else(|| {
            of_route.push(Handles::new(method, route, status));
            of_route.len() - 1
        });
        of_route[at].requests.increment(1);
        of_route[at].latency.record(elapsed.as_secs_f64());
    });
}

impl Handles {
    fn new(method: &'static str, route: &str, status: u16) -> Self {
        let labels = [
            ("method", method.to_owned()),
            ("route", route.to_owned()),
            ("status", status.to_string()),
        ];
        Self {
            method,
            status,
            requests: metrics::counter!("wheelhouse_http_requests_total", &labels),
            latency: metrics::histogram!(LATENCY, &labels[..2]),
        }
    }
}

/// Returns the process's recorder, installing it the first time.
pub(crate) fn recorder() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(LATENCY.to_owned()), &BUCKETS)
            .expect("the histogram has buckets")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("another metrics recorder is installed; /metrics will be empty");
        }
        handle
    })
}

/// Folds samples from time to time, until the server stops.
pub(crate) async fn upkeep(server: Server) {
    loop {
        tokio::select! {
            () = server.app.shutdown().cancelled() => return,
            () = tokio::time::sleep(UPKEEP_EVERY) => recorder().run_upkeep(),
        }
    }
}

/// Shows the numbers to those whom everybody's activity may concern.
pub(crate) async fn show(request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    match call::principal(&parts).and_then(check) {
        Ok(()) => {
            let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            ([(header::CONTENT_TYPE, text)], recorder().render()).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Numbers are about everybody, so only an administrator sees them, and no key that is confined to its own things.
fn check(principal: &Principal) -> Result<(), ApiError> {
    let is_confined = matches!(
        principal.credential.kind(),
        CredentialKind::Client | CredentialKind::Session
    );
    if principal.role == UserRole::Admin && !is_confined {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Forbidden,
        "only an administrator may read metrics",
    )
    .hint("use a full or read key of an administrator"))
}
