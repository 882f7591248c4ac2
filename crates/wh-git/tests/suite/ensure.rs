//! Making a worktree again after it was interrupted at each step.

use std::fs;

use wh_git::{Base, WorktreeError};

use crate::lab::{Lab, branch, commit_id, run, write};

const NAME: &str = "one";

/// Ensures the worktree and checks that it is whole.
async fn ensure(lab: &Lab) {
    let repo = lab.repo();
    let (worktree, base) = repo
        .worktree_ensure(&lab.root(), NAME, &branch("wh/one"), None)
        .await
        .unwrap();
    assert_eq!(base, commit_id(&lab.user(), "main"));
    let status = worktree.status(None).await.unwrap();
    assert!(status.is_clean(), "{status:?}");
    assert_eq!(status.branch, Some(branch("wh/one")));
    let readme = fs::read_to_string(lab.root().join("one/README.md")).unwrap();
    assert_eq!(readme, "one\ntwo\nthree\n");
    assert_eq!(repo.checkouts().await.unwrap().len(), 2);
    let admin = fs::read_dir(lab.user().join(".git/worktrees")).unwrap();
    assert_eq!(admin.count(), 1);
}

#[tokio::test]
async fn it_is_made_once_and_found_again() {
    let lab = Lab::new();
    ensure(&lab).await;
    ensure(&lab).await;
}

#[tokio::test]
async fn it_goes_on_from_every_step_of_an_interrupted_call() {
    type Leave = fn(&Lab);
    let steps: [(&str, Leave); 6] = [
        ("a directory", |lab| {
            fs::create_dir_all(lab.root().join(NAME)).unwrap();
        }),
        ("a directory and the branch", |lab| {
            fs::create_dir_all(lab.root().join(NAME)).unwrap();
            run(&lab.user(), &["branch", "wh/one"]);
        }),
        ("no pointer yet", |lab| {
            add(lab);
            fs::remove_file(lab.root().join("one/.git")).unwrap();
        }),
        ("no head yet", |lab| {
            add(lab);
            fs::remove_file(lab.root().join("one/.git")).unwrap();
            fs::remove_file(lab.user().join(".git/worktrees/one/HEAD")).unwrap();
        }),
        ("no files yet", add),
        ("some files and a locked index", |lab| {
            add(lab);
            write(&lab.root().join("one/README.md"), "one\n");
            write(&lab.user().join(".git/worktrees/one/index.lock"), "");
        }),
    ];
    for (step, leave) in steps {
        println!("left: {step}");
        let lab = Lab::new();
        leave(&lab);
        ensure(&lab).await;
    }
}

/// Does what git does before there are files.
fn add(lab: &Lab) {
    let path = lab.root().join(NAME);
    fs::create_dir_all(&path).unwrap();
    let path = path.canonicalize().unwrap();
    run(&lab.user(), &["branch", "wh/one"]);
    let add = ["worktree", "add", "--no-checkout", "-q", "--"];
    let arguments = [&add[..], &[path.to_str().unwrap(), "wh/one"]].concat();
    run(&lab.user(), &arguments);
}

#[tokio::test]
async fn what_is_not_ours_is_left_alone() {
    let lab = Lab::new();
    write(&lab.root().join("one/somebodys.txt"), "work");
    let refused = lab
        .repo()
        .worktree_ensure(&lab.root(), NAME, &branch("wh/one"), None)
        .await;
    assert!(matches!(refused, Err(WorktreeError::Taken { .. })));
    assert!(lab.root().join("one/somebodys.txt").exists());
}

#[tokio::test]
async fn a_branch_that_is_elsewhere_than_asked_is_refused() {
    let lab = Lab::new();
    run(&lab.user(), &["branch", "old"]);
    run(
        &lab.user(),
        &["commit", "-q", "--allow-empty", "-m", "second"],
    );
    let base = Base::Branch(branch("old"));
    let repo = lab.repo();
    let made = |name: &'static str, of: &'static str| {
        let (repo, base, root) = (repo.clone(), base.clone(), lab.root());
        async move {
            repo.worktree_ensure(&root, name, &branch(of), Some(&base))
                .await
        }
    };
    let refused = made("two", "main").await;
    assert!(matches!(refused, Err(WorktreeError::BranchExists { .. })));
    let (_, base) = made("three", "new").await.unwrap();
    assert_eq!(base, commit_id(&lab.user(), "old"));
}
