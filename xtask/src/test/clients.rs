//! The official MCP clients against a real `wheelhouse serve`, over HTTP with a key and over stdio. The scripts in
//! `tests/clients` print a line per check, which are counted here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::cargo::built_binary;
use super::{Count, Outcome};
use crate::run::{self, Echo};
use crate::server::Server;
use crate::tools::{self, NodeTools};
use crate::ui;
use crate::workspace::Workspace;

const SCRIPT_WITHIN: Duration = Duration::from_secs(5 * 60);

/// Names a `wheelhouse` to test instead of the one built here.
const OVERRIDE: &str = "WHEELHOUSE_BINARY";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let Some(binary) = built_binary(workspace, "wheelhouse", OVERRIDE)? else {
        return Ok(Outcome::BuildFailed);
    };
    let node = NodeTools::ready(workspace)?;
    let python = tools::python(workspace)?;
    let data = DataDir::create()?;
    let log = tools::logs_dir(workspace)?.join("clients-server.log");
    let mut serve = wheelhouse(&binary, &data);
    serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut server = Server::start(&mut serve, &log)?;
    let address = data.path.join("server.json");
    let mcp_url = server.wait_until(|_| mcp_url(&fs::read_to_string(&address).ok()?))?;
    let key = create_key(&binary, &data)?;

    let mut python_client = run::command(python);
    python_client.arg(workspace.root.join("tests/clients/python_client.py"));
    let scripts = [
        ("python", python_client),
        ("typescript", node.node("ts_client.mjs")?),
        ("inspector", node.node("inspector_client.mjs")?),
    ];
    let mut total = Count::default();
    for (name, mut script) in scripts {
        script
            .env("WH_MCP_URL", format!("{mcp_url}?toolsets={TOOLSETS}"))
            .env("WH_KEY", &key)
            .env("WH_STDIO", stdio_command(&binary, &data))
            // The Inspector keeps files in the home folder, and the user's are none of our business.
            .env("HOME", &data.path);
        total += run_script(name, &mut script)?;
    }
    if total.failed > 0 {
        ui::line(&format!(
            "    the server said, in {}:\n{}",
            log.display(),
            server.log_tail()
        ));
    }
    Ok(Outcome::Counted(total))
}

fn run_script(name: &str, script: &mut Command) -> Result<Count> {
    let ended = run::within(SCRIPT_WITHIN, Echo::Hide, script)?;
    let count = count_lines(&ended.stdout, ended.success());
    let Count { passed, failed } = count;
    ui::line(&format!("clients {name}: {passed} passed, {failed} failed"));
    if failed > 0 {
        for line in ended
            .stdout
            .lines()
            .filter(|line| line.starts_with("FAIL "))
        {
            ui::line(&format!("    {line}"));
        }
        for line in ended.stderr.lines() {
            ui::line(&format!("    {name}: {line}"));
        }
    }
    Ok(count)
}

/// Counts `PASS …` and `FAIL …`; a script without any check, or one that ended badly without a failure, is itself a failure.
fn count_lines(output: &str, success: bool) -> Count {
    let count = |word: &str| output.lines().filter(|line| line.starts_with(word)).count();
    let (passed, failed) = (count("PASS "), count("FAIL "));
    let unexplained = failed == 0 && (passed == 0 || !success);
    Count {
        passed,
        failed: failed + usize::from(unexplained),
    }
}

fn create_key(binary: &Path, data: &DataDir) -> Result<String> {
    let mut command = wheelhouse(binary, data);
    command.args([
        "key", "create", "--scope", "full", "--name", "clients", "--json",
    ]);
    let ended = run::quietly(&mut command)?;
    if !ended.success() {
        bail!(
            "`wheelhouse key create` ended with {}:\n{}",
            ended.status,
            ended.stderr.trim()
        );
    }
    let answer: Value = serde_json::from_str(&ended.stdout)
        .context("reading the answer of `wheelhouse key create`")?;
    let key = answer["key"]
        .as_str()
        .context("`wheelhouse key create` printed no `key`")?;
    Ok(key.to_owned())
}

/// The tools the scripts use: boards need no agent, and the Inspector calls only what is listed.
const TOOLSETS: &str = "board";

fn mcp_url(server_json: &str) -> Option<String> {
    let server: Value = serde_json::from_str(server_json).ok()?;
    Some(server["mcp_url"].as_str()?.to_owned())
}

fn stdio_command(binary: &Path, data: &DataDir) -> String {
    let words = [
        binary.to_string_lossy(),
        "--data-dir".into(),
        data.path.to_string_lossy(),
        "mcp".into(),
        "--toolsets".into(),
        TOOLSETS.into(),
    ];
    json!(words).to_string()
}

fn wheelhouse(binary: &Path, data: &DataDir) -> Command {
    let mut command = run::command(binary);
    command.arg("--data-dir").arg(&data.path);
    command
}

/// A data directory that goes when the step ends. Its path is short, because a Unix socket's must be.
struct DataDir {
    path: PathBuf,
}

impl DataDir {
    fn create() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("wh-clients-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            ui::error(&format!("removing {}: {error}", self.path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let output = "PASS a: b\nnoise\nFAIL c: why PASS \nPASS d\n";
        assert_eq!(
            count_lines(output, false),
            Count {
                passed: 2,
                failed: 1
            }
        );
    }

    #[test]
    fn silence_and_a_bad_end_are_failures() {
        assert_eq!(
            count_lines("", true),
            Count {
                passed: 0,
                failed: 1
            }
        );
        assert_eq!(
            count_lines("PASS a\n", false),
            Count {
                passed: 1,
                failed: 1
            }
        );
        assert_eq!(
            count_lines("PASS a\n", true),
            Count {
                passed: 1,
                failed: 0
            }
        );
    }

    #[test]
    fn the_address_is_read_when_the_file_is_whole() {
        assert_eq!(mcp_url(r#"{"url": "http://127.0.0.1:1", "mcp_"#), None);
        let whole =
            r#"{"url": "http://127.0.0.1:1", "mcp_url": "http://127.0.0.1:1/mcp", "pid": 1}"#;
        assert_eq!(mcp_url(whole).as_deref(), Some("http://127.0.0.1:1/mcp"));
    }
}
