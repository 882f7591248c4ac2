//! What a server says when it cannot use a cgroup.

use wh_testkit::server::{TestServer, built};

use super::{cgroup, configuration};
use crate::harness::World;

/// An ordinary user of the machine, for tests that run as root.
const USER: u32 = 7_422;

/// Starts a server that has to refuse, and returns what it says.
fn refusal(server: &TestServer) -> String {
    let output = server
        .command()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .output();
    let output = output.unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_directory_that_is_no_cgroup_is_refused_with_what_to_do() {
    let server = TestServer::stopped();
    let dir = server.home().join("ordinary");
    for (setting, expected) in [
        (dir.display().to_string(), "is not in a cgroup v2 hierarchy"),
        ("/proc".to_owned(), "is not in a cgroup v2 hierarchy"),
        ("relative/path".to_owned(), "`cgroup` must be"),
    ] {
        server.configure(&configuration("echo".as_ref(), &setting));
        let said = refusal(&server);
        assert!(said.contains(expected), "{setting}: {said}");
        assert!(!dir.exists());
    }
    server.configure(&configuration("echo".as_ref(), &dir.display().to_string()));
    let said = refusal(&server);
    assert!(said.contains("findmnt -t cgroup2"), "{said}");
}

#[test]
fn a_cgroup_of_somebody_else_is_refused() {
    let Some(cgroup) = cgroup("somebody else's") else {
        return;
    };
    let mut server = TestServer::stopped();
    server.run_as(USER, &[]);
    let path = cgroup.path().display().to_string();
    server.configure(&configuration("echo".as_ref(), &path));
    server.give_home();
    let said = refusal(&server);
    assert!(said.contains("cannot use `cgroup`"), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    assert!(said.contains("cgroup.subtree_control"), "{said}");
    // The root of the hierarchy belongs to the machine.
    let mut server = TestServer::stopped();
    server.run_as(0, &[]);
    let root = cgroup.path().parent().unwrap();
    server.configure(&configuration("echo".as_ref(), &root.display().to_string()));
    let said = refusal(&server);
    assert!(
        said.contains("is the root of the cgroup hierarchy"),
        "{said}"
    );
}

#[tokio::test]
async fn a_server_without_cgroups_runs_sessions_as_before() {
    let Some(cgroup) = cgroup("turned off") else {
        return;
    };
    let mut server = TestServer::stopped();
    server.configure(&configuration(&built("scripted-agent"), "off"));
    // Delegated, and yet not used.
    cgroup.delegate(0).unwrap();
    cgroup.enter("server", 0).unwrap();
    server.restart();
    let world = World::on(server);
    let session = world.scripted().await;
    assert_eq!(
        world.prompt(&session, "say x").await.turn.state,
        "completed"
    );
    assert!(cgroup.runs().is_empty());
    drop(world);
}
