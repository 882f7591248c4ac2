//! Times are in the time zone of whoever reads them, relative where that is shorter, and exact in JSON.

use wh_testkit::{git::repository, server::TestServer};

use crate::harness::{run, run_json, said};
use crate::run::begin;

#[test]
fn times_are_local_and_relative_and_exact_in_json() {
    let server = TestServer::start();
    let session = begin(&server, "say hello");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let elsewhere = |arguments: &[&str]| {
        let mut command = server.command();
        let said = said(command.env("TZ", "XYZ-3").args(arguments));
        assert_eq!(said.code, 0, "{said:?}");
        said.stdout
    };
    let exact = run_json(&server, &["show", &session])["updated_at"].clone();
    let at: jiff::Timestamp = exact.as_str().unwrap().parse().unwrap();
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(3));
    let local = at.to_zoned(zone).strftime("%F %T XYZ").to_string();
    let shown = elsewhere(&["show", &session]);
    assert!(shown.contains(&format!("{local} (just now)")), "{shown}");
    let turns = elsewhere(&["turns", &session]);
    assert!(turns.contains("just now"), "{turns}");
    let audit = elsewhere(&["audit", "--limit", "1"]);
    assert!(audit.contains(" XYZ "), "{audit}");
    let utc = run(&server, &["audit", "--limit", "1"]).stdout;
    assert!(utc.contains(" UTC "), "{utc}");
}

#[test]
fn the_log_of_a_loop_names_the_zone_of_its_times() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let mut start = server.command();
    start.args([
        "loop",
        "start",
        "--agent",
        "echo",
        "--prompt",
        "say nothing",
    ]);
    start.args(["--detach", "--repo"]).arg(repo);
    let started = said(&mut start);
    assert_eq!(started.code, 0, "{started:?}");
    let id = started.stdout.trim();
    // It goes on until it stalls, and its log with it.
    said(server.command().args(["loop", "logs", "-f", id]));
    let mut logs = server.command();
    let logs = said(logs.env("TZ", "XYZ-3").args(["loop", "logs", id]));
    assert_eq!(logs.code, 0, "{logs:?}");
    assert!(logs.stdout.lines().count() > 1, "{logs:?}");
    for line in logs.stdout.lines() {
        let (time, _) = line.split_once(" XYZ ").expect("a zone after the time");
        assert!(time.ends_with(|it: char| it.is_ascii_digit()), "{line}");
    }
}
