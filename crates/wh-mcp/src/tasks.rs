//! Long calls as MCP tasks, for clients that declare them.
//!
//! A task stands for a turn, or for a wait: its id is theirs, and everything about it is read from their rows. So a task is durable
//! before it is named, outlives restarts, belongs to whoever can reach the turn or began the wait, and needs no table of its own.
//! What the agent asks becomes the task's input requests; a response answers the approval.

use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, GetTaskResult, InputRequest,
        InputRequests, InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
    },
};
use serde_json::{Value, json};
use wh_api::{
    PromptedView, SessionPromptRequest, SessionSpawnRequest, SessionWaitRequest, SessionWaitView,
};
use wh_app::{App, ApprovalAnswer, OpContext, Prompted, Result, WaitStanding};
use wh_domain::{
    Approval, ApprovalKind, Operation, Reference, SessionId, TurnState, WaitEnding, WaitId,
};

use crate::{
    error::{error_line, error_view},
    summary::Summary,
    tools::{prompt_of, read_arguments},
};

/// Stands before a turn's id.
const TURN: &str = "turn-";

/// Stands before a wait's id.
const WAIT: &str = "wait-";

/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 1_000;

/// Begins a call as a task, if it is one that waits; `None` if it should be answered at once.
pub(crate) async fn begin(
    app: &App,
    cx: &OpContext,
    operation: Operation,
    arguments: &JsonObject,
) -> Option<Result<CreateTaskResult>> {
    if operation == Operation::SessionWait {
        let begun = wait(app, cx, arguments.clone()).await;
        return Some(begun.map(|begun| CreateTaskResult::new(wait_task(&begun))));
    }
    let waits = arguments.get("wait").and_then(Value::as_u64);
    if waits.is_none_or(|seconds| seconds == 0) {
        return None;
    }
    let begun = match operation {
        Operation::SessionPrompt => prompt(app, cx, arguments.clone()).await,
        Operation::SessionSpawn => spawn(app, cx, arguments.clone()).await,
        _ => return None,
    };
    Some(begun.map(|begun| CreateTaskResult::new(task(&begun))))
}

async fn prompt(app: &App, cx: &OpContext, arguments: JsonObject) -> Result<Prompted> {
    let request: SessionPromptRequest = read_arguments(arguments)?;
    let session = request.session()?;
    app.session_prompt(cx, &session, prompt_of(&request)?, None)
        .await
}

async fn spawn(app: &App, cx: &OpContext, arguments: JsonObject) -> Result<Prompted> {
    let request: SessionSpawnRequest = read_arguments(arguments)?;
    app.session_spawn(cx, request.input()?, None).await
}

async fn wait(app: &App, cx: &OpContext, arguments: JsonObject) -> Result<WaitStanding> {
    let request: SessionWaitRequest = read_arguments(arguments)?;
    let (sessions, wait_for) = (request.sessions()?, request.wait_for()?);
    app.wait_begin(cx, &sessions, wait_for, request.timeout())
        .await
}

/// Tells how a task stands. `elicits` tells whether the client can be asked something.
pub(crate) async fn get(
    app: &App,
    cx: &OpContext,
    id: &str,
    elicits: bool,
) -> Result<GetTaskResult, ErrorData> {
    let standing = standing(app, cx, id, elicits).await?;
    Ok(GetTaskResult::new(standing.task))
}

/// How a task stands.
pub(crate) struct Standing {
    pub(crate) task: DetailedTask,
    /// The sessions whose doings may change it.
    pub(crate) sessions: Vec<SessionId>,
    /// Whether it will not change any more.
    pub(crate) is_over: bool,
}

/// Returns how a task stands.
pub(crate) async fn standing(
    app: &App,
    cx: &OpContext,
    id: &str,
    elicits: bool,
) -> Result<Standing, ErrorData> {
    let turn = match Named::read(id)? {
        Named::Turn(turn) => turn,
        Named::Wait(wait) => {
            let now = app.wait_get(cx, wait).await.map_err(refused)?;
            return wait_standing(&now);
        }
    };
    let now = app.turn_outcome(cx, &turn).await.map_err(refused)?;
    let payload = match now.turn.state {
        TurnState::Cancelled => TaskPayload::Cancelled,
        TurnState::Completed | TurnState::Failed => TaskPayload::Completed {
            result: prompted_result(&now)?,
        },
        TurnState::Queued | TurnState::Running if elicits && !now.approvals.is_empty() => {
            TaskPayload::InputRequired {
                input_requests: questions(&now.approvals)?,
            }
        }
        TurnState::Queued | TurnState::Running => TaskPayload::Working,
    };
    Ok(Standing {
        task: DetailedTask::new(task(&now), payload),
        sessions: vec![now.session.id],
        is_over: now.turn.finished_at.is_some(),
    })
}

fn wait_standing(now: &WaitStanding) -> Result<Standing, ErrorData> {
    let payload = match now.wait.end.as_ref().map(|end| end.how) {
        None => TaskPayload::Working,
        Some(WaitEnding::Cancelled) => TaskPayload::Cancelled,
        // That the time is up is an answer too: it says who is not done.
        Some(WaitEnding::Done | WaitEnding::TimedOut) => {
            let view = SessionWaitView::new(&now.sessions, now.wait.wait_for);
            TaskPayload::Completed {
                result: result(&view)?,
            }
        }
    };
    Ok(Standing {
        task: DetailedTask::new(wait_task(now), payload),
        sessions: now.wait.sessions.clone(),
        is_over: now.wait.end.is_some(),
    })
}

