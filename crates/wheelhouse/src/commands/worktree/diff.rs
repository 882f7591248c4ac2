//! `wheelhouse worktree diff` and `wheelhouse diff`.

use clap::Args;
use wh_api::{FileChangeView, WorktreeDiffRequest, WorktreeDiffView};

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Tone, Ui, clean};

/// How much text is asked for at a time.
const BYTES_AT_A_TIME: u32 = 1_000_000;

/// Show what a worktree, or the session in it, changed, committed or not
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse diff 89abcdef
  wheelhouse diff 89abcdef --stat
  wheelhouse diff 89abcdef --against main")]
pub(crate) struct DiffArgs {
    /// The id of a worktree or of a session that works in one, or its last 8 digits
    #[arg(value_name = "ID")]
    worktree: String,
    /// Compare with where it left this branch or full commit [default: where the worktree began]
    #[arg(long, value_name = "BRANCH|COMMIT")]
    against: Option<String>,
    /// Only which files changed, and how many lines
    #[arg(long)]
    stat: bool,
}

pub(crate) async fn diff(cx: &Context, args: DiffArgs) -> CliResult {
    let mut request = WorktreeDiffRequest {
        worktree: args.worktree,
        against: args.against,
        patch: Some(!args.stat),
        bytes_max: Some(BYTES_AT_A_TIME),
        limit: None,
        cursor: None,
    };
    let client = cx.client()?;
    let mut all = client.worktree_diff(&request).await?;
    while let Some(cursor) = all.next_cursor.take() {
        request.cursor = Some(cursor.into());
        let page = client.worktree_diff(&request).await?;
        all.files.extend(page.files);
        all.files_left = page.files_left;
        all.next_cursor = page.next_cursor;
    }
    cx.ui.answer(&all, |ui| match args.stat {
        true => stat(ui, &all),
        false => patches(ui, &all),
    })
}

fn stat(ui: &Ui, diff: &WorktreeDiffView) -> CliResult {
    let mut table = Table::new(&["CHANGE", "ADDED", "DELETED", "FILE"]);
    let count = |lines: Option<u64>| lines.map_or("-".to_owned(), |n| n.to_string());
    for file in &diff.files {
        let (added, deleted) = (count(file.added), count(file.deleted));
        table.row([&file.change, &added, &deleted, &file.path]);
    }
    ui.table(&table, "no changes")
}

pub(crate) fn patches(ui: &Ui, diff: &WorktreeDiffView) -> CliResult {
    if diff.files.is_empty() {
        return ui.note("no changes");
    }
    diff.files.iter().try_for_each(|file| patch(ui, file))
}

fn patch(ui: &Ui, file: &FileChangeView) -> CliResult {
    let Some(text) = &file.patch else {
        return ui.line(&format!("{} is binary and was {}", file.path, file.change));
    };
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        // A tab is part of code; everything else that a terminal would obey is shown.
        let line = line.split('\t').map(clean).collect::<Vec<_>>().join("\t");
        shown.push_str(&match line.chars().next() {
            Some('+') => ui.paint(Tone::Good, &line),
            Some('-') => ui.paint(Tone::Bad, &line),
            Some('@') => ui.paint(Tone::Dim, &line),
            _ => line,
        });
        shown.push('\n');
    }
    ui.raw(&shown)?;
    if file.cut {
        ui.note(&format!("the patch of {} was cut", file.path))?;
    }
    Ok(())
}
