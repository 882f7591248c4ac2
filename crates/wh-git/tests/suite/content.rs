//! Diffs, files, commits and merges.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use wh_git::{
    Change, CommitError, DiffLimits, FileContent, FileKind, Identity, Merge, MergeError, Merged,
    Patch, Patches, RepoHandle, What, WorktreeHandle,
};

use crate::lab::{Lab, branch, commit_id, run, write};

fn ada() -> Identity {
    Identity {
        name: "Ada".to_owned(),
        email: "ada@example.org".to_owned(),
    }
}

async fn commit(worktree: &WorktreeHandle, what: What) -> Result<wh_git::CommitId, CommitError> {
    worktree
        .commit(&what, "a message\n", &ada(), Timestamp::UNIX_EPOCH)
        .await
}

#[tokio::test]
async fn a_diff_shows_everything_that_is_not_ignored() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let at = |name: &str| made.paths().path.join(name);
    let base = made.head().await.unwrap().unwrap();
    write(&at("README.md"), "one\n2\nthree\n");
    write(&at("new.txt"), "new\n");
    write(&at("data.bin"), [0, 1, 2, 0]);
    symlink("/etc/passwd", at("leak")).unwrap();
    fs::create_dir(at("moved")).unwrap();
    fs::rename(at("src/deep/er.rs"), at("moved/er.rs")).unwrap();
    write(&at("x.ignored"), "x");
    let diff = made
        .diff(&base, Patches::Include, DiffLimits::default())
        .await
        .unwrap();
    let file = |name: &str| {
        diff.files
            .iter()
            .find(|f| f.path == Path::new(name))
            .unwrap()
    };
    assert_eq!(diff.files.len(), 5, "{diff:?}");
    assert_eq!(file("README.md").lines, Some((1, 1)));
    assert!(
        matches!(&file("README.md").patch, Patch::Whole(text) if text.contains("\n-two\n+2\n"))
    );
    assert_eq!(file("new.txt").change, Change::Added);
    assert_eq!(file("data.bin").patch, Patch::Binary);
    assert_eq!(file("leak").kind, FileKind::Link);
    assert!(matches!(&file("leak").patch, Patch::Whole(text) if text.contains("+/etc/passwd\n")));
    assert_eq!(file("moved/er.rs").change, Change::Renamed);
    assert_eq!(
        file("moved/er.rs").old_path,
        Some(PathBuf::from("src/deep/er.rs"))
    );
    // Looking has changed nothing.
    assert!(run(&made.paths().path, &["status", "--porcelain"]).contains("?? new.txt"));
}

#[tokio::test]
async fn a_diff_is_bounded_and_says_what_is_missing() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let base = made.head().await.unwrap().unwrap();
    write(&made.paths().path.join("a-huge"), "line\n".repeat(100_000));
    for n in 0..9 {
        write(&made.paths().path.join(format!("small{n}")), "x\n");
    }
    let limits = DiffLimits {
        files_skipped: 0,
        files_max: 5,
        file_bytes_max: 1_000,
        total_bytes_max: 1_400,
    };
    let diff = made.diff(&base, Patches::Include, limits).await.unwrap();
    assert_eq!(
        (diff.files.len(), diff.files_left_out, diff.added),
        (5, 5, 100_009)
    );
    assert!(matches!(&diff.files[0].patch, Patch::Cut(text) if text.len() == 1_000));
    assert!(matches!(&diff.files[1].patch, Patch::Whole(_)));
    assert_eq!(diff.files[4].patch, Patch::LeftOut);
    let rest = DiffLimits {
        files_skipped: 8,
        ..limits
    };
    let diff = made.diff(&base, Patches::Include, rest).await.unwrap();
    assert_eq!((diff.files.len(), diff.files_left_out), (2, 0));
    assert_eq!(diff.files[1].path, Path::new("small8"));
    assert!(matches!(&diff.files[1].patch, Patch::Whole(_)));
    let two = lab
        .repo()
        .diff(&base, &base, Patches::Include, limits)
        .await
        .unwrap();
    assert!(two.files.is_empty());
}

