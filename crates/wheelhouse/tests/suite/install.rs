//! Writing MCP clients' configuration, in a home directory of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::harness::{Home, run, run_json};

/// Client, the user's file, the project's file.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("claude-code", ".claude.json", ".mcp.json"),
    ("codex", ".codex/config.toml", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "opencode.json",
    ),
    ("vscode", ".config/Code/User/mcp.json", ".vscode/mcp.json"),
];

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_client_gets_its_file_once() {
    for (client, user, project) in CLIENTS {
        let home = Home::new();
        let said = home.run(&["mcp", "install", client, "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["changed"], true);
        let file = home.path().join(user);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("wheelhouse\"") && text.contains("\"mcp\""),
            "{client}: {text}"
        );
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let again = home.run(&["mcp", "install", client, "--json"]);
        assert_eq!(again.json()["changed"], false, "{client}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{client}");
        assert_eq!(
            file.parent().unwrap().read_dir().unwrap().count(),
            1,
            "{client}: no copy"
        );

        let folder = home.path().join("project");
        fs::create_dir(&folder).unwrap();
        let said = home.run_with(&["mcp", "install", client, "--project"], |command| {
            command.current_dir(&folder);
        });
        assert_eq!(said.code, 0, "{said:?}");
        assert!(folder.join(project).is_file(), "{client}");
    }
}

#[test]
fn entries_have_the_shape_each_client_reads() {
    let home = Home::new();
    let install = |client| {
        home.run(&[
            "--data-dir",
            "/d",
            "mcp",
            "install",
            client,
            "--toolsets",
            "board",
        ])
    };
    for (client, ..) in CLIENTS {
        assert_eq!(install(client).code, 0);
    }
    let json = |file: &str| read_json(&home.path().join(file));
    let claude = &json(".claude.json")["mcpServers"]["wheelhouse"];
    let args = json!(["--data-dir", "/d", "mcp", "--toolsets", "board"]);
    assert_eq!((&claude["type"], &claude["args"]), (&"stdio".into(), &args));
    assert!(claude["command"].as_str().unwrap().ends_with("/wheelhouse"));
    assert_eq!(
        json(".gemini/settings.json")["mcpServers"]["wheelhouse"]["args"],
        args
    );
    let opencode = &json(".config/opencode/opencode.json")["mcp"]["wheelhouse"];
    assert_eq!(
        (&opencode["type"], &opencode["enabled"]),
        (&"local".into(), &true.into())
    );
    assert_eq!(opencode["command"].as_array().unwrap().len(), 6);
    assert_eq!(
        json(".config/Code/User/mcp.json")["servers"]["wheelhouse"]["type"],
        "stdio"
    );
    let codex = fs::read_to_string(home.path().join(".codex/config.toml")).unwrap();
    assert!(codex.contains("[mcp_servers.wheelhouse]"), "{codex}");
}

#[test]
fn the_rest_of_a_file_stays_and_a_copy_is_kept() {
    let home = Home::new();
    let file = home.path().join(".claude.json");
    let text = "{\n    \"numStartups\": 3,\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    },\n    \"z\": [1,2]\n}";
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let said = home.run(&["mcp", "install", "claude-code", "--json"]);
    let backup = said.json()["backup"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(backup).unwrap(), text);
    let new = fs::read_to_string(&file).unwrap();
    let entry_at = new.find(",\n        \"wheelhouse\"").unwrap();
    assert_eq!(new[..entry_at], text[..entry_at]);
    assert!(new.ends_with("\n    },\n    \"z\": [1,2]\n}"), "{new}");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn print_writes_nothing() {
    let home = Home::new();
    let said = home.run(&["mcp", "install", "codex", "--print"]);
    assert!(
        said.code == 0 && said.stdout.contains("[mcp_servers.wheelhouse]"),
        "{said:?}"
    );
    let said = home.run(&["mcp", "install", "gemini", "--http", "--print"]);
    assert!(
        said.stdout
            .contains("\"httpUrl\": \"http://127.0.0.1:4180/mcp\""),
        "{said:?}"
    );
    assert_eq!(home.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let home = Home::new();
    let file = home.path().join(".claude.json");
    for text in ["{ broken", "[]", "{\"mcpServers\": []}"] {
        fs::write(&file, text).unwrap();
        let said = home.run(&["mcp", "install", "claude-code"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(home.path().read_dir().unwrap().count(), 1);
    }
    assert_eq!(home.run(&["mcp", "install", "emacs"]).code, 2);
    assert_eq!(home.run(&["mcp", "install", "codex", "--http"]).code, 6);
    assert_eq!(
        home.run(&["mcp", "install", "codex", "--toolsets", "bord"])
            .code,
        2
    );
}

#[test]
fn http_gets_a_key_that_works_and_is_kept() {
    let server = TestServer::start();
    for (client, file, _) in CLIENTS {
        let said = run(&server, &["mcp", "install", client, "--http"]);
        assert_eq!(said.code, 0, "{said:?}");
        let text = fs::read_to_string(server.home().join(file)).unwrap();
        assert!(text.contains(&format!("{}/mcp", server.url())), "{text}");
        let at = text.find("wh_full_").unwrap();
        let key = &text[at..at + 40];
        let mut command = server.command();
        command.args(["--url", server.url(), "--key", key, "user", "show"]);
        assert!(command.output().unwrap().status.success());
        let again = run_json(&server, &["mcp", "install", client, "--http"]);
        assert_eq!(again["changed"], false, "{client}");
    }
    let keys = run_json(&server, &["key", "list"]);
    assert_eq!(keys["keys"].as_array().unwrap().len(), CLIENTS.len());
}
