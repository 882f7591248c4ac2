//! Removing worktrees, the ordinary cases.

use wh_git::{IgnoredFiles, Removal, RemoveError, RescueLabel, RescueOf, Risk, clean_up_list};

use crate::lab::{Lab, run, write};

fn label() -> RescueLabel {
    RescueLabel {
        of: RescueOf::Session(uuid::Uuid::nil().to_string().parse().unwrap()),
        at: jiff::Timestamp::from_second(1_800_000_000).unwrap(),
    }
}

#[tokio::test]
async fn a_clean_worktree_goes_without_a_trace() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    assert_eq!(made.removal_risks().await.unwrap(), []);
    let listed = clean_up_list(std::slice::from_ref(&made)).await.unwrap();
    assert!(listed[0].risks.is_empty() && listed[0].disk.bytes > 0);
    let removed = made
        .remove(&label(), Removal::RefuseIfAnyRisk)
        .await
        .unwrap();
    assert_eq!(removed.rescue, None);
    assert!(!made.paths().path.exists() && !made.paths().git_dir.exists());
    assert_eq!(lab.repo().checkouts().await.unwrap().len(), 1);
    assert_eq!(lab.repo().branches().await.unwrap().len(), 2);
    // Once more is fine.
    made.remove(&label(), Removal::RefuseIfAnyRisk)
        .await
        .unwrap();
}

/// As a page that shows its changes, or the count of them after a merge.
#[tokio::test]
async fn whoever_looks_at_it_is_no_risk() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let is_done = std::cell::Cell::new(false);
    let look = async || {
        while !is_done.get() {
            made.status(None).await.unwrap();
        }
    };
    let see = async || {
        for _ in 0..20 {
            assert_eq!(made.removal_risks().await.unwrap(), []);
        }
        is_done.set(true);
    };
    tokio::join!(see(), look(), look());
}

/// As the process that `git commit` leaves behind to look for something to tidy.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
async fn who_is_about_to_leave_is_waited_for_and_who_stays_is_not() {
    let lab = Lab::new();
    let (leaves, stays) = (lab.worktree("leaves").await, lab.worktree("stays").await);
    let inside = |path: &std::path::Path, seconds: &str| {
        let mut sleep = std::process::Command::new("sleep");
        sleep.arg(seconds).current_dir(path).spawn().unwrap()
    };
    let mut stayer = inside(&stays.paths().path, "60");
    let refused = stays.remove(&label(), Removal::RefuseIfAnyRisk).await;
    let Err(RemoveError::Risky { risks }) = refused else {
        panic!("{refused:?}");
    };
    let pids = vec![stayer.id()];
    assert_eq!(risks, [Risk::Processes { pids }]);
    let mut leaver = inside(&leaves.paths().path, "0.1");
    let removed = leaves.remove(&label(), Removal::RefuseIfAnyRisk).await;
    assert_eq!(removed.unwrap().rescue, None);
    stayer.kill().unwrap();
    stayer.wait().unwrap();
    leaver.wait().unwrap();
}

#[tokio::test]
async fn work_is_refused_or_saved_and_can_be_brought_back() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let path = made.paths().path.clone();
    write(&path.join("README.md"), "mine\n");
    write(&path.join("notes/new.txt"), "new\n");
    write(&path.join("x.ignored"), "env\n");
    run(&path, &["commit", "-q", "--allow-empty", "-m", "unpushed"]);
    let refused = made.remove(&label(), Removal::RefuseIfAnyRisk).await;
    let Err(RemoveError::Risky { risks }) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        risks
            .iter()
            .any(|risk| matches!(risk, Risk::Dirty { files } if files.len() == 1))
    );
    assert!(
        risks
            .iter()
            .any(|risk| matches!(risk, Risk::Untracked { files } if files.len() == 1))
    );
    assert!(
        risks
            .iter()
            .any(|risk| matches!(risk, Risk::Ignored { use_ } if use_.files == 1))
    );
    assert!(risks.contains(&Risk::Unpushed { commits: 1 }));
    let small = Removal::RescueFirst {
        ignored: IgnoredFiles::SaveOrRefuse { bytes_max: 1 },
    };
    let too_large = made.remove(&label(), small).await;
    assert!(matches!(
        too_large,
        Err(RemoveError::IgnoredTooLarge { bytes: 4, .. })
    ));
    let discard = Removal::RescueFirst {
        ignored: IgnoredFiles::SaveOrDiscard { bytes_max: 1 },
    };
    let removed = made.remove(&label(), discard).await.unwrap();
    assert_eq!(removed.discarded, [std::path::PathBuf::from("x.ignored")]);
    let rescue = removed.rescue.unwrap();
    assert_eq!(
        rescue.reference,
        "refs/wheelhouse/rescue/00000000-0000-0000-0000-000000000000/20270115T080000Z"
    );
    assert!(!path.exists());
    run(
        &lab.user(),
        &["switch", "-q", "-c", "again", &rescue.reference],
    );
    let text = std::fs::read_to_string(lab.user().join("notes/new.txt")).unwrap();
    assert_eq!(text, "new\n");
    let parents = run(&lab.user(), &["rev-list", "--parents", "-n1", "HEAD"]);
    assert_eq!(
        parents.split(' ').nth(1).unwrap(),
        run(&lab.user(), &["rev-parse", "one"])
    );
}
