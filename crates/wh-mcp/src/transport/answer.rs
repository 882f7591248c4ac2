//! Answers that this transport gives by itself: JSON-RPC errors with the matching HTTP status.

use std::{borrow::Cow, convert::Infallible};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use serde_json::{Value, json};

/// The body of every answer: a buffer or an event stream, never failing.
pub type ResponseBody = BoxBody<Bytes, Infallible>;

pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// What the reference servers answer for an unknown session; outside the range the specification reserves.
const SESSION_NOT_FOUND: i32 = -32001;
/// A refusal that is the server's state and not the client's fault.
const UNAVAILABLE: i32 = -32000;

/// One refusal, before it is put on the wire.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) code: i32,
    pub(super) message: Cow<'static, str>,
    /// The id of the request, or null where none could be read.
    pub(super) id: Value,
    /// What programs should know about it.
    pub(super) data: Option<Box<Value>>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        code: i32,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            id: Value::Null,
            data: None,
        }
    }

    pub(super) fn bad_request(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn too_deep(depth_max: usize) -> Self {
        Self::bad_request(
            PARSE_ERROR,
            format!("Parse error: JSON nests deeper than {depth_max} levels"),
        )
    }

    pub(super) fn unavailable(message: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE, message)
    }

    /// The one answer for a session that is unknown, has ended, or belongs to somebody else.
    pub(super) fn session_not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            SESSION_NOT_FOUND,
            "Session not found: send initialize without Mcp-Session-Id to start a new one",
        )
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = Value::clone(data);
        }
        let refusal = json!({"jsonrpc": "2.0", "id": self.id, "error": error});
        refusal.to_string().into_bytes()
    }

    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let mut response = json_response(self.status, self.to_json().into());
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

pub(super) fn json_response(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

pub(super) fn empty_response(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = status;
    response
}
