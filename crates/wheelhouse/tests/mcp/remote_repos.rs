//! Repositories that are elsewhere: which hosts are connected to, and what an answer tells about them.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use wh_testkit::git::program;

use crate::harness::{Mcp, World};

/// Listens on this machine, counts who connects, and answers nonsense.
struct Listener {
    port: u16,
    connected: Arc<AtomicUsize>,
}

impl Listener {
    fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connected = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connected);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                drop(stream);
            }
        });
        Self { port, connected }
    }

    fn connected(&self) -> usize {
        self.connected.load(Ordering::SeqCst)
    }
}

/// Returns a port that nobody listens on.
fn closed_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

async fn add(client: &Mcp, source: &str) -> Value {
    let name = uuid::Uuid::now_v7().to_string();
    let new = json!({ "source": source, "name": name });
    client.call("repo_add", new).await
}

/// Adds a repository that cannot be cloned and returns what is said about it.
async fn why_not(client: &Mcp, source: &str) -> String {
    let repo = Mcp::data(&add(client, source).await);
    let new = json!({ "repo": repo["id"], "name": "x" });
    let refused = client.call("worktree_create", new).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let error = &refused["structuredContent"]["error"];
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_member_reaches_no_private_address() {
    let world = World::new().await;
    let open = Listener::new();
    for key in [&world.keys.alice, &world.keys.alice_client] {
        let member = world.client(key);
        for host in [
            &format!("https://127.0.0.1:{}", open.port),
            "https://2130706433",
            "https://[::1]",
            "https://[::ffff:127.0.0.1]",
            "https://169.254.169.254",
            "https://10.0.0.1",
            "ssh://git@192.168.1.1",
        ] {
            let refused = add(&member, &format!("{host}/team/app.git")).await;
            assert_eq!(Mcp::code(&refused), "FORBIDDEN", "{host}");
        }
        // A name is resolved before anything is connected to; open and closed ports look the same.
        let mut said = Vec::new();
        for port in [open.port, closed_port()] {
            said.push(why_not(&member, &format!("https://localhost:{port}/a.git")).await);
        }
        said.push(why_not(&member, "https://no-such-host.invalid/a.git").await);
        said[2] = said[2].replace("no-such-host.invalid", "localhost");
        assert!(said.iter().all(|it| *it == said[0]), "{said:?}");
        assert!(said[0].contains("could not be reached or does not exist"));
        // How ssh reads an address is not how a URL is read.
        why_not(&member, &format!("ssh://git@127.1:{}/a", open.port)).await;
    }
    assert_eq!(open.connected(), 0);
}

#[tokio::test]
async fn an_administrator_reaches_any_and_is_told_as_little_about_ports() {
    let mut world = World::new().await;
    let open = Listener::new();
    let admin = world.client(&world.keys.admin);
    let address = |port: u16| format!("https://127.0.0.1:{port}/a.git");
    let said = why_not(&admin, &address(open.port)).await;
    assert!(open.connected() > 0);
    assert_eq!(said, why_not(&admin, &address(closed_port())).await);
    // So does a member where the configuration allows it.
    world
        .server
        .configure("[repos]\nallow_hosts = [\"127.0.0.1\"]\n");
    world.server.restart();
    let before = open.connected();
    let alice = world.client(&world.keys.alice);
    assert_eq!(said, why_not(&alice, &address(open.port)).await);
    assert!(open.connected() > before);
    let other = add(&alice, &format!("https://[::1]:{}/a.git", open.port)).await;
    assert_eq!(Mcp::code(&other), "FORBIDDEN");
}

#[tokio::test]
async fn ssh_connects_to_what_was_checked_and_through_nothing_else() {
    let world = World::new().await;
    let home = world.server.home();
    let log = home.join("ssh.log");
    let text = format!("#!/bin/sh\necho \"$*\" >> {}\nexit 255\n", log.display());
    program(&home.join("bin/ssh"), &text);
    let alice = world.client(&world.keys.alice);
    why_not(&alice, "git@93.184.216.34:team/app.git").await;
    let called = fs::read_to_string(&log).unwrap();
    for option in [
        "HostName=93.184.216.34",
        "HostKeyAlias=93.184.216.34",
        "ProxyCommand=none",
        "BatchMode=yes",
    ] {
        assert!(called.contains(option), "{called}");
    }
}

#[tokio::test]
async fn credentials_in_an_address_are_refused_and_kept_nowhere() {
    let world = World::new().await;
    let admin = world.client(&world.keys.admin);
    for source in [
        "https://example.org/a.git?token=canary-7f3a",
        "https://ann:canary-7f3a@example.org/a.git",
        "https://canary-7f3a@example.org/a.git",
        "ssh://git:canary-7f3a@example.org/a.git",
        "https://example.org/a.git#canary-7f3a",
    ] {
        let refused = add(&admin, source).await;
        assert_eq!(Mcp::code(&refused), "INVALID_INPUT", "{source}");
        let text = refused.to_string();
        assert!(text.contains("remove the credentials"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }
    // What is recorded of refused calls is on disk when another change is.
    crate::harness::board(&admin, "later").await;
    let mut files = vec![world.server.home().join("server.log")];
    for entry in fs::read_dir(world.server.data_dir()).unwrap() {
        files.push(entry.unwrap().path());
    }
    for file in files.iter().filter(|file| file.is_file()) {
        let bytes = fs::read(file).unwrap();
        let found = bytes.windows(6).any(|part| part == b"canary");
        assert!(!found, "{file:?}");
    }
}
