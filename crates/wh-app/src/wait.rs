//! Waits that outlive the call that began them: rows, which a reconciler ends when what is waited for is so. What they came to
//! stays as it was then, whatever the sessions do later.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use async_trait::async_trait;
use jiff::SignedDuration;
use newtype_uuid::GenericUuid;
use wh_domain::{Operation, Reference, Wait, WaitEnd, WaitEnding, WaitFor, WaitId, WaitedSession};

use crate::{
    App, AppError, OpContext, Resource, Result,
    context::facts,
    reconcile::{Reconciler, event_gathered},
    session_wait::WAIT_MAX,
};

/// The most waits of one user that are not over.
const OPEN_MAX: u32 = 200;

/// How often waits are looked at though nothing happened: their time may be up.
const PERIOD: Duration = Duration::from_secs(1);

/// How long what happens is gathered before waits are looked at.
const GATHER: Duration = Duration::from_millis(20);

/// A wait, and its sessions as they are now or were when it ended.
#[derive(Clone, Debug)]
pub struct WaitStanding {
    pub wait: Wait,
    pub sessions: Vec<WaitedSession>,
}

impl App {
    /// Begins to wait for sessions and returns at once; the wait goes on whatever becomes of the caller.
    pub async fn wait_begin(
        &self,
        cx: &OpContext,
        sessions: &[Reference],
        wait_for: WaitFor,
        limit: Duration,
    ) -> Result<WaitStanding> {
        let operation = Operation::SessionWait;
        let first = sessions.first().map_or("", Reference::as_str);
        self.read(cx, operation, facts([("session", first)]), async {
            let ids = self.waited_for(cx.authorize(operation)?, sessions).await?;
            let limit = SignedDuration::try_from(limit.min(WAIT_MAX)).unwrap_or_default();
            let wait = Wait {
                id: WaitId::from_untyped_uuid(self.ids.next()),
                owner: cx.principal.owner(),
                by: cx.principal.credential.session(),
                sessions: ids,
                wait_for,
                until: cx.now.saturating_add(limit).unwrap_or(cx.now),
                created_at: cx.now,
                end: None,
            };
            self.store.wait_begin(&wait, OPEN_MAX).await?;
            self.wait_begun.notify_one();
            self.wait_standing(wait).await
        })
        .await
    }

    /// Tells how a wait stands.
    pub async fn wait_get(&self, cx: &OpContext, id: WaitId) -> Result<WaitStanding> {
        let operation = Operation::SessionWait;
        let named = id.to_string();
        self.read(cx, operation, facts([("wait", &named)]), async {
            let wait = self.wait_lookup(cx, id).await?;
            self.wait_standing(wait).await
        })
        .await
    }

    /// Ends a wait. One that is over stays as it is.
    pub async fn wait_cancel(&self, cx: &OpContext, id: WaitId) -> Result<()> {
        let operation = Operation::SessionWait;
        let named = id.to_string();
        let facts = facts([("wait", named.as_str()), ("end", "cancelled")]);
        self.read(cx, operation, facts, async {
            let wait = self.wait_lookup(cx, id).await?;
            let end = WaitEnd {
                at: cx.now,
                how: WaitEnding::Cancelled,
                sessions: self.waited(&wait.sessions).await?,
            };
            let _was_open = self.store.wait_end(id, &end).await?;
            Ok(())
        })
        .await
    }

    async fn wait_lookup(&self, cx: &OpContext, id: WaitId) -> Result<Wait> {
        let reach = cx.authorize(Operation::SessionWait)?;
        let found = self.store.wait_get(id).await?;
        let found = found.filter(|wait| wait.is_of(&cx.principal, reach));
        found.ok_or_else(|| AppError::not_found(Resource::Wait))
    }

    async fn wait_standing(&self, wait: Wait) -> Result<WaitStanding> {
        let sessions = match &wait.end {
            Some(end) => end.sessions.clone(),
            None => self.waited(&wait.sessions).await?,
        };
        Ok(WaitStanding { wait, sessions })
    }
}

/// Ends waits whose time has come.
#[derive(Default)]
pub(crate) struct Waits {
    /// Whether somebody waits: otherwise nothing that happens is worth a look.
    is_any: AtomicBool,
}

#[async_trait]
impl Reconciler for Waits {
    fn name(&self) -> &'static str {
        "waits"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        tokio::select! {
            () = app.wait_begun.notified() => {}
            () = event_gathered(app, GATHER), if self.is_any.load(Relaxed) => {}
        }
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        let open = app.store.wait_open().await?;
        self.is_any.store(!open.is_empty(), Relaxed);
        for wait in open {
            let sessions = app.waited(&wait.sessions).await?;
            if let Some(end) = wait.look(sessions, app.clock.now()) {
                let _was_open = app.store.wait_end(wait.id, &end).await?;
            }
        }
        Ok(())
    }
}
