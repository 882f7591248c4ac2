//! `wheelhouse note`.

use clap::{Args, Subcommand};
use wh_api::{NoteAddRequest, NoteItem, NoteListRequest, NoteListView};

use super::{page::PageArgs, task::ListArgs};
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Tone, Ui, age, clean, now, shortened, when};

/// How much of a note a table shows.
const CONTENT_CHARS_MAX: usize = 100;

/// Note what those who work on a list should know
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse note add --list release --kind decision 'tags are signed'
  wheelhouse note ls --list release --kind stuck
  wheelhouse note ls --list release --full")]
pub(crate) enum NoteCommand {
    /// Add notes to a list
    Add(AddArgs),
    /// List notes, the latest first
    #[command(visible_alias = "list")]
    Ls(LsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What is to be remembered; a note each
    #[arg(required = true, value_name = "NOTE")]
    notes: Vec<String>,
    /// learning, stuck, tip or decision
    #[arg(long, default_value = "learning")]
    kind: String,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only learning, stuck, tip or decision
    #[arg(long)]
    kind: Option<String>,
    /// Print the notes in full
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(crate) async fn run(cx: &Context, command: NoteCommand) -> CliResult {
    let is_full = matches!(&command, NoteCommand::Ls(args) if args.full);
    let notes = match command {
        NoteCommand::Add(args) => {
            let item = |content| NoteItem {
                content,
                kind: args.kind.clone(),
            };
            let request = NoteAddRequest {
                notes: args.notes.into_iter().map(item).collect(),
                session: args.list.session,
                board: args.list.board,
                r#loop: args.list.of_loop,
                list: args.list.list,
                idempotency_key: None,
            };
            cx.client()?.note_add(&request).await?
        }
        NoteCommand::Ls(args) => {
            let request = NoteListRequest {
                kind: args.kind,
                limit: args.page.limit,
                cursor: args.page.cursor,
                session: args.list.session,
                board: args.list.board,
                r#loop: args.list.of_loop,
                list: args.list.list,
            };
            cx.client()?.note_list(&request).await?
        }
    };
    cx.ui.answer(&notes, |ui| {
        match is_full {
            true => in_full(ui, &notes),
            false => table(ui, &notes),
        }?;
        ui.more(notes.notes.len(), notes.total, notes.next_cursor.as_ref())
    })
}

/// Prints every note with all its lines.
fn in_full(ui: &Ui, list: &NoteListView) -> CliResult {
    for note in &list.notes {
        let by = note.session.as_deref();
        let by = by.map_or(String::new(), |session| format!(", session {session}"));
        let head = format!("{}, {}{by}", clean(&note.kind), when(&note.created_at));
        ui.raw(&format!("{}\n", ui.paint(Tone::Strong, &head)))?;
        for line in note.content.lines() {
            ui.line(&format!("  {line}"))?;
        }
    }
    match list.notes.is_empty() {
        true => ui.note("no notes"),
        false => Ok(()),
    }
}

fn table(ui: &Ui, list: &NoteListView) -> CliResult {
    let mut table = Table::new(&["KIND", "AGE", "BY", "NOTE"]);
    let now = now();
    let mut is_cut = false;
    for note in &list.notes {
        let first_line = note.content.lines().next().unwrap_or_default();
        is_cut |= note.content.chars().count() > CONTENT_CHARS_MAX || first_line != note.content;
        table.row([
            &note.kind,
            &age(&note.created_at, now),
            note.session.as_deref().unwrap_or("-"),
            &shortened(first_line, CONTENT_CHARS_MAX),
        ]);
    }
    ui.table(&table, "no notes")?;
    match is_cut {
        true => ui.note("some notes are longer: add --full to print them in full"),
        false => Ok(()),
    }
}
