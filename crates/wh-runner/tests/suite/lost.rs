//! A runner whose directory is taken away ends its agent and itself: nobody could find it any more.

use std::{fs, path::Path};

use crate::harness::{Run, wait_until};
use crate::reap::sleepers;

/// Starts an agent that has started others, takes something away, and waits until nothing is left.
async fn check(name: &str, take_away: impl FnOnce(&Run)) {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    let mark = format!("96{:07}.{name}", std::process::id() % 10_000_000);
    let script = ["plain", "setsid", "double"].map(|kind| format!("fork {kind} {mark}"));
    client.prompt("1", &script.join("\n")).await;
    client.turn_end().await;
    wait_until(|| sleepers(&mark).len() == script.len()).await;
    client.prompt("2", "hang").await;
    take_away(&run);
    wait_until(|| !run.runner.is_alive()).await;
    assert_eq!(sleepers(&mark), [0; 0], "children outlived {name}");
}

fn remove(path: &Path) {
    fs::remove_dir_all(path).unwrap();
}

#[tokio::test]
async fn a_deleted_run_directory_ends_the_run() {
    check("1", |run| remove(run.dir.path())).await;
}

#[tokio::test]
async fn a_deleted_data_directory_ends_the_run() {
    check("2", |run| remove(run.temp.path())).await;
}

#[tokio::test]
async fn a_directory_that_another_one_took_the_place_of_ends_the_run() {
    check("3", |run| {
        let path = run.dir.path();
        fs::rename(path, path.with_extension("away")).unwrap();
        fs::create_dir(path).unwrap();
        fs::write(path.join("lock"), "").unwrap();
    })
    .await;
}
