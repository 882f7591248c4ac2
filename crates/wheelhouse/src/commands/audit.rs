//! `wheelhouse audit`.

use clap::{Args, Subcommand};
use wh_api::{AuditListRequest, AuditListView};

use super::cost::offset_minutes;
use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, moment, utc_offset_minutes};

/// See who called what, with what outcome
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse audit --user ann --limit 20
  wheelhouse audit list --operation key_create --json
  wheelhouse audit --outcome refused --since 7d
  wheelhouse audit --reads --limit 50
  wheelhouse audit --about 89abcdef --since 2026-11-01 --until 2026-11-15

Calls are looked through 50000 at a time: a list may be short, or empty, and go on with --cursor.")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// List calls, newest first; the same as `wheelhouse audit`
    List(ListArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only calls by this user, by id or name
    #[arg(long)]
    user: Option<String>,
    /// Only calls of this operation, such as board_create
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Only calls that ended so: ok, refused, failed (the server's fault), or a code such as FORBIDDEN
    #[arg(long)]
    outcome: Option<String>,
    /// Only calls that came in here: mcp, rest, server
    #[arg(long)]
    surface: Option<String>,
    /// Only calls that changed or named what has this id, or these last 8 digits of one
    #[arg(long, value_name = "ID")]
    about: Option<String>,
    /// Only calls from then on: a day, a time, or days until now like 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only calls until then: a day, to its end, or a time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Include successful reads and parts of other calls
    #[arg(long)]
    reads: bool,
    /// UTC offset at which days begin, such as +02:00 [default: this machine's]
    #[arg(long, value_name = "OFFSET", value_parser = offset_minutes, allow_hyphen_values = true)]
    utc_offset: Option<i32>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) async fn run(cx: &Context, args: AuditArgs) -> CliResult {
    let args = match args.command {
        Some(AuditCommand::List(inner)) => inner.or(args.list),
        None => args.list,
    };
    let request = AuditListRequest {
        user: args.user,
        operation: args.operation,
        outcome: args.outcome,
        surface: args.surface,
        about: args.about,
        since: args.since,
        until: args.until,
        include_reads: args.reads.then_some(true),
        utc_offset: Some(args.utc_offset.unwrap_or_else(utc_offset_minutes)),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.audit_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

impl ListArgs {
    /// Takes what was given after `list`, then what was given before it.
    fn or(self, outer: Self) -> Self {
        Self {
            user: self.user.or(outer.user),
            operation: self.operation.or(outer.operation),
            outcome: self.outcome.or(outer.outcome),
            surface: self.surface.or(outer.surface),
            about: self.about.or(outer.about),
            since: self.since.or(outer.since),
            until: self.until.or(outer.until),
            reads: self.reads || outer.reads,
            utc_offset: self.utc_offset.or(outer.utc_offset),
            page: PageArgs {
                limit: self.page.limit.or(outer.page.limit),
                cursor: self.page.cursor.or(outer.page.cursor),
            },
        }
    }
}

fn table(ui: &Ui, list: &AuditListView) -> CliResult {
    let mut table = Table::new(&["AT", "USER", "BY", "VIA", "OPERATION", "SUBJECT", "OUTCOME"]);
    for entry in &list.entries {
        let at = moment(&entry.at);
        let subject = match (&entry.subject_kind, &entry.subject_id) {
            (Some(kind), Some(id)) => format!("{kind} {}", last_digits(id)),
            _ => "-".to_owned(),
        };
        let id = last_digits(&entry.user_id);
        let user = entry.user.as_deref().unwrap_or(id);
        let (by, via) = (&entry.credential, &entry.surface);
        table.row([
            &at,
            user,
            by,
            via,
            &entry.operation,
            &subject,
            &entry.outcome,
        ]);
    }
    let nothing = match &list.next_cursor {
        Some(_) => "no such calls among those that were looked through",
        None => "no such calls",
    };
    ui.table(&table, nothing)?;
    ui.more(list.entries.len(), None, list.next_cursor.as_ref())
}

/// Shortens an id as the server does.
fn last_digits(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
