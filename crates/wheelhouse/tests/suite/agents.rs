//! Which agents can be run, through the real binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use wh_testkit::server::TestServer;

use crate::harness::{Home, run_json, said};

#[test]
fn agents_are_found_with_their_versions_and_missing_ones_explained() {
    let server = TestServer::start();
    let list = run_json(&server, &["agents"]);
    let agents = list["agents"].as_array().unwrap();
    assert_eq!(
        (&agents[0]["name"], &agents[0]["ready"]),
        (&"echo".into(), &true.into())
    );
    let claude = agents
        .iter()
        .find(|agent| agent["name"] == "claude-code")
        .unwrap();
    if claude["ready"] == false {
        let install = &claude["install"][0];
        assert_eq!(*install, "wheelhouse agents install claude-code");
    }
    let shown = run_json(&server, &["agents", "show", "echo"]);
    assert_eq!(shown, agents[0]);
    let unknown = said(server.command().args(["agents", "show", "nobody"]));
    assert_eq!(unknown.code, 3, "{unknown:?}");
}

#[test]
fn a_configured_agent_is_listed_and_its_secrets_are_not() {
    let mut server = TestServer::stopped();
    let folder = server.home().join(".config/wheelhouse");
    fs::create_dir_all(&folder).unwrap();
    let program = server.home().join("my-agent");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[agents.mine]\ntitle = \"My agent\"\ncommand = [{:?}, \"--acp\"]\nenv = {{ MY_KEY = \"hush-hush\" }}\n",
        program.display().to_string()
    );
    fs::write(folder.join("wheelhouse.toml"), config).unwrap();
    server.restart();
    let mine = run_json(&server, &["agents", "show", "mine"]);
    assert_eq!(
        (&mine["title"], &mine["ready"]),
        (&"My agent".into(), &true.into())
    );
    assert!(!mine.to_string().contains("hush-hush"));
    assert!(mine["about"].as_str().unwrap().contains("--acp"), "{mine}");
    // How it is started concerns the administrator alone.
    run_json(&server, &["user", "create", "mia"]);
    let made = run_json(
        &server,
        &[
            "key", "create", "--scope", "full", "--name", "mia", "--user", "mia",
        ],
    );
    for command in [&["agents"][..], &["agents", "show", "mine"]] {
        let mut as_member = server.command();
        as_member.env("WHEELHOUSE_URL", server.url());
        as_member.env("WHEELHOUSE_KEY", made["key"].as_str().unwrap());
        let told = said(as_member.args(command).arg("--json"));
        assert_eq!(told.code, 0, "{told:?}");
        assert!(told.stdout.contains("configured by an administrator"));
        assert!(!told.stdout.contains("--acp"), "{told:?}");
        assert!(!told.stdout.contains("my-agent"), "{told:?}");
        assert!(!told.stdout.contains("MY_KEY"), "{told:?}");
    }
    let log = fs::read_to_string(server.home().join("server.log")).unwrap();
    assert!(!log.contains("hush-hush"));
}

#[test]
fn a_mistake_in_the_configuration_names_its_line() {
    let home = Home::new();
    let folder = home.path().join(".config/wheelhouse");
    fs::create_dir_all(&folder).unwrap();
    for (config, line, why) in [
        (
            "\n[agents.mine]\ntitle = \"x\"\n",
            "wheelhouse.toml:2",
            "command",
        ),
        (
            "[agents.mine]\ncommand = []\n",
            "wheelhouse.toml:1",
            "needs a `command`",
        ),
        (
            "[agents.codex]\ncommand = [\"x\"]\n",
            "wheelhouse.toml:1",
            "known already",
        ),
        (
            "[agents.codex]\ntitle = \"x\"\n",
            "wheelhouse.toml:1",
            "set only `env`",
        ),
        (
            "[agents.codex]\nenv = { \"A=B\" = \"x\" }\n",
            "wheelhouse.toml:1",
            "cannot be given the variable",
        ),
        (
            "[agents.mine]\ncommand = [\"x\"]\nsandbox = 1\n",
            "wheelhouse.toml:3",
            "sandbox",
        ),
    ] {
        fs::write(folder.join("wheelhouse.toml"), config).unwrap();
        let said = home.run(&["serve"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(
            said.stderr.contains(line) && said.stderr.contains(why),
            "{said:?}"
        );
    }
}
