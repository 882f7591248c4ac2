//! Layers and errors of the configuration.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::*;

fn load(file: &str, vars: &[(&str, &str)], flags: Flags) -> CliResult<Config> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wheelhouse.toml");
    fs::write(&path, file).unwrap();
    let vars: HashMap<_, _> = vars.iter().copied().collect();
    let env = |name: &str| match name {
        "HOME" => Some("/home/x".to_owned()),
        name => vars.get(name).map(|value| (*value).to_owned()),
    };
    let config = Some(path);
    Config::load(Flags { config, ..flags }, &env)
}

fn refusal(file: &str, vars: &[(&str, &str)]) -> String {
    let error = load(file, vars, Flags::default()).unwrap_err();
    assert_eq!(error.exit as u8, 2);
    error.body.error.message
}

#[test]
fn flags_win_over_variables_over_seed_variables_over_the_file() {
    let file = "# one\nlisten = \"127.0.0.1:1\"\n";
    let seed = ("MCP_SERVER_PORT", "2");
    let ours = ("WHEELHOUSE_LISTEN", "localhost:3");
    let flags = Flags {
        listen: Some("127.0.0.1:4".parse().unwrap()),
        ..Flags::default()
    };
    let cases = [
        ("", vec![], Flags::default(), 4180, "default"),
        (file, vec![], Flags::default(), 1, "toml:2"),
        (file, vec![seed], Flags::default(), 2, "MCP_SERVER_PORT"),
        (
            file,
            vec![seed, ours],
            Flags::default(),
            3,
            "WHEELHOUSE_LISTEN",
        ),
        (file, vec![seed, ours], flags, 4, "flag --listen"),
    ];
    for (file, vars, flags, port, source) in cases {
        let listen = load(file, &vars, flags).unwrap().listen;
        assert_eq!(listen.value.port(), port);
        assert!(listen.source.to_string().ends_with(source), "{listen:?}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let unknown = refusal("listen = \"127.0.0.1:1\"\nlisen = 3\n", &[]);
    assert!(
        unknown.contains(":2: ") && unknown.contains("lisen"),
        "{unknown}"
    );
    let wrong = refusal("\nlisten = \"here\"\n", &[]);
    assert!(
        wrong.contains(":2: the value must be an address"),
        "{wrong}"
    );
    let broken = refusal("listen = \n", &[]);
    assert!(broken.contains(":1: "), "{broken}");
    let typed = refusal("open = \"yes\"", &[]);
    assert!(
        typed.contains(":1: ") && typed.contains("boolean"),
        "{typed}"
    );
    let variable = refusal("", &[("WHEELHOUSE_TOOL_TIMEOUT", "0")]);
    assert!(variable.contains("WHEELHOUSE_TOOL_TIMEOUT"), "{variable}");
}

#[test]
fn seed_variables_are_understood() {
    let vars = [
        ("MCP_DATABASE_PATH", "/x/y.db"),
        ("GITHUB_TOKEN", "ghp_secret"),
        ("MCP_LOG_LEVEL", "WARNING"),
        ("MCP_TOOL_TIMEOUT", "30000"),
    ];
    let config = load("", &vars, Flags::default()).unwrap();
    assert_eq!(config.database.value, Path::new("/x/y.db"));
    assert_eq!(config.log_filter.value, "warn");
    assert_eq!(config.tool_timeout.value, Duration::from_secs(30));
    assert!(!format!("{config:?}").contains("ghp_secret"));
    let shown = serde_json::to_string(&config.values()).unwrap();
    assert!(!shown.contains("ghp_secret") && shown.contains("GITHUB_TOKEN"));
}

#[test]
fn other_machines_need_a_deliberate_flag() {
    let vars = [("WHEELHOUSE_LISTEN", "0.0.0.0:80")];
    let config = load("", &vars, Flags::default()).unwrap();
    assert!(config.check_listen().is_err());
    let allow_remote = true;
    let flags = Flags {
        allow_remote,
        ..Flags::default()
    };
    assert!(load("", &vars, flags).unwrap().check_listen().is_ok());
}

#[test]
fn paths_of_the_file_begin_beside_it() {
    let config = load("data_dir = \"data\"", &[], Flags::default()).unwrap();
    assert!(config.data_dir.value.is_absolute());
    assert!(config.database.value.ends_with("data/wheelhouse.db"));
    let config = load("", &[("XDG_DATA_HOME", "relative")], Flags::default()).unwrap();
    assert_eq!(
        config.data_dir.value,
        Path::new("/home/x/.local/share/wheelhouse")
    );
}
