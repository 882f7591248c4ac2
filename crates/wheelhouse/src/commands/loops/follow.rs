//! Following a loop: what happens, and how it stands.

use std::time::Duration;

use tokio::time::Instant;
use wh_api::{LoopLogEntryView, LoopLogRequest, LoopView};
use wh_client::{Client, ClientError};

use super::{LOG_PAGE, left, used};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Ui, clock};

/// How often a loop is looked at: what is left of its time changes each second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a server may be away before a follower gives up.
const AWAY_MAX: Duration = Duration::from_secs(120);

/// Follows a loop that was just started, and fails when it ends without being done.
pub(super) async fn to_the_end(cx: &Context, client: &Client, id: &str) -> CliResult {
    let it = follow(cx, client, id).await?;
    if cx.ui.is_json() {
        cx.ui.answer(&it, |_| Ok(()))?;
    }
    match (it.outcome.as_deref(), &it.reason) {
        (Some("completed"), _) => Ok(()),
        (Some(outcome), Some(reason)) => Err(CliError::failed(format!(
            "the loop has ended, {outcome}: {reason}"
        ))
        .hint(format!(
            "`wheelhouse loop show {}` lists its iterations",
            it.short_id
        ))),
        _ => cx.ui.note(&format!(
            "the loop rests; `wheelhouse loop resume {}` lets it go on",
            it.short_id
        )),
    }
}

/// Tells what happens in a loop until it has ended or rests, and returns it.
pub(super) async fn follow(cx: &Context, client: &Client, id: &str) -> CliResult<LoopView> {
    let mut after = 0;
    let mut lost_at = None;
    loop {
        match look(client, id, &mut after).await {
            Ok((it, entries)) => {
                lost_at = None;
                for entry in &entries {
                    match cx.ui.is_json() {
                        true => {}
                        false => tell(&cx.ui, entry)?,
                    }
                }
                let is_over = it.state == "ended" || it.state == "paused";
                // What was written between the two reads is told in the next round.
                if is_over && entries.is_empty() || !cx.ui.is_heard() {
                    cx.ui.progress_done();
                    return Ok(it);
                }
                cx.ui.progress(&standing(&it));
            }
            Err(error) if error.is_temporary() => {
                let since = *lost_at.get_or_insert_with(Instant::now);
                if since.elapsed() > AWAY_MAX {
                    return Err(error.into());
                }
                cx.ui.progress("the server is away");
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(
    client: &Client,
    id: &str,
    after: &mut u64,
) -> Result<(LoopView, Vec<LoopLogEntryView>), ClientError> {
    let it = client.loop_get(id).await?;
    let request = LoopLogRequest {
        r#loop: id.to_owned(),
        after: Some((*after).into()),
        limit: Some(LOG_PAGE),
    };
    let entries = client.loop_log(&request).await?.entries;
    *after = entries.last().map_or(*after, |entry| entry.seq);
    Ok((it, entries))
}

/// Prints an entry of a log.
pub(super) fn tell(ui: &Ui, entry: &LoopLogEntryView) -> CliResult {
    let time = clock(&entry.at);
    let about = match entry.about.as_str() {
        "loop" => "loop".to_owned(),
        "iteration" => format!("iteration {}", entry.iteration),
        hook => format!("iteration {} {hook}", entry.iteration),
    };
    entry
        .text
        .lines()
        .try_for_each(|line| ui.line(&format!("{time} {about}: {line}")))
}

/// Says in a line how a loop stands: iteration, task, cost, and what is left of the budget.
fn standing(it: &LoopView) -> String {
    let open = it.tasks.remaining + it.tasks.in_progress + it.tasks.blocked;
    let mut parts = vec![
        format!("iteration {}/{}", it.iteration, it.iterations_max),
        match it.waiting {
            true => "waits for an answer (`wheelhouse approvals`)".to_owned(),
            false => it.task.clone().unwrap_or_else(|| it.state.clone()),
        },
        format!("{open} open"),
        used(it),
    ];
    parts.extend(left(&it.left).map(|left| format!("{left} left")));
    parts.join(" · ")
}
