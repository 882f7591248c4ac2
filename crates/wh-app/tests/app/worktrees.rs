//! Worktrees of real repositories: wanted, made, interrupted, taken away.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wh_app::{OpContext, WorktreeWanted};
use wh_domain::{
    BranchName, ErrorCode, Facts, Name, NewRepo, Operation, Repo, RepoSource, RepoState, Worktree,
    WorktreeBase, WorktreeState,
};

use crate::harness::{TestApp, refused};

/// Runs git as the user would.
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a user's repository with one commit, and makes it known.
pub(crate) async fn repo(test: &TestApp, cx: &OpContext, name: &str) -> (Repo, PathBuf) {
    let dir = test.dir.path().join(name);
    fs::create_dir(&dir).unwrap();
    git(&dir, &["init", "-q", "-b", "main"]);
    fs::write(dir.join("a.txt"), "one\n").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-q", "-m", "first"]);
    let source = RepoSource::parse(dir.to_str().unwrap()).unwrap();
    let new = NewRepo { source, name: None };
    (test.app.repo_add(cx, new).await.unwrap(), dir)
}

fn wanted(cx: &OpContext, name: &str) -> WorktreeWanted {
    WorktreeWanted {
        owner: cx.principal.owner(),
        name: Name::parse(name).unwrap(),
        branch: None,
        base: None,
        board: None,
    }
}

/// Plans a worktree and inserts its row, as the start of a session would.
async fn insert(test: &TestApp, cx: &OpContext, repo: &Repo, wanted: WorktreeWanted) -> Worktree {
    let worktree = test.app.worktree_plan(cx, repo, wanted).unwrap();
    let mut audit =
        wh_store::conformance::fixture::audit(cx.principal.user, Operation::WorktreeCreate);
    audit.facts = Facts::new();
    let commit = wh_store::Commit {
        audit,
        events: vec![],
        idempotency: None,
    };
    let _applied = test.store.worktree_insert(&worktree, commit).await.unwrap();
    worktree
}

#[tokio::test]
async fn a_planned_worktree_is_made_once() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    assert!(matches!(repo.state, RepoState::Ready(_)));
    let planned = insert(&test, &cx, &repo, wanted(&cx, "Fix the login!")).await;
    assert!(planned.branch.as_str().starts_with("wh/fix-the-login-"));
    assert!(!planned.path.exists());
    let many = (0..4).map(|_| test.app.worktree_ensure(planned.id));
    for made in futures::future::join_all(many).await {
        let made = made.unwrap();
        assert!(matches!(made.state, WorktreeState::Ready { .. }));
        assert_eq!(
            made.base_sha.as_deref(),
            Some(&*git(&dir, &["rev-parse", "main"]))
        );
    }
    assert_eq!(
        fs::read_to_string(planned.path.join("a.txt")).unwrap(),
        "one\n"
    );
    let branch = git(&planned.path, &["branch", "--show-current"]);
    assert_eq!(branch, planned.branch.as_str());
}

#[tokio::test]
async fn what_was_made_but_not_recorded_is_found_again() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let planned = insert(&test, &cx, &repo, wanted(&cx, "one")).await;
    // As if the server had died after git was done.
    git(&dir, &["branch", planned.branch.as_str()]);
    let path = planned.path.to_str().unwrap();
    git(
        &dir,
        &["worktree", "add", "-q", path, planned.branch.as_str()],
    );
    let made = test.app.worktree_ensure(planned.id).await.unwrap();
    assert!(matches!(made.state, WorktreeState::Ready { .. }));
}

#[tokio::test]
async fn what_can_never_be_made_frees_its_branch() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, _) = repo(&test, &cx, "app").await;
    let base = WorktreeBase::Branch(BranchName::parse("no-such").unwrap());
    let branch = Some(BranchName::parse("topic").unwrap());
    let impossible = WorktreeWanted {
        branch: branch.clone(),
        base: Some(base),
        ..wanted(&cx, "one")
    };
    let planned = insert(&test, &cx, &repo, impossible).await;
    let (code, _) = refused(test.app.worktree_ensure(planned.id).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    let (code, _) = refused(test.app.worktree_ensure(planned.id).await);
    assert_eq!(code, ErrorCode::Conflict);
    let possible = WorktreeWanted {
        branch,
        ..wanted(&cx, "one")
    };
    let planned = insert(&test, &cx, &repo, possible).await;
    test.app.worktree_ensure(planned.id).await.unwrap();
}

#[tokio::test]
async fn a_worktree_taken_away_behind_our_back_is_missing() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let planned = insert(&test, &cx, &repo, wanted(&cx, "one")).await;
    test.app.worktree_ensure(planned.id).await.unwrap();
    git(
        &dir,
        &[
            "worktree",
            "remove",
            "--force",
            planned.path.to_str().unwrap(),
        ],
    );
    let (code, message) = refused(test.app.worktree_ensure(planned.id).await);
    assert_eq!(code, ErrorCode::Conflict);
    assert_eq!(message, "the worktree's directory is gone");
    assert!(!planned.path.exists());
}
