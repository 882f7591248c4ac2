//! Worktrees of real repositories: wanted, made, interrupted, taken away.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wh_app::{Idempotency, OpContext, WorktreeQuery, WorktreeWanted};
use wh_domain::{
    BranchName, ErrorCode, IdempotencyKey, MergeOutcome, Name, NewRepo, NewWorktree, Operation,
    PageLimit, PageRequest, Repo, RepoSource, RepoState, ShortId, Uncommitted, Worktree,
    WorktreeBase, WorktreeDiffQuery, WorktreeFile, WorktreeMerge, WorktreeRemoval, WorktreeState,
    WorktreeStateName, WorktreeStep,
};

use crate::harness::{TestApp, reference, refused};

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
    let new = NewRepo {
        source,
        name: None,
        tier: None,
        image: None,
        mcp_dialect: None,
    };
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
    let user = cx.principal.user;
    let commit = wh_store::conformance::fixture::commit(user, Operation::WorktreeCreate);
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

fn new(repo: &Repo, name: &str) -> NewWorktree {
    NewWorktree {
        repo: reference(repo.name.as_str()),
        name: Some(Name::parse(name).unwrap()),
        branch: None,
        base: None,
        board: None,
    }
}

fn merge(worktree: &Worktree) -> WorktreeMerge {
    WorktreeMerge {
        worktree: reference(worktree.id),
        into: None,
        message: None,
        uncommitted: Uncommitted::Refuse,
        remove_after: false,
    }
}

pub(crate) fn commit(path: &Path, file: &str, text: &str) {
    fs::write(path.join(file), text).unwrap();
    git(path, &["add", "-A"]);
    git(path, &["commit", "-q", "-m", "work"]);
}

#[tokio::test]
async fn work_is_seen_compared_and_merged() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "one"))
        .await
        .unwrap();
    commit(&made.path, "b.txt", "two\n");
    fs::write(made.path.join("c.txt"), "three\n").unwrap();
    let look = test
        .app
        .worktree_get(&cx, &reference(made.id))
        .await
        .unwrap();
    let status = look.status.unwrap();
    assert_eq!((status.ahead, status.behind), (1, 0));
    assert_eq!(status.untracked, ["c.txt"]);
    assert!(look.disk.unwrap().files >= 3);
    let query = |skip, max| WorktreeDiffQuery {
        worktree: reference(made.id),
        against: None,
        with_patches: true,
        files_skipped: skip,
        files_max: max,
        bytes_max: 10_000,
    };
    let diff = test.app.worktree_diff(&cx, query(0, 1)).await.unwrap();
    assert_eq!((diff.added, diff.next), (2, Some(1)));
    let diff = test.app.worktree_diff(&cx, query(1, 1)).await.unwrap();
    assert_eq!(diff.files[0].path, "c.txt");
    assert_eq!(diff.next, None);
    let (code, message) = refused(test.app.worktree_merge(&cx, merge(&made)).await);
    assert_eq!(code, ErrorCode::Conflict);
    assert!(message.contains("uncommitted changes"), "{message}");
    commit(&made.path, "c.txt", "three\n");
    let merged = test.app.worktree_merge(&cx, merge(&made)).await.unwrap();
    assert_eq!(merged.outcome, MergeOutcome::FastForward);
    // The user's own checkout was clean and came along.
    assert!(dir.join("b.txt").exists() && dir.join("c.txt").exists());
    let again = test.app.worktree_merge(&cx, merge(&made)).await.unwrap();
    assert_eq!(again.outcome, MergeOutcome::UpToDate);
    // A marked request is done once, whatever happened to the branch since.
    let mut marked = test.local().await;
    marked.idempotency = Some(Idempotency {
        mark: IdempotencyKey::parse("once").unwrap(),
        request: [1; 32],
    });
    commit(&made.path, "d.txt", "four\n");
    let first = test
        .app
        .worktree_merge(&marked, merge(&made))
        .await
        .unwrap();
    assert_eq!(first.outcome, MergeOutcome::FastForward);
    commit(&made.path, "e.txt", "five\n");
    let again = test
        .app
        .worktree_merge(&marked, merge(&made))
        .await
        .unwrap();
    assert_eq!(again.outcome, MergeOutcome::Repeated);
    assert!(!dir.join("e.txt").exists());
    marked.idempotency = Some(Idempotency {
        mark: IdempotencyKey::parse("once").unwrap(),
        request: [2; 32],
    });
    let (code, _) = refused(test.app.worktree_merge(&marked, merge(&made)).await);
    assert_eq!(code, ErrorCode::Conflict);
}

