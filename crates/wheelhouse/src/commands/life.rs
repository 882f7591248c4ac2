//! `wheelhouse wait`, `interrupt`, `stop`, `resume` and `rm`.

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use tokio::time::Instant;
use wh_api::{SessionManageRequest, SessionView, SessionWaitRequest, SessionWaitView};
use wh_client::Client;

use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::ui::{Table, Ui, clean};

/// The longest wait of one call.
const CALL_SECONDS_MAX: u64 = 300;
/// How long a stop may take: the server kills after five seconds.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(30);
/// How long a server may be away while it is waited for.
const AWAY_MAX: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(200);

/// Wait until sessions are at rest, ended or in need of an answer
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse wait 89abcdef
  wheelhouse wait 89abcdef 01234567 --any --timeout 600

The exit code is 8 when one of them needs an answer, 1 when one has failed, 9 when the time is over first.")]
pub(crate) struct WaitArgs {
    /// Ids of sessions or their last 8 digits
    #[arg(value_name = "ID", required = true)]
    sessions: Vec<String>,
    /// Until one of them is
    #[arg(long)]
    any: bool,
    /// Seconds at most [default: however long it takes]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

/// End a session's turn; the session stays
#[derive(Debug, Args)]
pub(crate) struct InterruptArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    /// Cancel this turn, such as a queued prompt, by number or id, instead of the running one
    #[arg(long)]
    turn: Option<String>,
}

/// End the processes of sessions; what they said and did stays
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse stop 89abcdef 01234567")]
pub(crate) struct StopArgs {
    /// Ids of sessions or their last 8 digits
    #[arg(value_name = "ID", required = true)]
    sessions: Vec<String>,
}

/// Go on with a session that was stopped or interrupted
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
}

/// Delete a session and its transcript, stopping it first if it runs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse rm 89abcdef
  wheelhouse rm 89abcdef --yes")]
pub(crate) struct RmArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn wait(cx: &Context, args: WaitArgs) -> CliResult {
    let limit = args.timeout.map(Duration::from_secs);
    let waited = wait_for(&cx.client()?, &args.sessions, args.any, limit).await?;
    cx.ui.answer(&waited, |ui| table(ui, &waited))?;
    let has = |states: &[&str]| {
        let is_it = |state: &str| states.contains(&state);
        waited.sessions.iter().any(|it| is_it(&it.state))
    };
    if !waited.done {
        return Err(CliError::ended(Exit::TimedOut, "the time to wait is over"));
    }
    if has(&["waiting"]) {
        return Err(
            CliError::ended(Exit::NeedsAnswer, "an agent needs an answer")
                .hint("`wheelhouse approvals` lists what is asked"),
        );
    }
    if has(&["failed", "interrupted"]) {
        return Err(CliError::ended(Exit::Failed, "a session did not end well")
            .hint("see `wheelhouse logs ID --system`"));
    }
    Ok(())
}

/// Waits for sessions in calls of bounded length, through restarts of the server.
pub(crate) async fn wait_for(
    client: &Client,
    sessions: &[String],
    any: bool,
    limit: Option<Duration>,
) -> CliResult<SessionWaitView> {
    let begun = Instant::now();
    let mut away_since: Option<Instant> = None;
    loop {
        let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let seconds = left.map_or(CALL_SECONDS_MAX, |left| left.as_secs_f64().ceil() as u64);
        let request = SessionWaitRequest {
            sessions: sessions.to_vec(),
            wait_for: any.then(|| "any".to_owned()),
            timeout: u32::try_from(seconds.clamp(1, CALL_SECONDS_MAX)).ok(),
        };
        match client.session_wait(&request).await {
            Ok(waited) if waited.done || left.is_some_and(|left| left.is_zero()) => {
                return Ok(waited);
            }
            Ok(_) => {
                away_since = None;
                // A server that stops answers at once; it need not be asked in a circle.
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) if error.is_temporary() && away_since.is_none_or(is_short) => {
                // The first call tells whether there is a server at all.
                if away_since.is_none() && begun.elapsed() < PAUSE {
                    return Err(error.into());
                }
                away_since.get_or_insert_with(Instant::now);
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_short(since: Instant) -> bool {
    since.elapsed() < AWAY_MAX
}

fn table(ui: &Ui, waited: &SessionWaitView) -> CliResult {
    let mut table = Table::new(&["ID", "STATE", "DONE", "TITLE"]);
    for session in &waited.sessions {
        let done = if session.done { "yes" } else { "no" };
        table.row([&session.id, &session.state, done, &session.title]);
    }
    ui.table(&table, "no sessions")
}

pub(crate) async fn interrupt(cx: &Context, args: InterruptArgs) -> CliResult {
    let client = cx.client()?;
    let session = match &args.turn {
        Some(turn) => client.session_turn_cancel(&args.session, turn).await?,
        None => client.session_interrupt(&args.session).await?,
    };
    cx.ui.answer(&session, |ui| {
        ui.line(&format!("{} is asked to end its turn", session.short_id))
    })
}

pub(crate) async fn stop(cx: &Context, args: StopArgs) -> CliResult {
    let client = cx.client()?;
    for session in &args.sessions {
        manage(&client, session, "stop").await?;
    }
    let waited = wait_for(&client, &args.sessions, false, Some(STOP_WITHIN)).await?;
    cx.ui.answer(&waited, |ui| table(ui, &waited))?;
    match waited.done {
        true => Ok(()),
        false => Err(CliError::ended(
            Exit::TimedOut,
            "not all of them have stopped yet",
        )),
    }
}

pub(crate) async fn resume(cx: &Context, args: ResumeArgs) -> CliResult {
    let session = manage(&cx.client()?, &args.session, "start").await?;
    cx.ui.answer(&session, |ui| {
        ui.line(&format!("{} is {}", session.short_id, session.state))
    })
}

pub(crate) async fn remove(cx: &Context, args: RmArgs) -> CliResult {
    let client = cx.client()?;
    let session = client.session_get(&args.session).await?;
    if !args.yes {
        confirm(&session)?;
    }
    let session = manage(&client, &session.id, "delete").await?;
    cx.ui.answer(&session, |ui| {
        ui.line(&format!("{} is deleted", session.short_id))
    })
}

/// Asks whoever sits at the terminal; a script must say it beforehand.
fn confirm(session: &SessionView) -> CliResult {
    let refuse =
        || CliError::usage("nothing was deleted").hint("add --yes to delete without being asked");
    if !std::io::stdin().is_terminal() {
        return Err(refuse());
    }
    let question = format!(
        "delete {} ({})? [y/N] ",
        session.short_id,
        clean(&session.title)
    );
    crate::ui::ask(&question)
        .filter(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
        .map(drop)
        .ok_or_else(refuse)
}

pub(super) async fn manage(client: &Client, session: &str, action: &str) -> CliResult<SessionView> {
    let request = SessionManageRequest {
        session: session.to_owned(),
        action: action.to_owned(),
        ..SessionManageRequest::default()
    };
    Ok(client.session_manage(&request).await?)
}
