//! Turns an HTTP request into a call of its route's operation.

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::request::Parts;
use wh_app::OpContext;
use wh_domain::{ErrorCode, Principal, Surface};

use crate::{RequestId, error::ApiError, input, state::Server, table::Route};

/// Answers a request by its row of the table.
pub(crate) async fn call(server: Server, route: &Route, request: Request) -> Response {
    answer(server, route, request)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

async fn answer(server: Server, route: &Route, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let mut cx = context(&server, &parts)?;
    let called = async {
        let given = input::read(&mut parts, body, route, &server.config.limits).await?;
        cx.idempotency = given.idempotency;
        route.run(server.clone(), cx.clone(), given.fields).await
    };
    let result = called.await;
    if let Err(error) = &result {
        // What the operation refused has an entry; what was refused before it began gets one here.
        let (code, message) = (error.code(), error.message());
        let recorded = server
            .app
            .record_refusal(&cx, route.operation, code, message);
        recorded.await;
    }
    result
}

/// Returns the circumstances of a request whose caller is known; the audit log and the answer name it alike.
pub(crate) fn context(server: &Server, parts: &Parts) -> Result<OpContext, ApiError> {
    let mut cx = server.app.context(principal(parts)?.clone(), Surface::Rest);
    if let Some(RequestId(id)) = parts.extensions.get() {
        cx.request = *id;
    }
    Ok(cx)
}

/// Returns who is calling, as the authentication layer found out.
pub(crate) fn principal(parts: &Parts) -> Result<&Principal, ApiError> {
    let principal = parts.extensions.get();
    principal.ok_or_else(|| ApiError::new(ErrorCode::Unauthenticated, "nobody is signed in"))
}
