//! What a person sees when the server is ready.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};
use wh_api::ServerFile;
use wh_app::LoginLink;
use wh_domain::{Agent, AgentState};

use super::ServeOptions;
use crate::ui::clean;

/// Says where everything is, and what to do first.
pub(super) fn banner(about: &ServerFile, link: &LoginLink, options: &ServeOptions) -> String {
    let ServerFile {
        url,
        mcp_url,
        version,
        ..
    } = about;
    let token = link.token.expose();
    let data_dir = options.data_dir.display();
    let program = std::env::current_exe().unwrap_or_else(|_| "wheelhouse".into());
    let config = indented(&client_config(&program, &options.data_dir));
    let command = match is_on_path(&program, std::env::var_os("PATH")) {
        true => String::new(),
        false => format!(
            "To call it by its name in another terminal: alias wheelhouse={}\n\n",
            shell_word(&program)
        ),
    };
    format!(
        "\
Wheelhouse {version} is ready.

  Dashboard   {url}/login?token={token}   (works once, for 15 minutes)
  MCP         {mcp_url}
  REST        {url}/openapi.json
  Data        {data_dir}

{command}For an MCP client on this machine (or let `wheelhouse mcp install claude-code|codex|gemini|opencode|vscode` write it):

{config}

Over HTTP a client needs a key: `wheelhouse key create --scope full --name my-client`, sent as Authorization: Bearer KEY.
Stop with Ctrl-C; agents at work go on, and the next server takes them up again.
"
    )
}

/// Lists the agents that were found, and how to install the others.
pub(super) fn agents(agents: &[Agent]) -> String {
    let mut found = Vec::new();
    let mut missing = String::new();
    for agent in agents {
        let name = &agent.name;
        match &agent.state {
            AgentState::Ready { version } => found.push(match version {
                Some(version) => format!("{name} ({})", clean(version)),
                None => name.to_string(),
            }),
            AgentState::Missing { programs, install } => {
                let how = install.first().map_or("", String::as_str);
                missing.push_str(&format!(
                    "  missing     {name}: {} not found; {how}\n",
                    clean(&programs.join(", "))
                ));
            }
        }
    }
    format!("\nAgents:\n  found       {}\n{missing}", found.join(", "))
}

/// Tells whether a shell finds this very program under its name.
fn is_on_path(program: &Path, path: Option<OsString>) -> bool {
    let Some(name) = program.file_name() else {
        return false;
    };
    let path = path.unwrap_or_default();
    let mut named = std::env::split_paths(&path).map(|dir| dir.join(name));
    let found = named.find(|file| file.is_file());
    found.is_some_and(|file| file.canonicalize().ok() == program.canonicalize().ok())
}

/// Writes a path as one word of a shell.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Returns the configuration most clients take as it is. It names the data directory, so that it holds wherever the
/// client starts the program.
fn client_config(program: &Path, data_dir: &Path) -> Value {
    let data_dir = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    json!({
        "mcpServers": {
            "wheelhouse": {
                "command": program,
                "args": ["--data-dir", data_dir, "mcp"],
            }
        }
    })
}

fn indented(config: &Value) -> String {
    let lines = format!("{config:#}");
    let lines: Vec<_> = lines.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use wh_domain::{AgentName, AgentOrigin};

    use super::*;

    #[test]
    fn the_configuration_can_be_pasted_as_it_is() {
        let config = client_config(Path::new("/opt/wheelhouse"), Path::new("/var/lib/wh"));
        let server = &config["mcpServers"]["wheelhouse"];
        assert_eq!(server["command"], "/opt/wheelhouse");
        assert_eq!(server["args"], json!(["--data-dir", "/var/lib/wh", "mcp"]));
        let shown = indented(&config);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), config);
    }

    #[test]
    fn agents_that_are_missing_are_listed_with_a_command() {
        let agent = |name: &str, state| Agent {
            name: AgentName::parse(name).unwrap(),
            title: String::new(),
            about: String::new(),
            origin: AgentOrigin::Installed,
            state,
        };
        let version = Some("1.2".to_owned());
        let missing = AgentState::Missing {
            programs: vec!["codex-acp".to_owned()],
            install: vec!["wheelhouse agents install codex".to_owned()],
        };
        let shown = agents(&[
            agent("echo", AgentState::Ready { version }),
            agent("mine", AgentState::Ready { version: None }),
            agent("codex", missing),
        ]);
        let expected = "\nAgents:\n  found       echo (1.2), mine\n  missing     codex: codex-acp not found; wheelhouse agents install codex\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_program_that_the_shell_finds_needs_no_alias() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("wheelhouse");
        std::fs::write(&program, "").unwrap();
        let path = |dirs: &[&Path]| Some(std::env::join_paths(dirs).unwrap());
        assert!(is_on_path(&program, path(&[Path::new("/no"), dir.path()])));
        assert!(!is_on_path(&program, path(&[Path::new("/no")])));
        assert!(!is_on_path(&program, None));
        assert_eq!(shell_word(Path::new("/a/b-c_1")), "/a/b-c_1");
        assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
