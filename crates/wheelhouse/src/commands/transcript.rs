//! `wheelhouse logs` and `wheelhouse turns`.

use clap::Args;
use wh_api::{RunListRequest, TurnListRequest, TurnListView, TurnView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::follow::{Detail, Following, Scope, Teller, read_page};
use crate::ui::{Table, Ui, cost, moment, span, when};

/// Show what a session said and did
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse logs 89abcdef
  wheelhouse logs 89abcdef --last 20 -f
  wheelhouse logs 89abcdef --full --json
  wheelhouse logs 89abcdef --agent

With --json each message is a line; one that grows is printed again, under the same seq.")]
pub(crate) struct LogsArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    /// Go on as more comes, through restarts of the server, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// The server's own notes too
    #[arg(long)]
    system: bool,
    /// Thoughts, and what tools were given and gave, too
    #[arg(long)]
    full: bool,
    /// Only so many of the last messages
    #[arg(long, short = 'n', value_name = "N")]
    last: Option<u64>,
    /// What became of the agent's processes, and the last they wrote to stderr, in place of the conversation
    #[arg(long, conflicts_with_all = ["follow", "system", "full"])]
    agent: bool,
}

/// List the turns of a session, latest first
#[derive(Debug, Args)]
pub(crate) struct TurnsArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) async fn logs(cx: &Context, args: LogsArgs) -> CliResult {
    let client = cx.client()?;
    if args.agent {
        return runs(cx, args).await;
    }
    let session = client.session_get(&args.session).await?;
    let detail = Detail {
        prompts: true,
        system: args.system,
        full: args.full,
        ..Detail::default()
    };
    let after = args
        .last
        .map_or(0, |last| session.last_seq.saturating_sub(last));
    if args.follow {
        let scope = Scope {
            session: session.id,
            only: None,
            after,
            repo: None,
        };
        let mut following = Following::begin(client, cx.ui, scope, detail).await?;
        while cx.ui.is_heard() {
            following.next().await?;
        }
        return Ok(());
    }
    let mut teller = Teller::new(cx.ui, detail, after);
    let mut from = Some(after);
    while let Some(after) = from {
        let page = read_page(&client, &session.id, after).await?;
        for message in &page.messages {
            teller.message(message)?;
        }
        from = page.next_after;
    }
    teller.end_line()?;
    match session.last_seq {
        0 => cx.ui.note("nothing has been said yet"),
        _ => Ok(()),
    }
}

/// Shows a session's processes, the latest last, as a terminal would have.
async fn runs(cx: &Context, args: LogsArgs) -> CliResult {
    let client = cx.client()?;
    let limit = |last| u32::try_from(last).unwrap_or(u32::MAX);
    let mut request = RunListRequest {
        session: args.session,
        limit: args.last.map(limit),
        max_bytes: Some(u32::MAX),
        ..RunListRequest::default()
    };
    let mut list = client.run_list(&request).await?;
    // A page holds few runs, because their stderr is long.
    while let (Some(last), Some(cursor)) = (args.last, list.next_cursor.take()) {
        let missing = last.saturating_sub(list.runs.len() as u64);
        if missing == 0 {
            list.next_cursor = Some(cursor);
            break;
        }
        (request.limit, request.cursor) = (Some(limit(missing)), Some(cursor.into()));
        let page = client.run_list(&request).await?;
        list.runs.extend(page.runs);
        list.next_cursor = page.next_cursor;
    }
    cx.ui.answer(&list, |ui| {
        if list.runs.is_empty() {
            return ui.note("it has had no process yet");
        }
        for run in list.runs.iter().rev() {
            let how = match (&run.ended_at, &run.ending) {
                (Some(at), ending) => {
                    let ending = ending.as_deref().unwrap_or("ended");
                    format!("{}: {ending}", moment(at))
                }
                (None, _) => "it runs".to_owned(),
            };
            let resumed = if run.resumed {
                ", went on with its conversation"
            } else {
                ""
            };
            let (epoch, began) = (run.epoch, moment(&run.started_at));
            ui.line(&format!("run {epoch}, began {began}{resumed}; {how}"))?;
            for line in run.stderr.iter().flat_map(|text| text.lines()) {
                ui.line(&format!("  {line}"))?;
            }
        }
        match (&list.next_cursor, list.total) {
            (Some(_), Some(total)) => {
                let shown = list.runs.len();
                ui.note(&format!(
                    "Showing {shown} of {total}; use `--last {total}` for more"
                ))
            }
            _ => Ok(()),
        }
    })
}

pub(crate) async fn turns(cx: &Context, args: TurnsArgs) -> CliResult {
    let request = TurnListRequest {
        session: args.session,
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.turn_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

fn table(ui: &Ui, list: &TurnListView) -> CliResult {
    let mut table = Table::new(&[
        "TURN", "ID", "STATE", "SENT", "TOOK", "TOKENS", "COST", "WHY",
    ]);
    for turn in &list.turns {
        table.row([
            &turn.number.to_string(),
            &turn.id,
            &turn.state,
            &when(&turn.created_at),
            &took(turn),
            &turn.tokens_used.to_string(),
            &cost(turn.cost_micros, turn.estimated_micros),
            turn.reason.as_deref().unwrap_or_default(),
        ]);
    }
    ui.table(
        &table,
        "no turns yet; send a prompt: wheelhouse send ID \"PROMPT\"",
    )?;
    ui.more(list.turns.len(), list.total, list.next_cursor.as_ref())
}

/// Tells how long a turn took, from the prompt to its end.
fn took(turn: &TurnView) -> String {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let end = turn.finished_at.as_deref().and_then(time);
    match (time(&turn.created_at), end) {
        (Some(begun), Some(end)) => span(end.duration_since(begun).as_secs()),
        _ => "-".to_owned(),
    }
}