#[tokio::test]
async fn a_file_is_read_only_inside() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let root = made.paths().path.clone();
    symlink("/etc/passwd", root.join("leak")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    let read = async |name: &str| made.file_read(Path::new(name), 5).await;
    let FileContent::File {
        bytes,
        size,
        truncated,
    } = read("src/lib.rs").await.unwrap()
    else {
        panic!("a file");
    };
    assert_eq!(
        (bytes.as_slice(), size, truncated),
        (&b"fn a("[..], 10, true)
    );
    let target = PathBuf::from("/etc/passwd");
    assert_eq!(read("leak").await.unwrap(), FileContent::Link { target });
    assert!(
        matches!(read("src").await.unwrap(), FileContent::Directory { names, .. } if names.len() == 2)
    );
    for bad in [
        "etc/passwd",
        "../user/README.md",
        "/etc/passwd",
        ".git",
        ".git/HEAD",
        ".GIT",
        "src/../x",
        "a/.Git/x",
        ".git.",
        ".git ",
        "git~1",
        ".g\u{200c}it/x",
        "src/up/../../../x",
        "none",
        "a\0b",
    ] {
        assert!(read(bad).await.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn all_or_some_paths_are_committed() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let at = |name: &str| made.paths().path.join(name);
    assert!(matches!(
        commit(&made, What::All).await,
        Err(CommitError::Nothing)
    ));
    write(&at("README.md"), "changed\n");
    write(&at("-new"), "new\n");
    write(&at("src/lib.rs"), "staged\n");
    run(&made.paths().path, &["add", "src/lib.rs"]);
    let id = commit(&made, What::Paths(vec!["-new".into()]))
        .await
        .unwrap();
    assert_eq!(
        run(&lab.user(), &["diff", "--name-only", "one~1", "one"]),
        "-new"
    );
    let status = made
        .status(Some(&commit_id(&lab.user(), "main")))
        .await
        .unwrap();
    assert_eq!((status.head, status.ahead_behind), (Some(id), Some((1, 0))));
    assert_eq!(
        (
            status.staged.len(),
            status.unstaged.len(),
            status.untracked.len()
        ),
        (1, 1, 0)
    );
    commit(&made, What::All).await.unwrap();
    assert!(made.status(None).await.unwrap().is_clean());
    let author = run(&lab.user(), &["log", "-1", "--format=%an <%ae> %s", "one"]);
    assert_eq!(author, "Ada <ada@example.org> a message");
    let outside = commit(&made, What::Paths(vec!["../x".into()])).await;
    assert!(matches!(outside, Err(CommitError::Path(_))));
    let nobody = Identity {
        name: "A\n<x>".to_owned(),
        ..ada()
    };
    let refused = made
        .commit(&What::All, "m", &nobody, Timestamp::UNIX_EPOCH)
        .await;
    assert!(matches!(refused, Err(CommitError::Identity)));
}

async fn merge_one(repo: &RepoHandle, worktrees: &[WorktreeHandle]) -> Result<Merged, MergeError> {
    let (source, into) = (branch("one"), branch("main"));
    let merge = Merge {
        source: &source,
        into: &into,
        message: "merge one",
        who: &ada(),
        at: Timestamp::UNIX_EPOCH,
        worktrees,
    };
    repo.merge(&merge).await
}

#[tokio::test]
async fn branches_are_merged_and_clean_checkouts_follow() {
    let lab = Lab::new();
    let (repo, user) = (lab.repo(), lab.user());
    let made = lab.worktree("one").await;
    assert_eq!(merge_one(&repo, &[]).await.unwrap(), Merged::UpToDate);
    write(&made.paths().path.join("new"), "new\n");
    commit(&made, What::All).await.unwrap();
    // The user has work that is not committed.
    write(&user.join("README.md"), "mine\n");
    assert!(matches!(
        merge_one(&repo, &[]).await,
        Err(MergeError::Dirty { .. })
    ));
    assert_eq!(fs::read(user.join("README.md")).unwrap(), b"mine\n");
    run(&user, &["checkout", "-q", "README.md"]);
    // A file of the user's would be overwritten.
    write(&user.join("new"), "precious\n");
    assert!(merge_one(&repo, &[]).await.is_err());
    assert_eq!(fs::read(user.join("new")).unwrap(), b"precious\n");
    assert!(run(&user, &["log", "--format=%s", "main"]) == "first");
    fs::remove_file(user.join("new")).unwrap();
    assert!(matches!(
        merge_one(&repo, &[]).await.unwrap(),
        Merged::FastForward { .. }
    ));
    assert_eq!(fs::read(user.join("new")).unwrap(), b"new\n");
    assert_eq!(run(&user, &["status", "--porcelain"]), "");
    write(&user.join("other"), "x");
    run(&user, &["add", "-A"]);
    run(&user, &["commit", "-qm", "other"]);
    write(&made.paths().path.join("new"), "newer\n");
    commit(&made, What::All).await.unwrap();
    assert!(matches!(
        merge_one(&repo, &[]).await.unwrap(),
        Merged::Commit { .. }
    ));
    assert_eq!(fs::read(user.join("new")).unwrap(), b"newer\n");
    assert_eq!(run(&user, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn conflicts_are_named_and_nothing_moves() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    write(&made.paths().path.join("README.md"), "ours\n");
    commit(&made, What::All).await.unwrap();
    write(&lab.user().join("README.md"), "theirs\n");
    run(&lab.user(), &["commit", "-qam", "theirs"]);
    let before = commit_id(&lab.user(), "main");
    let Err(MergeError::Conflicts { files }) = merge_one(&lab.repo(), &[]).await else {
        panic!("a conflict");
    };
    assert_eq!(files, [PathBuf::from("README.md")]);
    assert_eq!(commit_id(&lab.user(), "main"), before);
    assert_eq!(run(&lab.user(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn counts_tell_what_there_is_to_merge() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let at = |name: &str| made.paths().path.join(name);
    let base = made.head().await.unwrap().unwrap();
    let nothing = made.count(&base, std::slice::from_ref(&base)).await;
    let nothing = nothing.unwrap();
    assert!(nothing.is_clean);
    assert_eq!((nothing.added, nothing.ahead, nothing.unmerged), (0, 0, 0));
    write(&at("README.md"), "one\n2\nthree\n");
    write(&at("new.txt"), "new\nfile\n");
    write(&at("x.ignored"), "x");
    let dirty = made.count(&base, std::slice::from_ref(&base)).await;
    let dirty = dirty.unwrap();
    assert!(!dirty.is_clean);
    assert_eq!((dirty.added, dirty.deleted, dirty.ahead), (3, 1, 0));
    // Looking has changed nothing.
    assert!(run(&made.paths().path, &["status", "--porcelain"]).contains("?? new.txt"));
    let head = commit(&made, What::All).await.unwrap();
    let done = made.count(&base, std::slice::from_ref(&base)).await;
    let done = done.unwrap();
    assert!(done.is_clean);
    assert_eq!((done.added, done.deleted), (3, 1));
    assert_eq!((done.ahead, done.unmerged), (1, 1));
    let merged = made.count(&base, &[base.clone(), head]).await.unwrap();
    assert_eq!((merged.ahead, merged.unmerged), (1, 0));
}
