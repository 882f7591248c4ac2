//! The limits that the kernel enforces.

use std::fs;

use wh_api::ConfigSetRequest;

use super::Held;

async fn set(held: &Held, key: &str, value: i64) {
    let request = ConfigSetRequest {
        key: key.to_owned(),
        value: Some(value.into()),
        ..ConfigSetRequest::default()
    };
    held.world.client.config_set(&request).await.unwrap();
}

fn has(held: &Held, controller: &str) -> bool {
    let controllers = held.cgroup.controllers();
    controllers.split(' ').any(|it| it == controller)
}

/// Has the agent run a command that ends its run, for this reason.
async fn ends(held: &Held, session: &str, command: &str, reason: &str) {
    let prompt = format!("shell {command}");
    let prompted = held.world.prompt(session, &prompt).await;
    let told = held.world.notes(session).await;
    assert_eq!(prompted.turn.state, "failed", "{prompted:?} {told}");
    assert!(told.contains(reason), "{told}");
    assert!(!held.run(session, 1).exists());
    println!("{told}");
}

#[tokio::test]
async fn the_limits_of_a_run_are_written_into_its_cgroup() {
    let Some(held) = Held::new("values") else {
        return;
    };
    set(&held, "limits.memory_mib", 512).await;
    set(&held, "limits.processes", 300).await;
    set(&held, "limits.nice", 10).await;
    let session = held.world.scripted().await;
    let prompt = "shell cat /proc/self/stat";
    assert_eq!(
        held.world.prompt(&session, prompt).await.turn.state,
        "completed"
    );
    let dir = held.run(&session, 1);
    let mut checked = 0;
    for (controller, file, value) in [
        ("memory", "memory.max", "536870912"),
        ("memory", "memory.oom.group", "1"),
        ("pids", "pids.max", "2400"),
        ("cpu", "cpu.weight", "11"),
    ] {
        let found = fs::read_to_string(dir.join(file)).ok();
        let expected = has(&held, controller).then(|| format!("{value}\n"));
        assert_eq!(found, expected, "{file}");
        checked += usize::from(found.is_some());
    }
    // The nice value stands in for the weight.
    let stat = held.world.said(&session).await;
    let nice = stat.rsplit(')').next().unwrap().split(' ').nth(17).unwrap();
    let expected = if has(&held, "cpu") { "0" } else { "10" };
    assert_eq!(nice, expected, "{stat}");
    println!("values: {checked} files; nice {nice}");
}

#[tokio::test]
async fn the_limit_on_processes_ends_the_run_that_reached_it_alone() {
    let Some(held) = Held::new("processes") else {
        return;
    };
    let other = held.world.scripted().await;
    held.world.prompt(&other, "say here").await;
    set(&held, "limits.processes", 100).await;
    let session = held.world.scripted().await;
    // Threads count for the kernel alone: whoever watches processes sees one.
    let threads = "python3 -c 'import threading, time; [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(900)]'";
    let (bomb, words) = match has(&held, "pids") {
        true => (threads, "the limit of 800 threads was reached"),
        false => (
            "i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; wait",
            "the limit of 100 processes was reached",
        ),
    };
    ends(&held, &session, bomb, words).await;
    let prompted = held.world.prompt(&other, "say still here").await;
    assert_eq!(prompted.turn.state, "completed");
}

#[tokio::test]
async fn the_limit_on_memory_is_the_reason_also_when_the_kernel_kills_at_once() {
    let Some(held) = Held::new("memory") else {
        return;
    };
    set(&held, "limits.memory_mib", 256).await;
    let session = held.world.scripted().await;
    // With the controller, the kernel kills the tree within a single allocation; without, the processes live on and are found.
    let hog = "python3 -c 'import time; b = bytearray(512 << 20); b[::4096] = bytes(len(b[::4096])); time.sleep(60)'";
    let words = "the limit of 256 MiB of memory was reached";
    ends(&held, &session, hog, words).await;
}
