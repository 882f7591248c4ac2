//! `wheelhouse worktree` and `wheelhouse diff`.

mod diff;
mod prune;

use clap::{Args, Subcommand};
use wh_api::{
    RiskView, WorktreeCreateRequest, WorktreeListRequest, WorktreeListView, WorktreeMergeRequest,
    WorktreeRemoveRequest, WorktreeStatusView, WorktreeView,
};

pub(crate) use self::diff::{DiffArgs, diff, patches};
use self::prune::PruneArgs;
use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, moment_ago};

/// Make, see, merge and remove worktrees, in which agents work
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse worktree create app --name 'Fix the parser'
  wheelhouse worktree diff 89abcdef
  wheelhouse worktree merge 89abcdef --commit 'Fix the parser' --remove-after
  wheelhouse worktree rm 89abcdef --rescue
  wheelhouse worktree prune --dry-run")]
pub(crate) enum WorktreeCommand {
    /// List worktrees, newest first
    #[command(visible_alias = "list")]
    Ls(ListArgs),
    /// Show a worktree: what is not committed, its size, its sessions
    Show {
        /// The id of a worktree or of a session that works in one, or its last 8 digits
        #[arg(value_name = "ID")]
        worktree: String,
    },
    /// Make a worktree of a repository
    Create(CreateArgs),
    /// Show what a worktree changed, committed or not
    Diff(DiffArgs),
    /// Merge a worktree's branch; a conflict leaves the target unchanged
    Merge(MergeArgs),
    /// Remove a worktree; its branch stays. Refuses when something would be lost
    #[command(visible_alias = "remove")]
    Rm(RemoveArgs),
    /// Remove worktrees that no session works in and that hold nothing that would be lost
    Prune(PruneArgs),
}

/// Which worktrees.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only of this repository, by id or name
    #[arg(long, value_name = "REPO")]
    repo: Option<String>,
    /// Only of this board
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Only in this state: making, ready, removing, removed; may be repeated
    #[arg(long = "state", value_name = "STATE")]
    states: Vec<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// What to make.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The repository, by id, name, path or address
    repo: String,
    /// What it is for; the branch's name unless given
    #[arg(long)]
    name: Option<String>,
    /// A branch that exists, or a new one [default: named after NAME]
    #[arg(long)]
    branch: Option<String>,
    /// The branch or full commit at which a new branch begins [default: the repository's HEAD]
    #[arg(long, value_name = "BRANCH|COMMIT")]
    base: Option<String>,
    /// The board it belongs to
    #[arg(long, value_name = "ID")]
    board: Option<String>,
}

/// What to merge.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The id of a worktree or of a session that works in one, or its last 8 digits
    #[arg(value_name = "ID")]
    worktree: String,
    /// The branch to merge into [default: the repository's default branch]
    #[arg(long, value_name = "BRANCH")]
    into: Option<String>,
    /// The message of a merge commit, if one is made
    #[arg(long, short)]
    message: Option<String>,
    /// Commit all uncommitted changes first, with this message
    #[arg(long, value_name = "MESSAGE", conflicts_with = "leave_uncommitted")]
    commit: Option<String>,
    /// Merge without the uncommitted changes, which stay in the worktree
    #[arg(long)]
    leave_uncommitted: bool,
    /// Archive the worktree's sessions, remove it and delete its branch after the merge
    #[arg(long, conflicts_with = "leave_uncommitted")]
    remove_after: bool,
}

/// What to remove.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The id of a worktree or of a session that works in one, or its last 8 digits
    #[arg(value_name = "ID")]
    worktree: String,
    /// Save everything under a git reference first, instead of refusing
    #[arg(long)]
    rescue: bool,
    /// Delete ignored files that are too large to save
    #[arg(long, requires = "rescue")]
    discard_ignored: bool,
}

pub(crate) async fn run(cx: &Context, command: WorktreeCommand) -> CliResult {
    match command {
        WorktreeCommand::Ls(args) => list(cx, args).await,
        WorktreeCommand::Show { worktree } => {
            let view = cx.client()?.worktree_get(&worktree).await?;
            cx.ui.answer(&view, |ui| show(ui, &view))
        }
        WorktreeCommand::Create(args) => {
            let client = cx.client()?;
            let request = WorktreeCreateRequest {
                repo: super::repo::named(cx, &client, args.repo).await?,
                name: args.name,
                branch: args.branch,
                base: args.base,
                board: args.board,
                idempotency_key: None,
            };
            let view = client.worktree_create(&request).await?;
            cx.ui.answer(&view, |ui| show(ui, &view))
        }
        WorktreeCommand::Diff(args) => diff(cx, args).await,
        WorktreeCommand::Merge(args) => merge(cx, args).await,
        WorktreeCommand::Rm(args) => remove(cx, args).await,
        WorktreeCommand::Prune(args) => prune::prune(cx, args).await,
    }
}

