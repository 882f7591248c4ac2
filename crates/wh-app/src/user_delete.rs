//! Deletes users.

use std::time::Duration;

use wh_domain::{DeleteMode, Dependents, EventKind, Operation, Reference, User, UserPatch};

use crate::{
    AccessReason, App, OpContext, Resource, Result,
    board_delete::{in_use, recorded},
    context::facts,
    user::user_event,
};

/// How long a forced deletion waits for the user's sessions and loops to stop.
const STOP_WITHIN: Duration = Duration::from_secs(30);

impl App {
    /// Deletes a user. One on whom something depends is refused, unless forced: then the user's sessions and loops are stopped, and
    /// everything the user owns becomes the caller's. Nothing in a worktree is touched. Keys are revoked; shares, webhooks and own
    /// credentials are deleted.
    pub async fn user_delete(
        &self,
        cx: &OpContext,
        user: &Reference,
        mode: DeleteMode,
    ) -> Result<(User, Vec<Dependents>)> {
        let operation = Operation::UserDelete;
        let mut audited = facts([("user", user.as_str()), ("mode", mode.as_str())]);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            let user = self.user_lookup(reach, user).await?;
            if user.id == cx.principal.user {
                return Err(AccessReason::UserIsCaller.into());
            }
            let dependents = self.store.user_dependents(user.id).await?;
            if !dependents.is_empty() {
                match mode {
                    DeleteMode::IfUnused => return Err(in_use(Resource::User, dependents)),
                    DeleteMode::Force => self.user_stop(cx, &user).await?,
                }
            }
            audited.insert("name".to_owned(), user.name.to_string());
            audited.extend(recorded(&dependents));
            let events = vec![user_event(EventKind::Deleted, cx.principal.user, &user)];
            let commit = cx.commit(operation, user.id.into(), audited, events);
            let heir = cx.principal.user;
            let deleted = self.store.user_delete(user.id, heir, mode, commit).await;
            // Forgotten whatever came of it: asking the database once more is the safe side.
            self.forget_users();
            let _applied = deleted?;
            Ok((user, dependents))
        })
        .await
    }

    /// Disables the user, so that nothing new starts, and waits until the user's sessions and loops have stopped.
    async fn user_stop(&self, cx: &OpContext, user: &User) -> Result<()> {
        // The idempotency key of the request belongs to the deletion.
        let cx = &OpContext {
            idempotency: None,
            ..cx.clone()
        };
        let mut watch = self.watch(STOP_WITHIN);
        if user.is_active() {
            let disable = UserPatch {
                disabled: Some(true),
                ..UserPatch::default()
            };
            self.user_update(cx, Reference::from(user.id), disable)
                .await?;
        }
        while self.store.user_is_running(user.id).await? {
            if !watch.next().await {
                return Err(AccessReason::UserStopping.into());
            }
        }
        Ok(())
    }
}
