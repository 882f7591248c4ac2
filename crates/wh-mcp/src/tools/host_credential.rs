//! Tools about credentials for hosts. There is none that stores one: a token has no business in a model's context.

use std::sync::Arc;

use wh_api::{
    CredentialDeleteRequest, CredentialListRequest, CredentialListView, CredentialView, cursor_of,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Toolset::Admin,
            Operation::CredentialList,
            "Lists the credentials that the server uses to fetch private repositories: host, user name, whose repositories each is used for. Never their tokens. A person stores one with `wheelhouse credential set HOST` or in the dashboard.",
            credential_list,
        ),
        Tool::new(
            Toolset::Admin,
            Operation::CredentialDelete,
            "Deletes a stored credential. Repositories of its host are fetched with the next source that has one, or without a credential.",
            credential_delete,
        ),
    ]
}

async fn credential_list(
    app: Arc<App>,
    cx: OpContext,
    request: CredentialListRequest,
) -> Result<CredentialListView> {
    let page = app.credential_list(&cx, request.page().by_id()?).await?;
    let configured = app.credentials_configured(&cx);
    Ok(CredentialListView {
        credentials: page.items.into_iter().map(Into::into).collect(),
        configured: configured.into_iter().map(Into::into).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn credential_delete(
    app: Arc<App>,
    cx: OpContext,
    request: CredentialDeleteRequest,
) -> Result<CredentialView> {
    let deleted = app.credential_delete(&cx, &request.credential()?).await?;
    Ok(deleted.into())
}
