//! Sessions and their tasks.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{Result, SessionQuery};
use wh_domain::{
    AgentName, Budget, Denied, Description, ForkInput, Operation, PageLimit, PageRequest, Policy,
    Prompt, Reference, Session, SessionInput, SessionPatch, SessionPlace, SessionRole,
    SessionStateName, SpawnInput, Title, Turn, TurnChoice,
};

use super::{
    SPAWNED_STATUSES, STATUSES, Status, board_named, default_limit, first, naming, session_named,
    views::{
        Created, Family, Hit, Listed, SessionSummary, SessionView, Spawned, TaskSummary, TaskView,
        Updated, WithStatus, task_status,
    },
    worktree_named, zone_named,
};
use crate::dialect::tool::{Call, DialectTool, Reply, field, reference};

/// How long a spawn waits that is told to.
const WAIT_MAX: Duration = Duration::from_secs(300);

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_sessions_list",
            Op::SessionList,
            "List all sessions accessible to the current user, newest first",
            list,
        ),
        DialectTool::new(
            "agor_sessions_get",
            Op::SessionGet,
            "Get detailed information about a specific session, including genealogy and current state",
            get,
        ),
        DialectTool::new(
            "agor_sessions_get_current",
            Op::SessionCurrent,
            "Get information about the current session (the one making this MCP call). Useful for introspection.",
            get_current,
        ),
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
            "agor_sessions_genealogy",
            Op::SessionTree,
            "Get session genealogy tree (parent, children, siblings)",
            genealogy,
        ),
        DialectTool::new(
            "agor_sessions_search",
            Op::SessionSearch,
            "Search what was said in all sessions, best matches first",
            search,
        ),
        DialectTool::new(
            "agor_tasks_list",
            Op::TurnList,
            "List tasks (user prompts) in a session, latest first",
            tasks_list,
        ),
        DialectTool::new(
            "agor_tasks_get",
            Op::TurnGet,
            "Get detailed information about a specific task",
            tasks_get,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    /// Maximum number of sessions to return
    #[serde(default = "default_limit")]
    limit: u32,
    /// Filter by session status
    #[serde(default)]
    status: Option<Status>,
    /// Filter sessions by board ID (UUIDv7 or short ID)
    #[serde(default)]
    board_id: Option<String>,
    /// Filter sessions by worktree ID
    #[serde(default)]
    worktree_id: Option<String>,
}

async fn list(call: Call, request: List) -> Result<Reply<Listed<SessionSummary>>> {
    let wanted = |status: &Status| request.status.is_none_or(|wanted| wanted == *status);
    let states = STATUSES.iter().filter(|(_, status)| wanted(status));
    let latest = SPAWNED_STATUSES.iter();
    let latest = latest.filter(|(_, status)| wanted(status));
    let (board, worktree) = (request.board_id.as_deref(), request.worktree_id.as_deref());
    let query = SessionQuery {
        states: states.map(|(state, _)| *state).collect(),
        spawned: Some(latest.map(|(turn, _)| *turn).collect()).filter(|_| request.status.is_some()),
        board: optional("boardId", board)?,
        worktree: optional("worktreeId", worktree)?,
        ..SessionQuery::default()
    };
    let page = first(request.limit);
    let found = call.app.session_list(&call.cx, query.clone(), page).await;
    let found = found.map_err(naming([board_named(board), worktree_named(worktree)]))?;
    Ok(Listed {
        total: call.app.session_count(&call.cx, query).await?,
        limit: page.limit.get(),
        skip: 0,
        data: with_status(&call, found.items)
            .await?
            .iter()
            .map(SessionSummary::from)
            .collect(),
    }
    .into())
}

async fn with_status(call: &Call, sessions: Vec<Session>) -> Result<Vec<WithStatus>> {
    let mut shown = Vec::with_capacity(sessions.len());
    for session in sessions {
        let status = status_of(call, &session).await?;
        shown.push((session, status));
    }
    Ok(shown)
}

/// Looks up what a session is doing; what was spawned and is idle is known by its latest turn.
async fn status_of(call: &Call, session: &Session) -> Result<Status> {
    let state = session.state.name();
    if state == SessionStateName::Idle && session.parent.is_some() {
        let turns = turns_of(call, session, 1).await?;
        let latest = turns.first().map(|turn| turn.state);
        return Ok(in_table(SPAWNED_STATUSES, latest));
    }
    Ok(in_table(STATUSES, state))
}

fn in_table<T: Copy + PartialEq>(table: &[(T, Status)], ours: T) -> Status {
    let row = table.iter().find(|(row, _)| *row == ours);
    row.map_or(Status::Failed, |(_, status)| *status)
}

/// Returns so many of a session's turns, latest first.
async fn turns_of(call: &Call, session: &Session, limit: u32) -> Result<Vec<Turn>> {
    let session = Reference::from(session.id);
    let turns = call.app.turn_list(&call.cx, &session, first(limit));
    Ok(turns.await?.items)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    /// Session ID (UUIDv7 or short ID like 01a1b2c3)
    session_id: String,
}

