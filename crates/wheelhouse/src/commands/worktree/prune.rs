//! `wheelhouse worktree prune`.

use clap::Args;
use serde::Serialize;
use wh_api::{WorktreeListRequest, WorktreeRemoveRequest, WorktreeSummaryView};

use super::{risks, size};
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui};

/// What to clean up.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Only show what would be done
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Only of this repository, by id or name
    #[arg(long, value_name = "REPO")]
    repo: Option<String>,
}

/// What a clean-up did, or would do.
#[derive(Debug, Serialize)]
struct Pruned {
    dry_run: bool,
    worktrees: Vec<PrunedWorktree>,
}

#[derive(Debug, Serialize)]
struct PrunedWorktree {
    #[serde(flatten)]
    worktree: WorktreeSummaryView,
    /// remove, removed, keep, or what went wrong
    action: String,
}

pub(super) async fn prune(cx: &Context, args: PruneArgs) -> CliResult {
    let client = cx.client()?;
    let mut request = WorktreeListRequest {
        repo: args.repo,
        finished: Some(true),
        ..WorktreeListRequest::default()
    };
    let mut finished = Vec::new();
    loop {
        let page = client.worktree_list(&request).await?;
        finished.extend(page.worktrees);
        match page.next_cursor {
            Some(cursor) => request.cursor = Some(cursor.into()),
            None => break,
        }
    }
    let mut worktrees = Vec::with_capacity(finished.len());
    for worktree in finished {
        let can_go = worktree.risks.as_ref().is_none_or(Vec::is_empty);
        let action = match (can_go, args.dry_run) {
            (false, _) => "keep".to_owned(),
            (true, true) => "remove".to_owned(),
            (true, false) => {
                let request = WorktreeRemoveRequest {
                    worktree: worktree.id.clone(),
                    ..WorktreeRemoveRequest::default()
                };
                match client.worktree_remove(&request).await {
                    Ok(_) => "removed".to_owned(),
                    Err(error) => error.to_string(),
                }
            }
        };
        worktrees.push(PrunedWorktree { worktree, action });
    }
    let pruned = Pruned {
        dry_run: args.dry_run,
        worktrees,
    };
    cx.ui.answer(&pruned, |ui| table(ui, &pruned))
}

fn table(ui: &Ui, pruned: &Pruned) -> CliResult {
    let mut table = Table::new(&["ID", "ACTION", "SIZE", "BRANCH", "RISKS"]);
    for PrunedWorktree { worktree, action } in &pruned.worktrees {
        let size = worktree.disk_bytes.map_or("-".to_owned(), size);
        let risks = worktree.risks.as_deref().map_or("gone".to_owned(), risks);
        table.row([&worktree.id, action, &size, &worktree.branch, &risks]);
    }
    ui.table(&table, "no worktree is finished")
}
