//! Sessions, begun and changed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{Resource, Result};
use wh_domain::{
    AgentName, Budget, Description, ForkInput, Operation, Policy, Prompt, Reference, SessionAction,
    SessionInput, SessionPatch, SessionPlace, SessionRole, SpawnInput, Title,
};

use super::{
    Status, board_named, naming, optional, session_named,
    sessions::shown,
    views::{Created, SessionView, Spawned, Updated, task_status},
    worktree_named, zone_named,
};
use crate::dialect::tool::{Call, DialectTool, Reply, field, reference};

/// How long a spawn waits that is told to.
const WAIT_MAX: Duration = Duration::from_secs(300);

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_sessions_spawn",
            Op::SessionSpawn,
            "Spawn a child session (subsession) from a parent session. It sees nothing of the parent's conversation: say everything it needs in the prompt.",
            spawn,
        ),
        DialectTool::new(
            "agor_sessions_create",
            Op::SessionCreate,
            "Create a new agent session on a board",
            create,
        ),
        DialectTool::new(
            "agor_sessions_fork",
            Op::SessionFork,
            "Fork a session at one of its tasks: a new session with the same conversation, and the files as they were then",
            fork,
        ),
        DialectTool::new(
            "agor_sessions_update",
            Op::SessionUpdate,
            "Update session metadata (title, description)",
            update,
        ),
        DialectTool::new(
            "agor_sessions_patch",
            Op::SessionUpdate,
            "Update session metadata",
            patch,
        )
        .alias(),
        DialectTool::new(
            "agor_sessions_remove",
            Op::SessionManage,
            "Delete a session and what was said in it",
            remove,
        )
        .alias(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spawn {
    /// Parent session ID (UUIDv7 or short ID like 01933f2b)
    parent_id: String,
    /// Initial prompt for the subsession
    prompt: String,
    /// Agent to use (defaults to parent agent)
    #[serde(default)]
    #[schemars(extend("enum" = ["claude-code", "codex", "gemini", null]))]
    agent: Option<String>,
    /// Zone of the parent's board to position the subsession in
    #[serde(default)]
    zone_id: Option<String>,
    /// Wait for subsession completion before returning, at most 300 seconds
    #[serde(default)]
    sync: bool,
}

async fn spawn(call: Call, request: Spawn) -> Result<Reply<Spawned>> {
    let agent = request.agent.as_deref().map(AgentName::parse);
    let zone = request.zone_id.as_deref();
    let input = SpawnInput {
        parent: Some(reference("parentId", &request.parent_id)?),
        agent: field("agent", agent.transpose())?,
        prompt: field("prompt", Prompt::parse(&request.prompt))?,
        files: Vec::new(),
        title: None,
        role: None,
        workspace: None,
        branch: None,
        zone: optional("zoneId", zone)?,
        budget: Budget::default(),
        policy: None,
        mode: None,
        model: call.model()?,
        tier: None,
        hosts: None,
        mcp_dialect: None,
        callback: false,
    };
    let wait = request.sync.then_some(WAIT_MAX);
    let spawned = call.app.session_spawn(&call.cx, input, wait).await;
    let parent = session_named("parentId", &request.parent_id);
    let spawned = spawned.map_err(naming([parent, zone_named(zone)]))?;
    let id = spawned.session.id;
    let entity = shown(&call, &spawned.session).await?;
    Ok(Spawned {
        made: Created::new(id, entity),
        session_id: id.to_string(),
        status: match spawned.turn.state.is_end() {
            true => task_status(&spawned.turn),
            false => Status::Running,
        },
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Create {
    /// Board to create session on
    board_id: String,
    /// Agent type to use
    #[schemars(extend("enum" = ["claude-code", "codex", "gemini"]))]
    agent: String,
    /// Worktree to associate with session; an empty directory unless given
    #[serde(default)]
    worktree_id: Option<String>,
    /// Zone to position session in
    #[serde(default)]
    zone_id: Option<String>,
}

async fn create(call: Call, request: Create) -> Result<Reply<Created<SessionView>>> {
    let (worktree, zone) = (request.worktree_id.as_deref(), request.zone_id.as_deref());
    let place = optional("worktreeId", worktree)?;
    let input = SessionInput {
        agent: field("agent", AgentName::parse(&request.agent))?,
        prompt: None,
        files: Vec::new(),
        title: None,
        description: None,
        role: SessionRole::General,
        place: place.map_or(SessionPlace::Scratch, SessionPlace::Worktree),
        board: Some(reference("boardId", &request.board_id)?),
        zone: optional("zoneId", zone)?,
        budget: Budget::default(),
        policy: Policy::default(),
        mode: None,
        model: call.model()?,
        tier: None,
        hosts: None,
        mcp_dialect: None,
    };
    let session = call.app.session_create(&call.cx, input).await;
    let session = session.map_err(naming([
        board_named(Some(&request.board_id)),
        worktree_named(worktree),
        zone_named(zone),
    ]))?;
    let entity = shown(&call, &session).await?;
    Ok(Created::new(session.id, entity).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fork {
    /// Session to fork
    session_id: String,
    /// The last task that both have; the last that is over unless given
    #[serde(default)]
    task_id: Option<String>,
    /// What the fork is to do first
    #[serde(default)]
    prompt: Option<String>,
}

async fn fork(call: Call, request: Fork) -> Result<Reply<Created<SessionView>>> {
    let prompt = request.prompt.as_deref().map(Prompt::parse);
    let task = request.task_id.as_deref();
    let input = ForkInput {
        session: reference("sessionId", &request.session_id)?,
        turn: optional("taskId", task)?,
        agent: None,
        model: call.model()?,
        prompt: field("prompt", prompt.transpose())?,
        title: None,
        callback: false,
        leave_uncommitted: false,
    };
    let forked = call.app.session_fork(&call.cx, input).await;
    let forked = forked.map_err(naming([
        session_named("sessionId", &request.session_id),
        (Resource::Turn, "Task", "taskId", task),
    ]))?;
    let session = forked.session;
    let entity = shown(&call, &session).await?;
    Ok(Created::new(session.id, entity).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Update {
    /// Session ID; the current session unless given
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

/// What may be changed about a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionData {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

async fn update(call: Call, request: Update) -> Result<Reply<Updated>> {
    let session = optional("sessionId", request.session_id.as_deref())?;
    let session = match session {
        Some(session) => Some(session),
        None => call.session_of_address()?,
    };
    let data = SessionData {
        title: request.title,
        description: request.description,
    };
    changed(&call, session, request.session_id.as_deref(), data).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// Session ID
    id: String,
    data: SessionData,
}

async fn patch(call: Call, request: Patch) -> Result<Reply<Updated>> {
    let session = reference("id", &request.id)?;
    changed(&call, Some(session), Some(&request.id), request.data).await
}

async fn changed(
    call: &Call,
    session: Option<Reference>,
    named: Option<&str>,
    request: SessionData,
) -> Result<Reply<Updated>> {
    let title = request.title.as_deref().map(Title::parse);
    let description = request.description.as_deref().map(Description::parse);
    let patch = SessionPatch {
        title: field("title", title.transpose())?,
        description: field("description", description.transpose())?,
        ..SessionPatch::default()
    };
    let session = call.app.session_update(&call.cx, session, patch).await;
    let session = session.map_err(naming([(Resource::Session, "Session", "sessionId", named)]))?;
    Ok(Updated {
        session: shown(call, &session).await?,
        description: session.description.map(|it| it.to_string()),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// Session ID
    id: String,
}

async fn remove(call: Call, request: Remove) -> Result<Reply<SessionView>> {
    let session = reference("id", &request.id)?;
    let missing = || naming([session_named("id", &request.id)]);
    let found = call.app.session_get(&call.cx, &session).await;
    let found = found.map_err(missing())?.session;
    let view = shown(&call, &found).await?;
    let action = SessionAction::Delete;
    let removed = call.app.session_manage(&call.cx, &session, action);
    removed.await.map_err(missing())?;
    Ok(view.into())
}
