//! D8: an agent that uses too much of the machine is ended, and nobody else.

use wh_api::{SessionPromptRequest, SessionWaitRequest};

use crate::harness::{Setting, World};

async fn ends_alone(setting: &str, value: i64, command: &str, words: &str) {
    let world = World::with(Setting::GUARDED, &[(setting, value)]).await;
    let request = SessionPromptRequest {
        session: world.session.clone(),
        prompt: format!("shell {command}"),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    let prompted = world.client.session_prompt(&request).await.unwrap();
    let reason = prompted.turn.reason.clone().unwrap_or_default();
    let told = world.latest_note().await;
    assert_eq!(prompted.turn.state, "failed", "{prompted:?} {told}");
    assert!(told.contains(words), "{told} ({reason})");
    // The other session did not notice.
    let request = SessionPromptRequest {
        session: world.victim.clone(),
        prompt: "say still here".to_owned(),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    let other = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(other.turn.state, "completed", "{other:?}");
    let request = SessionWaitRequest {
        sessions: vec![world.victim.clone()],
        timeout: Some(60),
        ..SessionWaitRequest::default()
    };
    world.client.session_wait(&request).await.unwrap();
    println!("{words}: {told}");
}

#[tokio::test]
async fn d8_a_fork_bomb_ends_its_own_session_alone() {
    let bomb = "i=0; while [ $i -lt 3000 ]; do sleep 60 & i=$((i+1)); done; wait";
    ends_alone(
        "limits.processes",
        200,
        bomb,
        "the limit of 200 processes was reached",
    )
    .await;
}

#[tokio::test]
async fn d8_a_memory_hog_ends_its_own_session_alone() {
    let hog = "python3 -c 'b=[]; import time; [(b.append(bytearray(8<<20)), time.sleep(0.01)) for _ in range(400)]; time.sleep(60)'";
    ends_alone(
        "limits.memory_mib",
        512,
        hog,
        "the limit of 512 MiB of memory was reached",
    )
    .await;
}

/// Uses 300 MiB of memory in a way that is no process's own.
async fn ends_with_shared_memory(hog: &str) {
    let hog = format!("python3 -c 'import mmap, os, time; n = 300 << 20; {hog}; time.sleep(60)'");
    let words = "the limit of 200 MiB of memory was reached";
    ends_alone("limits.memory_mib", 200, &hog, words).await;
}

#[tokio::test]
async fn d8_shared_memory_counts() {
    ends_with_shared_memory("m = mmap.mmap(-1, n); [m.write(bytes(1 << 20)) for _ in range(300)]")
        .await;
}

#[tokio::test]
async fn d8_memory_of_an_unmapped_memfd_counts() {
    ends_with_shared_memory(
        "f = os.memfd_create(\"x\"); [os.write(f, bytes(1 << 20)) for _ in range(300)]",
    )
    .await;
}

#[tokio::test]
async fn d8_files_in_dev_shm_count() {
    ends_with_shared_memory(
        "f = open(\"/dev/shm/x\", \"wb\"); [f.write(bytes(1 << 20)) for _ in range(300)]",
    )
    .await;
}

#[tokio::test]
async fn d8_a_full_disk_ends_its_own_session_alone() {
    let fill = "i=0; while [ $i -lt 30 ]; do head -c 10000000 /dev/zero > fill$i; i=$((i+1)); done; sleep 60";
    ends_alone("limits.disk_mib", 100, fill, "MiB of disk was reached").await;
}

#[tokio::test]
async fn d8_open_files_are_limited_for_each_process() {
    let world = World::with(Setting::GUARDED, &[("limits.open_files", 64)]).await;
    assert_eq!(world.shell("ulimit -Hn; ulimit -Hc").await.trim(), "64\n0");
}
