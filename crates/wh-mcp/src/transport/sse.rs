//! Reads an event stream of ours to its final answer, for callers that cannot take a stream.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use serde::{Deserialize, de::IgnoredAny};

use super::{
    accept,
    answer::{self, Refusal, ResponseBody},
};

/// Waits for the answer in a stream and returns it alone, for a client that takes only JSON.
pub(super) async fn flattened(
    response: Response<ResponseBody>,
) -> Result<Response<ResponseBody>, Refusal> {
    let session = response.headers().get("mcp-session-id").cloned();
    let Some(text) = final_answer(response).await else {
        return Err(no_answer());
    };
    let mut response = answer::json_response(StatusCode::OK, text);
    if let Some(session) = session {
        response.headers_mut().insert("mcp-session-id", session);
    }
    Ok(response)
}

fn no_answer() -> Refusal {
    Refusal::new(
        StatusCode::BAD_GATEWAY,
        answer::INTERNAL_ERROR,
        "Internal error: the stream ended without an answer",
    )
}

/// Returns the JSON-RPC answer inside a response, or `None` where there is none to give.
pub(super) async fn answer_of(response: Response<ResponseBody>) -> Option<Bytes> {
    if accept::is_event_stream(response.headers()) {
        let answer = final_answer(response).await;
        return Some(answer.unwrap_or_else(|| no_answer().to_json().into()));
    }
    if !accept::is_json(response.headers()) {
        return None;
    }
    let Ok(body) = response.into_body().collect().await;
    Some(body.to_bytes())
}

/// Reads the stream until the message that answers the request and returns it, or `None` if the stream ends
/// without one. Notifications on the way are dropped: the caller said it cannot read them.
async fn final_answer(response: Response<ResponseBody>) -> Option<Bytes> {
    let mut body = response.into_body();
    let mut pending = Vec::new();
    let mut data = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(chunk) = frame.into_data() else {
            continue;
        };
        pending.extend_from_slice(&chunk);
        let mut rest = pending.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            rest = &rest[end + 1..];
            if line.is_empty() {
                if is_answer(&data) {
                    return Some(data.into());
                }
                data.clear();
            } else if let Some(text) = line.strip_prefix(b"data:") {
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(text.strip_prefix(b" ").unwrap_or(text));
            }
        }
        let consumed = pending.len() - rest.len();
        pending.drain(..consumed);
    }
    None
}

fn is_answer(message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        method: Option<IgnoredAny>,
    }
    !message.is_empty()
        && serde_json::from_slice::<Head>(message).is_ok_and(|head| head.method.is_none())
}