async fn list(cx: &Context, args: ListArgs) -> CliResult {
    let request = WorktreeListRequest {
        repo: args.repo,
        board: args.board,
        states: (!args.states.is_empty()).then_some(args.states),
        finished: None,
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.worktree_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

async fn merge(cx: &Context, args: MergeArgs) -> CliResult {
    let request = WorktreeMergeRequest {
        worktree: args.worktree,
        into: args.into,
        message: args.message,
        commit: args.commit,
        leave_uncommitted: args.leave_uncommitted.then_some(true),
        remove_after: args.remove_after.then_some(true),
        idempotency_key: None,
    };
    let merged = cx.client()?.worktree_merge(&request).await?;
    cx.ui.answer(&merged, |ui| {
        let yes = |it: Option<bool>| it.map(|it| if it { "yes" } else { "no" }.to_owned());
        ui.fields(&[
            ("committed", merged.committed.clone()),
            ("branch", Some(merged.branch.clone())),
            ("into", Some(merged.into.clone())),
            ("outcome", Some(merged.outcome.clone())),
            ("commit", merged.commit.clone()),
            ("worktree removed", yes(merged.worktree_removed)),
            ("branch deleted", yes(merged.branch_deleted)),
            ("saved in", merged.rescue.clone()),
            ("not removed", merged.not_removed.clone()),
        ])
    })
}

async fn remove(cx: &Context, args: RemoveArgs) -> CliResult {
    let request = WorktreeRemoveRequest {
        worktree: args.worktree,
        rescue: args.rescue.then_some(true),
        discard_ignored: args.discard_ignored.then_some(true),
        idempotency_key: None,
    };
    let removed = cx.client()?.worktree_remove(&request).await?;
    cx.ui.answer(&removed, |ui| {
        let count = removed.discarded.len();
        ui.fields(&[
            ("state", Some(removed.state.clone())),
            ("branch kept", Some(removed.branch.clone())),
            ("saved in", removed.rescue.clone()),
            ("discarded", (count > 0).then(|| format!("{count} files"))),
        ])
    })
}

fn table(ui: &Ui, list: &WorktreeListView) -> CliResult {
    let mut table = Table::new(&["ID", "STATE", "REPO", "BRANCH", "NAME"]);
    for row in &list.worktrees {
        table.row([&row.id, &row.state, &row.repo, &row.branch, &row.name]);
    }
    ui.table(
        &table,
        "no worktrees yet; make one with `wheelhouse worktree create REPO`",
    )?;
    ui.more(list.worktrees.len(), list.total, list.next_cursor.as_ref())
}

fn show(ui: &Ui, view: &WorktreeView) -> CliResult {
    let status = view.status.as_ref();
    let distance =
        |s: &WorktreeStatusView| format!("{} commits ahead, {} behind", s.ahead, s.behind);
    let sessions: Vec<_> = view.sessions.iter().map(|s| s.id.as_str()).collect();
    ui.fields(&[
        ("id", Some(view.id.clone())),
        ("name", Some(view.name.clone())),
        ("state", Some(view.state.clone())),
        ("missing", view.missing.clone()),
        ("branch", Some(view.branch.clone())),
        ("base", view.base_sha.clone()),
        ("path", Some(view.path.clone())),
        ("history", status.map(distance)),
        ("uncommitted", status.map(uncommitted)),
        ("size", view.disk_bytes.map(size)),
        ("risks", view.risks.as_deref().map(risks)),
        (
            "sessions",
            (!sessions.is_empty()).then(|| sessions.join(", ")),
        ),
        ("made", Some(moment_ago(&view.created_at))),
    ])
}

fn uncommitted(status: &WorktreeStatusView) -> String {
    let counts = [
        (status.staged_count, "staged"),
        (status.unstaged_count, "changed"),
        (status.untracked_count, "untracked"),
        (status.conflicted.len(), "in conflict"),
    ];
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<_> = said
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() {
        "nothing".to_owned()
    } else {
        said.join(", ")
    }
}

/// Names what speaks against a removal.
fn risks(risks: &[RiskView]) -> String {
    let named: Vec<_> = risks
        .iter()
        .map(|risk| format!("{} {}", risk.count, risk.kind.replace('_', " ")))
        .collect();
    if named.is_empty() {
        "none".to_owned()
    } else {
        named.join(", ")
    }
}

/// Writes a size for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
