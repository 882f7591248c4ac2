//! Git repositories that an agent created inside its worktree: disabled when a turn or a run ends.

use std::path::PathBuf;

use wh_domain::{Session, Tier};
use wh_git::{Disabled, Embedded};

use crate::{App, Result};

/// The most paths that are listed in a transcript.
const PATHS_MAX: usize = 20;

impl App {
    /// Disables the git repositories inside a session's worktree, and returns what the transcript says about it.
    ///
    /// In the tier `none` they stay: its agents can change everything that the server's user can.
    pub(crate) async fn embedded_disable(&self, session: &Session) -> Option<String> {
        if session.tier == Tier::None {
            return None;
        }
        let disabled = match self.embedded_disable_in(session).await {
            Ok(disabled) => disabled,
            Err(error) => {
                tracing::warn!(session = %session.id, %error, "git repositories inside the worktree were not disabled");
                return None;
            }
        };
        text(&disabled)
    }

    async fn embedded_disable_in(&self, session: &Session) -> Result<Disabled> {
        let Some(worktree) = session.worktree else {
            return Ok(Disabled::default());
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        let handle = self.worktree_handle(&repo, &worktree)?;
        if handle.missing().is_some() {
            return Ok(Disabled::default());
        }
        let fetched = self.private_clone_fetch(&handle, &worktree).await;
        // Also when the clone cannot be fetched: the repositories are in the checkout.
        let mut disabled = handle.embedded_disable(Embedded::AndUntracked).await?;
        if let Ok(earlier) = fetched {
            disabled.renamed.extend(earlier.renamed);
            disabled.failed.extend(earlier.failed);
        }
        disabled.failed.sort();
        disabled.failed.dedup();
        Ok(disabled)
    }
}

fn text(disabled: &Disabled) -> Option<String> {
    let mut sentences = Vec::new();
    if !disabled.renamed.is_empty() {
        sentences.push(format!(
            "Git repositories inside the worktree were disabled by appending `.disabled` to these names: {}. Git in the worktree \
             would run programs that their configuration names. Rename one back after reviewing its configuration.",
            list(&disabled.renamed)
        ));
    }
    if !disabled.failed.is_empty() {
        sentences.push(format!(
            "Git repositories could not be searched for or disabled in {}. Review these directories before using git in the worktree.",
            list(&disabled.failed)
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn list(paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(PATHS_MAX);
    let mut shown: Vec<_> = shown
        .map(|path| format!("{:?}", path.display().to_string()))
        .collect();
    if paths.len() > PATHS_MAX {
        shown.push(format!("and {} more", paths.len() - PATHS_MAX));
    }
    shown.join(", ")
}
