//! The JSON-RPC envelope: what a line is, and how ours are written.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A line of the peer, with its parts unread.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) method: Option<String>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) error: Option<RpcError>,
}

/// An error as the peer tells it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// The method is not offered.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters cannot be read.
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// What an incoming line is.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: &'a RawValue,
        method: String,
        params: &'a str,
    },
    Notification {
        method: String,
        params: &'a str,
    },
    Response {
        id: u64,
        result: Result<&'a str, RpcError>,
    },
}

/// Reads a line; `None` when it is not a message.
pub(crate) fn read(line: &str) -> Option<Message<'_>> {
    let incoming: Incoming<'_> = serde_json::from_str(line).ok()?;
    let params = incoming.params.map_or("null", RawValue::get);
    match (incoming.id, incoming.method) {
        (Some(id), Some(method)) => Some(Message::Request { id, method, params }),
        (None, Some(method)) => Some(Message::Notification { method, params }),
        (Some(id), None) => Some(Message::Response {
            id: id.get().parse().ok()?,
            result: match incoming.error {
                Some(error) => Err(error),
                None => Ok(incoming.result.map_or("null", RawValue::get)),
            },
        }),
        (None, None) => None,
    }
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl<P> Outgoing<'_, P> {
    const EMPTY: Self = Self {
        jsonrpc: "2.0",
        id: None,
        method: None,
        params: None,
        result: None,
        error: None,
    };
}

pub(crate) fn request<P: Serialize>(id: u64, method: &'static str, params: &P) -> Vec<u8> {
    let id = raw_id(id);
    line(&Outgoing {
        id: Some(&id),
        method: Some(method),
        params: Some(params),
        ..Outgoing::EMPTY
    })
}

pub(crate) fn notification<P: Serialize>(method: &'static str, params: &P) -> Vec<u8> {
    line(&Outgoing {
        method: Some(method),
        params: Some(params),
        ..Outgoing::EMPTY
    })
}

pub(crate) fn result<P: Serialize>(id: &RawValue, result: &P) -> Vec<u8> {
    line(&Outgoing {
        id: Some(id),
        result: Some(result),
        ..Outgoing::EMPTY
    })
}

pub(crate) fn error(id: &RawValue, code: i64, message: impl Into<String>) -> Vec<u8> {
    let error = RpcError {
        code,
        message: message.into(),
    };
    line(&Outgoing::<()> {
        id: Some(id),
        error: Some(&error),
        ..Outgoing::EMPTY
    })
}

fn raw_id(id: u64) -> Box<RawValue> {
    RawValue::from_string(id.to_string()).expect("a number is JSON")
}

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("our messages have string keys only");
    line.push(b'\n');
    line
}
