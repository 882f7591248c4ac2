//! Whatever state a worktree is in, however it is removed, and wherever the server dies: nothing is lost.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, Hasher},
    process::{Child, Stdio},
};

use wh_git::{
    IgnoredFiles, Missing, Removal, RemoveError, RescueLabel, RescueOf, WorktreeHandle, fault,
};

use crate::{
    lab::{Lab, attempt},
    ledger::{in_git_dir, on_disk, reachable},
    mess::{DEEDS, Dice, ENDS, deed},
};

const SAVE: Removal = Removal::RescueFirst {
    ignored: IgnoredFiles::SaveOrRefuse { bytes_max: 1 << 30 },
};

/// What happened over all cases, printed so that a run that tests nothing can be seen.
#[derive(Debug, Default)]
struct Tally {
    cases: u64,
    crashes: u64,
    refusals: u64,
    rescues: u64,
    clean_removals: u64,
    blocked: u64,
    objects: u64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_whatever_happens() {
    let cases = std::env::var("WH_RESCUE_CASES").map_or(150, |n| n.parse().unwrap());
    let random = std::hash::RandomState::new().build_hasher().finish();
    let seed = std::env::var("WH_RESCUE_SEED").map_or(random, |n| n.parse().unwrap());
    println!("WH_RESCUE_SEED={seed} WH_RESCUE_CASES={cases}");
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..2 {
        workers.spawn(async move {
            let mut tally = Tally::default();
            for n in (worker..cases).step_by(2) {
                one_case(seed.wrapping_add(n), &mut tally).await;
            }
            tally
        });
    }
    for tally in workers.join_all().await {
        println!("{tally:?}");
        assert!(cases < 100 || tally.rescues > 0 && tally.crashes > 0 && tally.refusals > 0);
    }
}

async fn one_case(seed: u64, tally: &mut Tally) {
    let mut dice = Dice(seed);
    let lab = Lab::new();
    let worktree = lab.worktree("one").await;
    let mut story = vec![format!("seed {seed}")];
    for _ in 0..dice.roll(6) {
        let what = DEEDS[usize::try_from(dice.roll(DEEDS.len() as u64)).unwrap()];
        story.push(what.to_owned());
        deed(&lab, &worktree, what, &mut dice);
    }
    let mut wanted = in_git_dir(&lab.user(), &worktree);
    wanted.extend(on_disk(&worktree.paths().path).into_keys());
    let end = dice.roll(4 * ENDS.len() as u64);
    if let Some(what) = ENDS.get(usize::try_from(end).unwrap()) {
        story.push((*what).to_owned());
        deed(&lab, &worktree, what, &mut dice);
        if *what == "directory gone" || *what == "git directory gone" {
            // What somebody else took away is not ours to keep.
            wanted = reachable(&lab.user());
            wanted.extend(on_disk(&worktree.paths().path).into_keys());
            wanted.extend(in_git_dir(&lab.user(), &worktree));
        } else {
            wanted.extend(on_disk(&worktree.paths().path).into_keys());
        }
    }
    let mut inside = (dice.roll(20) == 0 && worktree.missing() != Some(Missing::DirectoryGone))
        .then(|| live_inside(&worktree));
    tally.cases += 1;
    tally.objects += wanted.len() as u64;
    removals(&lab, &worktree, &wanted, &mut dice, tally, &mut story).await;
    if let Some(child) = &mut inside {
        let blocked = matches!(
            remove(&worktree, SAVE).await,
            Err(RemoveError::Risky { .. })
        );
        assert!(blocked || !worktree.paths().path.exists(), "{story:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    last_removal(&lab, &worktree, &wanted, tally, &story).await;
}

/// Tries to remove a few times, each with a crash somewhere, and looks after each.
async fn removals(
    lab: &Lab,
    worktree: &WorktreeHandle,
    wanted: &BTreeSet<String>,
    dice: &mut Dice,
    tally: &mut Tally,
    story: &mut Vec<String>,
) {
    for _ in 0..=dice.roll(2) {
        let how = match dice.roll(3) {
            0 => Removal::RefuseIfAnyRisk,
            1 => Removal::RescueFirst {
                ignored: IgnoredFiles::SaveOrRefuse { bytes_max: 10 },
            },
            _ => SAVE,
        };
        let steps = u32::try_from(dice.roll(45)).unwrap();
        let done = fault::fail_after(steps, remove(worktree, how)).await;
        story.push(format!("{how:?} crash at {steps}: {done:?}"));
        match done {
            Err(RemoveError::Fault(_)) => tally.crashes += 1,
            Err(RemoveError::Risky { .. } | RemoveError::IgnoredTooLarge { .. }) => {
                tally.refusals += 1;
            }
            Ok(removed) if removed.rescue.is_some() => tally.rescues += 1,
            Ok(_) => tally.clean_removals += 1,
            // Without git's own directory there is no telling what is at risk.
            Err(RemoveError::Worktree(_)) if how == Removal::RefuseIfAnyRisk => {
                tally.refusals += 1;
            }
            Err(error) => panic!("{error:?}: {story:?}"),
        }
        check(lab, worktree, wanted, story);
    }
}

/// Removes for good, unless something inside may not be touched, and looks again.
async fn last_removal(
    lab: &Lab,
    worktree: &WorktreeHandle,
    wanted: &BTreeSet<String>,
    tally: &mut Tally,
    story: &[String],
) {
    match remove(worktree, SAVE).await {
        Ok(removed) => {
            tally.rescues += u64::from(removed.rescue.is_some());
            assert!(!worktree.paths().path.exists(), "{story:?}");
            assert!(!worktree.paths().git_dir.exists(), "{story:?}");
            let lost: Vec<_> = wanted
                .difference(&reachable(&lab.user()))
                .cloned()
                .collect();
            assert!(lost.is_empty(), "{lost:?} {story:?}");
        }
        Err(RemoveError::Risky { risks }) => {
            assert!(
                risks.iter().all(wh_git::Risk::stops_rescue),
                "{risks:?} {story:?}"
            );
            tally.blocked += 1;
        }
        Err(error) => panic!("{error:?}: {story:?}"),
    }
    check(lab, worktree, wanted, story);
    let kept = attempt(
        &lab.user(),
        &["rev-parse", "--verify", "-q", "refs/heads/one"],
    );
    assert!(kept.status.success(), "the branch is kept: {story:?}");
}

/// Every object that existed is reachable from a reference or still on disk.
fn check(lab: &Lab, worktree: &WorktreeHandle, wanted: &BTreeSet<String>, story: &[String]) {
    let mut there = reachable(&lab.user());
    there.extend(on_disk(&worktree.paths().path).into_keys());
    if worktree.paths().git_dir.join("HEAD").exists() {
        there.extend(in_git_dir(&lab.user(), worktree));
    }
    let lost: Vec<_> = wanted.difference(&there).collect();
    assert!(lost.is_empty(), "{lost:?} {story:?}");
}

async fn remove(worktree: &WorktreeHandle, how: Removal) -> Result<wh_git::Removed, RemoveError> {
    let label = RescueLabel {
        of: RescueOf::Session(uuid::Uuid::nil().to_string().parse().unwrap()),
        at: jiff::Timestamp::from_second(1_800_000_000).unwrap(),
    };
    worktree.remove(&label, how).await
}

/// Starts a process that lives in the worktree.
#[expect(clippy::disallowed_methods, reason = "the test plays an agent")]
fn live_inside(worktree: &WorktreeHandle) -> Child {
    std::process::Command::new("sleep")
        .arg("60")
        .current_dir(&worktree.paths().path)
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}
