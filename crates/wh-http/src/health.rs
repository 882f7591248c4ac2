//! `/healthz` and `/readyz`: whether the process lives, and whether it can do its work.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use wh_domain::{Advice, ErrorCode};

use crate::{error::ApiError, state::Server};

/// Answers as long as the process does.
pub(crate) async fn live() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Answers whether work can be done: not while stopping, and not without the store.
pub(crate) async fn ready(State(server): State<Server>) -> Result<Json<Value>, ApiError> {
    if server.app.shutdown().is_cancelled() {
        return Err(ApiError::new(
            ErrorCode::Unavailable,
            "the server is stopping",
        ));
    }
    match server.app.health().await {
        Ok(()) => Ok(Json(json!({"status": "ready"}))),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Err(
                ApiError::new(ErrorCode::Unavailable, "the store does not answer").advise([
                    Advice::note("the server's log has the details"),
                    Advice::command("doctor", "check the server"),
                ]),
            )
        }
    }
}