#[tokio::test]
async fn a_conflict_changes_nothing() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "one"))
        .await
        .unwrap();
    commit(&made.path, "a.txt", "theirs\n");
    commit(&dir, "a.txt", "ours\n");
    let before = git(&dir, &["rev-parse", "main"]);
    let error = test
        .app
        .worktree_merge(&cx, merge(&made))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(error.details["conflicts"], serde_json::json!(["a.txt"]));
    assert_eq!(git(&dir, &["rev-parse", "main"]), before);
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_removal_is_refused_or_saves_first() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "one"))
        .await
        .unwrap();
    fs::write(made.path.join("draft.txt"), "unsaved\n").unwrap();
    let remove = async |how: WorktreeRemoval| {
        let mut cx = test.local().await;
        cx.idempotency = Some(Idempotency {
            mark: IdempotencyKey::parse(how.as_str()).unwrap(),
            request: [1; 32],
        });
        let worktree = reference(made.id);
        test.app.worktree_remove(&cx, &worktree, how).await
    };
    let error = remove(WorktreeRemoval::Refuse).await.unwrap_err();
    // A refusal does not use its mark up.
    let again = remove(WorktreeRemoval::Refuse).await.unwrap_err();
    assert_eq!(
        (error.code(), again.code()),
        (ErrorCode::Conflict, ErrorCode::Conflict)
    );
    assert_eq!(error.details["risks"][0]["kind"], "untracked");
    let look = test
        .app
        .worktree_get(&cx, &reference(made.id))
        .await
        .unwrap();
    assert_eq!(look.worktree.state.name(), WorktreeStateName::Ready);
    let gone = remove(WorktreeRemoval::Rescue).await.unwrap();
    let rescue = gone.rescue.unwrap();
    let saved = git(&dir, &["show", &format!("{rescue}:draft.txt")]);
    assert_eq!(saved, "unsaved");
    assert!(!made.path.exists());
    let again = remove(WorktreeRemoval::Refuse).await.unwrap();
    assert_eq!(again.worktree.state.name(), WorktreeStateName::Removed);
    // The branch is kept and free for another worktree.
    let branch = NewWorktree {
        name: None,
        branch: Some(made.branch.clone()),
        ..new(&repo, "x")
    };
    test.app.worktree_create(&cx, branch).await.unwrap();
}

#[tokio::test]
async fn a_session_that_has_not_ended_keeps_its_worktree() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, repo_dir) = repo(&test, &cx, "app").await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "one"))
        .await
        .unwrap();
    let other = test
        .app
        .worktree_create(&cx, new(&repo, "two"))
        .await
        .unwrap();
    let (id, agent) = crate::sessions::insert_with(&test, "works", None, |session| {
        session.worktree = Some(made.id);
    })
    .await;
    let worktree = reference(made.id);
    let error = test
        .app
        .worktree_remove(&cx, &worktree, WorktreeRemoval::Rescue)
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(error.details["sessions"][0], id.short_id());
    // Its token sees the worktree it works in, and no other.
    let look = test.app.worktree_get(&agent, &worktree).await.unwrap();
    assert_eq!(look.sessions[0].id, id);
    let (code, _) = refused(test.app.worktree_get(&agent, &reference(other.id)).await);
    assert_eq!(code, ErrorCode::NotFound);
    // One that cannot be read is shown as that among the others.
    let objects = repo_dir.join(".git/objects/info/alternates");
    fs::write(&objects, "/elsewhere\n").unwrap();
    let look = test.app.worktree_get(&cx, &worktree).await.unwrap();
    assert_eq!(look.risks.unwrap()[0].kind, "unreadable");
    fs::remove_file(&objects).unwrap();
    let query = WorktreeQuery {
        finished: true,
        ..WorktreeQuery::default()
    };
    let page = PageRequest::first(PageLimit::DEFAULT);
    let list = test.app.worktree_list(&cx, query, page).await.unwrap();
    assert_eq!(list.items.len(), 1);
    assert_eq!(list.items[0].worktree.id, other.id);
    assert_eq!(list.items[0].risks.as_deref(), Some(&[][..]));
}

#[tokio::test]
async fn what_a_crash_left_is_finished_later() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, dir) = repo(&test, &cx, "app").await;
    let planned = insert(&test, &cx, &repo, wanted(&cx, "one")).await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "two"))
        .await
        .unwrap();
    let mut removing = made.clone();
    let how = WorktreeRemoval::Refuse;
    removing.apply(WorktreeStep::Remove { how }).unwrap();
    let commit =
        wh_store::conformance::fixture::commit(cx.principal.user, Operation::WorktreeRemove);
    let _applied = test
        .store
        .worktree_move(&made, &removing, commit)
        .await
        .unwrap();
    test.app.worktrees_finish().await.unwrap();
    assert!(!made.path.exists());
    // Whoever wanted it may still be at it.
    assert!(!planned.path.exists());
    test.pass(61);
    test.app.worktrees_finish().await.unwrap();
    assert!(planned.path.join("a.txt").exists());
    assert_eq!(git(&dir, &["worktree", "list"]).lines().count(), 2);
}

#[tokio::test]
async fn a_file_is_read_and_nothing_outside_of_the_worktree() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let (repo, _) = repo(&test, &cx, "app").await;
    let made = test
        .app
        .worktree_create(&cx, new(&repo, "one"))
        .await
        .unwrap();
    std::os::unix::fs::symlink("/etc", made.path.join("etc")).unwrap();
    let read = async |path: &str| {
        let worktree = reference(made.id);
        test.app
            .worktree_file(&cx, &worktree, Path::new(path))
            .await
    };
    let content = read("a.txt").await.unwrap();
    assert!(matches!(content, WorktreeFile::File { bytes, .. } if bytes == b"one\n"));
    for path in [
        "../a.txt",
        "/etc/passwd",
        "etc/passwd",
        ".git",
        ".GIT/config",
    ] {
        let (code, _) = refused(read(path).await);
        assert_eq!(code, ErrorCode::InvalidInput, "{path}");
    }
    assert_eq!(refused(read("absent").await).0, ErrorCode::NotFound);
}
