//! `wheelhouse agents install`.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use wh_agents::{AGENTS_DIR, InstallFailure, Installation};
use wh_client::ClientError;
use wh_domain::ErrorCode;

use crate::context::Context;
use crate::exit::{CliError, CliResult, chain};
use crate::ui::{Ui, ask};

/// How often the progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Install a coding agent into the data directory, at the version that Wheelhouse is tested with
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse agents install claude-code
  wheelhouse agents install codex --yes

The packages come from npm, whose settings (~/.npmrc) apply, and must have the hashes that Wheelhouse was built with. A Node that is
too old is left alone: a newer one is installed beside the agent. A server that runs finds the agent at once, and uses it in
place of one on the PATH.")]
pub(super) struct InstallArgs {
    /// claude-code, codex, gemini or opencode
    name: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, Serialize)]
struct InstalledView {
    name: String,
    directory: String,
    packages: Vec<String>,
    /// Whether the running server found it; absent when no server runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<bool>,
}

pub(super) async fn run(cx: &Context, args: InstallArgs) -> CliResult {
    if cx.url().is_some() {
        return Err(
            CliError::usage("an agent is installed on the server's machine")
                .hint("run this there, without --url"),
        );
    }
    let config = cx.config()?;
    let agents = config.data_dir.value.join(AGENTS_DIR);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let plan = Installation::plan(&args.name, &agents, path)
        .await
        .map_err(explain)?;
    if !plan.is_done() {
        if !args.yes {
            confirm(&plan)?;
        }
        install(&cx.ui, &args.name, &plan).await?;
    }
    let view = InstalledView {
        ready: is_ready(cx, &args.name).await?,
        directory: plan.directory().display().to_string(),
        packages: packages(&plan),
        name: args.name,
    };
    cx.ui.answer(&view, |ui| {
        ui.line(&format!("{} is installed in {}", view.name, view.directory))?;
        match view.ready {
            Some(true) => ui.note(&format!(
                "the server found it: `wheelhouse run --agent {} 'PROMPT'`",
                view.name
            )),
            Some(false) => ui.note("the server does not find it; see `wheelhouse agents`"),
            None => ui.note("no server is running; start one with `wheelhouse serve`"),
        }?;
        ui.note("an agent that needs a login is signed in by running it once:")?;
        let bin = plan.directory().join("node_modules/.bin");
        plan.programs()
            .iter()
            .try_for_each(|program| ui.note(&format!("  {}", bin.join(program).display())))
    })
}

/// Asks for confirmation at the terminal.
fn confirm(plan: &Installation) -> CliResult {
    let refused = || CliError::usage("nothing was installed");
    if !std::io::stdin().is_terminal() {
        return Err(refused().hint("add --yes to skip the confirmation prompt"));
    }
    let question = format!(
        "Install from npm into {}:\n  {}\nContinue? [y/N] ",
        plan.directory().display(),
        packages(plan).join("\n  ")
    );
    let answer = ask(&question).unwrap_or_default();
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(refused()),
    }
}

async fn install(ui: &Ui, name: &str, plan: &Installation) -> CliResult {
    ui.note(&format!("installing {}", packages(plan).join(", ")))?;
    let output = match ui.is_json() {
        true => Stdio::null(),
        false => Stdio::inherit(),
    };
    let mut running = std::pin::pin!(plan.run(output));
    let mut ticks = tokio::time::interval(PROGRESS_EVERY);
    let done = loop {
        tokio::select! {
            done = &mut running => break done,
            _ = ticks.tick(), if ui.shows_progress() => {
                let megabytes = size(&plan.directory()) / 1_000_000;
                ui.progress(&format!("installing {name}… {megabytes} MB"));
            }
        }
    };
    ui.progress_done();
    done.map_err(explain)
}

fn packages(plan: &Installation) -> Vec<String> {
    let packages = plan.packages().iter();
    packages
        .map(|it| format!("{} {}", it.name, it.version))
        .collect()
}

/// Asks the running server whether it finds the agent; nothing when none runs.
async fn is_ready(cx: &Context, name: &str) -> CliResult<Option<bool>> {
    match cx.client()?.agent_get(name).await {
        Ok(agent) => Ok(Some(agent.ready)),
        Err(ClientError::NotRunning { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns how many bytes the files of a directory have. What cannot be read is left out: it is for progress alone.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |about| about.len()),
        _ => 0,
    });
    sizes.sum()
}

fn explain(failure: InstallFailure) -> CliError {
    let message = chain(&failure);
    match failure {
        InstallFailure::Unknown { .. } => CliError::new(ErrorCode::NotFound, message)
            .hint("`wheelhouse agents` lists the agents that can run here"),
        InstallFailure::NoNpm | InstallFailure::OldNode { .. } => CliError::failed(message)
            .hint("install Node 22 or newer, which comes with npm, from https://nodejs.org and try again"),
        InstallFailure::Npm { .. } | InstallFailure::Incomplete { .. } => CliError::failed(message)
            .hint("check the network and the registry in ~/.npmrc, and try again; what is in use was not changed"),
        InstallFailure::Directory { .. } | InstallFailure::NotRun(_) => {
            CliError::failed(message).hint("check the directory and its permissions, and try again")
        }
    }
}
