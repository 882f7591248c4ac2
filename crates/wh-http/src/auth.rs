//! Finds out who is calling, before anything else looks at a request.

mod forgery;
mod presented;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use wh_app::{App, Unauthenticated};
use wh_domain::{CredentialKind, ErrorCode, Principal};

use self::presented::Presented;
use crate::{error::ApiError, state::Server, well_known};

/// Why a caller was not let in.
#[derive(Debug)]
enum Refused {
    /// Nothing was presented.
    Nobody,
    /// What was presented does not let anybody in; the caller is not told why.
    Invalid,
    /// Anything else.
    Other(ApiError),
}

impl From<Unauthenticated> for Refused {
    fn from(error: Unauthenticated) -> Self {
        match error {
            Unauthenticated::Invalid => Self::Invalid,
            Unauthenticated::TooMany { retry_after } => Self::Other(
                ApiError::new(
                    ErrorCode::LimitExceeded,
                    "too many failed attempts from this address",
                )
                .hint("check the key that the client uses, then wait")
                .retry_after(retry_after),
            ),
            Unauthenticated::Failed(error) => Self::Other(error.into()),
        }
    }
}

/// Lets a request through with its [`Principal`] in the extensions, or refuses it.
pub(crate) async fn authenticate(
    State(server): State<Server>,
    mut request: Request,
    next: Next,
) -> Response {
    let presented = Presented::by(&request);
    let principal = match identify(&server.app, presented).await {
        Ok(principal) => principal,
        Err(refused) => return refusal(&server, refused).into_response(),
    };
    if let Err(refusal) = forgery::check(&principal, request.method(), request.headers()) {
        return refusal.into_response();
    }
    request.extensions_mut().insert(principal);
    let mut response = next.run(request).await;
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn identify(app: &App, presented: Presented) -> Result<Principal, Refused> {
    match presented {
        Presented::Nothing => Err(Refused::Nobody),
        Presented::Unusable => Err(Refused::Invalid),
        Presented::Local => app.local_principal().await.map_err(|error| {
            tracing::warn!(%error, "the local socket's user is not known");
            let message = "the server has no administrator yet";
            Refused::Other(ApiError::new(ErrorCode::Unavailable, message))
        }),
        Presented::Bearer { secret, address } => {
            let principal = app.authenticate(secret.expose(), address).await?;
            let is_cookie = principal.credential.kind() == CredentialKind::Browser;
            if is_cookie {
                Err(Refused::Invalid)
            } else {
                Ok(principal)
            }
        }
        Presented::Cookie { secret, address } => {
            let principal = app.authenticate(secret.expose(), address).await?;
            let is_cookie = principal.credential.kind() == CredentialKind::Browser;
            if is_cookie {
                Ok(principal)
            } else {
                Err(Refused::Invalid)
            }
        }
    }
}

fn refusal(server: &Server, refused: Refused) -> ApiError {
    let (was_presented, message) = match refused {
        Refused::Other(error) => return error,
        Refused::Nobody => (false, "this needs a key"),
        Refused::Invalid => (true, "this key is not valid"),
    };
    let error = ApiError::new(ErrorCode::Unauthenticated, message).hint(
        "send Authorization: Bearer KEY; `wheelhouse key create` makes one, `wheelhouse login` signs a browser in",
    );
    match well_known::challenge(&server.config, was_presented) {
        Some(challenge) => error.header(header::WWW_AUTHENTICATE, challenge),
        None => error,
    }
}
