//! Where values come from, and what is refused.

use std::fs;

use serde_json::Value;
use wh_testkit::server::TestServer;

use crate::harness::{Home, Said, assert_said, run, run_json, said};

#[test]
fn every_value_names_its_source() {
    let home = Home::new();
    let folder = home.path().join(".config/wheelhouse");
    fs::create_dir_all(&folder).unwrap();
    let file = "# of this test\nlog_filter = \"debug\"\nhosts = [\"a.example\", \"b.example\"]\n";
    fs::write(folder.join("wheelhouse.toml"), file).unwrap();
    let said = home.run_with(&["--data-dir", "d", "config", "show"], |command| {
        command
            .env("MCP_SERVER_PORT", "3001")
            .env("GITHUB_TOKEN", "ghp_hidden");
    });
    assert!(!said.stdout.contains("ghp_hidden"));
    // How wide the columns are depends on where the home directory is.
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let stdout = said.stdout.lines().map(|line| words(line) + "\n").collect();
    assert_said!("config_show", Said { stdout, ..said }, home.path());
    let json = home.run(&["config", "get", "log_filter", "--json"]).json();
    assert_eq!(json["value"], "debug");
    assert!(
        json["source"]
            .as_str()
            .unwrap()
            .ends_with("wheelhouse.toml:2")
    );
}

#[test]
fn a_key_that_does_not_exist_is_named_with_its_line() {
    let home = Home::new();
    fs::write(
        home.path().join("c.toml"),
        "open = true\nlisten_on = \"x\"\n",
    )
    .unwrap();
    let said = home.run(&["--config", "c.toml", "board", "list"]);
    assert_said!("config_unknown_key", said, home.path());
    let said = home.run(&["--config", "absent.toml", "config", "path"]);
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn the_path_is_told() {
    let home = Home::new();
    assert_said!("config_path", home.run(&["config", "path"]), home.path());
}

#[test]
fn settings_of_the_server_are_set_shown_and_unset() {
    let server = TestServer::start();
    let set = run_json(&server, &["config", "set", "review.max_iterations", "7"]);
    assert_eq!((&set["value"], &set["source"]), (&7.into(), &"set".into()));
    assert_eq!(
        run(&server, &["config", "get", "review.max_iterations"]).stdout,
        "7\n"
    );
    let unset = run_json(&server, &["config", "unset", "review.max_iterations"]);
    assert_eq!(
        (&unset["value"], &unset["source"]),
        (&3.into(), &"default".into())
    );
    let shown = run_json(&server, &["config", "show"]);
    assert!(shown["settings"].as_array().unwrap().len() > 10);

    let refused = run(&server, &["config", "set", "review.max_iterations", "0"]);
    assert_said!("config_set_out_of_range", refused, server.home());
    assert_eq!(
        run(&server, &["config", "set", "review.max_iterations", "-1"]).code,
        2
    );
    assert_eq!(run(&server, &["config", "set", "no.such", "1"]).code, 2);
    assert_eq!(run(&server, &["config", "get", "no.such"]).code, 2);
    let start_up = run(&server, &["config", "set", "listen", "1"]);
    assert!(
        start_up.stderr.contains("restart the server"),
        "{start_up:?}"
    );
}

#[test]
fn what_the_running_server_uses_is_shown() {
    let server = TestServer::start();
    let value = |shown: &Value, list: &str, key: &str| {
        let values = shown[list].as_array().unwrap().iter();
        let mut found = values.filter(|it| it["key"] == key);
        found.next().map(|it| it["value"].clone())
    };
    // What is written now applies after a restart.
    server.configure("log_filter = \"debug\"\nlisten = \"127.0.0.1:4999\"\n");
    let shown = run_json(&server, &["config", "show"]);
    assert_eq!(shown["start_from"], "server");
    assert_eq!(value(&shown, "start", "log_filter").unwrap(), "info");
    let changed = value(&shown, "start_changed", "log_filter");
    assert_eq!(changed.unwrap(), "debug");
    // The flag that the server was started with is not the file's to change.
    assert_eq!(value(&shown, "start", "listen").unwrap(), "127.0.0.1:0");
    assert_eq!(value(&shown, "start_changed", "listen"), None);
    let words = run(&server, &["config", "show"]);
    assert!(
        words.stderr.contains("log_filter is debug in") && words.stderr.contains("restart"),
        "{words:?}"
    );
    let one = run(&server, &["config", "get", "log_filter"]);
    assert_eq!(one.stdout, "info\n", "{one:?}");

    // A member sees the settings and nothing of how the server was started.
    run_json(&server, &["user", "create", "mia"]);
    let create = [
        "key", "create", "--user", "mia", "--scope", "full", "--name", "m",
    ];
    let key = run_json(&server, &create)["key"].clone();
    let mut command = server.command();
    command.args(["config", "show", "--json", "--url", server.url()]);
    let theirs = said(command.env("WHEELHOUSE_KEY", key.as_str().unwrap())).json();
    assert_eq!(theirs["start_from"], "hidden");
    assert_eq!(theirs["start"].as_array().unwrap().len(), 0);
    assert!(theirs["settings"].as_array().unwrap().len() > 10);

    let home = Home::new();
    let alone = home.run(&["config", "show", "--json"]).json();
    assert_eq!(alone["start_from"], "configuration");
}

#[test]
fn a_model_that_cannot_be_used_is_explained_and_its_key_never_shown() {
    let home = Home::new();
    let file = home.path().join("c.toml");
    let show = |text: &str| {
        fs::write(&file, format!("[model]\n{text}")).unwrap();
        let said = home.run(&["--config", "c.toml", "config", "show"]);
        let all = format!("{}{}", said.stdout, said.stderr);
        assert!(!all.contains("sk-hidden"), "{all}");
        (said.code, all)
    };
    let good = "provider = \"openai\"\nmodel = \"m\"\n";
    for (text, problem) in [
        (
            "provider = \"other\"\nmodel = \"m\"\n".to_owned(),
            "openai, anthropic, gemini",
        ),
        (
            "provider = \"openai\"\n".to_owned(),
            "missing field `model`",
        ),
        (
            format!("{good}base_url = \"api.example\"\n"),
            "needs a `base_url`",
        ),
        (format!("{good}timeout = \"1h\"\n"), "at most 120 s"),
        (format!("{good}colour = \"blue\"\n"), "colour"),
        (
            format!("{good}key = \"sk-hidden\"\nbase_url = \"http://api.example/v1\"\n"),
            "use https",
        ),
        (
            format!("{good}key = \"sk-hidden\"\nkey_env = \"K\"\n"),
            "not both",
        ),
    ] {
        let (code, all) = show(&text);
        assert_eq!(code, 2, "{all}");
        assert!(all.contains(problem) && all.contains("c.toml:"), "{all}");
    }
    let (code, all) = show(&format!("{good}key = \"sk-hidden\"\n"));
    assert_eq!(code, 0, "{all}");
    assert!(all.contains("openai/m at https://"), "{all}");
    // A key that should be there is missed by the server alone.
    let (code, all) = show(&format!("{good}key_env = \"THE_KEY\"\n"));
    assert_eq!(code, 0, "{all}");
    let said = home.run(&["--config", "c.toml", "serve", "--listen", "127.0.0.1:0"]);
    assert_ne!(said.code, 0);
    assert!(
        said.stderr.contains("THE_KEY") && said.stderr.contains("set it"),
        "{said:?}"
    );
}
