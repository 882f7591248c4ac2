//! Following one turn to its end, or until Ctrl-C.

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use wh_api::{SessionView, TurnDetailView};
use wh_client::Client;

use super::keyboard::Keyboard;
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::follow::{AnswerBy, Detail, Following, Scope, Standing};
use crate::ui::dollars;

/// Follows a turn to its end, or to a question that nobody here can answer.
pub(in crate::commands) async fn follow_turn(
    cx: &Context,
    client: &Client,
    session: &SessionView,
    turn: String,
    after: u64,
) -> CliResult {
    if cx.ui.is_json() {
        cx.ui
            .json_line(&json!({ "type": "session", "session": session }))?;
    }
    let mut interrupts = signal(SignalKind::interrupt())
        .map_err(|error| CliError::failed(format!("cannot wait for signals: {error}")))?;
    let scope = Scope {
        session: session.id.clone(),
        only: Some(turn),
        after,
        repo: session.repo_id.clone(),
    };
    let mut keyboard = Keyboard::open(cx, client, session);
    let answer_by = match keyboard.is_attended() {
        true => AnswerBy::Letter,
        false => AnswerBy::Command,
    };
    let detail = Detail {
        answer_by,
        ..Detail::default()
    };
    let mut following = Following::begin(client.clone(), cx.ui, scope, detail).await?;
    let mut standing = Standing::default();
    loop {
        tokio::select! {
            heard = following.next() => standing = heard?.clone(),
            line = keyboard.line() => {
                following.end_line()?;
                keyboard.answer(line, &mut standing).await?;
            }
            _ = interrupts.recv() => {
                following.end_line()?;
                return Err(left(&session.short_id));
            }
        }
        if !cx.ui.is_heard() {
            return Ok(());
        }
        match following.stage().await {
            Some(stage) => cx.ui.progress(&stage.in_words(&session.agent)),
            None => cx.ui.progress_done(),
        }
        if let Some(end) = turn_end(&standing, keyboard.is_attended()) {
            following.end_line()?;
            if keyboard.gave_reason() {
                cx.ui.note(&format!(
                    "the agent reads your reason next; follow it with `wheelhouse attach {}`",
                    session.short_id
                ))?;
            }
            return finish(cx, client, session, &standing, end).await;
        }
    }
}

/// Why a turn is not followed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEnd {
    Completed,
    Cancelled,
    Failed,
    NeedsAnswer,
}

fn turn_end(standing: &Standing, is_attended: bool) -> Option<TurnEnd> {
    let turn = standing.turn.as_ref()?;
    // A session that has ended takes no prompts from its queue.
    let is_over = matches!(
        standing.state.as_str(),
        "failed" | "abandoned" | "terminated"
    );
    match turn.turn.state.as_str() {
        "completed" => Some(TurnEnd::Completed),
        "cancelled" if !is_over => Some(TurnEnd::Cancelled),
        "failed" => Some(TurnEnd::Failed),
        "running" if !standing.approvals.is_empty() && !is_attended => Some(TurnEnd::NeedsAnswer),
        _ if is_over => Some(TurnEnd::Failed),
        _ => None,
    }
}

async fn finish(
    cx: &Context,
    client: &Client,
    session: &SessionView,
    standing: &Standing,
    end: TurnEnd,
) -> CliResult {
    let id = &session.short_id;
    let turn = standing.turn.as_ref();
    if cx.ui.is_json() {
        cx.ui.json_line(&json!({ "type": "turn", "turn": turn }))?;
    }
    let reason = turn.and_then(|turn| turn.turn.reason.clone());
    match end {
        TurnEnd::Completed => cx.ui.note(&summary(id, turn)),
        TurnEnd::Cancelled => {
            let why = reason.map_or(String::new(), |why| format!(": {why}"));
            Err(
                CliError::ended(Exit::Cancelled, format!("the turn was cancelled{why}"))
                    .hint(format!("go on with `wheelhouse send {id} 'PROMPT'`")),
            )
        }
        TurnEnd::Failed => {
            let failure = client.session_get(&session.id).await?.failure;
            let why = reason
                .or(failure)
                .unwrap_or_else(|| "no reason is known".to_owned());
            Err(
                CliError::ended(Exit::Failed, format!("the turn failed: {why}"))
                    .hint(format!("see `wheelhouse logs {id} --system`")),
            )
        }
        TurnEnd::NeedsAnswer => {
            let first = standing.approvals.first();
            let how = first.map_or("wheelhouse approvals".to_owned(), |it| {
                match it.kind.as_str() {
                    "question" => format!("wheelhouse answer {} 'TEXT'", it.id),
                    _ => format!("wheelhouse approve {}", it.id),
                }
            });
            Err(
                CliError::ended(Exit::NeedsAnswer, "the agent needs an answer")
                    .hint(format!("`{how}`, then `wheelhouse logs -f {id}`")),
            )
        }
    }
}

/// Tells whoever pressed Ctrl-C that only the following has ended.
fn left(id: &str) -> CliError {
    let message = format!("not followed any further; session {id} goes on");
    CliError::ended(Exit::Interrupted, message).hint(format!(
        "`wheelhouse attach {id}` talks to it, `wheelhouse interrupt {id}` ends its turn, `wheelhouse stop {id}` ends it"
    ))
}

fn summary(id: &str, turn: Option<&TurnDetailView>) -> String {
    let used = turn.map_or(String::new(), |turn| {
        let cost = match turn.turn.cost_micros {
            0 => String::new(),
            micros => format!(", {}", dollars(micros)),
        };
        format!(" ({} tokens{cost})", turn.turn.tokens_used)
    });
    format!("done{used}; go on with `wheelhouse send {id} 'PROMPT'`")
}
