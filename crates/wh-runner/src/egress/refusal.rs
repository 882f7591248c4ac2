//! Answers of our own to an agent's requests.

use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue},
};

/// A rejected request: the HTTP status and a one-line message.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    line: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, line: impl Into<String>) -> Self {
        Self {
            status,
            line: line.into(),
        }
    }

    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::from(self.line + "\n"));
        *response.status_mut() = self.status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
        response
    }
}
