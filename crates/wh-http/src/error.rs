//! The one shape of every refusal and failure, and the only place where an error code becomes a status.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};
use wh_api::{AdviceView, ErrorBody, ErrorView};
use wh_app::AppError;
use wh_domain::{Advice, ErrorCode, InputRefusal};

/// Seconds after which a caller may try again what was not available.
const RETRY_AFTER_SECONDS: u64 = 5;

/// The most bytes of a text in an answer.
const MESSAGE_BYTES_MAX: usize = 400;

/// Why a request was refused or failed.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    code: ErrorCode,
    message: String,
    hint: Vec<Advice>,
    details: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// Returns the status that a code is answered with.
fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::InvalidInput => StatusCode::BAD_REQUEST,
        ErrorCode::AmbiguousId | ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::LimitExceeded | ErrorCode::ReviewLimitExceeded => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl ApiError {
    /// Makes an error of `code`, with the status that belongs to it.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let error = Self {
            status: status_of(code),
            code,
            message: message.into(),
            hint: Vec::new(),
            details: Map::new(),
            headers: vec![],
        };
        match code {
            ErrorCode::Unavailable => error.retry_after(RETRY_AFTER_SECONDS),
            _ => error,
        }
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns what is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Says what is wrong with the input as a whole.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// Says what is wrong with one field.
    pub(crate) fn field(field: &str, problem: impl ToString) -> Self {
        AppError::from(InputRefusal::new(field, problem)).into()
    }

    /// Answers a path that leads nowhere.
    pub(crate) fn no_such_path() -> Self {
        Self::new(ErrorCode::NotFound, "there is nothing at this path")
            .hint("/openapi.json lists every path")
    }

    /// Answers a method that the path does not have; the router adds `Allow`.
    pub(crate) fn no_such_method() -> Self {
        Self::invalid("this path does not take this method")
            .hint("the Allow header lists those it takes")
            .status(StatusCode::METHOD_NOT_ALLOWED)
    }

    /// Answers a body that is larger than `bytes_max`.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let message = format!("the request body is larger than {bytes_max} bytes");
        Self::new(ErrorCode::LimitExceeded, message)
            .hint("send less at once")
            .status(StatusCode::PAYLOAD_TOO_LARGE)
            // The rest of the body is not read, so the connection cannot be used again.
            .header(header::CONNECTION, HeaderValue::from_static("close"))
    }

    /// Answers a body that did not arrive whole; the rest of it may still come.
    pub(crate) fn too_late() -> Self {
        Self::invalid("the request body did not arrive in time")
            .hint("send it without pauses, or in smaller requests")
            .status(StatusCode::REQUEST_TIMEOUT)
            .header(header::CONNECTION, HeaderValue::from_static("close"))
    }

    /// Answers a request that was not done in time.
    pub(crate) fn timed_out() -> Self {
        Self::new(ErrorCode::Unavailable, "the server did not finish in time")
            .hint("try again with the same Idempotency-Key; what was done is not done twice")
    }

    /// Replaces the status, for refusals that HTTP has a status of its own for.
    #[must_use]
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = vec![Advice::note(hint.into())];
        self
    }

    /// Adds advice that clients render in their own terms.
    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<Vec<Advice>>) -> Self {
        self.hint = advice.into();
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Says after how many seconds to try again.
    #[must_use]
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Returns what the caller is told, without secrets and bounded.
    pub(crate) fn body(&self) -> ErrorBody {
        let details = self.details.iter();
        ErrorBody {
            error: ErrorView {
                code: self.code.as_str().to_owned(),
                message: tellable(&self.message),
                hint: Advice::sentence(&self.hint),
                advice: self.hint.iter().map(AdviceView::from).collect(),
                details: details
                    .map(|(name, value)| (name.clone(), tellable_value(value)))
                    .collect(),
            },
        }
    }
}

/// Makes text fit to be told: it may quote what the caller sent.
fn tellable(text: &str) -> String {
    let mut text = wh_domain::redact(text).into_owned();
    text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX));
    text
}

fn tellable_value(value: &Value) -> Value {
    match value {
        Value::String(text) => tellable(text).into(),
        Value::Array(items) => items.iter().map(tellable_value).collect(),
        other => other.clone(),
    }
}

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        let mut answer = Self::new(error.code(), error.to_string()).advise(error.hint);
        answer.details = error.details;
        answer
    }
}

impl From<InputRefusal> for ApiError {
    fn from(refusal: InputRefusal) -> Self {
        AppError::from(refusal).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status() {
        let statuses: Vec<u16> = ErrorCode::ALL.map(|c| status_of(c).as_u16()).to_vec();
        assert_eq!(statuses, [404, 400, 409, 401, 403, 409, 429, 429, 503, 500]);
    }

    #[test]
    fn no_reason_shows_the_syntax_of_another_surface() {
        use wh_app::samples::{
            callers, errors_for, has_call_syntax, has_command_syntax, operations_in,
        };
        let (mut sentences, mut named) = (0, 0);
        for caller in callers() {
            for error in errors_for(&caller) {
                let error = ApiError::from(error).body().error;
                let advice = error.advice.iter().map(|advice| &advice.text);
                for text in advice.chain(&error.hint).chain([&error.message]) {
                    sentences += 1;
                    let is_foreign = has_call_syntax(text)
                        || has_command_syntax(text)
                        || !operations_in(text).is_empty();
                    assert!(!is_foreign, "{text}");
                }
                for operation in error.advice.iter().filter_map(|it| it.operation.as_deref()) {
                    named += 1;
                    let operation = wh_domain::Operation::parse(operation).unwrap();
                    assert!(caller.authorize(operation).is_ok(), "{caller:?}: {error:?}");
                }
            }
        }
        println!("{sentences} sentences, {named} operations");
        assert!(sentences > 5000 && named > 1000);
    }

    #[test]
    fn advice_is_a_sentence_and_its_parts() {
        let reason = wh_app::SessionReason::BudgetSpent { by_agent: false };
        let error = ApiError::from(AppError::from(reason)).body().error;
        assert_eq!(
            error.hint.as_deref(),
            Some("raise the budget; or create another session")
        );
        assert_eq!(
            serde_json::to_value(&error.advice).unwrap(),
            serde_json::json!([
                {
                    "text": "raise the budget",
                    "operation": "session_update",
                    "arguments": {"session": "<ID>", "budget": "<BUDGET>"},
                },
                {"text": "or create another session"},
            ])
        );
    }

    #[test]
    fn what_is_not_available_says_when_to_try_again() {
        let response = ApiError::new(ErrorCode::Unavailable, "x").into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "5");
    }

    #[test]
    fn messages_are_bounded_and_hold_no_secret() {
        let key = "wh_full_0123456789abcdef0123456789abcdef";
        let field = format!("{key} {}", "é".repeat(5000));
        let body = ApiError::field(&field, "is wrong").body();
        let text = serde_json::to_string(&body).unwrap();
        assert!(text.len() < 2 * MESSAGE_BYTES_MAX + 200, "{text}");
        assert!(!text.contains(key), "{text}");
    }
}
