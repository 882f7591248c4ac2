//! Finds out who is calling, before anything else looks at a request.

mod forgery;
mod presented;

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use futures::future::BoxFuture;
use http::{HeaderValue, header};
use wh_app::{App, LocalPeer, Unauthenticated};
use wh_domain::{Advice, CredentialKind, Dialect, ErrorCode, Principal};

use self::presented::Presented;
pub(crate) use self::presented::in_query;
use crate::{error::ApiError, serve::ConnectionSlot, state::Server, well_known};

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
            Unauthenticated::OtherDoor(dialect) => {
                let name = dialect.as_str();
                let message = format!("this key was made for the dialect {name}");
                let hint = format!("use it at /mcp/{name}, or make one without a dialect");
                Self::Other(ApiError::new(ErrorCode::Forbidden, message).hint(hint))
            }
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

/// What is special about letting callers in at an address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Door {
    /// The dialect that is served there, whose keys are taken beside our own.
    pub(crate) dialect: Option<Dialect>,
    /// The parameter of the address that may carry the credential.
    pub(crate) token_parameter: Option<&'static str>,
}

/// Lets requests through with their [`Principal`] in the extensions, or refuses them.
#[derive(Clone)]
pub(crate) struct AuthLayer {
    server: Server,
    door: Door,
}

impl AuthLayer {
    pub(crate) fn new(server: Server, door: Door) -> Self {
        Self { server, door }
    }
}

impl<S> tower::Layer<S> for AuthLayer {
    type Service = Auth<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Auth {
            server: self.server.clone(),
            door: self.door,
            inner,
        }
    }
}

/// A service behind authentication.
#[derive(Clone)]
pub(crate) struct Auth<S> {
    server: Server,
    door: Door,
    inner: S,
}

impl<S> tower::Service<Request> for Auth<S>
where
    S: tower::Service<Request, Response = Response, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let server = self.server.clone();
        let door = self.door;
        let presented = Presented::by(&request, door.token_parameter);
        let local = request.extensions().get::<LocalPeer>().cloned();
        // The one that was made ready, not its clone, takes the request.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let principal = match identify(&server.app, door, presented, local).await {
                Ok(principal) => principal,
                Err(refused) => return Ok(refusal(&server, refused).into_response()),
            };
            let checked = forgery::check(&principal, request.method(), request.headers());
            if let Err(refusal) = checked {
                return Ok(refusal.into_response());
            }
            if let Some(slot) = request.extensions().get::<ConnectionSlot>() {
                slot.set_authenticated();
            }
            let user = principal.user;
            request.extensions_mut().insert(principal);
            let answered = Box::pin(inner.call(request));
            let mut response = server.fair.share(user, answered).await?;
            response
                .headers_mut()
                .entry(header::CACHE_CONTROL)
                .or_insert(HeaderValue::from_static("no-store"));
            Ok(response)
        })
    }
}

async fn identify(
    app: &App,
    door: Door,
    presented: Presented,
    local: Option<LocalPeer>,
) -> Result<Principal, Refused> {
    match presented {
        Presented::Nothing => Err(Refused::Nobody),
        Presented::Unusable => Err(Refused::Invalid),
        Presented::Local => {
            let Some(local) = local else {
                return Err(Refused::Invalid);
            };
            app.local_principal_of(&local).await.map_err(|error| {
                if error.code() == ErrorCode::Forbidden {
                    return Refused::Other(error.into());
                }
                tracing::warn!(%error, "the local socket's user is not known");
                let message = "the server has no administrator yet";
                Refused::Other(ApiError::new(ErrorCode::Unavailable, message))
            })
        }
        Presented::Bearer { secret, address } => {
            let shown = secret.expose();
            let principal = app.authenticate_at(door.dialect, shown, address).await?;
            let is_cookie = principal.credential.kind() == CredentialKind::Browser;
            if is_cookie {
                Err(Refused::Invalid)
            } else {
                Ok(principal)
            }
        }
        Presented::InAddress { secret, address } => {
            let shown = secret.expose();
            let principal = app.authenticate_at(door.dialect, shown, address).await?;
            if principal.credential.kind() == CredentialKind::Session {
                return Ok(principal);
            }
            let message = "only a session token may be part of the address";
            let error = ApiError::new(ErrorCode::Forbidden, message);
            Err(Refused::Other(error.hint(
                "send this key as Authorization: Bearer KEY, and revoke it if others may have seen the address",
            )))
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
        Refused::Nobody => (false, "this requires a key"),
        Refused::Invalid => (true, "this key is not valid"),
    };
    let error = ApiError::new(ErrorCode::Unauthenticated, message).advise([
        Advice::note("send Authorization: Bearer KEY"),
        Advice::command("key create", "create a key"),
        Advice::command("login", "sign a browser in"),
    ]);
    match well_known::challenge(&server.config, was_presented) {
        Some(challenge) => error.header(header::WWW_AUTHENTICATE, challenge),
        None => error,
    }
}
