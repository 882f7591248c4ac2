//! Tools about turns and approvals.

use std::sync::Arc;

use wh_api::{
    ApprovalAnswerRequest, ApprovalListRequest, ApprovalListView, ApprovalView, TurnDetailView,
    TurnGetRequest, TurnListRequest, TurnListView, TurnView, cursor_of,
};
use wh_app::{App, ApprovalAnswer, ApprovalQuery, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Toolset::Approval,
            Operation::ApprovalList,
            "Lists what agents wait for: permissions, questions and plans, with the exact call.",
            approval_list,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            Toolset::Approval,
            Operation::ApprovalAnswer,
            "Allows or denies what an agent asks, or answers its question in words.",
            approval_answer,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            Toolset::Session,
            Operation::TurnList,
            "Lists a session's turns, latest first: state, tokens, cost, commits.",
            turn_list,
        ),
        Tool::new(
            Toolset::Session,
            Operation::TurnGet,
            "Shows one turn: its prompt, who sent it, what it used and the commits before and after.",
            turn_get,
        ),
    ]
}

async fn approval_list(
    app: Arc<App>,
    cx: OpContext,
    request: ApprovalListRequest,
) -> Result<ApprovalListView> {
    let query = ApprovalQuery {
        session: request.session()?,
        include_settled: request.include_settled.unwrap_or(false),
    };
    let page = app
        .approval_list(&cx, query, request.page().by_id()?)
        .await?;
    Ok(ApprovalListView {
        approvals: page.items.iter().map(ApprovalView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn approval_answer(
    app: Arc<App>,
    cx: OpContext,
    request: ApprovalAnswerRequest,
) -> Result<ApprovalView> {
    let answer = ApprovalAnswer {
        allow: request.allow()?,
        always: request.always.unwrap_or(false),
        text: request.text.clone(),
    };
    let approval = request.approval()?;
    let approval = app.approval_answer(&cx, &approval, answer).await?;
    Ok(ApprovalView::from(&approval))
}

async fn turn_list(app: Arc<App>, cx: OpContext, request: TurnListRequest) -> Result<TurnListView> {
    let page = request.page().by_number_or_id()?;
    let page = app.turn_list(&cx, &request.session()?, page).await?;
    Ok(TurnListView {
        turns: page.items.iter().map(TurnView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn turn_get(app: Arc<App>, cx: OpContext, request: TurnGetRequest) -> Result<TurnDetailView> {
    let (session, turn) = (request.session()?, request.turn()?);
    let turn = app.turn_get(&cx, session.as_ref(), &turn).await?;
    Ok(TurnDetailView::from(&turn))
}
