//! `serve --kill-all`: nothing of a data directory works on, and nothing is lost.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use wh_testkit::server::TestServer;

use crate::follow::Reader;
use crate::harness::{Home, Said, run, run_json};
use crate::run::begin;

/// Begins a session that goes on for a minute, and waits until it does.
fn busy(server: &TestServer) -> String {
    let session = begin(server, "say begun\nsleep 60");
    let mut command = server.command();
    Reader::start(command.args(["logs", "-f", &session])).until("begun");
    session
}

fn kill_all(server: &TestServer) -> Said {
    run(server, &["serve", "--kill-all", "--json"])
}

fn live_runners(server: &TestServer) -> usize {
    let runs = server.runs();
    runs.iter().filter(|run| run.alive.is_some()).count()
}

/// Returns the sessions that were told as ended, and their states.
fn told(ended: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sessions = ended["sessions"].as_array().unwrap();
    let pair = |it: &Value| (text(&it["id"]), text(&it["state"]));
    sessions.iter().map(pair).collect()
}

#[test]
fn the_server_and_its_agents_are_ended_and_can_go_on() {
    let mut server = TestServer::start();
    let working = busy(&server);
    let resting = begin(&server, "say rested");
    assert_eq!(run(&server, &["wait", &resting]).code, 0);
    assert_eq!(live_runners(&server), 2);
    let said = kill_all(&server);
    assert_eq!(said.code, 0, "{said:?}");
    let ended = said.json();
    assert_eq!(ended["server"], server.about().pid);
    assert_eq!(ended["killed"], 0);
    let mut sessions = told(&ended);
    sessions.sort();
    let mut expected = [&working, &resting].map(|id| (id.clone(), "stopped".to_owned()));
    expected.sort();
    assert_eq!(sessions, expected);
    assert_eq!(live_runners(&server), 0);
    assert!(!server.data_dir().join("server.json").exists());
    server.restart();
    let turns = run_json(&server, &["turns", &working]);
    assert_eq!(turns["turns"][0]["state"], "cancelled");
    for session in [&working, &resting] {
        assert_eq!(run_json(&server, &["show", session])["state"], "stopped");
        let again = run(&server, &["send", session, "--wait", "say again"]);
        assert_eq!((again.code, again.stdout.as_str()), (0, "again\n"));
    }
}

#[test]
fn agents_of_a_server_that_crashed_are_ended() {
    let mut server = TestServer::start();
    let session = busy(&server);
    server.kill9();
    assert_eq!(live_runners(&server), 1);
    let said = run(&server, &["serve", "--kill-all"]);
    assert_eq!(said.code, 0, "{said:?}");
    let line = format!("ended {session} of echo, stopped: say begun\n");
    assert_eq!(said.stdout, line);
    assert_eq!(live_runners(&server), 0);
    let again = run(&server, &["serve", "--kill-all"]);
    let nothing = (0, "", "nothing was running\n");
    assert_eq!(
        (again.code, again.stdout.as_str(), again.stderr.as_str()),
        nothing
    );
}

#[test]
fn a_prompt_that_waits_is_not_begun() {
    let mut server = TestServer::start();
    let session = busy(&server);
    let queued = run(&server, &["send", &session, "write later.txt x"]);
    assert_eq!(queued.code, 0, "{queued:?}");
    assert_eq!(kill_all(&server).code, 0);
    assert_eq!(live_runners(&server), 0);
    server.restart();
    assert_eq!(run_json(&server, &["show", &session])["state"], "stopped");
    assert_eq!(live_runners(&server), 0);
}

#[test]
fn a_session_at_rest_is_not_woken_by_the_end_of_another() {
    let mut server = TestServer::start();
    let parent = begin(&server, "say resting");
    assert_eq!(run(&server, &["wait", &parent]).code, 0);
    run_json(&server, &["config", "set", "session.idle_seconds", "1"]);
    let child = ["spawn", &parent, "--agent", "echo", "--callback"];
    let child = run_json(&server, &[&child[..], &["say begun\nsleep 60"]].concat());
    let child = child["short_id"].as_str().unwrap();
    let mut command = server.command();
    Reader::start(command.args(["logs", "-f", child])).until("begun");
    // The parent's process is put away; only the child has one.
    let deadline = Instant::now() + Duration::from_secs(60);
    while live_runners(&server) > 1 {
        assert!(Instant::now() < deadline, "it is not put away");
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = kill_all(&server);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["killed"], 0, "{said:?}");
    assert_eq!(live_runners(&server), 0, "{said:?}");
    server.restart();
    assert_eq!(run_json(&server, &["show", child])["state"], "stopped");
}

#[test]
fn agents_are_ended_when_the_database_cannot_be_opened() {
    let mut server = TestServer::start();
    busy(&server);
    server.kill9();
    fs::write(server.data_dir().join("wheelhouse.db"), "not a database").unwrap();
    let said = kill_all(&server);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.json()["killed"], 1);
    assert_eq!(live_runners(&server), 0);
}

#[test]
fn nothing_is_made_where_nothing_is() {
    let home = Home::new();
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let said = home.run(&["--data-dir", data, "serve", "--kill-all"]);
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (0, "nothing was running\n")
    );
    assert!(!home.path().join("data").exists());
    let both = home.run(&["serve", "--kill-all", "--open"]);
    assert_eq!(both.code, 2, "{both:?}");
}
