//! Tools that run sessions: begin, prompt, wait, interrupt, manage.

use std::sync::Arc;

use wh_api::{
    PromptedView, SessionCreateRequest, SessionForkRequest, SessionInterruptRequest,
    SessionManageRequest, SessionPromptRequest, SessionSpawnRequest, SessionView,
    SessionWaitRequest, SessionWaitView,
};
use wh_app::{App, OpContext, PromptInput, Prompted, Result};
use wh_domain::{Operation, RequestedTerms};

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Session;
    vec![
        Tool::new(
            set,
            Operation::SessionCreate,
            "Begins a session: an agent at work on a prompt. Returns at once; session_wait tells when it is done.",
            session_create,
        )
        // Files in base64 are for programs, not for those who would have to say them.
        .unlisted("files")
        .for_keys()
        .for_leads(),
        Tool::new(
            set,
            Operation::SessionSpawn,
            "Begins a child session: another agent at work on a prompt. Returns at once unless told to wait.",
            session_spawn,
        )
        .unlisted("files")
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionFork,
            "Branches a session off another at one of its turns: the same conversation until then, the files as they were.",
            session_fork,
        ),
        Tool::new(
            set,
            Operation::SessionPrompt,
            "Sends a prompt to a session. With wait, returns what came of it; a session that was stopped is resumed.",
            session_prompt,
        )
        .unlisted("files")
        .for_keys()
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionWait,
            "Waits until sessions are at rest, ended or in need of an answer. Use it instead of polling.",
            session_wait,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionInterrupt,
            "Ends the running turn of a session, or cancels a queued prompt; the session stays and can be prompted.",
            session_interrupt,
        ),
        Tool::new(
            set,
            Operation::SessionManage,
            "Starts, stops, archives, restores or deletes a session. Stopping ends its whole process tree; archiving and deleting stop first.",
            session_manage,
        )
        .for_keys(),
    ]
}

async fn session_create(
    app: Arc<App>,
    cx: OpContext,
    request: SessionCreateRequest,
) -> Result<SessionView> {
    let input = request.input()?;
    let requested = RequestedTerms::from(&input);
    let session = app.session_create(&cx, input).await?;
    Ok(SessionView::created(&session, &requested))
}

async fn session_spawn(
    app: Arc<App>,
    cx: OpContext,
    request: SessionSpawnRequest,
) -> Result<PromptedView> {
    let input = request.input()?;
    let requested = RequestedTerms::from(&input);
    let done = app.session_spawn(&cx, input, request.wait()).await?;
    let session = done.session.clone();
    Ok(prompted(done).with_terms(&session, &requested))
}

async fn session_fork(
    app: Arc<App>,
    cx: OpContext,
    request: SessionForkRequest,
) -> Result<SessionView> {
    let input = request.input()?;
    let forked = app.session_fork(&cx, input).await?;
    Ok(SessionView::forked(&forked))
}

fn prompted(done: Prompted) -> PromptedView {
    PromptedView::new(&done.session, &done.turn, done.words, &done.approvals)
}

/// Returns what a request says to a session.
pub(crate) fn prompt_of(request: &SessionPromptRequest) -> Result<PromptInput> {
    Ok(PromptInput {
        text: request.prompt()?,
        files: request.files()?,
        when_busy: request.when_busy()?,
    })
}

async fn session_prompt(
    app: Arc<App>,
    cx: OpContext,
    request: SessionPromptRequest,
) -> Result<PromptedView> {
    let session = request.session()?;
    let done = app.session_prompt(&cx, &session, prompt_of(&request)?, request.wait());
    Ok(prompted(done.await?))
}

async fn session_wait(
    app: Arc<App>,
    cx: OpContext,
    request: SessionWaitRequest,
) -> Result<SessionWaitView> {
    let wait_for = request.wait_for()?;
    let sessions = request.sessions()?;
    let waited = app.session_wait(&cx, &sessions, wait_for, request.timeout());
    Ok(SessionWaitView::new(&waited.await?, wait_for))
}

async fn session_interrupt(
    app: Arc<App>,
    cx: OpContext,
    request: SessionInterruptRequest,
) -> Result<SessionView> {
    let (session, turn) = (request.session()?, request.turn()?);
    let session = match &turn {
        Some(turn) => app.session_turn_cancel(&cx, &session, turn).await?,
        None => app.session_interrupt(&cx, &session).await?,
    };
    Ok(SessionView::from(&session))
}

async fn session_manage(
    app: Arc<App>,
    cx: OpContext,
    request: SessionManageRequest,
) -> Result<SessionView> {
    let action = request.action()?;
    let session = app.session_manage(&cx, &request.session()?, action).await?;
    Ok(SessionView::from(&session))
}
