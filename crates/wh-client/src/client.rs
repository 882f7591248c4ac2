//! The connection to a server and the one function every call goes through.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;
use wh_api::ErrorBody;

use crate::failure::{cause, foreign_error, is_unknown_name, nobody_there};
use crate::{ClientError, query};

pub use reqwest::Method;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// How long a call may take; feeds and streams are not calls.
const CALL_WITHIN: Duration = Duration::from_secs(360);
/// Where in its data directory a server listens.
const SOCKET_NAME: &str = "wheelhouse.sock";

/// A server to call.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    Socket(PathBuf),
    Address(String),
}

impl Client {
    /// Calls the server of a data directory over its Unix socket, as the user this process runs as.
    pub fn local(data_dir: &Path) -> Result<Self, ClientError> {
        let socket = data_dir.join(SOCKET_NAME);
        let http = builder(false)?
            .no_proxy()
            .unix_socket(socket.clone())
            .build()
            .map_err(setup)?;
        let base = Url::parse("http://localhost/").map_err(setup)?;
        Ok(Self {
            http,
            base,
            target: Target::Socket(socket),
        })
    }

    /// Calls the server at `url`, with a key if there is one.
    pub fn remote(url: &str, key: Option<&str>) -> Result<Self, ClientError> {
        let base = base_of(url)?;
        let mut builder = builder(base.scheme() == "https")?;
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
                ClientError::Unusable {
                    message: "the key is not one line of text".to_owned(),
                    advice: "give a key as `wheelhouse key create` printed it".to_owned(),
                }
            })?;
            value.set_sensitive(true);
            builder = builder.default_headers(HeaderMap::from_iter([(AUTHORIZATION, value)]));
        }
        Ok(Self {
            http: builder.build().map_err(setup)?,
            target: Target::Address(base.to_string()),
            base,
        })
    }

    /// Returns what is called: a socket's path or an address.
    pub fn target(&self) -> String {
        match &self.target {
            Target::Socket(path) => path.display().to_string(),
            Target::Address(url) => url.clone(),
        }
    }

    /// Calls any operation: `path` holds the segments below `/api/v1`, each taken as one whatever it contains.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &impl Serialize,
        body: Option<&impl Serialize>,
    ) -> Result<T, ClientError> {
        let mut request = self.request(method, path, query)?.timeout(CALL_WITHIN);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = self.send(request).await?;
        let bytes = answer
            .bytes()
            .await
            .map_err(|error| ClientError::transport("the answer broke off", error))?;
        // An operation without an answer has an empty body; `null` is what it reads as.
        let json = if bytes.is_empty() {
            b"null"
        } else {
            &bytes[..]
        };
        serde_json::from_slice(json)
            .map_err(|error| ClientError::transport("failed to understand the answer", error))
    }

    /// Begins a request below `/api/v1`.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &[&str],
        query: &impl Serialize,
    ) -> Result<RequestBuilder, ClientError> {
        let mut url = self.url(&["api", "v1"], path)?;
        query::append(&mut url, query)?;
        Ok(self.http.request(method, url))
    }

    /// Begins a request at the root.
    pub(crate) fn root_request(
        &self,
        path: &[&str],
        query: &impl Serialize,
    ) -> Result<RequestBuilder, ClientError> {
        let mut url = self.url(&[], path)?;
        query::append(&mut url, query)?;
        Ok(self.http.get(url))
    }

    /// Sends a request; anything but success is an error.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let answer = request.send().await.map_err(|error| self.failed(error))?;
        let status = answer.status();
        if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(answer);
        }
        let text = answer.text().await.unwrap_or_default();
        let error = match serde_json::from_str::<ErrorBody>(&text) {
            Ok(body) => body.error,
            Err(_) => foreign_error(status, &text),
        };
        Err(ClientError::Refused {
            error,
            status: status.as_u16(),
        })
    }

    fn url(&self, prefix: &[&str], path: &[&str]) -> Result<Url, ClientError> {
        // `..` as a segment would be resolved away, and what is left would name another operation.
        if let Some(bad) = path.iter().find(|s| matches!(**s, "" | "." | "..")) {
            return Err(ClientError::Unusable {
                message: format!("{bad:?} is not an id or a name"),
                advice: "give an id, as a list shows it".to_owned(),
            });
        }
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(prefix).extend(path);
        }
        Ok(url)
    }

    fn failed(&self, error: reqwest::Error) -> ClientError {
        if !error.is_connect() {
            return ClientError::transport("the call got no answer", error);
        }
        let target = self.target();
        if is_unknown_name(&error) {
            return ClientError::NotRunning {
                target: format!("{target}: {}", cause(&error)),
                advice: "check the name in the address, and that this machine has a network"
                    .to_owned(),
            };
        }
        if !nobody_there(&error) {
            return ClientError::transport(format!("cannot connect to {target}"), cause(&error));
        }
        let advice = match &self.target {
            Target::Socket(_) => "start one with `wheelhouse serve`",
            Target::Address(_) => "check the address and that the server runs",
        };
        let advice = advice.to_owned();
        ClientError::NotRunning { target, advice }
    }
}

/// Reads a server's address; the address of its MCP endpoint will do too.
fn base_of(url: &str) -> Result<Url, ClientError> {
    let refuse = |why: String| ClientError::Unusable {
        message: format!("{url:?} is not the address of a server: {why}"),
        advice: "give an address like http://127.0.0.1:4180".to_owned(),
    };
    let mut base = Url::parse(url).map_err(|error| refuse(error.to_string()))?;
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        return Err(refuse("only http:// and https:// are spoken".to_owned()));
    }
    base.set_query(None);
    base.set_fragment(None);
    let path = base.path().trim_end_matches('/');
    let path = path.strip_suffix("/mcp").unwrap_or(path).to_owned();
    base.set_path(&path);
    Ok(base)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Prepares the HTTP client. The system's certificates are read only when TLS is spoken: a machine may have none.
fn builder(tls: bool) -> Result<reqwest::ClientBuilder, ClientError> {
    // A provider that is already there is as good.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_WITHIN)
        .redirect(reqwest::redirect::Policy::none());
    if tls {
        return Ok(builder);
    }
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

fn setup(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
    ClientError::transport("failed to set up the HTTP client", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(segment: &str) -> bool {
        let client = Client::remote("http://127.0.0.1:1", None).unwrap();
        client.url(&["api", "v1"], &["boards", segment]).is_err()
    }

    #[test]
    fn addresses_are_read_with_and_without_the_endpoint() {
        for url in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/mcp",
            "http://h:1/mcp?toolsets=all",
        ] {
            assert_eq!(base_of(url).unwrap().as_str(), "http://h:1/", "{url}");
        }
        assert_eq!(base_of("https://h/wh/").unwrap().as_str(), "https://h/wh");
        for url in ["", "h:1", "file:///etc", "unix:/x"] {
            assert!(base_of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_segment_stays_one_segment() {
        let client = Client::remote("https://h/wh", None).unwrap();
        let url = client.url(&["api", "v1"], &["boards", "a/../b?c"]).unwrap();
        assert_eq!(url.as_str(), "https://h/wh/api/v1/boards/a%2F..%2Fb%3Fc");
        assert!(refused("..") && refused(".") && refused(""));
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_named_with_advice() {
        let client = Client::local(Path::new("/nonexistent")).unwrap();
        let error = client.whoami().await.unwrap_err();
        assert!(
            matches!(&error, ClientError::NotRunning { target, advice }
                if target == "/nonexistent/wheelhouse.sock" && advice.contains("wheelhouse serve")),
            "{error:?}"
        );
    }
}