async fn get(call: Call, request: Get) -> Result<Reply<SessionView>> {
    let session = reference("sessionId", &request.session_id)?;
    let found = call.app.session_get(&call.cx, &session).await;
    let found = found.map_err(naming([session_named("sessionId", &request.session_id)]))?;
    Ok(shown(&call, &found.session).await?.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCurrent {}

async fn get_current(call: Call, _request: GetCurrent) -> Result<Reply<SessionView>> {
    let session = call.app.session_current(&call.cx).await;
    let session = session.map_err(|error| match call.cx.principal.credential.session() {
        Some(_) => error,
        None => error.hint(
            "only a session's own token has one; agor_sessions_get {\"sessionId\": ID} shows any",
        ),
    })?;
    Ok(shown(&call, &session).await?.into())
}

/// Shows a session with its children and tasks, as many as one answer holds.
async fn shown(call: &Call, session: &Session) -> Result<SessionView> {
    let query = SessionQuery {
        parent: Some(Reference::from(session.id)),
        include_archived: true,
        ..SessionQuery::default()
    };
    let page = PageRequest::first(PageLimit::MAX);
    let children = call.app.session_list(&call.cx, query, page).await?.items;
    let turns = turns_of(call, session, PageLimit::MAX.get()).await?;
    let status = status_of(call, session).await?;
    Ok(SessionView::new(session, status, &children, &turns))
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
        title: None,
        role: None,
        workspace: None,
        branch: None,
        zone: optional("zoneId", zone)?,
        budget: Budget::default(),
        policy: None,
        mode: None,
        callback: false,
    };
    let wait = request.sync.then_some(WAIT_MAX);
    let spawned = call.app.session_spawn(&call.cx, input, wait).await;
    let parent = session_named("parentId", &request.parent_id);
    let spawned = spawned.map_err(naming([parent, zone_named(zone)]))?;
    Ok(Spawned {
        session_id: spawned.session.id.to_string(),
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
        title: None,
        description: None,
        role: SessionRole::General,
        place: place.map_or(SessionPlace::Scratch, SessionPlace::Worktree),
        board: Some(reference("boardId", &request.board_id)?),
        zone: optional("zoneId", zone)?,
        budget: Budget::default(),
        policy: Policy::default(),
        mode: None,
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
        turn: optional("taskId", task)?.map(TurnChoice::Id),
        agent: None,
        prompt: field("prompt", prompt.transpose())?,
        title: None,
        callback: false,
    };
    let session = call.app.session_fork(&call.cx, input).await;
    let session = session.map_err(naming([
        session_named("sessionId", &request.session_id),
        ("turn", "Task", "taskId", task),
    ]))?;
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

async fn update(call: Call, request: Update) -> Result<Reply<Updated>> {
    let title = request.title.as_deref().map(Title::parse);
    let description = request.description.as_deref().map(Description::parse);
    let patch = SessionPatch {
        title: field("title", title.transpose())?,
        description: field("description", description.transpose())?,
    };
    let named = request.session_id.as_deref();
    let session = optional("sessionId", named)?;
    let session = call.app.session_update(&call.cx, session, patch).await;
    let session = session.map_err(naming([("session", "Session", "sessionId", named)]))?;
    Ok(Updated {
        session: shown(&call, &session).await?,
        description: session.description.map(|it| it.to_string()),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GenealogyOf {
    /// Session ID
    session_id: String,
    /// How many levels to traverse
    #[serde(default = "default_depth")]
    depth: u32,
}

fn default_depth() -> u32 {
    2
}

async fn genealogy(call: Call, request: GenealogyOf) -> Result<Reply<Family>> {
    let session = reference("sessionId", &request.session_id)?;
    let missing = || naming([session_named("sessionId", &request.session_id)]);
    let found = call.app.session_tree(&call.cx, &session).await;
    let found = found.map_err(missing())?;
    let tree = with_status(&call, found.tree).await?;
    let own = tree.iter().find(|(it, _)| it.id == found.session);
    let (own, _) = own.ok_or_else(|| missing()(wh_app::AppError::not_found("session")))?;
    Ok(Family::new(own, &tree, request.depth).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Search {
    /// Words that a message must hold, all of them
    query: String,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
}

async fn search(call: Call, request: Search) -> Result<Reply<Listed<Hit>>> {
    // All that are ever found, so that they can be counted.
    let found = call
        .app
        .session_search(&call.cx, &request.query, PageLimit::MAX);
    let found = found.await?;
    let limit = PageLimit::clamped(Some(request.limit)).get();
    Ok(Listed {
        total: found.len() as u64,
        limit,
        skip: 0,
        data: found
            .into_iter()
            .take(limit as usize)
            .map(Hit::from)
            .collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TasksList {
    /// Session ID to get tasks from; the current session unless given
    #[serde(default)]
    session_id: Option<String>,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
}

async fn tasks_list(call: Call, request: TasksList) -> Result<Reply<Listed<TaskSummary>>> {
    let named = request.session_id.as_deref();
    let own = call.cx.principal.credential.session().map(Reference::from);
    let session = optional("sessionId", named)?.or(own);
    let session = session.ok_or_else(|| {
        wh_app::AppError::from(Denied::NoSession).hint("name the session: {\"sessionId\": ID}")
    })?;
    let page = first(request.limit);
    let turns = call.app.turn_list(&call.cx, &session, page).await;
    let turns = turns.map_err(naming([("session", "Session", "sessionId", named)]))?;
    Ok(Listed {
        total: call.app.turn_count(&call.cx, &session).await?,
        limit: page.limit.get(),
        skip: 0,
        data: turns.items.iter().map(TaskSummary::from).collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TasksGet {
    /// Task ID (UUIDv7 or short ID)
    task_id: String,
}

async fn tasks_get(call: Call, request: TasksGet) -> Result<Reply<TaskView>> {
    let task = reference("taskId", &request.task_id)?;
    let turn = call.app.turn_get(&call.cx, &task).await;
    let turn = turn.map_err(naming([(
        "turn",
        "Task",
        "taskId",
        Some(&*request.task_id),
    )]))?;
    Ok(TaskView::from(turn).into())
}

/// Reads a reference that may be left out.
fn optional(name: &str, text: Option<&str>) -> Result<Option<Reference>> {
    text.map(|text| reference(name, text)).transpose()
}
