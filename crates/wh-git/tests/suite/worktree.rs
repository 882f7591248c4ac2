//! Making, finding and looking at worktrees.

use std::{fs, os::unix::fs::symlink};

use wh_git::{Base, Missing, RepoHandle, Start, WorktreeError, WorktreeHandle, WorktreePaths};

use crate::lab::{Lab, branch, commit_id, run, write};

#[tokio::test]
async fn a_worktree_is_made_on_a_new_branch() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    assert!(
        made.paths()
            .path
            .starts_with(lab.root().canonicalize().unwrap())
    );
    assert_eq!(
        fs::read(made.paths().path.join("src/lib.rs")).unwrap(),
        b"fn a() {}\n"
    );
    assert_eq!(made.branch().await.unwrap(), Some(branch("one")));
    assert_eq!(
        made.head().await.unwrap(),
        Some(commit_id(&lab.user(), "main"))
    );
    // What git itself thinks of it.
    assert_eq!(run(&made.paths().path, &["status", "--porcelain"]), "");
    assert_eq!(
        run(&made.paths().path, &["branch", "--show-current"]),
        "one"
    );
    let status = made
        .status(made.head().await.unwrap().as_ref())
        .await
        .unwrap();
    assert!(status.is_clean() && !status.is_detached());
    assert_eq!(status.ahead_behind, Some((0, 0)));
    assert_eq!(lab.repo().checkouts().await.unwrap().len(), 2);
    assert!(made.disk_use().await.unwrap().files >= 5);
    assert_eq!(lab.repo().branches().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_exists_is_refused_and_left_alone() {
    let lab = Lab::new();
    let repo = lab.repo();
    let made = lab.worktree("one").await;
    let new = |name: &str| Start::NewBranch {
        branch: branch(name),
        base: Base::Branch(branch("main")),
    };
    let again = repo.worktree_create(&lab.root(), "two", &new("one")).await;
    assert!(matches!(again, Err(WorktreeError::BranchExists { .. })));
    let taken = repo.worktree_create(&lab.root(), "one", &new("two")).await;
    assert!(matches!(taken, Err(WorktreeError::Taken { .. })));
    let out = repo
        .worktree_create(&lab.root(), "three", &Start::Branch(branch("one")))
        .await;
    assert!(matches!(out, Err(WorktreeError::CheckedOut { .. })));
    symlink("/nowhere", lab.root().join("four")).unwrap();
    let link = repo
        .worktree_create(&lab.root(), "four", &new("four"))
        .await;
    assert!(matches!(link, Err(WorktreeError::Taken { .. })));
    let inside = repo
        .worktree_create(&lab.user().join("x"), "five", &new("five"))
        .await;
    assert!(matches!(
        inside,
        Err(WorktreeError::RootInsideCheckout { .. })
    ));
    for name in ["..", ".git", "a/b", "", "-x", "é", &"a".repeat(200)] {
        let bad = repo.worktree_create(&lab.root(), name, &new("six")).await;
        assert!(matches!(bad, Err(WorktreeError::Name { .. })), "{name}");
    }
    assert!(made.missing().is_none());
    // None of the refused calls left a branch or a registered checkout behind.
    assert_eq!(repo.branches().await.unwrap().len(), 2);
    assert_eq!(repo.checkouts().await.unwrap().len(), 2);
}

#[tokio::test]
async fn of_many_who_want_one_branch_one_gets_it() {
    let lab = Lab::new();
    let repo = lab.repo();
    let root = lab.root();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..6 {
        let (repo, root) = (repo.clone(), root.clone());
        tasks.spawn(async move {
            let start = Start::NewBranch {
                branch: branch("wanted"),
                base: Base::Head,
            };
            let name = format!("w{n}");
            repo.worktree_create(&root, &name, &start).await.is_ok()
        });
    }
    let got = tasks.join_all().await;
    assert_eq!(got.iter().filter(|got| **got).count(), 1, "{got:?}");
    assert_eq!(repo.checkouts().await.unwrap().len(), 2);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[tokio::test]
async fn every_kind_of_change_is_seen() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let at = |name: &str| made.paths().path.join(name);
    write(&at("README.md"), "changed\n");
    write(&at("src/lib.rs"), "staged\n");
    run(&made.paths().path, &["add", "src/lib.rs"]);
    write(&at("new dir/a\nfile"), "x");
    write(&at("x.ignored"), "x");
    let status = made.status(None).await.unwrap();
    assert_eq!(status.unstaged, [std::path::PathBuf::from("README.md")]);
    assert_eq!(status.staged, [std::path::PathBuf::from("src/lib.rs")]);
    assert_eq!(
        status.untracked,
        [std::path::PathBuf::from("new dir/a\nfile")]
    );
    assert_eq!(status.ignored, [std::path::PathBuf::from("x.ignored")]);
}

#[tokio::test]
async fn a_missing_worktree_is_noticed() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let path = made.paths().path.clone();
    fs::rename(&path, lab.path().join("moved")).unwrap();
    assert_eq!(made.missing(), Some(Missing::DirectoryGone));
    symlink(lab.user(), &path).unwrap();
    assert_eq!(made.missing(), Some(Missing::Replaced));
    let status = made.status(None).await;
    assert!(matches!(status, Err(WorktreeError::Missing { .. })));
    let other = lab.worktree("two").await;
    run(
        &lab.user(),
        &[
            "worktree",
            "remove",
            "--force",
            other.paths().path.to_str().unwrap(),
        ],
    );
    assert!(other.missing().is_some());
}

