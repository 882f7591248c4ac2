//! Deleting repositories.

use std::{path::PathBuf, time::Duration};

use wh_domain::{
    DeleteMode, DependentKind, Dependents, EventKind, Facts, NewEvent, Operation, Reference, Repo,
    RepoSource, SessionAction, SessionId, WorktreeRemoval,
};

use super::place::repo_event;
use crate::{
    App, OpContext, RepoReason, Resource, Result,
    board_delete::{in_use, recorded},
    context::facts,
};

/// How long a forced deletion waits for the end of processes.
const STOP_WITHIN: Duration = Duration::from_secs(15);

/// How often what depends on a repository is looked up again: a few are named each time.
const ROUNDS_MAX: usize = 200;

/// A repository that was deleted.
#[derive(Debug)]
pub struct RepoDeleted {
    pub repo: Repo,
    /// Resources that were stopped or removed first.
    pub dependents: Vec<Dependents>,
    /// Where the server's own clone is kept, with branches and saved work that may be nowhere else.
    pub kept: Option<PathBuf>,
}

impl App {
    /// Deletes a repository from the server; a directory that belongs to a person is left as it is.
    ///
    /// One that something depends on is refused, unless forced: then its loops are stopped, its sessions stopped and archived,
    /// and its worktrees removed after everything in them was saved.
    pub async fn repo_delete(
        &self,
        cx: &OpContext,
        repo: &Reference,
        mode: DeleteMode,
    ) -> Result<RepoDeleted> {
        let operation = Operation::RepoDelete;
        let mut audited = facts([("repo", repo.as_str()), ("mode", mode.as_str())]);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            let repo = self.repo_lookup(reach, repo).await?;
            let dependents = self.store.repo_dependents(repo.id).await?;
            if !dependents.is_empty() {
                match mode {
                    DeleteMode::IfUnused => return Err(in_use(Resource::Repo, dependents)),
                    DeleteMode::Force => self.repo_release(cx, &repo).await?,
                }
            }
            audited.extend(recorded(&dependents));
            let _lock = self.repo_locks.take(repo.id).await;
            let events = vec![NewEvent {
                actor: Some(cx.principal.user),
                ..repo_event(EventKind::Deleted, &repo, Facts::new())
            }];
            let commit = cx.commit(operation, repo.id.into(), audited, events);
            let _applied = self.store.repo_delete(repo.id, commit).await?;
            let kept = self.clone_remove(&repo).await?;
            Ok(RepoDeleted {
                repo,
                dependents,
                kept,
            })
        })
        .await
    }

    /// Ends and removes what depends on a repository, each by its own operation: first what starts something, then what runs,
    /// then where it ran.
    async fn repo_release(&self, cx: &OpContext, repo: &Repo) -> Result<()> {
        // The caller's key belongs to the deletion.
        let cx = &OpContext {
            idempotency: None,
            ..cx.clone()
        };
        let mut watch = self.watch(STOP_WITHIN);
        for _ in 0..ROUNDS_MAX {
            let dependents = self.store.repo_dependents(repo.id).await?;
            let of = |kind: DependentKind| {
                let found = dependents.iter().find(|it| it.kind == kind);
                found.map(|it| it.first.clone()).unwrap_or_default()
            };
            let (loops, sessions) = (of(DependentKind::Loops), of(DependentKind::Sessions));
            let worktrees = of(DependentKind::Worktrees);
            if loops.is_empty() && sessions.is_empty() && worktrees.is_empty() {
                return Ok(());
            }
            for id in &loops {
                self.loop_stop(cx, &Reference::parse(id)?).await?;
            }
            let mut stopping: Vec<SessionId> = Vec::new();
            for id in &sessions {
                let reference = Reference::parse(id)?;
                let archived = self.session_manage(cx, &reference, SessionAction::Archive);
                stopping.push(archived.await?.id);
            }
            self.session_stop_wait(&stopping, STOP_WITHIN).await?;
            if sessions.is_empty() && !loops.is_empty() {
                // A loop ends after its iteration has.
                if !watch.next().await {
                    break;
                }
            } else if sessions.is_empty() {
                for id in &worktrees {
                    let reference = Reference::parse(id)?;
                    let how = WorktreeRemoval::Rescue;
                    self.worktree_remove(cx, &reference, how).await?;
                }
            }
        }
        Err(RepoReason::Stopping.into())
    }

    /// Deletes the server's own clone, unless work was ever done in it; returns where it is kept then.
    async fn clone_remove(&self, repo: &Repo) -> Result<Option<PathBuf>> {
        let RepoSource::Remote { .. } = repo.source else {
            return Ok(None);
        };
        let dir = self.data_dir.join("repos").join(format!("{}.git", repo.id));
        if !dir.exists() {
            return Ok(None);
        }
        if self.store.repo_had_worktrees(repo.id).await? {
            return Ok(Some(dir));
        }
        if let Err(error) = tokio::fs::remove_dir_all(&dir).await {
            tracing::warn!(repo = %repo.id, %error, "the clone of a deleted repository was not deleted");
            return Ok(Some(dir));
        }
        Ok(None)
    }
}
