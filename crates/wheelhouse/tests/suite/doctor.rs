//! What doctor finds.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use wh_testkit::server::TestServer;

use crate::harness::{Home, Said, run};

fn status(said: &Said, name: &str) -> String {
    let checks = said.json()["checks"].as_array().cloned().unwrap();
    let worst = ["fail", "warn", "ok"].into_iter().find(|status| {
        let is_it = |check: &Value| check["name"] == name && check["status"] == *status;
        checks.iter().any(is_it)
    });
    worst.unwrap_or("absent").to_owned()
}

/// Returns a port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn doctor(home: &Home, port: u16) -> Said {
    home.run_with(&["doctor", "--json"], |command| {
        command.env("WHEELHOUSE_LISTEN", format!("127.0.0.1:{port}"));
    })
}

#[test]
fn a_fresh_machine_is_fine() {
    let home = Home::new();
    let said = doctor(&home, free_port());
    assert_eq!(said.code, 0, "{said:?}");
    for name in [
        "git",
        "configuration",
        "data directory",
        "database",
        "server",
        "address",
    ] {
        assert_eq!(status(&said, name), "ok", "{name}: {said:?}");
    }
}

#[test]
fn what_is_wrong_is_found_and_fails() {
    let home = Home::new();
    let data = home.path().join(".local/share/wheelhouse");
    fs::create_dir_all(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(data.join("wheelhouse.db"), [b'x'; 4096]).unwrap();
    let gone = r#"{"url":"http://127.0.0.1:1","mcp_url":"","pid":4194303,"version":"0"}"#;
    fs::write(data.join("server.json"), gone).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let said = doctor(&home, taken.local_addr().unwrap().port());
    assert_eq!(said.code, 1, "{said:?}");
    for (name, expected) in [
        ("data directory", "fail"),
        ("database", "fail"),
        ("server", "warn"),
        ("address", "fail"),
    ] {
        assert_eq!(status(&said, name), expected, "{name}: {said:?}");
    }
    for check in said.json()["checks"].as_array().unwrap() {
        assert_eq!(check["status"] == "ok", check["hint"].is_null(), "{check}");
    }
}

#[test]
fn agents_are_listed_and_those_at_work_counted() {
    let server = TestServer::start();
    let live = |server: &TestServer| {
        let checks = run(server, &["doctor", "--json"]).json()["checks"].clone();
        let checks = checks.as_array().unwrap().clone();
        let runs = checks.iter().find(|check| check["name"] == "live runs");
        assert!(checks.iter().any(|check| check["name"] == "processes"));
        let echo = |check: &&Value| {
            check["message"]
                .as_str()
                .unwrap()
                .starts_with("echo is ready")
        };
        assert_eq!(checks.iter().filter(echo).count(), 1, "{checks:?}");
        runs.unwrap()["message"].clone()
    };
    assert_eq!(live(&server), "0");
    let asked = crate::run::echo(&server, "ask something");
    assert_eq!(asked.code, 8, "{asked:?}");
    assert_eq!(live(&server), "1");
}

#[test]
fn a_bad_configuration_is_one_of_the_checks() {
    let home = Home::new();
    fs::write(home.path().join("c.toml"), "lisen = 1\n").unwrap();
    let said = home.run(&["--config", "c.toml", "doctor"]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains("fail  configuration"), "{said:?}");
}

#[test]
fn a_configuration_without_namespaces_has_no_strict_tier() {
    let home = Home::new();
    let file = home.path().join("c.toml");
    fs::write(file, "[containment]\nnamespaces = false\n").unwrap();
    let said = home.run(&["--config", "c.toml", "doctor", "--json"]);
    let checks = said.json()["checks"].as_array().cloned().unwrap();
    for tier in ["tier strict", "tier container"] {
        let check = checks.iter().find(|check| check["name"] == tier).unwrap();
        assert_eq!(check["status"], "warn", "{check}");
        let hint = check["hint"].as_str().unwrap();
        assert!(hint.contains("`namespaces = false`"), "{check}");
    }
}

#[test]
fn a_running_server_is_found_and_a_killed_one_noticed() {
    let mut server = TestServer::start();
    let said = run(&server, &["doctor", "--json"]);
    assert_eq!(
        (said.code, status(&said, "server").as_str()),
        (0, "ok"),
        "{said:?}"
    );
    server.kill9();
    let said = run(&server, &["doctor", "--json"]);
    assert_eq!(status(&said, "server"), "warn", "{said:?}");
}

#[test]
fn the_model_is_named_and_a_key_that_is_missing_fails() {
    let home = Home::new();
    let folder = home.path().join(".config/wheelhouse");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("wheelhouse.toml");
    fs::write(
        &file,
        "[model]\nprovider = \"gemini\"\nmodel = \"m\"\nkey_env = \"THE_KEY\"\n",
    )
    .unwrap();
    let said = doctor(&home, free_port());
    assert_eq!(status(&said, "model"), "fail", "{said:?}");
    assert!(said.stdout.contains("THE_KEY"));
    let said = home.run_with(&["doctor"], |command| {
        command.env("THE_KEY", "sk-hidden");
    });
    assert!(said.stdout.contains("gemini/m at https://"), "{said:?}");
    assert!(said.stdout.contains("with the key in THE_KEY"), "{said:?}");
    assert!(!said.stdout.contains("sk-hidden"));
}

#[test]
fn the_working_directory_does_not_decide_which_tiers_work() {
    let home = Home::new();
    let elsewhere = Home::new();
    let tiers = |dir: &std::path::Path| {
        let said = home.run_with(&["doctor", "--json"], |command| {
            command
                .env("WHEELHOUSE_LISTEN", format!("127.0.0.1:{}", free_port()))
                .current_dir(dir);
        });
        ["tier guarded", "tier strict"].map(|tier| status(&said, tier))
    };
    let found = tiers("/".as_ref());
    println!("guarded, strict: {found:?}");
    assert!(!found.contains(&"absent".to_owned()), "{found:?}");
    assert_eq!(tiers(elsewhere.path()), found);
}
