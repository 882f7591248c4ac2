//! `cargo xtask agents`: the real coding agents and their ACP adapters, pinned, installed once into `target/tools/agents`.
//!
//! They are large (1.6 GB), so nothing installs them but this command and `cargo xtask test --agents`. One folder, `bin`, has them
//! all and a Node that is new enough; put it on the `PATH` of `wheelhouse serve` and the server finds them.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::{self, Echo};
use crate::tools;
use crate::ui;
use crate::workspace::Workspace;

/// The programs, each with what its package is called where the versions are pinned.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "@anthropic-ai/claude-code"),
    ("claude-agent-acp", "@agentclientprotocol/claude-agent-acp"),
    ("codex", "@openai/codex"),
    ("codex-acp", "@agentclientprotocol/codex-acp"),
    ("gemini", "@google/gemini-cli"),
    ("opencode", "opencode-ai"),
];

/// How long a program may take to say its version.
const VERSION_WITHIN: Duration = Duration::from_secs(30);

/// The command: installs what is missing, and says what is where.
pub(crate) fn agents(workspace: &Workspace) -> Result<ExitCode> {
    let bin = install(workspace)?;
    let mut rows = Vec::new();
    for (program, package) in PROGRAMS {
        let version = version(workspace, &bin, program)?;
        rows.push(vec![(*program).to_owned(), version, (*package).to_owned()]);
    }
    ui::line(&ui::table(&["program", "version", "package"], &rows));
    ui::line(&format!(
        "all in {0}; to use them: PATH={0}:$PATH wheelhouse serve",
        bin.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder with the programs, if they are installed.
pub(crate) fn installed(workspace: &Workspace) -> Option<PathBuf> {
    let bin = dir(workspace).join("bin");
    let all = PROGRAMS.iter().all(|(name, _)| bin.join(name).exists());
    all.then_some(bin)
}

/// Installs what is missing and returns the folder with the programs.
///
/// An installation that was broken off goes on where it stopped: neither what is unpacked nor npm's cache is cleared.
pub(crate) fn install(workspace: &Workspace) -> Result<PathBuf> {
    let node = tools::node(workspace)?;
    let home = home(workspace)?;
    let mut npm = run::command("npm");
    npm.env("PATH", tools::path_with(&node)?)
        // What packages do when they are installed must not reach the developer's home; only npm's settings come from there.
        .env("HOME", &home)
        .args(["install", "--no-save", "--no-audit", "--no-fund"])
        .arg("--loglevel=error");
    if let Some(settings) = user_settings() {
        npm.env("npm_config_userconfig", settings);
    }
    let source = workspace.root.join("crates/wh-agents/npm");
    tools::npm_into(&source, &dir(workspace), &mut npm)?;
    link(workspace, &node)
}

fn dir(workspace: &Workspace) -> PathBuf {
    tools::tools_dir(workspace).join("agents")
}

/// A home directory that holds nothing.
fn home(workspace: &Workspace) -> Result<PathBuf> {
    let home = tools::tools_dir(workspace).join("agents-home");
    fs::create_dir_all(&home).with_context(|| format!("creating {}", home.display()))?;
    Ok(home)
}

fn user_settings() -> Option<PathBuf> {
    let file = PathBuf::from(env::var_os("HOME")?).join(".npmrc");
    file.is_file().then_some(file)
}

/// Puts everything into one folder: npm's own has dozens of programs that nobody asked for.
fn link(workspace: &Workspace, node: &Path) -> Result<PathBuf> {
    let bin = dir(workspace).join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("creating {}", bin.display()))?;
    for (program, package) in PROGRAMS {
        let installed = dir(workspace).join("node_modules/.bin").join(program);
        if !installed.exists() {
            bail!("{package} was installed without its program {program}");
        }
        link_to(&installed, &bin.join(program))?;
    }
    // A Node without a folder is the machine's own, which is on the PATH anyway.
    if node.is_absolute() {
        link_to(node, &bin.join("node"))?;
    }
    Ok(bin)
}

fn link_to(target: &Path, link: &Path) -> Result<()> {
    if fs::read_link(link).is_ok_and(|found| found == target) {
        return Ok(());
    }
    fs::remove_file(link).ok();
    symlink(target, link).with_context(|| format!("linking {}", link.display()))
}

fn version(workspace: &Workspace, bin: &Path, program: &str) -> Result<String> {
    let mut command = run::command(bin.join(program));
    command
        .arg("--version")
        .env("HOME", home(workspace)?)
        .env("PATH", tools::path_with(&bin.join(program))?);
    let said = run::within(VERSION_WITHIN, Echo::Hide, &mut command)?.stdout;
    let line = said.lines().find(|line| !line.trim().is_empty());
    Ok(line.unwrap_or("says nothing").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_pinned_exactly() {
        let manifest = include_str!("../../crates/wh-agents/npm/package.json");
        let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap();
        for (_, package) in PROGRAMS {
            let version = manifest["dependencies"][package].as_str().unwrap();
            let exact = version.split('.').count() == 3 && !version.contains(['^', '~', '*']);
            assert!(exact, "{package} {version}");
        }
    }
}
