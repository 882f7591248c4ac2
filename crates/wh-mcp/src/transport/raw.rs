//! Structured answers as text.
//!
//! rmcp takes structured content as a tree of values: a tool would build one, rmcp write it out and drop it, which together
//! cost more than everything else that answers a small call. So the handler writes the text at once and gives rmcp a mark in
//! its place, and the text is put where the mark came out. That needs somebody at the way out, so it is done for modern
//! messages over HTTP only; elsewhere the text becomes a tree after all.

use std::sync::{Arc, LazyLock, OnceLock};

use bytes::Bytes;
use http::{Response, request::Parts};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use uuid::Uuid;

use super::{accept, answer::ResponseBody};

/// Begins the mark; hardly any other text has it, so that looking for the mark is looking for one byte.
const RARE: u8 = 0x7f;

/// Stands for the text. Nobody outside can know it, and so nobody can have it put into an answer.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", char::from(RARE), Uuid::new_v4().simple()));

/// The text of the structured content of one answer, once there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct RawContent(Arc<OnceLock<String>>);

impl RawContent {
    /// Offers the handler of a request to give its structured content as text.
    pub(super) fn offer(parts: &mut Parts) -> Self {
        let offered = Self::default();
        parts.extensions.insert(offered.clone());
        offered
    }

    /// Puts the text where its mark is, in a whole answer or in one event of a stream.
    pub(super) async fn fill(self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        if !accept::is_json(response.headers()) {
            let fill = move |frame: http_body::Frame<Bytes>| frame.map_data(|data| self.put(data));
            return response.map(|body| body.map_frame(fill).boxed());
        }
        if self.0.get().is_none() {
            return response;
        }
        let (parts, body) = response.into_parts();
        let Ok(whole) = body.collect().await;
        let filled = self.put(whole.to_bytes());
        Response::from_parts(parts, Full::new(filled).boxed())
    }

    /// Puts the text where its mark is.
    pub(super) fn put(&self, answer: Bytes) -> Bytes {
        let Some(text) = self.0.get() else {
            return answer;
        };
        let Some(start) = find_mark(&answer) else {
            return answer;
        };
        let end = start + MARK.len() + 2;
        let mut filled = Vec::with_capacity(answer.len() + text.len());
        filled.extend_from_slice(&answer[..start]);
        filled.extend_from_slice(text.as_bytes());
        filled.extend_from_slice(&answer[end..]);
        filled.into()
    }
}

/// Returns where the mark is, with the quotation mark before it.
fn find_mark(answer: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = answer[from..].iter().position(|byte| *byte == RARE) {
        let (before, rest) = answer.split_at(from + found);
        let is_mark = before.ends_with(b"\"")
            && rest.starts_with(MARK.as_bytes())
            && rest.get(MARK.len()) == Some(&b'"');
        if is_mark {
            return Some(before.len() - 1);
        }
        from += found + 1;
    }
    None
}

/// Returns what to give rmcp as structured content for this JSON text.
pub(crate) fn structured(extensions: &http::Extensions, text: String) -> serde_json::Result<Value> {
    match extensions.get::<RawContent>() {
        Some(RawContent(place)) => match place.set(text) {
            Ok(()) => Ok(Value::String(MARK.clone())),
            Err(second) => serde_json::from_str(&second),
        },
        None => serde_json::from_str(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, answer: &str) -> String {
        let content = RawContent::default();
        content.0.set(text.to_owned()).unwrap();
        String::from_utf8(content.put(answer.to_owned().into()).to_vec()).unwrap()
    }

    #[test]
    fn the_text_takes_the_place_of_the_mark() {
        let mark = Value::String(MARK.clone());
        let answer = serde_json::json!({"a": "x\u{7f}y", "structuredContent": mark, "z": 1});
        assert_eq!(
            put(r#"{"b":[2]}"#, &answer.to_string()),
            "{\"a\":\"x\u{7f}y\",\"structuredContent\":{\"b\":[2]},\"z\":1}"
        );
    }

    #[test]
    fn other_text_stays() {
        for answer in ["", "{}", "\u{7f}", "\"\u{7f}", "\"\u{7f}00\""] {
            assert_eq!(put("[]", answer), answer);
        }
        let unquoted = format!("x{}x", *MARK);
        assert_eq!(put("[]", &unquoted), unquoted);
        assert_eq!(RawContent::default().put(unquoted.clone().into()), unquoted);
    }
}
