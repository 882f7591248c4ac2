//! The server's own cgroup: used when systemd has delegated it, and left alone otherwise.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;
use wh_testkit::{
    cgroup::{TestCgroup, cgroup_of},
    server::{TestServer, built},
};

use super::{cgroup, configuration};
use crate::harness::World;

/// An ordinary user of the machine, for tests that run as root.
const USER: u32 = 7_423;

/// Returns what `doctor` says about limits.
fn limits(server: &TestServer) -> Value {
    let output = server
        .command()
        .args(["doctor", "--json"])
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = said["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == "limits");
    found.unwrap().clone()
}

/// Runs a session, and returns the place of its agent.
async fn agent_place(world: &World) -> String {
    let session = world.scripted().await;
    let prompted = world.prompt(&session, "shell cat /proc/self/cgroup").await;
    assert_eq!(prompted.turn.state, "completed", "{prompted:?}");
    let said = world.said(&session).await;
    let place = said.lines().find_map(|line| line.strip_prefix("0::"));
    place.unwrap_or_default().to_owned()
}

fn is_in_run(place: &str, cgroup: &TestCgroup) -> bool {
    let name = cgroup.path().file_name().unwrap().to_str().unwrap();
    place.starts_with(&format!("/{name}/run-"))
}

/// As with `Delegate=` and `DelegateSubgroup=server` in a unit of an ordinary user.
#[tokio::test]
async fn a_delegated_subgroup_is_used_by_an_ordinary_user() {
    let Some(cgroup) = cgroup("subgroup") else {
        return;
    };
    let mut server = TestServer::stopped();
    server.run_as(USER, &["scripted-agent"]);
    let agent = server.home().join("bin/scripted-agent");
    server.configure(&configuration(&agent, "auto"));
    server.give_home();
    cgroup.delegate(USER).unwrap();
    cgroup.enter("server", USER).unwrap();
    server.restart();
    cgroup.leave();
    let client = server.client_with(&server.key("full"));
    let world = World {
        client,
        ..World::on(server)
    };
    let place = agent_place(&world).await;
    assert!(is_in_run(&place, &cgroup), "{place}");
    let check = limits(&world.server);
    assert_eq!(check["status"], "ok", "{check}");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains(cgroup.path().to_str().unwrap()), "{check}");
    // The agent is the same user and cannot lift its own limits.
    let dir = cgroup.runs().remove(0);
    for command in [
        format!(
            "echo 0 > {}/cgroup.procs",
            cgroup.path().join("server").display()
        ),
        format!("echo 1 > {}/cgroup.kill", dir.display()),
        format!("mkdir {}/below", dir.display()),
    ] {
        let session = world.scripted().await;
        world.prompt(&session, &format!("shell {command}")).await;
        let said = world.said(&session).await;
        assert!(
            said.contains("Read-only file system") || said.contains("denied"),
            "{command}: {said}"
        );
    }
    println!("subgroup: {message}");
}

/// As with `Delegate=` alone: the server is in the cgroup that it has to give to its runs.
#[tokio::test]
async fn a_server_in_the_delegated_cgroup_moves_into_a_leaf() {
    let Some(cgroup) = cgroup("leaf") else {
        return;
    };
    let mut server = TestServer::stopped();
    server.run_as(0, &["scripted-agent"]);
    let bin = server.home().join("bin");
    server.configure(&configuration(&built("scripted-agent"), "auto"));
    cgroup.delegate(0).unwrap();
    fs::rename(bin.join("wheelhouse"), bin.join("server")).unwrap();
    let script = format!(
        "#!/bin/sh\necho 0 > {}/cgroup.procs\nexec {}/server \"$@\"\n",
        cgroup.path().display(),
        bin.display()
    );
    fs::write(bin.join("wheelhouse"), script).unwrap();
    fs::set_permissions(bin.join("wheelhouse"), fs::Permissions::from_mode(0o755)).unwrap();
    server.restart();
    fs::remove_file(bin.join("wheelhouse")).unwrap();
    fs::hard_link(bin.join("server"), bin.join("wheelhouse")).unwrap();
    let place = cgroup_of(server.about().pid);
    assert!(place.ends_with("/server"), "{place}");
    let world = World::on(server);
    let place = agent_place(&world).await;
    assert!(is_in_run(&place, &cgroup), "{place}");
    assert_eq!(limits(&world.server)["status"], "ok");
}

#[tokio::test]
async fn a_cgroup_that_nobody_delegated_is_left_alone() {
    let Some(cgroup) = cgroup("not delegated") else {
        return;
    };
    let mut server = TestServer::stopped();
    server.configure(&configuration(&built("scripted-agent"), "auto"));
    cgroup.enter("server", 0).unwrap();
    server.restart();
    let world = World::on(server);
    let place = agent_place(&world).await;
    assert!(place.ends_with("/server"), "{place}");
    assert!(cgroup.runs().is_empty());
    let check = limits(&world.server);
    assert_eq!(check["status"], "warn", "{check}");
    let hint = check["hint"].as_str().unwrap();
    assert!(hint.contains("Delegate=memory pids cpu"), "{hint}");
    drop(world);
}
