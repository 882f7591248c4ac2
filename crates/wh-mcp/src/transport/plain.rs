//! The short way of a plain call.
//!
//! Nearly every message is a modern `tools/call` with nothing unusual about it. rmcp serves each as if it were a connection: it
//! tries one shape of message after the other, writes the message out again to compare it with the headers, and has two tasks
//! and three channels between the request and the handler. That costs several times what the call itself does, so a plain call
//! goes to the handler directly.
//!
//! Plain is what has every required part once, agrees with its headers to the letter, and asks for nothing beside an answer.
//! All else goes the long way, and above all everything that is wrong: rmcp alone decides what is refused, and how.

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, request::Parts};
use rmcp::model::{
    CallToolResult, ClientCapabilities, Implementation, JsonObject, JsonRpcVersion2_0,
    ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;

use super::front::stamp;

const METHOD: &str = "tools/call";

/// Answers plain calls.
pub(crate) trait PlainCalls: Send + Sync + 'static {
    /// Begins a call, or returns `None` if the answer would be more than a tool's result.
    fn plain_call<'a>(
        &'a self,
        name: &str,
        arguments: JsonObject,
        parts: &'a Parts,
    ) -> Option<BoxFuture<'a, CallToolResult>>;
}

/// A call that is plain in its form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainCall {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    method: String,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: String,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    _client: Implementation,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: ClientCapabilities,
}

impl PlainCall {
    /// Reads a message, if it is a plain call.
    pub(super) fn read(parts: &Parts, text: &[u8]) -> Option<Self> {
        let headers = &parts.headers;
        let version = ProtocolVersion::V_2026_07_28;
        if only(headers, "mcp-method")? != METHOD
            || only(headers, "mcp-protocol-version")? != version.as_str()
            || headers
                .keys()
                .any(|name| name.as_str().starts_with("mcp-param-"))
        {
            return None;
        }
        let call: Self = serde_json::from_slice(text).ok()?;
        let is_plain = call.method == METHOD
            && call.params.name == only(headers, "mcp-name")?
            && call.params.meta.version == version.as_str()
            && call.params.meta.capabilities.extensions.is_none();
        is_plain.then_some(call)
    }

    /// Makes the call, if the handler takes it, and writes the answer as rmcp would.
    pub(super) fn answer<'a>(
        self,
        calls: &'a dyn PlainCalls,
        parts: &'a Parts,
        server_info: &'a Value,
    ) -> Option<impl Future<Output = Bytes> + 'a> {
        let called = calls.plain_call(&self.params.name, self.params.arguments, parts)?;
        Some(async move {
            let mut result = called.await;
            stamp(server_info, &mut result.meta);
            let result = ServerResult::CallToolResult(result);
            let message = ServerJsonRpcMessage::response(result, self.id);
            // Nothing in it can fail to be written: it is made of texts and of values that were read from texts.
            serde_json::to_vec(&message).unwrap_or_default().into()
        })
    }
}

/// Returns the value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
