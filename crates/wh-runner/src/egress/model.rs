//! The model gateway: a reverse proxy that adds the key to an agent's requests.
//!
//! The key is removed from the headers of responses. A model server that repeats the key of a request in a *body* is not
//! covered: bodies are streamed as they come.

use std::{convert::Infallible, error::Error, sync::Arc};

use http_body_util::{Either, Full};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{HeaderName, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use reqwest::{Client, redirect::Policy};
use tokio::{
    net::TcpListener,
    sync::{OnceCell, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use url::Url;

use super::{
    EgressError, EgressLimits, EgressState, ModelGateway,
    counted_body::Counted,
    model_request::{check_request, remove_connection_headers, remove_credentials, upstream_url},
    proxy::accept,
    refusal::Refusal,
};

/// Maximum number of open connections to one gateway; further ones wait.
const CONNECTIONS_MAX: usize = 32;
/// The most headers of a request; more are refused with 431.
const HEADERS_MAX: usize = 100;
/// The most bytes of an upstream's URL.
const URL_BYTES_MAX: usize = 2_000;

type Answer = Response<Either<Counted<reqwest::Body>, Full<Bytes>>>;

/// A parsed model server URL, its credential header and its HTTP client.
#[derive(Debug)]
pub(super) struct Upstream {
    url: Url,
    header: HeaderName,
    /// Marked as sensitive, so it does not print.
    value: HeaderValue,
    key: crate::Token,
    /// Created for the first request, because it reads the certificates of the system.
    client: Arc<OnceCell<Client>>,
}

impl Upstream {
    /// Checks the gateways of a run. They share one client.
    pub(super) fn of_gateways(gateways: &[ModelGateway]) -> Result<Vec<Self>, EgressError> {
        let client = Arc::default();
        let prepare = |gateway| Self::of_gateway(gateway, Arc::clone(&client));
        gateways.iter().map(prepare).collect()
    }

    fn of_gateway(
        gateway: &ModelGateway,
        client: Arc<OnceCell<Client>>,
    ) -> Result<Self, EgressError> {
        let port = gateway.port;
        let refused = |why| EgressError::Upstream { port, why };
        if gateway.upstream.len() > URL_BYTES_MAX {
            return Err(refused("has more than 2000 bytes"));
        }
        let url = Url::parse(&gateway.upstream).map_err(|_| refused("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refused("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("must not hold a user name or password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("must not have a query or fragment"));
        }
        let header = HeaderName::from_bytes(gateway.header.as_bytes())
            .map_err(|_| refused("has a header that is not a header name"))?;
        let key = gateway.key.reveal();
        let value = HeaderValue::from_str(&format!("{}{key}", gateway.prefix));
        let (Ok(mut value), false) = (value, key.is_empty()) else {
            return Err(refused("has a key that is empty or not printable ASCII"));
        };
        value.set_sensitive(true);
        Ok(Self {
            url,
            header,
            value,
            key: gateway.key.clone(),
            client,
        })
    }

    /// Sends a request of the agent with the key in place of whatever credentials it has.
    async fn send(
        &self,
        state: &Arc<EgressState>,
        request: Request<Incoming>,
    ) -> Result<Answer, Refusal> {
        check_request(&request)?;
        let Some(url) = upstream_url(&self.url, request.uri()) else {
            let why = "the path must not leave the upstream's path";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, why));
        };
        let (parts, body) = request.into_parts();
        let mut headers = parts.headers;
        remove_connection_headers(&mut headers);
        remove_credentials(&mut headers);
        headers.insert(&self.header, self.value.clone());
        count_head(state, url.as_str().len(), &headers)?;
        let client = self
            .client
            .get_or_try_init(|| async { new_client(&state.limits) })
            .await
            .map_err(|error| failed(state, &error))?;
        let sent = client
            .request(parts.method, url)
            .headers(headers)
            .body(reqwest::Body::wrap(Counted::new(body, state)))
            .send();
        let response = sent.await.map_err(|error| failed(state, &error))?;
        self.relay(state, response)
    }

    /// Turns the upstream's response into the agent's: only the status, the headers without the key, and the body.
    fn relay(
        &self,
        state: &Arc<EgressState>,
        response: reqwest::Response,
    ) -> Result<Answer, Refusal> {
        let (parts, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        if parts.status.is_informational() {
            let why = "the model server switched protocols, which the gateway does not support";
            return Err(Refusal::new(StatusCode::BAD_GATEWAY, why));
        }
        let mut headers = parts.headers;
        remove_connection_headers(&mut headers);
        let key = self.key.reveal().as_bytes();
        let has_key = |value: &HeaderValue| {
            let mut windows = value.as_bytes().windows(key.len());
            windows.any(|window| window == key)
        };
        let names: Vec<_> = headers.keys().cloned().collect();
        for name in names {
            if headers.get_all(&name).iter().any(has_key) {
                headers.remove(&name);
            }
        }
        count_head(state, 0, &headers)?;
        let mut answer = Response::new(Either::Left(Counted::new(body, state)));
        *answer.status_mut() = parts.status;
        *answer.headers_mut() = headers;
        Ok(answer)
    }
}

/// Serves one of the run's model gateways on a listener until it is told to stop. `index` is its place in
/// [`Egress::models`](super::Egress).
pub async fn serve_model(
    listener: TcpListener,
    state: Arc<EgressState>,
    index: usize,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    if state.upstreams.get(index).is_none() {
        tracing::error!(index, "there is no such model gateway");
        return;
    }
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Some((stream, permit)) = accept(&listener, &connections, &stop).await {
        let (state, stop) = (state.clone(), stop.clone());
        tasks.spawn(async move {
            let service = service_fn(|request| answer(&state, index, request));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                // Between requests too: a client keeps its connection open for the next one.
                .header_read_timeout(state.limits.idle)
                .max_buf_size(state.limits.head_bytes_max.max(64 << 10))
                .max_headers(HEADERS_MAX)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                ended = connection => drop(ended),
                () = stop.cancelled() => {}
            }
            drop(permit);
        });
    }
}

async fn answer(
    state: &Arc<EgressState>,
    index: usize,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let relayed = async {
        state.check_limit()?;
        let missing = || Refusal::new(StatusCode::BAD_GATEWAY, "there is no such model server");
        let upstream = state.upstreams.get(index).ok_or_else(missing)?;
        upstream.send(state, request).await
    };
    let relayed = relayed.await;
    Ok(relayed.unwrap_or_else(|refusal: Refusal| refusal.into_response().map(Either::Right)))
}

/// Creates the client that calls model servers.
fn new_client(limits: &EgressLimits) -> reqwest::Result<Client> {
    // A provider that is already there is as good.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    Client::builder()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .connect_timeout(limits.connect)
        .read_timeout(limits.idle)
        .pool_max_idle_per_host(4)
        .build()
}

/// Counts a head that is passed on; refuses it when that reaches the limit.
fn count_head(state: &EgressState, target: usize, headers: &HeaderMap) -> Result<(), Refusal> {
    let sizes = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    let size = target + sizes.sum::<usize>();
    let granted = state.meter.take(size);
    state.meter.end_if_reached();
    match granted < size {
        true => state.check_limit(),
        false => Ok(()),
    }
}

/// Says why there is no response.
fn failed(state: &EgressState, error: &reqwest::Error) -> Refusal {
    if let Err(reached) = state.check_limit() {
        return reached;
    }
    let mut cause: &dyn Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    if state.may_log() {
        tracing::warn!(%cause, "the model server did not answer the agent");
    }
    let why = format!("the model server did not answer: {cause}; try again");
    Refusal::new(StatusCode::BAD_GATEWAY, why)
}
