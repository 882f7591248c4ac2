//! Sessions in cgroups: who is in them, what ends with them, and which limits the kernel enforces.
//!
//! Each test prints what the machine lets it use. The controllers are those of the cgroup in which a test may create its own; without
//! any, cgroups still hold the processes of a run together. Where a test may create none, [`refusals`] is what is tested.

mod delegation;
mod limits;
mod refusals;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use wh_testkit::{
    cgroup::{TestCgroup, cgroup_of},
    server::{TestServer, built},
};

use crate::{harness::World, reap::sleepers};

const KINDS: [&str; 4] = ["plain", "setsid", "double", "escape"];

/// A server whose sessions run in a cgroup. The server is dropped first: the cgroup has to be empty.
struct Held {
    world: World,
    cgroup: TestCgroup,
}

/// Creates the cgroup of a test and prints what it has, or why there is none.
fn cgroup(test: &str) -> Option<TestCgroup> {
    match TestCgroup::create() {
        Ok(cgroup) => {
            println!("{test}: controllers: [{}]", cgroup.controllers());
            Some(cgroup)
        }
        Err(why) => {
            println!("{test}: not tested, because this test has no cgroup: {why}");
            None
        }
    }
}

/// Returns a configuration with the scripted agent.
fn configuration(agent: &Path, cgroup: &str) -> String {
    format!("[agents.scripted]\ncommand = [{agent:?}]\n\n[containment]\ncgroup = {cgroup:?}\n")
}

impl Held {
    fn new(test: &str) -> Option<Self> {
        let cgroup = cgroup(test)?;
        let mut server = TestServer::stopped();
        let path = cgroup.path().display().to_string();
        server.configure(&configuration(&built("scripted-agent"), &path));
        server.restart();
        let world = World::on(server);
        Some(Self { world, cgroup })
    }

    /// Returns the directory of a run's cgroup.
    fn run(&self, session: &str, epoch: u64) -> PathBuf {
        self.cgroup.path().join(format!("run-{session}.{epoch}"))
    }

    /// Starts a session whose agent has started others, and returns it with the mark of those.
    async fn busy(&self, number: u32) -> (String, String) {
        let mark = format!("95{:06}.{number}", std::process::id() % 1_000_000);
        let session = self.world.scripted().await;
        let script = KINDS.map(|kind| format!("fork {kind} {mark}"));
        self.world.prompt(&session, &script.join("\n")).await;
        let all = async || sleepers(&mark).len() == KINDS.len();
        self.world.until("children", all).await;
        (session, mark)
    }

    fn runner(&self, session: &str) -> wh_runner::process::ProcessMark {
        let runs = self.world.server.runs();
        let mut runs = runs.iter();
        let run = runs.find(|run| run.spec.session.to_string() == session);
        run.unwrap().alive.unwrap()
    }
}

/// Starts a process that belongs to nobody, in a cgroup.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that no server started"
)]
fn stranger(cgroup: &Path) -> Child {
    let child = Command::new("sleep").arg("600").spawn().unwrap();
    fs::write(cgroup.join("cgroup.procs"), child.id().to_string()).unwrap();
    child
}

#[tokio::test]
async fn every_descendant_is_in_the_cgroup_of_its_run_until_a_stop_removes_both() {
    let Some(mut held) = Held::new("descendants") else {
        return;
    };
    let (session, mark) = held.busy(1).await;
    let dir = held.run(&session, 1);
    let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
    for pid in sleepers(&mark) {
        let place = cgroup_of(pid);
        assert!(place.ends_with(&name), "{pid} is in {place}");
    }
    let place = cgroup_of(held.runner(&session).pid);
    assert!(!place.ends_with(&name), "the runner is in {place}");
    // An agent outlives its server, in its cgroup.
    held.world.server.restart();
    held.world.client = held.world.server.client();
    let prompted = held.world.prompt(&session, "say still here").await;
    assert_eq!(prompted.turn.state, "completed");
    assert_eq!(sleepers(&mark).len(), KINDS.len());
    assert_eq!(held.cgroup.runs(), std::slice::from_ref(&dir));

    held.world.manage(&session, "stop").await;
    held.world.until_state(&session, "stopped").await;
    assert_eq!(sleepers(&mark), [0; 0]);
    assert!(!dir.exists());
    // The next run has a cgroup of its own.
    held.world.manage(&session, "start").await;
    held.world.prompt(&session, "say again").await;
    assert_eq!(held.cgroup.runs(), [held.run(&session, 2)]);
}

#[tokio::test]
async fn a_stop_kills_what_only_the_cgroup_holds() {
    let Some(held) = Held::new("stop") else {
        return;
    };
    let (session, _) = held.busy(2).await;
    // Neither below the runner nor marked as the run's: nothing but the cgroup tells whose it is.
    let mut stranger = stranger(&held.run(&session, 1));
    held.world.manage(&session, "stop").await;
    held.world.until_state(&session, "stopped").await;
    assert!(!stranger.wait().unwrap().success());
    assert!(held.cgroup.runs().is_empty());
}

#[tokio::test]
async fn a_killed_runner_leaves_no_cgroup() {
    let Some(held) = Held::new("killed runner") else {
        return;
    };
    let (session, mark) = held.busy(3).await;
    let mut stranger = stranger(&held.run(&session, 1));
    held.runner(&session).kill();
    let gone = async || !held.run(&session, 1).exists();
    held.world.until("the cgroup is gone", gone).await;
    assert!(!stranger.wait().unwrap().success());
    assert_eq!(sleepers(&mark), [0; 0]);
}

#[tokio::test]
async fn a_start_sweeps_what_runs_of_its_own_sessions_left() {
    let Some(mut held) = Held::new("start") else {
        return;
    };
    let (session, _) = held.busy(4).await;
    held.world.server.kill9();
    held.runner(&session).kill();
    let dir = held.run(&session, 1);
    // Two leftovers: one of a run whose directory is there, one of a run that nobody knows the directory of.
    let older = held.run(&session, 0);
    fs::create_dir(&older).unwrap();
    // And one of a session of another server.
    let foreign = held.run("0199d1f0-0000-7000-8000-000000000000", 1);
    fs::create_dir(&foreign).unwrap();
    let mut strangers = [&dir, &older, &foreign].map(|dir| stranger(dir));

    held.world.server.restart();
    held.world.client = held.world.server.client();
    let swept = async || !dir.exists() && !older.exists();
    held.world.until("the leftovers are gone", swept).await;
    for gone in &mut strangers[..2] {
        assert!(!gone.wait().unwrap().success());
    }
    assert!(strangers[2].try_wait().unwrap().is_none());
    assert_eq!(held.cgroup.runs(), [foreign]);
    strangers[2].kill().unwrap();
    strangers[2].wait().unwrap();
}
