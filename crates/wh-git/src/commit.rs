//! Committing what lies in a worktree.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::{
    CommitId, FileError, GitError, RepoHandle, WorktreeError, WorktreeHandle,
    command::{Git, text_despite_locks},
    read::check_path,
    risk::IN_PROGRESS,
    view::View,
};

/// In whose name a commit is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub email: String,
}

/// What is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Every change, untracked files included and ignored ones not.
    All,
    /// These files and directories, whatever is staged besides.
    Paths(Vec<PathBuf>),
}

/// Why nothing was committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("there is nothing to commit")]
    Nothing,
    #[error("the message is empty")]
    NoMessage,
    #[error("a name and an e-mail address without line breaks and angle brackets are needed")]
    Identity,
    #[error("a {what} is not finished")]
    InProgress { what: &'static str },
    #[error(transparent)]
    Path(#[from] FileError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Identity {
    pub(crate) fn check(&self) -> Result<(), CommitError> {
        let good = |text: &str| {
            !text.trim().is_empty()
                && !text
                    .chars()
                    .any(|c| c.is_control() || matches!(c, '<' | '>'))
        };
        if good(&self.name) && good(&self.email) {
            Ok(())
        } else {
            Err(CommitError::Identity)
        }
    }

    /// Lets a command make commits in this name.
    pub(crate) fn on(&self, git: Git, at: Timestamp) -> Git {
        let date = format!("@{} +0000", at.as_second());
        git.env("GIT_AUTHOR_NAME", &self.name)
            .env("GIT_AUTHOR_EMAIL", &self.email)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", &self.name)
            .env("GIT_COMMITTER_EMAIL", &self.email)
            .env("GIT_COMMITTER_DATE", &date)
    }
}

impl RepoHandle {
    /// Returns in whose name a person commits here: as the repository's configuration says, or theirs in `home`. Other files that
    /// these include are not read.
    pub async fn configured_identity(
        &self,
        home: Option<&Path>,
    ) -> Result<Option<Identity>, GitError> {
        let own = [".gitconfig", ".config/git/config"];
        let own = home
            .into_iter()
            .flat_map(|home| own.map(|name| home.join(name)));
        let files: Vec<_> = [self.common_dir().join("config")]
            .into_iter()
            .chain(own)
            .collect();
        let value = async |key: &str| -> Result<Option<String>, GitError> {
            for file in files.iter().filter(|file| file.is_file()) {
                let git = Git::new()
                    .args(["config", "--no-includes", "--file"])
                    .arg(file);
                let said = git.args(["--get", key]).said().await?;
                if said.code == 0 {
                    let text = String::from_utf8_lossy(&said.stdout);
                    return Ok(Some(text.trim_end().to_owned()));
                }
            }
            Ok(None)
        };
        let both = value("user.name").await?.zip(value("user.email").await?);
        let identity = both.map(|(name, email)| Identity { name, email });
        Ok(identity.filter(|identity| identity.check().is_ok()))
    }
}

impl WorktreeHandle {
    /// Commits on whatever the head is, and returns the new commit.
    ///
    /// No filter or hook of the repository runs. The head moves only if it is still where it was read.
    pub async fn commit(
        &self,
        what: &What,
        message: &str,
        who: &Identity,
        at: Timestamp,
    ) -> Result<CommitId, CommitError> {
        who.check()?;
        if message.trim().is_empty() {
            return Err(CommitError::NoMessage);
        }
        self.check()?;
        for (file, what) in IN_PROGRESS {
            if self.paths.git_dir.join(file).exists() {
                return Err(CommitError::InProgress { what });
            }
        }
        let head = self.head().await?;
        let view = self.view().await?;
        let tree = match what {
            What::All => {
                add(&view, &[PathBuf::from(".")]).await?;
                view.git().arg("write-tree").long().text().await?
            }
            What::Paths(paths) => self.tree_with(&view, head.as_ref(), paths).await?,
        };
        if let Some(head) = &head {
            let old = view.git().args(["rev-parse", "--verify", "-q"]);
            if old.arg(format!("{head}^{{tree}}")).text().await? == tree {
                return Err(CommitError::Nothing);
            }
        }
        let parents = head.iter().flat_map(|head| ["-p", head.as_str()]);
        let git = who.on(view.git(), at).args(["commit-tree", tree.as_str()]);
        let said = git.args(parents).stdin(message).text().await?;
        let commit = CommitId::said(&said)?;
        self.move_head(&commit, head.as_ref()).await?;
        Ok(commit)
    }

    /// Makes the tree of the head with only these paths changed, and stages them in the real index too.
    async fn tree_with(
        &self,
        view: &View,
        head: Option<&CommitId>,
        paths: &[PathBuf],
    ) -> Result<String, CommitError> {
        paths.iter().try_for_each(|path| check_path(path))?;
        let other = View::of(&self.repo)?;
        let own_index = other.own_index();
        let other = other.over(self.path(), &own_index).at(head)?;
        if let Some(head) = head {
            other
                .git()
                .args(["read-tree", head.as_str()])
                .text()
                .await?;
        }
        add(&other, paths).await?;
        add(view, paths).await?;
        Ok(other.git().arg("write-tree").long().text().await?)
    }

    /// Moves the head, and the branch it is on, if it is still at `old`.
    async fn move_head(&self, new: &CommitId, old: Option<&CommitId>) -> Result<(), GitError> {
        let old = old.map_or_else(|| new.zero_like(), ToString::to_string);
        text_despite_locks(|| {
            self.repo
                .refs_git_in(&self.paths.git_dir)
                .args(["update-ref", "-m", "commit (wheelhouse)", "--", "HEAD"])
                .args([new.as_str(), &old])
        })
        .await
        .map(drop)
    }
}

/// Stages everything at these paths, waiting while the agent holds the index.
async fn add(view: &View, paths: &[PathBuf]) -> Result<(), GitError> {
    text_despite_locks(|| view.git().args(["add", "--all", "--"]).args(paths).long())
        .await
        .map(drop)
}
