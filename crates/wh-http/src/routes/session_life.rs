//! Sessions under way, their turns and what they wait for.

use http::Method;
use wh_api::{
    ApprovalAnswerRequest, ApprovalListRequest, ApprovalListView, ApprovalView, PromptedView,
    SessionCreateRequest, SessionForkRequest, SessionInterruptRequest, SessionManageRequest,
    SessionPromptRequest, SessionSpawnRequest, SessionView, SessionWaitRequest, SessionWaitView,
    TurnDetailView, TurnFileRequest, TurnFileView, TurnGetRequest, TurnListRequest, TurnListView,
    cursor_of,
};
use wh_app::{ApprovalAnswer, ApprovalQuery, PromptInput};
use wh_domain::{Operation, RequestedTerms};

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = session_routes();
    routes.extend(turn_routes());
    routes.extend(approval_routes());
    routes
}

fn session_routes() -> Vec<Route> {
    vec![
        create(
            "/sessions",
            Operation::SessionCreate,
            "Begins a session",
            |view: &SessionView| Some(format!("/sessions/{}", view.id)),
            |server, cx, request: SessionCreateRequest| async move {
                let input = request.input()?;
                let requested = RequestedTerms::from(&input);
                let session = server.app.session_create(&cx, input).await?;
                Ok(SessionView::created(&session, &requested))
            },
        )
        .takes_files(),
        create(
            "/sessions/{parent}/children",
            Operation::SessionSpawn,
            "Begins a session under another and, if asked to, waits for what comes of its prompt",
            |view: &PromptedView| Some(format!("/sessions/{}", view.session)),
            |server, cx, request: SessionSpawnRequest| async move {
                let input = request.input()?;
                let requested = RequestedTerms::from(&input);
                let spawn = server.app.session_spawn(&cx, input, request.wait());
                let done = spawn.await?;
                let view =
                    PromptedView::new(&done.session, &done.turn, done.words, &done.approvals);
                Ok(view.with_terms(&done.session, &requested))
            },
        )
        .waits()
        .takes_files(),
        create(
            "/sessions/{session}/forks",
            Operation::SessionFork,
            "Branches a session off another at one of its turns",
            |view: &SessionView| Some(format!("/sessions/{}", view.id)),
            |server, cx, request: SessionForkRequest| async move {
                let input = request.input()?;
                let forked = server.app.session_fork(&cx, input).await?;
                Ok(SessionView::forked(&forked))
            },
        ),
        change(
            Method::POST,
            "/sessions/{session}/prompts",
            Operation::SessionPrompt,
            "Sends a prompt to a session and, if asked to, waits for what comes of it",
            |server, cx, request: SessionPromptRequest| async move {
                let session = request.session()?;
                let prompt = PromptInput {
                    text: request.prompt()?,
                    files: request.files()?,
                    when_busy: request.when_busy()?,
                };
                let prompted = server
                    .app
                    .session_prompt(&cx, &session, prompt, request.wait());
                let done = prompted.await?;
                Ok(PromptedView::new(
                    &done.session,
                    &done.turn,
                    done.words,
                    &done.approvals,
                ))
            },
        )
        .waits()
        .takes_files(),
        get(
            "/sessions/wait",
            Operation::SessionWait,
            "Waits until sessions are at rest, ended or in need of an answer",
            |server, cx, request: SessionWaitRequest| async move {
                let wait_for = request.wait_for()?;
                let (sessions, timeout) = (request.sessions()?, request.timeout());
                let wait = server.app.session_wait(&cx, &sessions, wait_for, timeout);
                Ok(SessionWaitView::new(&wait.await?, wait_for))
            },
        )
        .waits(),
        change(
            Method::POST,
            "/sessions/{session}/interrupt",
            Operation::SessionInterrupt,
            "Ends the running turn of a session, or cancels a queued prompt",
            |server, cx, request: SessionInterruptRequest| async move {
                let (session, turn) = (request.session()?, request.turn()?);
                let session = match &turn {
                    Some(turn) => server.app.session_turn_cancel(&cx, &session, turn).await?,
                    None => server.app.session_interrupt(&cx, &session).await?,
                };
                Ok(SessionView::from(&session))
            },
        ),
        change(
            Method::POST,
            "/sessions/{session}/manage",
            Operation::SessionManage,
            "Starts, stops, archives, restores or deletes a session",
            |server, cx, request: SessionManageRequest| async move {
                let action = request.action()?;
                let session = request.session()?;
                let session = server.app.session_manage(&cx, &session, action).await?;
                Ok(SessionView::from(&session))
            },
        ),
    ]
}

fn turn_routes() -> Vec<Route> {
    vec![
        get(
            "/sessions/{session}/turns",
            Operation::TurnList,
            "Lists a session's turns, latest first",
            |server, cx, request: TurnListRequest| async move {
                let page = request.page().by_number_or_id()?;
                let page = server.app.turn_list(&cx, &request.session()?, page).await?;
                Ok(TurnListView {
                    turns: page.items.iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        get(
            "/turns/{turn}",
            Operation::TurnGet,
            "Shows a turn",
            |server, cx, request: TurnGetRequest| async move {
                let (session, turn) = (request.session()?, request.turn()?);
                let turn = server.app.turn_get(&cx, session.as_ref(), &turn).await?;
                Ok(TurnDetailView::from(&turn))
            },
        ),
        get(
            "/turns/{turn}/file",
            Operation::TurnFile,
            "Returns a file that came with a turn's prompt",
            |server, cx, request: TurnFileRequest| async move {
                let (session, turn) = (request.session()?, request.turn()?);
                let file = server
                    .app
                    .turn_file(&cx, session.as_ref(), &turn, request.number);
                let file = file.await?;
                Ok(TurnFileView::from(&file))
            },
        ),
    ]
}

fn approval_routes() -> Vec<Route> {
    vec![
        get(
            "/approvals",
            Operation::ApprovalList,
            "Lists what agents wait for, newest first",
            |server, cx, request: ApprovalListRequest| async move {
                let query = ApprovalQuery {
                    session: request.session()?,
                    include_settled: request.include_settled.unwrap_or(false),
                };
                let page = request.page().by_id()?;
                let page = server.app.approval_list(&cx, query, page).await?;
                Ok(ApprovalListView {
                    approvals: page.items.iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        change(
            Method::POST,
            "/approvals/{approval}",
            Operation::ApprovalAnswer,
            "Allows or denies what an agent asks",
            |server, cx, request: ApprovalAnswerRequest| async move {
                let answer = ApprovalAnswer {
                    allow: request.allow()?,
                    always: request.always.unwrap_or(false),
                    text: request.text.clone(),
                };
                let approval = request.approval()?;
                let approval = server.app.approval_answer(&cx, &approval, answer).await?;
                Ok(ApprovalView::from(&approval))
            },
        ),
    ]
}
