//! `GET /login`: turns a one-time link into a cookie.

use axum::{
    extract::{RawQuery, State},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use wh_api::AdviceView;
use wh_app::{AccessReason, AppError};
use wh_domain::{Secret, SecretText, Surface};

use crate::{HttpConfig, error::ApiError, pages, state::Server};

/// The cookie of a signed-in browser. The prefix makes browsers insist on `Secure`, `Path=/` and this host alone.
pub(crate) const COOKIE: &str = "__Host-wheelhouse";

/// Takes the cookie away.
pub(crate) const COOKIE_CLEARED: HeaderValue = HeaderValue::from_static(
    "__Host-wheelhouse=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict",
);

/// Returns the link that a token is used with.
pub(crate) fn url(config: &HttpConfig, token: &SecretText) -> String {
    config.url(&format!("/login?token={}", token.expose()))
}

/// Signs a browser in and sends it to the front page.
pub(crate) async fn login(State(server): State<Server>, RawQuery(query): RawQuery) -> Response {
    match redeem(&server, &query.unwrap_or_default()).await {
        Ok(cookie) => signed_in(cookie),
        Err(error) => {
            let error = ApiError::from(error);
            let told = error.body().error;
            let advice: Vec<_> = told.advice.iter().map(in_page).collect();
            let hint = (!advice.is_empty()).then(|| advice.join("; "));
            pages::problem(error.status, &told.message, hint.as_deref())
        }
    }
}

/// The program whose commands the page names.
const PROGRAM: &str = "wheelhouse";

/// Renders advice for the page: whoever sees it came by a command, and another command helps.
fn in_page(advice: &AdviceView) -> String {
    match &advice.command {
        Some(command) => format!("to {}, run `{PROGRAM} {command}`", advice.text),
        None => advice.text.clone(),
    }
}

async fn redeem(server: &Server, query: &str) -> Result<HeaderValue, AppError> {
    let mut tokens = url::form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| name == "token")
        .map(|(_, token)| SecretText::new(token.into_owned()));
    let (Some(token), None) = (tokens.next(), tokens.next()) else {
        return Err(AccessReason::LoginLinkIncomplete.into());
    };
    let (secret, expires_at) = server.app.login_redeem(&token).await?;
    // Its clock is the application's; asking for the fresh credential's principal also proves that it works.
    let principal = server.app.authenticate(secret.expose(), None).await;
    let principal = principal.map_err(|_| AccessReason::SignInFailed)?;
    let now = server.app.context(principal, Surface::Rest).now;
    let seconds = expires_at.duration_since(now).as_secs();
    cookie(&secret, seconds).ok_or_else(|| AccessReason::SignInFailed.into())
}

fn cookie(secret: &Secret, seconds: i64) -> Option<HeaderValue> {
    let secret = secret.expose();
    let text =
        format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Strict");
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn signed_in(cookie: HeaderValue) -> Response {
    let headers = [
        (header::LOCATION, HeaderValue::from_static("/")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::SET_COOKIE, cookie),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
