//! `wheelhouse search`.

use clap::Args;
use wh_api::{SessionSearchRequest, SessionSearchView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, shortened};

/// How much of a message a table shows.
const SNIPPET_CHARS_MAX: usize = 100;

/// Find words in the conversations of all sessions, best matches first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse search flaky login
  wheelhouse search --limit 100 --json 'connection refused'")]
pub(crate) struct SearchArgs {
    /// Words that a message must contain, all of them
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) async fn run(cx: &Context, args: SearchArgs) -> CliResult {
    let request = SessionSearchRequest {
        query: args.words.join(" "),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let found = cx.client()?.session_search(&request).await?;
    cx.ui.answer(&found, |ui| table(ui, &found))
}

fn table(ui: &Ui, found: &SessionSearchView) -> CliResult {
    let mut table = Table::new(&["SESSION", "MESSAGE", "KIND", "TEXT"]);
    for hit in &found.hits {
        table.row([
            &hit.session[hit.session.len().saturating_sub(8)..],
            &hit.seq.to_string(),
            &hit.kind,
            &shortened(&hit.snippet.replace('\n', " "), SNIPPET_CHARS_MAX),
        ]);
    }
    ui.table(&table, "no message contains all of these words")?;
    ui.more(found.hits.len(), found.total, found.next_cursor.as_ref())
}
