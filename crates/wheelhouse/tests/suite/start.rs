//! What is said when a server cannot start, or the machine lacks something: what is wrong, and what to do next.

use std::net::TcpListener;

use wh_testkit::server::{self, TestServer};

use crate::harness::{Home, Said, run, said};

/// Checks that a command failed and said all of this.
#[track_caller]
fn assert_refused(said: &Said, code: i32, words: &[&str]) {
    assert_eq!(said.code, code, "{said:?}");
    for words in words {
        assert!(said.stderr.contains(words), "{words:?}: {}", said.stderr);
    }
    assert!(said.stderr.contains("hint: "), "{said:?}");
}

/// A server that finds no program on its path.
fn without_programs() -> TestServer {
    let mut server = TestServer::stopped();
    server.set_env("PATH", "/nonexistent");
    server.restart();
    server
}

#[test]
fn a_second_server_is_told_of_the_first_and_how_to_open_it() {
    let server = TestServer::start();
    let about = server.about();
    let pid = format!("process {}", about.pid);
    let data_dir = server.data_dir();
    let mut again = server::command(server.home());
    again.env("WHEELHOUSE_DATA_DIR", &data_dir);
    let again = said(again.args(["serve", "--listen", "127.0.0.1:0"]));
    let words = [&about.url, &pid, "`wheelhouse login`", "--data-dir DIR"];
    assert_refused(&again, 1, &words);
    // A directory that was named by a flag has to be named again.
    let named = run(&server, &["serve"]);
    let login = format!("`wheelhouse --data-dir {} login`", data_dir.display());
    assert_refused(&named, 1, &[&about.url, &login]);
    std::fs::remove_file(data_dir.join("server.json")).unwrap();
    assert_refused(
        &run(&server, &["serve"]),
        1,
        &["is in use by", &pid, "try again"],
    );
}

#[test]
fn a_port_that_is_taken_comes_with_one_that_is_free() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let home = Home::new();
    let here = format!("localhost:{}", address.port());
    let refused = home.run(&["serve", "--listen", &here]);
    assert_refused(&refused, 1, &[&address.to_string(), "which is free"]);
    let free = refused.stderr.split("--listen ").nth(1).unwrap();
    let free = free.split(',').next().unwrap();
    drop(TcpListener::bind(free).unwrap());
    let nowhere = home.run(&["serve", "--allow-remote", "--listen", "192.0.2.1:4180"]);
    let words = [
        "this machine has no such address",
        "--listen 127.0.0.1:4180",
    ];
    assert_refused(&nowhere, 1, &words);
    let name = home.run(&["serve", "--listen", "somewhere:4180"]);
    assert_eq!(name.code, 2, "{name:?}");
    assert!(name.stderr.contains("like 127.0.0.1:4180"), "{name:?}");
}

#[test]
fn a_data_directory_that_cannot_be_one_is_named() {
    let home = Home::new();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below")] {
        let place = place.to_str().unwrap();
        let refused = home.run(&["--data-dir", place, "serve", "--listen", "127.0.0.1:0"]);
        assert_refused(&refused, 1, &[place, "a file is where", "--data-dir DIR"]);
    }
    let refused = home.run(&["--data-dir", "/proc/none", "serve"]);
    assert_refused(&refused, 1, &["/proc/none", "that you can write to"]);
}

#[test]
fn without_git_nothing_waits_for_it() {
    let server = without_programs();
    let refused = run(&server, &["repo", "add", "https://example.invalid/x.git"]);
    assert_refused(&refused, 6, &["git program cannot be run", "install git"]);
    let mut demo = server.command();
    let demo = said(demo.env("PATH", "/nonexistent").arg("demo"));
    assert_refused(&demo, 1, &["git program cannot be run", "install git"]);
}

#[test]
fn who_has_no_agent_is_told_that_the_built_in_one_answers() {
    let server = without_programs();
    let ran = run(&server, &["run", "say hello"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "hello\n"), "{ran:?}");
    let words = "no coding agent is ready here";
    assert!(ran.stderr.contains(words), "{ran:?}");
    let chosen = run(&server, &["run", "--agent", "echo", "say hello"]);
    assert!(!chosen.stderr.contains(words), "{chosen:?}");
}

#[test]
fn a_server_whose_name_nobody_knows_is_told_as_such() {
    let home = Home::new();
    let refused = home.run(&["--url", "http://nobody.invalid:4180", "ls"]);
    assert_refused(&refused, 6, &["nobody.invalid", "check the name"]);
}

#[test]
fn what_is_no_repository_says_how_to_make_one() {
    let server = TestServer::start();
    let mut command = server.command();
    command.current_dir(server.home());
    let refused = said(command.args(["run", "--agent", "echo", "--repo", ".", "say x"]));
    assert_refused(&refused, 2, &["is not a git repository", "`git init`"]);
}
