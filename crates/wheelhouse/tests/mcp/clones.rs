//! Clones: each on its own, and bounded in time, bytes and files.

use std::{
    fs,
    io::Write,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wh_testkit::git::{commit, git, program, repository};

use crate::harness::{Mcp, World};

/// How long something that must not wait for a hanging remote may take.
const SOON: Duration = Duration::from_secs(30);

/// Accepts connections and never answers. Tells of each that came; they stay open until the receiver is dropped.
fn hanging() -> (u16, Receiver<TcpStream>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, came) = channel();
    // It ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if told.send(stream.unwrap()).is_err() {
                return;
            }
        }
    });
    (port, came)
}

/// A server that may clone from this machine, with a program `ssh` that runs what it is asked for right here.
async fn world(settings: &str) -> World {
    let mut world = World::new().await;
    let text = "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";
    program(&world.server.home().join("bin/ssh"), text);
    let config = format!("[repos]\nallow_hosts = [\"127.0.0.1\"]\n{settings}");
    world.server.configure(&config);
    world.server.restart();
    world
}

async fn add(client: &Mcp, source: &str) -> Value {
    let name = uuid::Uuid::now_v7().to_string();
    let new = json!({ "source": source, "name": name });
    Mcp::data(&client.call("repo_add", new).await)["id"].clone()
}

/// Waits for a clone by making a worktree of it.
async fn worktree(client: &Mcp, repo: &Value) -> Value {
    let new = json!({ "repo": repo, "name": "x" });
    let made = client.call("worktree_create", new);
    let made = tokio::time::timeout(SOON, made).await;
    made.expect("it does not wait for others")
}

fn ssh(dir: &Path) -> String {
    format!("ssh://git@127.0.0.1{}", dir.display())
}

#[tokio::test]
async fn a_remote_that_hangs_keeps_no_other_waiting() {
    let world = world("").await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let dir = repository(&world.server.home().join("good"));
    let (port, came) = hanging();
    let hangs = format!("https://127.0.0.1:{port}/a.git");
    let mut open = Vec::new();
    let mut connected = || open.push(came.recv_timeout(SOON).unwrap());
    // One of her own hangs, and another of hers is cloned meanwhile.
    add(&alice, &hangs).await;
    connected();
    let good = add(&alice, &ssh(&dir)).await;
    Mcp::data(&worktree(&alice, &good).await);
    // As many of hers hang as may run; his is cloned.
    for _ in 0..5 {
        add(&alice, &hangs).await;
    }
    connected();
    connected();
    let his = add(&bob, &ssh(&dir)).await;
    Mcp::data(&worktree(&bob, &his).await);
    // The others of hers wait for their turn.
    assert!(came.try_recv().is_err());
}

#[tokio::test]
async fn a_clone_is_bounded_in_time_and_bytes() {
    let world = world("clone_timeout = \"2s\"\nclone_bytes_max = \"1 MB\"\n").await;
    let alice = world.client(&world.keys.alice);
    let (port, _came) = hanging();
    let late = add(&alice, &format!("https://127.0.0.1:{port}/a.git")).await;
    let refused = worktree(&alice, &late).await.to_string();
    assert!(refused.contains("longer than 2 s"), "{refused}");
    assert!(refused.contains("clone_timeout"), "{refused}");
    let dir = repository(&world.server.home().join("large"));
    let mut noise = Vec::new();
    let mut state = 1_u64;
    while noise.len() < 3_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        noise.extend_from_slice(&state.to_be_bytes()[..4]);
    }
    fs::write(dir.join("noise"), noise).unwrap();
    commit(&dir, "b.txt", "two\n");
    let large = add(&alice, &ssh(&dir)).await;
    let refused = worktree(&alice, &large).await.to_string();
    assert!(refused.contains("more than 1000000 bytes"), "{refused}");
    assert!(refused.contains("clone_bytes_max"), "{refused}");
    let kept = fs::read_dir(world.server.data_dir().join("repos")).unwrap();
    assert_eq!(kept.count(), 0, "nothing of it is kept");
}

/// Writes a tree of these entries.
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
fn tree(dir: &Path, entries: &str) -> String {
    let mut git = Command::new("git")
        .arg("-C")
        .arg(dir)
        .arg("mktree")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = git.stdin.take().unwrap();
    stdin.write_all(entries.as_bytes()).unwrap();
    drop(stdin);
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Trees that share subtrees: a few kilobytes that check out as a million files.
#[tokio::test]
async fn a_repository_of_too_many_files_is_not_checked_out() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let dir = repository(&world.server.home().join("bomb"));
    let blob = git(&dir, &["rev-parse", "HEAD:a.txt"]);
    let mut entry = format!("100644 blob {blob}");
    let mut top = String::new();
    for _ in 0..6 {
        let names = (0..10).map(|name| format!("{entry}\tx{name}\n"));
        top = tree(&dir, &names.collect::<String>());
        entry = format!("040000 tree {top}");
    }
    let bomb = git(&dir, &["commit-tree", &top, "-m", "bomb"]);
    git(&dir, &["update-ref", "refs/heads/bomb", &bomb]);
    let source = json!({ "source": dir });
    let repo = Mcp::data(&alice.call("repo_add", source).await);
    let new = json!({ "repo": repo["id"], "branch": "bomb" });
    let begun = Instant::now();
    let refused = alice.call("worktree_create", new).await;
    assert_eq!(Mcp::code(&refused), "LIMIT_EXCEEDED");
    let text = refused.to_string();
    assert!(text.contains("more than 200000 files"), "{text}");
    assert!(text.contains("checkout_files_max"), "{text}");
    assert!(begun.elapsed() < SOON);
    // What is not a bomb is checked out as ever.
    let new = json!({ "repo": repo["id"], "name": "fine" });
    Mcp::data(&alice.call("worktree_create", new).await);
}