#[tokio::test]
async fn recorded_paths_must_belong_together() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let again = WorktreeHandle::open(&lab.repo(), made.paths().clone()).unwrap();
    assert_eq!(again.head().await.unwrap(), made.head().await.unwrap());
    for git_dir in ["/etc", "/tmp/worktrees/one"] {
        let paths = WorktreePaths {
            path: made.paths().path.clone(),
            git_dir: git_dir.into(),
        };
        assert!(WorktreeHandle::open(&lab.repo(), paths).is_err());
    }
    // A worktree can itself be named as a repository.
    let found = RepoHandle::find(&made.paths().path).unwrap();
    assert_eq!(found.paths().common_dir, lab.repo().paths().common_dir);
    assert_eq!(found.default_branch().await.unwrap(), Some(branch("one")));
}

#[tokio::test]
async fn excludes_are_kept_in_a_marked_block() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    lab.repo()
        .exclude_set("session-1", &["/CLAUDE.local.md"])
        .unwrap();
    write(&made.paths().path.join("CLAUDE.local.md"), "x");
    assert!(made.status(None).await.unwrap().is_clean());
    assert_eq!(run(&made.paths().path, &["status", "--porcelain"]), "");
    lab.repo().exclude_set("session-1", &[]).unwrap();
    assert_eq!(made.status(None).await.unwrap().untracked.len(), 1);
    // A link in place of `info` would lead the server elsewhere.
    let info = lab.repo().paths().common_dir.join("info");
    let elsewhere = lab.path().join("elsewhere");
    fs::rename(&info, &elsewhere).unwrap();
    fs::remove_file(elsewhere.join("exclude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &info).unwrap();
    assert!(lab.repo().exclude_set("s", &["x"]).is_err());
    assert!(!elsewhere.join("exclude").exists());
    assert!(lab.repo().exclude_set("a\nb", &["x"]).is_err());
}

#[tokio::test]
async fn a_change_in_the_moment_of_the_checkout_is_seen() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let file = made.paths().path.join("src/lib.rs");
    for _ in 0..30 {
        run(&made.paths().path, &["checkout", "-q", "--force", "HEAD"]);
        fs::remove_file(&file).unwrap();
        run(&made.paths().path, &["checkout", "-q", "--", "src/lib.rs"]);
        // The same size, and most often the same tick of the clock.
        fs::write(&file, "fn b() {}\n").unwrap();
        let head = made.head().await.unwrap();
        let status = made.status(head.as_ref()).await.unwrap();
        assert!(status.is_dirty());
    }
}

#[tokio::test]
async fn a_local_block_is_not_seen_by_git_and_leads_nowhere() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let (path, name) = (&made.paths().path, "CLAUDE.local.md");
    let outside = lab.user().join("outside");
    write(&outside, "untouched\n");
    std::os::unix::fs::symlink(&outside, path.join(name)).unwrap();
    assert!(made.local_block_set(name, "s1", "one").await.unwrap());
    assert!(made.local_block_set(name, "s2", "two").await.unwrap());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "untouched\n");
    let text = fs::read_to_string(path.join(name)).unwrap();
    assert!(text.contains("one\n") && text.contains("two\n"), "{text}");
    assert_eq!(run(path, &["status", "--porcelain"]), "");
    made.local_block_remove(name, "s1").await.unwrap();
    assert!(path.join(name).exists());
    made.local_block_remove(name, "s2").await.unwrap();
    assert!(!path.join(name).exists());
    made.local_block_remove(name, "s2").await.unwrap();
    // A file of the repository is not ours to write.
    assert!(
        !made
            .local_block_set("README.md", "s1", "one")
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn a_mark_changes_with_commits_and_contents_and_nothing_else() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let path = made.paths().path.clone();
    let first = made.mark().await.unwrap();
    write(&path.join("new.txt"), "one\n");
    let second = made.mark().await.unwrap();
    assert_ne!(first, second);
    // The same file with other words of the same length, and the same words once more.
    write(&path.join("new.txt"), "two\n");
    let third = made.mark().await.unwrap();
    assert_ne!(second, third);
    write(&path.join("new.txt"), "one\n");
    assert_eq!(made.mark().await.unwrap(), second);
    run(&path, &["add", "-A"]);
    run(&path, &["commit", "-q", "-m", "new"]);
    let fourth = made.mark().await.unwrap();
    assert!(![first, second, third].contains(&fourth));
}
