//! Commits for the built-in agent, by the paths that the server recorded and with the server's defences.

use std::{path::PathBuf, pin::Pin, sync::Arc};

use jiff::Timestamp;
use wh_app::EchoWorktree;
use wh_git::{Identity, RepoHandle, RepoPaths, What, WorktreeHandle, WorktreePaths};
use wh_runner::echo::{Commit, NoWorktree};

/// Returns what commits for the agent: into the worktree that the server named when it started the agent, if it did.
///
/// A `.git` in the working directory decides nothing. It is the agent's to write.
pub(super) fn committer() -> Arc<dyn Commit> {
    let text = std::env::var(EchoWorktree::VARIABLE).ok();
    match text.and_then(|text| EchoWorktree::parse(&text)) {
        Some(worktree) => Arc::new(Recorded(worktree)),
        None => Arc::new(NoWorktree),
    }
}

/// Commits into a recorded worktree.
struct Recorded(EchoWorktree);

impl Commit for Recorded {
    fn commit(
        &self,
        message: &str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        let message = message.to_owned();
        Box::pin(async move {
            self.commit(&message)
                .await
                .map_err(|error| error.to_string())
        })
    }
}

impl Recorded {
    async fn commit(&self, message: &str) -> anyhow::Result<()> {
        let EchoWorktree {
            path,
            git_dir,
            common_dir,
            alternates,
        } = self.0.clone();
        let repo = RepoHandle::open(RepoPaths {
            git_dir: common_dir.clone(),
            common_dir,
            work_tree: None::<PathBuf>,
            alternates,
        })?;
        let worktree = WorktreeHandle::open(&repo, WorktreePaths { path, git_dir })?;
        let who = Identity {
            name: "Echo".to_owned(),
            email: "echo@wheelhouse.invalid".to_owned(),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the agent has no clock of the server"
        )]
        let now = Timestamp::now();
        worktree.commit(&What::All, message, &who, now).await?;
        Ok(())
    }
}
