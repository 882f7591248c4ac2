//! JSON-RPC batches, which revision 2025-03-26 requires a server to take and every later one forbids.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::answer::{self, Refusal, ResponseBody};

/// The only revision with batches; also the one a request without a version header speaks.
const WITH_BATCHES: &str = "2025-03-26";

/// Whether the request's headers speak a revision that has batches.
pub(super) fn allowed_by(headers: &HeaderMap) -> bool {
    headers
        .get("mcp-protocol-version")
        .is_none_or(|version| version.as_bytes() == WITH_BATCHES.as_bytes())
}

/// Whether a negotiated revision has batches.
pub(super) fn allowed_in(version: &str) -> bool {
    version == WITH_BATCHES
}

/// The refusal of a batch in a revision without them.
pub(super) fn not_allowed() -> Refusal {
    Refusal::bad_request(
        answer::INVALID_REQUEST,
        "Invalid Request: batches exist only in revision 2025-03-26; send one message at a time",
    )
}

/// One message of a batch: to be run, or refused where it stands.
#[derive(Debug)]
pub(super) enum Element {
    Message(Bytes),
    Refused(Refusal),
}

/// Splits a batch into its messages without parsing them.
pub(super) fn split(text: &[u8], length_max: usize) -> Result<Vec<Element>, Refusal> {
    let elements: Vec<&RawValue> = serde_json::from_slice(text).map_err(|error| {
        Refusal::bad_request(answer::PARSE_ERROR, format!("Parse error: {error}"))
    })?;
    if elements.is_empty() {
        return Err(Refusal::bad_request(
            answer::INVALID_REQUEST,
            "Invalid Request: a batch must hold at least one message",
        ));
    }
    if elements.len() > length_max {
        return Err(Refusal::bad_request(
            answer::INVALID_REQUEST,
            format!("Invalid Request: a batch may hold at most {length_max} messages"),
        ));
    }
    Ok(elements.into_iter().map(element).collect())
}

fn element(text: &RawValue) -> Element {
    #[derive(Deserialize)]
    struct Head {
        method: Option<Value>,
        id: Option<Value>,
    }
    let bytes = text.get().as_bytes();
    if let Ok(head) = serde_json::from_slice::<Head>(bytes)
        && head.method.as_ref().and_then(Value::as_str) == Some("initialize")
    {
        let mut refusal = Refusal::bad_request(
            answer::INVALID_REQUEST,
            "Invalid Request: initialize cannot be part of a batch",
        );
        refusal.id = head.id.unwrap_or_default();
        return Element::Refused(refusal);
    }
    Element::Message(Bytes::copy_from_slice(bytes))
}

/// Joins answers into the array that answers the batch.
pub(super) fn join<T: AsRef<[u8]>>(answers: &[T]) -> Vec<u8> {
    let mut text = vec![b'['];
    for (index, answer) in answers.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend_from_slice(answer.as_ref());
    }
    text.push(b']');
    text
}

/// Answers a batch: an array, or nothing if it held only notifications.
pub(super) fn response(answers: &[Bytes]) -> Response<ResponseBody> {
    if answers.is_empty() {
        return answer::empty_response(StatusCode::ACCEPTED);
    }
    answer::json_response(StatusCode::OK, join(answers).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_in_order_and_bounded() {
        let elements = split(br#"[{"a":1}, 2 ]"#, 2).unwrap();
        assert!(matches!(&elements[0], Element::Message(text) if &text[..] == br#"{"a":1}"#));
        assert!(matches!(&elements[1], Element::Message(text) if &text[..] == b"2"));
        assert_eq!(
            split(b"[1,2,3]", 2).unwrap_err().code,
            answer::INVALID_REQUEST
        );
        assert_eq!(split(b"[]", 2).unwrap_err().code, answer::INVALID_REQUEST);
        assert_eq!(split(b"[1,", 2).unwrap_err().code, answer::PARSE_ERROR);
    }

    #[test]
    fn the_handshake_is_refused_where_it_stands() {
        let elements = split(br#"[{"id":7,"method":"initialize"}]"#, 2).unwrap();
        assert!(matches!(&elements[0], Element::Refused(refusal) if refusal.id == 7));
    }

    #[test]
    fn answers_are_joined() {
        assert_eq!(join(&["1", "{}"]), b"[1,{}]");
    }
}
