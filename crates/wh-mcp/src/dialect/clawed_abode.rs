//! The dialect of Clawed Abode: one program directs many sessions.
//!
//! Three things its contract has no words for are said on the address: `?agent=NAME` and `?model=NAME` choose the agent and model of new sessions, and
//! `?permissions=allow` lets it use its tools without asking, as that system does. The setting `clawed_abode.permissions` decides
//! unless the address does.

mod views;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wh_api::NumberOrId;
use wh_app::{
    AppError, MessageQuery, PromptInput, Reason, RequestReason, Resource, Result, Summarize,
    Transcript,
};
use wh_domain::{
    ActionKind, Advice, AgentName, Archived, BranchName, Budget, Denied, Dialect, Operation,
    PageLimit, Policy, PolicyRule, Prompt, Reference, SessionAction, SessionInput, SessionPatch,
    SessionPlace, SessionQuery, SessionRole, SessionStateName, Title, WhenBusy, WorktreeBase,
};

use self::views::{
    Created, Finished, Interrupted, Managed, MessagesView, RawMessageView, Renamed, SessionDetail,
    SessionView, Started,
};
use super::{
    Contract, shape,
    tool::{Call, DialectTool, Reply, field, largest_page, more, reference},
};

pub(super) const CONTRACT: Contract = Contract {
    dialect: Dialect::ClawedAbode,
    addresses: &["/mcp/clawed-abode", "/api/mcp"],
    token_parameter: None,
    server_name: Dialect::ClawedAbode.server_name(),
    server_version: None,
    instructions: "Directs coding sessions. create_session and send_prompt return at once; poll get_session until \
        isClaudeRunning is false, then read get_messages, which tells the latest words only. Cite message ids to get_message.",
    tools,
    answer: shape::json_text,
    refusal: shape::error_line,
    unknown_tool: None,
};

/// What our states are called here.
const STATUSES: &[(SessionStateName, Status)] = &[
    (SessionStateName::Creating, Status::Creating),
    (SessionStateName::Idle, Status::Running),
    (SessionStateName::Running, Status::Running),
    (SessionStateName::Waiting, Status::Running),
    (SessionStateName::Reviewing, Status::Running),
    (SessionStateName::Stopping, Status::Running),
    (SessionStateName::Stopped, Status::Stopped),
    (SessionStateName::Interrupted, Status::Stopped),
    (SessionStateName::Completed, Status::Stopped),
    (SessionStateName::Terminated, Status::Stopped),
    (SessionStateName::Abandoned, Status::Stopped),
    (SessionStateName::Failed, Status::Error),
];

/// What a session is doing, in the contract's words. Whether the agent is at work is said beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Creating,
    Running,
    Stopped,
    Error,
    Archived,
}

/// The agent of new sessions unless the address names another.
const AGENT: &str = "claude-code";

/// The most bytes of text of one answer; the rest is read on from its last message.
const BYTES_MAX: usize = 32_000;

/// The longest wait of one call.
const WAIT_MS_MAX: u64 = 300_000;

/// What an agent may do unasked where the address says so: all but leaving its plan, which the contract leaves to the caller.
const ALLOWED: [ActionKind; 9] = [
    ActionKind::Read,
    ActionKind::Edit,
    ActionKind::Delete,
    ActionKind::Move,
    ActionKind::Search,
    ActionKind::Execute,
    ActionKind::Think,
    ActionKind::Fetch,
    ActionKind::Other,
];

fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "list_sessions",
            Op::SessionList,
            "Lists sessions, newest first. A long list ends with its total and the cursor for more.",
            list_sessions,
        ),
        DialectTool::new(
            "get_session",
            Op::SessionGet,
            "Shows a session: its status, whether its agent is at work (isClaudeRunning) and its lastMessageSequence.",
            get_session,
        ),
        DialectTool::new(
            "get_messages",
            Op::MessageList,
            "Reads what a session said, as a person would read it: by default only the latest assistant message, with the names of the tools it used since.",
            get_messages,
        ),
        DialectTool::new(
            "get_message",
            Op::MessageGet,
            "Shows one message whole, with tool input and output.",
            get_message,
        ),
        DialectTool::new(
            "create_session",
            Op::SessionCreate,
            "Begins a session on a repository. Returns at once; poll get_session until its status is no longer creating.",
            create_session,
        ),
        DialectTool::new(
            "send_prompt",
            Op::SessionPrompt,
            "Sends a prompt to a session. Pass startSequence as afterMessageId to get_messages to see what came of it, or wait for it.",
            send_prompt,
        ),
        DialectTool::new(
            "manage_session",
            Op::SessionManage,
            "Starts or stops a session, or deletes it with everything that was said in it.",
            manage_session,
        ),
        DialectTool::new(
            "interrupt_session",
            Op::SessionInterrupt,
            "Ends what the agent is doing now; the session stays.",
            interrupt_session,
        ),
        DialectTool::new(
            "set_session_name",
            Op::SessionUpdate,
            "Names the session that this key is bound to.",
            set_session_name,
        )
        .of_own_session(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListSessions {
    /// Only sessions of this status.
    #[serde(default)]
    status: Option<Status>,
    /// Archived ones too; false unless given.
    #[serde(default)]
    include_archived: Option<bool>,
    /// What a list said to pass for more
    #[serde(default)]
    cursor: Option<NumberOrId>,
}

async fn list_sessions(call: Call, request: ListSessions) -> Result<Reply<Vec<SessionView>>> {
    let wanted = request.status;
    let states = STATUSES
        .iter()
        .filter(|(_, status)| wanted == Some(*status));
    let query = SessionQuery {
        states: states.map(|(state, _)| *state).collect(),
        archived: match wanted {
            Some(Status::Archived) => Archived::Only,
            Some(_) => Archived::Excluded,
            None => Archived::included(request.include_archived.unwrap_or(false)),
        },
        ..SessionQuery::default()
    };
    let page = largest_page(request.cursor.as_ref()).by_id()?;
    let list = call.app.session_list_whole(&call.cx, query, page).await?;
    Ok(Reply {
        note: more(list.items.len(), list.total, list.next),
        view: list.items.into_iter().map(SessionView::from).collect(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionId {
    session_id: String,
}

async fn get_session(call: Call, request: SessionId) -> Result<Reply<SessionDetail>> {
    let session = reference("sessionId", &request.session_id)?;
    let whole = call.app.session_get_whole(&call.cx, &session).await?;
    Ok(SessionDetail::from(whole).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetMessages {
    session_id: String,
    /// All later messages than this one: a message's id, or a sequence such as startSequence.
    #[serde(default)]
    after_message_id: Option<NumberOrId>,
    /// Also say in a few lines what the session has been doing, citing message ids.
    #[serde(default)]
    summarize: Option<bool>,
    /// The server's own notes too; false unless given.
    #[serde(default)]
    include_system: Option<bool>,
}

async fn get_messages(call: Call, request: GetMessages) -> Result<Reply<MessagesView>> {
    let after = request.after_message_id.as_ref();
    let query = MessageQuery {
        after: after.map(|it| it.reference("afterMessageId")).transpose()?,
        include_system: request.include_system.unwrap_or(false),
        summarize: request.summarize.unwrap_or(false).into(),
        ..all_of(reference("sessionId", &request.session_id)?)
    };
    let read = call.app.message_list(&call.cx, &query).await?;
    let view = match query.after {
        Some(_) => MessagesView::later(read),
        None => MessagesView::latest(read),
    };
    Ok(view.into())
}

/// Asks for as much of a transcript as one answer holds.
fn all_of(session: Reference) -> MessageQuery {
    MessageQuery {
        session,
        after: None,
        include_system: false,
        with_tools: true,
        summarize: Summarize::No,
        limit: PageLimit::MAX,
        bytes_max: BYTES_MAX,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetMessage {
    message_id: String,
}

async fn get_message(call: Call, request: GetMessage) -> Result<Reply<RawMessageView>> {
    let message = reference("messageId", &request.message_id)?;
    let message = call.app.message_get(&call.cx, None, &message).await?;
    Ok(RawMessageView::from(message).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateSession {
    name: String,
    /// owner/name of a repository; one that the server does not know is cloned from the configured forge.
    repo_full_name: String,
    /// The branch to begin at.
    branch: String,
    /// What the agent is to do first.
    #[serde(default)]
    initial_prompt: Option<String>,
}

async fn create_session(call: Call, request: CreateSession) -> Result<Reply<Created>> {
    let agent = call.parameter("agent").unwrap_or(AGENT);
    let prompt = request.initial_prompt.as_deref().map(Prompt::parse);
    let base = field("branch", BranchName::parse(&request.branch))?;
    let mut input = SessionInput {
        agent: field("agent", AgentName::parse(agent))?,
        prompt: field("initialPrompt", prompt.transpose())?,
        files: Vec::new(),
        title: Some(field("name", Title::parse(&request.name))?),
        description: None,
        role: SessionRole::General,
        place: SessionPlace::Repo {
            repo: reference("repoFullName", &request.repo_full_name)?,
            branch: None,
            base: Some(WorktreeBase::Branch(base)),
        },
        board: None,
        zone: None,
        budget: Budget::default(),
        policy: policy(&call).await?,
        mode: None,
        model: call.model()?,
        tier: None,
        hosts: None,
        mcp_dialect: None,
    };
    let mut created = call.app.session_create(&call.cx, input.clone()).await;
    let is_unknown = |error: &AppError| matches!(*error.reason, Reason::NotFound(Resource::Repo));
    if created.as_ref().is_err_and(is_unknown) {
        let name = request.repo_full_name.as_str();
        if let Some(repo) = call.app.repo_add_from_forge(&call.cx, name).await? {
            if let SessionPlace::Repo { repo: place, .. } = &mut input.place {
                *place = repo.id.into();
            }
            created = call.app.session_create(&call.cx, input).await;
        }
    }
    let session = created.map_err(|error| match is_unknown(&error) {
        true => error.with_advice(vec![Advice::command(
            "repo add https://github.com/OWNER/NAME",
            "add the repository first",
        )]),
        false => error,
    })?;
    let session_id = session.id.to_string();
    Ok(Created::new(session_id).into())
}

/// Returns what the agents of new sessions may do unasked.
async fn policy(call: &Call) -> Result<Policy> {
    let mut policy = Policy::default();
    let permissions = match call.parameter("permissions") {
        Some(given) => given,
        None => call.app.clawed_abode_permissions().await?,
    };
    match permissions {
        "ask" => {}
        "allow" => policy.allow.push(PolicyRule {
            kinds: ALLOWED.to_vec(),
            paths: Vec::new(),
        }),
        _ => {
            return Err(RequestReason::PermissionsParameter.into());
        }
    }
    Ok(policy)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SendPrompt {
    session_id: String,
    prompt: String,
    /// Wait until the agent is done or asks something.
    #[serde(default)]
    wait_for_completion: bool,
    /// The longest wait, at most 300000.
    #[serde(default = "default_timeout_ms")]
    #[schemars(range(max = WAIT_MS_MAX))]
    timeout_ms: u64,
}

fn default_timeout_ms() -> u64 {
    120_000
}

async fn send_prompt(call: Call, request: SendPrompt) -> Result<Reply<views::Sent>> {
    let session = reference("sessionId", &request.session_id)?;
    let prompt = field("prompt", Prompt::parse(&request.prompt))?;
    let wait = Duration::from_millis(request.timeout_ms.min(WAIT_MS_MAX));
    let wait = request.wait_for_completion.then_some(wait);
    let now = call.app.session_get(&call.cx, &session).await?.session;
    // Here a question has ended the turn, and what is said next goes on from it; behind it, it would wait forever.
    let when_busy = match now.state.name() {
        SessionStateName::Waiting => WhenBusy::Steer,
        _ => WhenBusy::Queue,
    };
    let prompt = PromptInput {
        text: prompt,
        files: Vec::new(),
        when_busy,
    };
    let done = call.app.session_prompt(&call.cx, &session, prompt, wait);
    let done = done.await?;
    let started = Started::since(now.last_seq);
    if wait.is_none() {
        return Ok(views::Sent::Started(started).into());
    }
    let said = said_since(&call, session, now.last_seq).await?;
    Ok(views::Sent::Finished(Finished::new(started, done, said)).into())
}

async fn said_since(call: &Call, session: Reference, sequence: u64) -> Result<Transcript> {
    let query = MessageQuery {
        after: Some(reference("startSequence", &sequence.to_string())?),
        ..all_of(session)
    };
    call.app.message_list(&call.cx, &query).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ManageSession {
    session_id: String,
    action: Action,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Start,
    Stop,
    Delete,
}

async fn manage_session(call: Call, request: ManageSession) -> Result<Reply<Managed>> {
    let session = reference("sessionId", &request.session_id)?;
    let action = match request.action {
        Action::Start => SessionAction::Start,
        Action::Stop => SessionAction::Stop,
        Action::Delete => SessionAction::Delete,
    };
    // What is deleted can be shown as it was before.
    let before = match action {
        SessionAction::Delete => Some(call.app.session_get_whole(&call.cx, &session).await?),
        _ => None,
    };
    let managed = call.app.session_manage(&call.cx, &session, action);
    let managed = Reference::from(managed.await?.id);
    let whole = match before {
        Some(before) => before,
        None => call.app.session_get_whole(&call.cx, &managed).await?,
    };
    Ok(Managed::new(SessionView::from(whole)).into())
}

async fn interrupt_session(call: Call, request: SessionId) -> Result<Reply<Interrupted>> {
    let session = reference("sessionId", &request.session_id)?;
    let before = call.app.session_get(&call.cx, &session).await?.session;
    let interrupted = matches!(
        before.shown_state(),
        SessionStateName::Running | SessionStateName::Waiting
    );
    call.app.session_interrupt(&call.cx, &session).await?;
    Ok(Interrupted { interrupted }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetSessionName {
    name: String,
}

async fn set_session_name(call: Call, request: SetSessionName) -> Result<Reply<Renamed>> {
    let patch = SessionPatch {
        title: Some(field("name", Title::parse(&request.name))?),
        ..SessionPatch::default()
    };
    let is_bound = call.cx.principal.credential.session().is_some();
    let renamed = call.app.session_update(&call.cx, None, patch).await;
    let session = renamed.map_err(|error| match is_bound {
        true => error,
        false => AppError::from(Denied::NoSession),
    })?;
    Ok(Renamed::of(&session).into())
}

#[cfg(test)]
#[path = "clawed_abode/tests.rs"]
mod tests;
