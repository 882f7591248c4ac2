//! Credentials for hosts that repositories are fetched from.

use http::Method;
use wh_api::{
    CredentialDeleteRequest, CredentialListRequest, CredentialListView, CredentialSetRequest,
    CredentialView, cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/credentials",
            Operation::CredentialList,
            "Lists the credentials for hosts of repositories, newest first, without their tokens",
            |server, cx, request: CredentialListRequest| async move {
                let page = request.page().by_id()?;
                let page = server.app.credential_list(&cx, page).await?;
                let configured = server.app.credentials_configured(&cx);
                Ok(CredentialListView {
                    credentials: page.items.into_iter().map(Into::into).collect(),
                    configured: configured.into_iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/credentials",
            Operation::CredentialSet,
            "Stores a credential for a host, encrypted, in place of the one before it",
            |_| None,
            |server, cx, request: CredentialSetRequest| async move {
                let stored = server.app.credential_set(&cx, request.try_into()?).await?;
                Ok(CredentialView::from(stored))
            },
        ),
        change(
            Method::DELETE,
            "/credentials/{credential}",
            Operation::CredentialDelete,
            "Deletes a stored credential",
            |server, cx, request: CredentialDeleteRequest| async move {
                let credential = request.credential()?;
                let deleted = server.app.credential_delete(&cx, &credential).await?;
                Ok(CredentialView::from(deleted))
            },
        ),
    ]
}
