//! Cloning repositories that are elsewhere, with progress in the feed.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use tokio::{sync::watch, time::MissedTickBehavior};
use wh_domain::{BranchName, EventKind, Repo, RepoId, RepoRules, RepoSource};
use wh_git::RepoHandle;

use super::{
    place::repo_event,
    remote::{FetchError, unreachable},
    slots::Slots,
};
use crate::{App, Result, context::facts, reconcile::Reconciler};

/// How often to look for repositories that nobody announced.
const PERIOD: Duration = Duration::from_secs(60);

/// How often followers are told how far a clone is, at most.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// How long new work waits for what its source has got meanwhile.
const FETCH_WITHIN: Duration = Duration::from_secs(30);

/// Maximum number of concurrent fetches, not counting clones. A new worktree waits for its fetch.
const FETCHES_MAX: usize = 16;

/// How many repositories that wait for a clone are looked at in one round.
const PENDING_MAX: u32 = 500;

/// Which transfers run.
#[derive(Debug)]
pub(crate) struct Transfers {
    clones: Arc<Slots>,
    pub(super) fetches: Arc<Slots>,
    /// The repositories that a task of the reconciler is at work on.
    taken: Mutex<HashSet<RepoId>>,
}

impl Transfers {
    pub(crate) fn new(rules: &RepoRules) -> Self {
        Self {
            clones: Slots::new(rules.clones_max),
            fetches: Slots::new(FETCHES_MAX),
            taken: Mutex::default(),
        }
    }

    fn taken(&self) -> MutexGuard<'_, HashSet<RepoId>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clones what was added, each in a task of its own.
pub(crate) struct Clones(pub(crate) Arc<App>);

#[async_trait]
impl Reconciler for Clones {
    fn name(&self) -> &'static str {
        "clones"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        app.clone_wanted.notified().await;
    }

    async fn reconcile(&self, _app: &App) -> Result<()> {
        self.0.repos_clone().await
    }
}

impl App {
    /// Starts to find or clone what waits for it, and returns. A remote that hangs keeps no other from it.
    async fn repos_clone(self: &Arc<Self>) -> Result<()> {
        for repo in self.store.repo_pending(PENDING_MAX).await? {
            if !self.transfers.taken().insert(repo.id) {
                continue;
            }
            let app = Arc::clone(self);
            self.tasks.spawn(async move {
                let stop = app.shutdown.clone();
                let done = stop.run_until_cancelled(app.repo_ensure(&repo)).await;
                app.transfers.taken().remove(&repo.id);
                if let Some(Err(error)) = done {
                    tracing::warn!(repo = %repo.id, %error, "a repository is not ready");
                }
            });
        }
        Ok(())
    }

    /// Deletes what clones that were interrupted have left; none can be under way yet.
    pub(crate) fn repos_tidy(&self) {
        if let Err(error) = RepoHandle::mirrors_tidy(&self.data_dir.join("repos")) {
            tracing::warn!(%error, "interrupted clones were not deleted");
        }
    }

    /// Brings a mirror up to date with its source; returns why not, if it could not be done in time.
    pub(crate) async fn repo_refresh(&self, repo: &Repo, handle: &RepoHandle) -> Option<String> {
        let RepoSource::Remote { .. } = repo.source else {
            return None;
        };
        let origin = BranchName::parse("origin").ok()?;
        let fetch = async {
            let _slot = self.transfers.fetches.take(repo.owner.user).await;
            let remote = self.remote_of(repo).await?;
            let transfer = remote.transfer(&repo.source, self.repos.transfer);
            let fetched = handle.fetch(&transfer, &origin, &|_| {}).await;
            fetched.map_err(FetchError::from)
        };
        match tokio::time::timeout(FETCH_WITHIN, fetch).await {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(unreachable(repo, &error)),
            Err(_) => Some("it took too long".to_owned()),
        }
    }

    /// Clones into a mirror of the server's own, and notes the credential that is used. A mirror that is there is whole: it
    /// appears only then.
    pub(super) async fn repo_clone(&self, repo: &mut Repo) -> Result<RepoHandle, FetchError> {
        let dir = self.data_dir.join("repos").join(format!("{}.git", repo.id));
        if dir.exists() {
            return Ok(RepoHandle::find(&dir)?);
        }
        let _slot = self.transfers.clones.take(repo.owner.user).await;
        let (said, mut heard) = watch::channel(String::new());
        let progress = |line: &str| drop(said.send_replace(line.to_owned()));
        let remote = self.remote_of(repo).await?;
        repo.credential = remote.credential();
        let source = repo.source.clone();
        let repo = &*repo;
        let transfer = remote.transfer(&source, self.repos.transfer);
        let clone = RepoHandle::mirror(&dir, &transfer, &progress);
        let mut clone = std::pin::pin!(clone);
        let mut tick = tokio::time::interval(PROGRESS_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                cloned = &mut clone => return Ok(cloned?),
                _ = tick.tick() => {
                    if heard.has_changed().unwrap_or(false) {
                        let line = heard.borrow_and_update().clone();
                        self.tell_progress(repo, &line).await;
                    }
                }
            }
        }
    }

    /// Tells followers how far a clone is. It is only a courtesy, so that it failed is no reason to stop.
    async fn tell_progress(&self, repo: &Repo, line: &str) {
        let event = repo_event(EventKind::Updated, repo, facts([("progress", line)]));
        let told = self.store.event_announce(self.clock.now(), event).await;
        if let Err(error) = told {
            tracing::debug!(%error, "progress was not told");
        }
    }
}
