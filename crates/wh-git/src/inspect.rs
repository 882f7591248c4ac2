//! Looks at a directory that somebody says is a repository.

use std::path::{Path, PathBuf};

use wh_domain::BranchName;

use crate::{GitError, RepoHandle};

/// What is known of a repository after a look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoFacts {
    /// The directory that holds the objects and references.
    pub git_dir: PathBuf,
    /// The branch that `HEAD` names, if it names one.
    pub default_branch: Option<BranchName>,
}

/// Looks at the repository at `path`, which is a checkout or a bare repository.
pub async fn inspect(path: &Path) -> Result<RepoFacts, GitError> {
    let repo = RepoHandle::find(path)?;
    let default_branch = repo.default_branch().await.map_err(|error| match error {
        GitError::Failed { .. } => GitError::NotARepository {
            path: path.to_owned(),
        },
        other => other,
    })?;
    Ok(RepoFacts {
        git_dir: repo.paths().git_dir.clone(),
        default_branch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a repository the way a user would.
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fn git(dir: &Path, args: &[&str]) {
        let output = std::process::Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    #[tokio::test]
    async fn checkouts_and_bare_repositories_are_recognised() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "-b", "trunk", "work"]);
        git(
            dir.path(),
            &["init", "-q", "--bare", "-b", "main", "bare.git"],
        );
        let facts = inspect(&dir.path().join("work")).await.unwrap();
        assert_eq!(facts.default_branch.unwrap().as_str(), "trunk");
        let facts = inspect(&dir.path().join("bare.git")).await.unwrap();
        assert_eq!(facts.default_branch.unwrap().as_str(), "main");
    }

    #[tokio::test]
    async fn a_plain_directory_inside_a_repository_is_none() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "work"]);
        let inner = dir.path().join("work/inner");
        std::fs::create_dir(&inner).unwrap();
        assert!(matches!(
            inspect(&inner).await,
            Err(GitError::NotARepository { .. })
        ));
    }
}
