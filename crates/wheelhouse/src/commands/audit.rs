//! `wheelhouse audit`.

use clap::{Args, Subcommand};
use wh_api::{AuditListRequest, AuditListView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, moment};

/// See who called what, with what outcome
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse audit --user ann --limit 20
  wheelhouse audit list --operation key_create --json")]
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
        let user = last_digits(&entry.user_id);
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
    ui.table(&table, "nothing was called yet")?;
    ui.more(list.next_cursor.as_ref())
}

/// Shortens an id as the server does.
fn last_digits(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