/// Answers what a task asks.
pub(crate) async fn update(
    app: &App,
    cx: &OpContext,
    id: &str,
    responses: InputResponses,
) -> Result<(), ErrorData> {
    let asked = match Named::read(id)? {
        Named::Turn(turn) => {
            let now = app.turn_outcome(cx, &turn).await.map_err(refused)?;
            now.approvals
        }
        // What its sessions ask is answered by approval_answer.
        Named::Wait(wait) => {
            app.wait_get(cx, wait).await.map_err(refused)?;
            Vec::new()
        }
    };
    for (key, response) in responses {
        let found = asked.iter().find(|it| it.id.to_string() == key);
        let found = found.ok_or_else(|| unknown("nothing is asked under this key"))?;
        let reference = Reference::from(found.id);
        let answered = app.approval_answer(cx, &reference, answer(&response)).await;
        answered.map_err(refused)?;
    }
    Ok(())
}

/// Ends what a task stands for.
pub(crate) async fn cancel(app: &App, cx: &OpContext, id: &str) -> Result<(), ErrorData> {
    let cancelled = match Named::read(id)? {
        Named::Turn(turn) => app.turn_cancel(cx, &turn).await,
        Named::Wait(wait) => app.wait_cancel(cx, wait).await,
    };
    cancelled.map_err(refused)
}

/// What a task's id names.
enum Named {
    Turn(Reference),
    Wait(WaitId),
}

impl Named {
    fn read(id: &str) -> Result<Self, ErrorData> {
        let turn = id.strip_prefix(TURN).map(Reference::parse);
        let wait = id.strip_prefix(WAIT).map(str::parse);
        let turn = turn.and_then(Result::ok).map(Self::Turn);
        let wait = wait.and_then(Result::ok).map(Self::Wait);
        turn.or(wait).ok_or_else(|| unknown("task not found"))
    }
}

fn refused(error: wh_app::AppError) -> ErrorData {
    unknown(&error_line(&error_view(&error)))
}

fn unknown(why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid params: {why}"), None)
}

fn task(now: &Prompted) -> Task {
    let updated = now.turn.finished_at.unwrap_or(now.session.updated_at);
    let state = now.session.shown_state().as_str();
    Task::new(
        format!("{TURN}{}", now.turn.id),
        TaskStatus::Working,
        now.turn.created_at.to_string(),
        updated.max(now.turn.created_at).to_string(),
    )
    .with_poll_interval_ms(POLL_MS)
    .with_status_message(format!("session {} is {state}", now.session.id))
}

fn wait_task(now: &WaitStanding) -> Task {
    let end = now.wait.end.as_ref();
    let updated = end.map_or(now.wait.created_at, |end| end.at);
    let done = now.sessions.iter().filter(|session| session.done).count();
    Task::new(
        format!("{WAIT}{}", now.wait.id),
        TaskStatus::Working,
        now.wait.created_at.to_string(),
        updated.to_string(),
    )
    .with_poll_interval_ms(POLL_MS)
    .with_status_message(format!(
        "{done} of {} sessions are done",
        now.wait.sessions.len()
    ))
}

fn prompted_result(now: &Prompted) -> Result<JsonObject, ErrorData> {
    let words = now.words.clone();
    let view = PromptedView::new(&now.session, &now.turn, words, &now.approvals);
    result(&view)
}

/// Returns what the call would have been answered with.
fn result<V: Summary + serde::Serialize>(view: &V) -> Result<JsonObject, ErrorData> {
    let internal = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let mut result = CallToolResult::success(vec![ContentBlock::text(view.summary())]);
    result.structured_content = Some(serde_json::to_value(view).map_err(internal)?);
    match serde_json::to_value(&result).map_err(internal)? {
        Value::Object(result) => Ok(result),
        _ => Ok(JsonObject::new()),
    }
}

/// Puts what the agent asks into the form of MCP's own questions.
fn questions(approvals: &[Approval]) -> Result<InputRequests, ErrorData> {
    let ask = |approval: &Approval| {
        let properties = match approval.kind {
            ApprovalKind::Question => json!({ "text": { "type": "string", "title": "Answer" } }),
            _ => json!({
                "decision": { "type": "string", "enum": ["allow", "deny"] },
                "text": { "type": "string", "title": "Reason" },
            }),
        };
        let required = match approval.kind {
            ApprovalKind::Question => json!(["text"]),
            _ => json!(["decision"]),
        };
        let request = json!({ "method": "elicitation/create", "params": {
            "mode": "form",
            "message": approval.text,
            "requestedSchema": { "type": "object", "properties": properties, "required": required },
        } });
        let request = serde_json::from_value(request).map(InputRequest::Elicitation);
        Ok((
            approval.id.to_string(),
            request.map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
        ))
    };
    approvals.iter().map(ask).collect()
}

/// Reads a response: what is not accepted is denied.
fn answer(response: &Value) -> ApprovalAnswer {
    let content = &response["content"];
    let accepted = response["action"] == "accept";
    ApprovalAnswer {
        allow: accepted && content["decision"] != "deny",
        always: false,
        text: content["text"].as_str().map(str::to_owned),
    }
}
