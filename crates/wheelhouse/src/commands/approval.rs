//! `wheelhouse approvals`, `approve`, `deny` and `answer`.

use clap::Args;
use serde_json::Value;
use wh_api::{ApprovalAnswerRequest, ApprovalListRequest, ApprovalListView, ApprovalView};
use wh_client::Client;

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::follow::pending;
use crate::ui::{Table, Ui, age, now, shortened};

/// How much of what is asked a table shows.
const TEXT_CHARS_MAX: usize = 70;

/// List what agents ask for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse approvals
  wheelhouse approvals --session 89abcdef --all")]
pub(crate) struct ApprovalsArgs {
    /// Only of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Settled ones too
    #[arg(long, short)]
    all: bool,
    #[command(flatten)]
    page: PageArgs,
}

/// Allow what an agent asks for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse approve 89abcdef
  wheelhouse approve 89abcdef --always")]
pub(crate) struct ApproveArgs {
    /// The approval's id or its last 8 digits, or a session that asks for one thing
    #[arg(value_name = "ID")]
    approval: String,
    /// The same for everything of this kind from now on, if the agent offers that
    #[arg(long)]
    always: bool,
}

/// Refuse what an agent asks for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse deny 89abcdef
  wheelhouse deny 89abcdef --reason 'use the staging database'")]
pub(crate) struct DenyArgs {
    /// The approval's id or its last 8 digits, or a session that asks for one thing
    #[arg(value_name = "ID")]
    approval: String,
    /// Reason, which the agent reads in its next prompt
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The same for everything of this kind from now on, if the agent offers that
    #[arg(long)]
    always: bool,
}

/// Answer an agent's question
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse answer 89abcdef 'the second one'")]
pub(crate) struct AnswerArgs {
    /// The approval's id or its last 8 digits, or a session that asks for one thing
    #[arg(value_name = "ID")]
    approval: String,
    text: String,
}

pub(crate) async fn list(cx: &Context, args: ApprovalsArgs) -> CliResult {
    let request = ApprovalListRequest {
        session: args.session,
        include_settled: args.all.then_some(true),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.approval_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

pub(crate) async fn approve(cx: &Context, args: ApproveArgs) -> CliResult {
    let request = ApprovalAnswerRequest {
        approval: args.approval,
        decision: "allow".to_owned(),
        always: args.always.then_some(true),
        ..ApprovalAnswerRequest::default()
    };
    settle(cx, request).await
}

pub(crate) async fn deny(cx: &Context, args: DenyArgs) -> CliResult {
    let request = ApprovalAnswerRequest {
        approval: args.approval,
        decision: "deny".to_owned(),
        always: args.always.then_some(true),
        text: args.reason,
        ..ApprovalAnswerRequest::default()
    };
    settle(cx, request).await
}

pub(crate) async fn answer(cx: &Context, args: AnswerArgs) -> CliResult {
    let request = ApprovalAnswerRequest {
        approval: args.approval,
        decision: "allow".to_owned(),
        text: Some(args.text),
        ..ApprovalAnswerRequest::default()
    };
    settle(cx, request).await
}

async fn settle(cx: &Context, request: ApprovalAnswerRequest) -> CliResult {
    let client = cx.client()?;
    let settled = match client
        .approval_answer(&request)
        .await
        .map_err(CliError::from)
    {
        Err(error) if error.exit == Exit::NotFound => {
            let Some(approval) = only_one_of(&client, &request.approval).await? else {
                return Err(error.hint("`wheelhouse approvals` lists what is asked"));
            };
            let request = ApprovalAnswerRequest {
                approval,
                ..request
            };
            client.approval_answer(&request).await?
        }
        settled => settled?,
    };
    cx.ui.answer(&settled, |ui| {
        ui.line(&format!("{}: {}", settled.state, settled.text))
    })
}

/// Returns what a session asks for, if the text names one.
async fn only_one_of(client: &Client, session: &str) -> CliResult<Option<String>> {
    let Ok(found) = client.session_get(session).await else {
        return Ok(None);
    };
    match pending(client, &found.id).await?.as_slice() {
        [one] => Ok(Some(one.id.clone())),
        [] => Err(CliError::usage("the session asks for nothing")),
        several => {
            let ids: Vec<_> = several.iter().map(|it| it.id.as_str()).collect();
            let message = format!("the session asks for {} things", several.len());
            Err(CliError::usage(message).hint(format!("name one of {}", ids.join(", "))))
        }
    }
}

fn table(ui: &Ui, list: &ApprovalListView) -> CliResult {
    let mut table = Table::new(&["ID", "SESSION", "KIND", "STATE", "BY", "AGE", "WHAT"]);
    let now = now();
    for approval in &list.approvals {
        let first_line = approval.text.lines().next().unwrap_or_default();
        let session = approval
            .session
            .get(approval.session.len().saturating_sub(8)..);
        table.row([
            &approval.id,
            session.unwrap_or("-"),
            &approval.kind,
            &approval.state,
            approval.answered_by.as_deref().unwrap_or("-"),
            &age(&approval.created_at, now),
            &shortened(first_line, TEXT_CHARS_MAX),
        ]);
    }
    ui.table(&table, "nothing waits for an answer")?;
    for approval in list.approvals.iter().filter(|it| it.state == "pending") {
        for line in exact_call(approval) {
            ui.line(&format!("{}  {line}", approval.id))?;
        }
    }
    ui.more(list.approvals.len(), list.total, list.next_cursor.as_ref())
}

/// Returns what a permission is really for, in full: a title is the agent's own words and may say anything.
fn exact_call(approval: &ApprovalView) -> Vec<String> {
    let Some(call) = approval.detail.as_ref().map(|detail| &detail["call"]) else {
        return Vec::new();
    };
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = match &call["input"] {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect(),
        Value::Null => Vec::new(),
        other => vec![format!("input: {}", shown(other))],
    };
    if call["input_cut"] == true {
        lines.push("input: too large to be shown".to_owned());
    }
    let locations = call["locations"].as_array().map_or(&[][..], Vec::as_slice);
    let paths = locations.iter().filter_map(|it| it["path"].as_str());
    lines.extend(paths.map(|path| format!("path: {path}")));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_exact_call_is_shown_in_full() {
        let command = format!("true {}; rm -rf ~", "x".repeat(5_000));
        let approval = |call: Value| ApprovalView {
            id: "89abcdef".to_owned(),
            session: String::new(),
            kind: "permission".to_owned(),
            state: "pending".to_owned(),
            text: "List files".to_owned(),
            detail: Some(json!({ "call": call })),
            answer: None,
            answered_by: None,
            answered_by_session_id: None,
            expires_at: None,
            created_at: String::new(),
        };
        let shown = exact_call(&approval(json!({
            "input": {"command": command, "timeout": 3}, "locations": [{"path": "/srv/x"}],
        })));
        assert_eq!(
            shown,
            [
                format!("command: {command}"),
                "timeout: 3".to_owned(),
                "path: /srv/x".to_owned()
            ]
        );
        assert_eq!(exact_call(&approval(json!({"input_cut": true}))).len(), 1);
        assert_eq!(exact_call(&approval(Value::Null)), Vec::<String>::new());
    }
}
