//! `wheelhouse repo trust`.

use clap::Args;
use wh_api::{ProjectConfigView, RepoTrustRequest, RepoTrustView};

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// A repository: its id or name
    repo: String,
    /// Show the files of this worktree or session instead of the default branch
    #[arg(long)]
    worktree: Option<String>,
    /// Approve the configuration with this SHA-256 (repeatable)
    #[arg(long, value_name = "SHA256")]
    approve: Vec<String>,
    /// Approve all configuration that is shown
    #[arg(long, conflicts_with = "approve")]
    approve_all: bool,
}

pub(super) async fn run(cx: &Context, args: TrustArgs) -> CliResult {
    let client = cx.client()?;
    let mut request = RepoTrustRequest {
        repo: args.repo,
        worktree: args.worktree,
        approve: args.approve,
        idempotency_key: None,
    };
    let mut shown = client.repo_trust(&request).await?;
    if args.approve_all {
        // By their hashes, so that nothing is approved that has changed since.
        let digests = shown.configs.iter().filter_map(|it| it.sha256.clone());
        request.approve = digests.collect();
        shown = client.repo_trust(&request).await?;
    }
    cx.ui.answer(&shown, |ui| print(ui, &shown))
}

fn print(ui: &Ui, shown: &RepoTrustView) -> CliResult {
    if shown.configs.is_empty() {
        return ui.line(&format!("no project configuration in {}", shown.source));
    }
    ui.line(&format!("Project configuration in {}", shown.source))?;
    for config in &shown.configs {
        print_config(ui, config)?;
    }
    let open = |it: &&ProjectConfigView| !it.approved && it.sha256.is_some();
    match shown.configs.iter().find(open) {
        Some(open) => ui.note(&format!(
            "approve what you have read with --approve {}, or everything with --approve-all",
            open.sha256.as_deref().unwrap_or_default()
        )),
        None => Ok(()),
    }
}

fn print_config(ui: &Ui, config: &ProjectConfigView) -> CliResult {
    let state = match (config.approved, &config.problem) {
        (true, _) => "approved".to_owned(),
        (false, None) => "not approved".to_owned(),
        (false, Some(problem)) => format!("cannot be approved: {problem}"),
    };
    ui.line("")?;
    ui.fields(&[
        ("path", Some(config.path.clone())),
        ("read by", Some(config.agents.join(", "))),
        ("sha256", config.sha256.clone()),
        ("state", Some(state)),
    ])?;
    for file in &config.files {
        let executable = if file.executable { ", executable" } else { "" };
        ui.line(&format!(
            "  {} ({} bytes{executable})",
            file.path, file.bytes
        ))?;
        for line in file.text.lines() {
            ui.line(&format!("    {line}"))?;
        }
        if file.truncated {
            ui.line("    …")?;
        }
    }
    Ok(())
}
