//! Long calls as MCP tasks, for clients that declare them.
//!
//! A task stands for a turn: its id is the turn's, and everything about it is read from the turn's rows. So a task is durable before
//! it is named, outlives restarts, belongs to whoever can reach the turn, and needs no table of its own. What the agent asks
//! becomes the task's input requests; a response answers the approval.

use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, GetTaskResult, InputRequest,
        InputRequests, InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
    },
};
use serde_json::{Value, json};
use wh_api::{PromptedView, SessionPromptRequest, SessionSpawnRequest};
use wh_app::{App, ApprovalAnswer, OpContext, Prompted, Result};
use wh_domain::{Approval, ApprovalKind, Operation, Reference, SessionId, TurnState};

use crate::{error::error_line, summary::Summary, tools::read_arguments};

/// Stands before a turn's id.
const PREFIX: &str = "turn-";

/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 1_000;

/// Begins a call as a task, if it is one that waits; `None` if it should be answered at once.
pub(crate) async fn begin(
    app: &App,
    cx: &OpContext,
    operation: Operation,
    arguments: &JsonObject,
) -> Option<Result<CreateTaskResult>> {
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
    let (session, prompt) = (request.session()?, request.prompt()?);
    app.session_prompt(cx, &session, &prompt, request.when_busy()?, None)
        .await
}

async fn spawn(app: &App, cx: &OpContext, arguments: JsonObject) -> Result<Prompted> {
    let request: SessionSpawnRequest = read_arguments(arguments)?;
    app.session_spawn(cx, request.input()?, None).await
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
    /// The session that is at it.
    pub(crate) session: SessionId,
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
    let outcome = app.turn_outcome(cx, &turn(id)?).await;
    let now = outcome.map_err(|error| unknown(&error_line(&error)))?;
    let payload = match now.turn.state {
        TurnState::Cancelled => TaskPayload::Cancelled,
        TurnState::Completed | TurnState::Failed => TaskPayload::Completed {
            result: result(&now)?,
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
        session: now.session.id,
        is_over: now.turn.finished_at.is_some(),
    })
}

/// Answers what a task asks.
pub(crate) async fn update(
    app: &App,
    cx: &OpContext,
    id: &str,
    responses: InputResponses,
) -> Result<(), ErrorData> {
    let outcome = app.turn_outcome(cx, &turn(id)?).await;
    let now = outcome.map_err(|error| unknown(&error_line(&error)))?;
    for (key, response) in responses {
        let asked = now.approvals.iter().find(|it| it.id.to_string() == key);
        let asked = asked.ok_or_else(|| unknown("nothing is asked under this key"))?;
        let reference = Reference::from(asked.id);
        let answered = app.approval_answer(cx, &reference, answer(&response)).await;
        answered.map_err(|error| unknown(&error_line(&error)))?;
    }
    Ok(())
}

/// Ends what a task stands for.
pub(crate) async fn cancel(app: &App, cx: &OpContext, id: &str) -> Result<(), ErrorData> {
    let cancelled = app.turn_cancel(cx, &turn(id)?).await;
    cancelled.map_err(|error| unknown(&error_line(&error)))
}

fn turn(id: &str) -> Result<Reference, ErrorData> {
    let turn = id.strip_prefix(PREFIX).map(Reference::parse);
    turn.and_then(Result::ok)
        .ok_or_else(|| unknown("no such task"))
}

fn unknown(why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid params: {why}"), None)
}

fn task(now: &Prompted) -> Task {
    let updated = now.turn.finished_at.unwrap_or(now.session.updated_at);
    let state = now.session.state.name().as_str();
    Task::new(
        format!("{PREFIX}{}", now.turn.id),
        TaskStatus::Working,
        now.turn.created_at.to_string(),
        updated.max(now.turn.created_at).to_string(),
    )
    .with_poll_interval_ms(POLL_MS)
    .with_status_message(format!("session {} is {state}", now.session.id))
}

/// Returns what the call would have been answered with.
fn result(now: &Prompted) -> Result<JsonObject, ErrorData> {
    let internal = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let words = now.words.clone();
    let view = PromptedView::new(&now.session, &now.turn, words, &now.approvals);
    let mut result = CallToolResult::success(vec![ContentBlock::text(view.summary())]);
    result.structured_content = Some(serde_json::to_value(&view).map_err(internal)?);
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
