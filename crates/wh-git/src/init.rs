//! Making a repository with something in it.

use std::{fs, path::Path};

use jiff::Timestamp;

use crate::{CommitError, GitError, Identity, RepoHandle, command::Git, read::check_path};

impl RepoHandle {
    /// Makes a repository with a checkout at `dir`, whose branch `main` has one commit of these files.
    ///
    /// The directory must not exist: what is in one that does is somebody's.
    pub async fn init(
        dir: &Path,
        files: &[(&str, &str)],
        message: &str,
        who: &Identity,
        at: Timestamp,
    ) -> Result<Self, CommitError> {
        who.check()?;
        if message.trim().is_empty() {
            return Err(CommitError::NoMessage);
        }
        fs::create_dir(dir).map_err(GitError::Start)?;
        let git = || Git::new().arg("-C").arg(dir);
        let init = git().args(["init", "-q", "--template=", "-b", "main"]);
        init.text().await?;
        for (path, text) in files {
            check_path(Path::new(path))?;
            let path = dir.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(GitError::Start)?;
            }
            fs::write(&path, text).map_err(GitError::Start)?;
        }
        git().args(["add", "--all"]).long().text().await?;
        let commit = who.on(git(), at).args(["commit", "-q", "--file=-"]);
        commit.stdin(message).long().text().await?;
        Ok(Self::find(dir)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_repository_begins_with_one_commit() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("project");
        let who = Identity {
            name: "Ada".to_owned(),
            email: "ada@example.org".to_owned(),
        };
        let at = Timestamp::UNIX_EPOCH;
        let files = [("a.txt", "one\n"), ("src/b.txt", "two\n")];
        let repo = RepoHandle::init(&dir, &files, "first", &who, at).await;
        let repo = repo.unwrap();
        let main = repo.default_branch().await.unwrap().unwrap();
        assert_eq!(main.as_str(), "main");
        assert!(repo.head().await.unwrap().is_some());
        assert_eq!(fs::read_to_string(dir.join("src/b.txt")).unwrap(), "two\n");
        let again = RepoHandle::init(&dir, &files, "first", &who, at).await;
        assert!(again.is_err(), "a directory that is there is left alone");
    }
}
