//! Looks at a directory that somebody says is a repository.

use std::path::{Path, PathBuf};

use wh_domain::BranchName;

use crate::{GitError, command::look};

/// What is known of a repository after a look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoFacts {
    /// The directory that holds the objects and references.
    pub git_dir: PathBuf,
    /// The branch that `HEAD` names, if it names one.
    pub default_branch: Option<BranchName>,
}

/// Looks at the repository at `path`, which is a checkout or a bare repository.
///
/// The git directory is found by us and not by git, whose search would walk up into whatever contains `path`.
pub async fn inspect(path: &Path) -> Result<RepoFacts, GitError> {
    let git_dir = find_git_dir(path).ok_or_else(|| GitError::NotARepository {
        path: path.to_owned(),
    })?;
    look(&git_dir, &["rev-parse", "--git-dir"])
        .await
        .map_err(|error| match error {
            GitError::Failed { .. } => GitError::NotARepository {
                path: path.to_owned(),
            },
            other => other,
        })?;
    let head = look(&git_dir, &["symbolic-ref", "--short", "-q", "HEAD"]).await;
    let default_branch = head.ok().and_then(|name| BranchName::parse(&name).ok());
    Ok(RepoFacts {
        git_dir,
        default_branch,
    })
}

fn find_git_dir(path: &Path) -> Option<PathBuf> {
    let nested = path.join(".git");
    [nested, path.to_owned()]
        .into_iter()
        .find(|dir| dir.join("HEAD").is_file() && dir.join("objects").is_dir())
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
