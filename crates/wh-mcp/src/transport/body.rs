//! Reads a request body within its limit.

use std::fmt::Display;

use bytes::{Buf, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;

use super::answer::{self, Refusal};

/// Collects the body, without copying when it arrived in one piece.
pub(super) async fn read_body<B>(body: B, bytes_max: usize) -> Result<Bytes, Refusal>
where
    B: Body,
    B::Error: Display,
{
    // A length that is declared too large is refused at once, not after waiting for bytes that may never come.
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large(bytes_max));
    }
    let mut body = std::pin::pin!(body);
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Refusal::bad_request(
                answer::PARSE_ERROR,
                format!("Parse error: the request body could not be read: {error}"),
            )
        })?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if first.len() + rest.len() + data.remaining() > bytes_max {
            return Err(too_large(bytes_max));
        }
        if first.is_empty() && rest.is_empty() {
            first = data.copy_to_bytes(data.remaining());
            continue;
        }
        if rest.is_empty() {
            rest.extend_from_slice(&std::mem::take(&mut first));
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            rest.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    Ok(if rest.is_empty() {
        first
    } else {
        rest.freeze()
    })
}

fn too_large(bytes_max: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        answer::INVALID_REQUEST,
        format!("Payload Too Large: a request may have at most {bytes_max} bytes"),
    )
}
