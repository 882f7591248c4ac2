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
    /// Revoke the approval with this SHA-256 (repeatable); running sessions are affected from their next run
    #[arg(long, value_name = "SHA256")]
    revoke: Vec<String>,
}

pub(super) async fn run(cx: &Context, args: TrustArgs) -> CliResult {
    let client = cx.client()?;
    let mut request = RepoTrustRequest {
        repo: args.repo,
        worktree: args.worktree,
        approve: args.approve,
        revoke: args.revoke,
        idempotency_key: None,
    };
    let mut shown = client.repo_trust(&request).await?;
    if args.approve_all {
        // By their hashes, so that nothing is approved that has changed since.
        let digests = shown.configs.iter().filter_map(|it| it.sha256.clone());
        request.approve = digests.collect();
        request.revoke = Vec::new();
        shown = client.repo_trust(&request).await?;
    }
    cx.ui.answer(&shown, |ui| print(ui, &shown))
}

fn print(ui: &Ui, shown: &RepoTrustView) -> CliResult {
    if shown.configs.is_empty() {
        ui.line(&format!("No project configuration in {}", shown.source))?;
    } else {
        ui.line(&format!("Project configuration in {}", shown.source))?;
    }
    for config in &shown.configs {
        print_config(ui, config)?;
    }
    if !shown.other_approvals.is_empty() {
        ui.line("\nApprovals of other content; revoke with --revoke SHA256")?;
    }
    for approval in &shown.other_approvals {
        ui.line(&format!("  {}  {}", approval.path, approval.sha256))?;
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
