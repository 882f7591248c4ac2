//! The server dies while worktrees are made and removed; the next one finishes what was begun.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use wh_testkit::git::{git, repository};
use wh_testkit::server::TestServer;

use wh_testkit::dice::{Dice, count};

const ROUNDS: u64 = 8;
const AT_ONCE: usize = 4;
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// Runs a command; it may fail, because its server dies.
fn try_run(server: &TestServer, arguments: &[&str]) -> Option<Value> {
    let output = server
        .command()
        .args(arguments)
        .arg("--json")
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).ok()
}

fn list(server: &TestServer, states: &[&str]) -> Vec<Value> {
    let states = states.iter().flat_map(|state| ["--state", state]);
    let arguments: Vec<_> = ["worktree", "ls", "--limit", "200"]
        .into_iter()
        .chain(states)
        .collect();
    let said = try_run(server, &arguments).unwrap();
    said["worktrees"].as_array().unwrap().clone()
}

fn settle(server: &TestServer) {
    let deadline = Instant::now() + SETTLED_WITHIN;
    while !list(server, &["making", "removing"]).is_empty() {
        assert!(
            Instant::now() < deadline,
            "some worktrees were never finished"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

/// Checks that what is recorded, what git knows and what lies on disk are the same.
fn check(server: &TestServer, repo: &Path) -> usize {
    let ready = list(server, &["ready"]);
    for worktree in &ready {
        let path = Path::new(worktree["path"].as_str().unwrap());
        assert_eq!(git(path, &["status", "--porcelain"]), "", "{worktree}");
        let branch = git(path, &["branch", "--show-current"]);
        assert_eq!(branch, worktree["branch"].as_str().unwrap());
        assert_eq!(fs::read_dir(path).unwrap().count(), 202, "{worktree}");
    }
    let known = git(repo, &["worktree", "list", "--porcelain"]);
    let known = known
        .lines()
        .filter(|line| line.starts_with("worktree "))
        .count();
    assert_eq!(known, ready.len() + 1);
    // The folder is made with the first worktree, which the server may have been killed before.
    let roots = fs::read_dir(server.data_dir().join("worktrees"));
    let on_disk: usize = roots
        .into_iter()
        .flatten()
        .map(|root| fs::read_dir(root.unwrap().path()).unwrap().count())
        .sum();
    assert_eq!(on_disk, ready.len());
    ready.len()
}

#[test]
fn what_was_begun_is_finished_by_the_next_server() {
    let mut dice = Dice::roll_out("worktrees");
    let mut server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    for n in 0..200 {
        fs::write(repo.join(format!("file{n}")), "text\n".repeat(200)).unwrap();
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "many"]);
    try_run(&server, &["repo", "add", repo.to_str().unwrap()]).unwrap();
    let mut made = Vec::new();
    for round in 0..count("WH_ROUNDS", ROUNDS) {
        let old: Vec<_> = list(&server, &["ready"]);
        let pause = Duration::from_millis(dice.below(400));
        thread::scope(|scope| {
            for n in 0..AT_ONCE {
                let server = &server;
                let old = old.get(n).map(|w| w["id"].as_str().unwrap().to_owned());
                scope.spawn(move || {
                    let name = format!("r{round}-{n}");
                    try_run(server, &["worktree", "create", "app", "--name", &name]);
                });
                scope.spawn(move || old.map(|id| try_run(server, &["worktree", "rm", &id])));
            }
            thread::sleep(pause);
            // By its id: the commands above hold the server itself.
            let pid = i32::try_from(server.about().pid).unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        });
        server.kill9();
        server.restart();
        settle(&server);
        made.push(check(&server, &repo));
    }
    println!("worktrees after each crash: {made:?}");
}
