//! Refuses changes that another site makes a signed-in browser send.
//!
//! Browsers attach cookies by themselves, so a cookie alone does not show that our own page asked. `SameSite=Strict`
//! keeps it from other sites; this holds even where "same site" is wide, as among ports of localhost.

use http::{HeaderMap, Method, header};
use wh_domain::{CredentialKind, ErrorCode, Principal};

use crate::error::ApiError;

/// Checks a request of `principal`. An `Origin` that is present was compared with the allowed ones by the guard.
pub(super) fn check(
    principal: &Principal,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let is_browser = principal.credential.kind() == CredentialKind::Browser;
    let is_upgrade = headers.contains_key(header::UPGRADE);
    let is_harmless = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if !is_browser || (is_harmless && !is_upgrade) {
        return Ok(());
    }
    let fetch_site = headers.get("sec-fetch-site");
    let from_our_page = fetch_site.is_some_and(|site| site == "same-origin") && !is_upgrade;
    if headers.contains_key(header::ORIGIN) || from_our_page {
        return Ok(());
    }
    let message = "a browser's change must come from the server's own page";
    Err(ApiError::new(ErrorCode::Forbidden, message)
        .hint("programs use a key: Authorization: Bearer KEY"))
}
