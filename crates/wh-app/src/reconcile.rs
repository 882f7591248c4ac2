//! Reconcilers: small loops that make reality match what is recorded, again and again.
//!
//! A request records intent and returns; a reconciler does the lasting work. It is idempotent and keeps nothing in
//! memory, so a crash at any point costs nothing but the next round. Each runs in its own task, with its own period,
//! and a failure of one is logged and tried again, never a reason for another to stop.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio_util::task::TaskTracker;

use crate::{
    App, Result,
    loops::Loops,
    repo::Clones,
    retention::Retention,
    user_disabled::Disabled,
    wait::Waits,
    webhook_work::Webhooks,
    worktree::{Counts, Worktrees},
};

/// Something that must be made true over and over.
#[async_trait]
pub(crate) trait Reconciler: Send + Sync {
    /// Names it in logs.
    fn name(&self) -> &'static str;

    /// Returns how long to rest between two rounds.
    fn period(&self) -> Duration;

    /// Returns when there is a reason to begin the next round early.
    async fn woken(&self, _app: &App) {
        std::future::pending::<()>().await;
    }

    /// Does one round. Must be safe to repeat from any point.
    async fn reconcile(&self, app: &App) -> Result<()>;
}

/// Waits for the next event, and a little longer: what happens together is looked at together.
pub(crate) async fn event_gathered(app: &App, gather: Duration) {
    let mut changes = app.store.event_watch();
    changes.borrow_and_update();
    // A feed that has ended wakes too; the round finds that out.
    drop(changes.changed().await);
    tokio::time::sleep(gather).await;
}

/// How long a reconciler that failed rests at least.
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl App {
    /// Starts every reconciler on `tasks`; they end when the server stops.
    pub fn reconcile(self: &Arc<Self>, tasks: &TaskTracker) {
        self.repos_tidy();
        let reconcilers: Vec<Box<dyn Reconciler>> = vec![
            Box::new(Retention),
            Box::new(Clones(Arc::clone(self))),
            Box::new(Worktrees),
            Box::new(Counts),
            Box::new(Webhooks(Arc::clone(self))),
            Box::<Waits>::default(),
            Box::new(Loops(Arc::clone(self))),
            Box::new(Disabled),
        ];
        for reconciler in reconcilers {
            let app = Arc::clone(self);
            tasks.spawn(async move {
                let stop = app.shutdown.clone();
                stop.run_until_cancelled(run(&app, reconciler.as_ref()))
                    .await;
            });
        }
    }
}

async fn run(app: &App, reconciler: &dyn Reconciler) {
    loop {
        let rest = match reconciler.reconcile(app).await {
            Ok(()) => reconciler.period(),
            Err(error) => {
                tracing::warn!(reconciler = reconciler.name(), %error, "a round failed and is tried again");
                reconciler.period().min(RETRY_AFTER)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            () = reconciler.woken(app) => {}
        }
    }
}
