//! A user with a repository, and a managed root for worktrees.

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use tempfile::TempDir;
use wh_domain::BranchName;
use wh_git::{Base, CommitId, RepoHandle, Start, WorktreeHandle};

/// A temporary directory with a user's repository `user` and a managed root `root`.
pub(crate) struct Lab {
    dir: TempDir,
}

impl Lab {
    /// Makes a repository with one commit of three files on `main`.
    pub(crate) fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(lab.user()).unwrap();
        run(&lab.user(), &["init", "-q", "-b", "main"]);
        for (name, text) in [
            ("README.md", "one\ntwo\nthree\n"),
            ("src/lib.rs", "fn a() {}\n"),
            ("src/deep/er.rs", "fn b() {}\n"),
            (".gitignore", "*.ignored\n/build/\n"),
        ] {
            write(&lab.user().join(name), text);
        }
        run(&lab.user(), &["add", "-A"]);
        run(&lab.user(), &["commit", "-q", "-m", "first"]);
        lab
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.path().join("user")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    pub(crate) fn repo(&self) -> RepoHandle {
        RepoHandle::find(&self.user()).unwrap()
    }

    /// Makes a worktree on a new branch of the same name.
    pub(crate) async fn worktree(&self, name: &str) -> WorktreeHandle {
        let start = Start::NewBranch {
            branch: branch(name),
            base: Base::Head,
        };
        let (repo, root) = (self.repo(), self.root());
        repo.worktree_create(&root, name, &start).await.unwrap().0
    }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).unwrap()
}

pub(crate) fn commit_id(dir: &Path, name: &str) -> CommitId {
    CommitId::parse(&run(dir, &["rev-parse", name])).unwrap()
}

/// Writes a file and the directories above it.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs git the way a user or an agent would, and returns what it printed.
pub(crate) fn run(dir: &Path, args: &[&str]) -> String {
    let output = attempt(dir, args);
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The same when it may fail.
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
pub(crate) fn attempt(dir: &Path, args: &[&str]) -> Output {
    std::process::Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "protocol.file.allow=always"])
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap()
}
