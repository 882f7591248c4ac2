//! The dialect of Agor: agents that look at where they are, and spawn others.
//!
//! Its names are `agor_{service}_{action}`, its parameters camelCase and its answers snake_case. A task there is a turn here: a
//! prompt and what came of it.

mod boards;
mod changes;
mod sessions;
mod tasks;
mod views;
mod worktrees;

use schemars::JsonSchema;
use serde::Deserialize;
use wh_api::ErrorView;
use wh_app::{AppError, Reason, Resource, Result};
use wh_domain::{
    Dialect, ErrorCode, PageLimit, PageRequest, Reference, SessionStateName, TurnState,
};

use super::{
    Contract, shape,
    tool::{DialectTool, reference},
};

pub(super) const CONTRACT: Contract = Contract {
    dialect: Dialect::Agor,
    addresses: &["/mcp/agor"],
    token_parameter: Some("sessionToken"),
    server_name: Dialect::Agor.server_name(),
    server_version: Some("1.0.0"),
    instructions: "Sessions are agents at work. agor_sessions_get_current tells who you are; agor_sessions_spawn has another \
        agent work on a prompt and returns at once: poll agor_sessions_get until its status is completed or failed, or \
        spawn with sync. Ids may be shortened to their last 8 digits.",
    tools,
    answer: shape::indented_text,
    refusal: shape::error_text,
    unknown_tool: Some(unknown_tool),
};

/// What our states are called here.
const STATUSES: &[(SessionStateName, Status)] = &[
    (SessionStateName::Creating, Status::Running),
    (SessionStateName::Idle, Status::Idle),
    (SessionStateName::Running, Status::Running),
    (SessionStateName::Waiting, Status::Running),
    (SessionStateName::Reviewing, Status::Running),
    (SessionStateName::Stopping, Status::Running),
    (SessionStateName::Stopped, Status::Idle),
    (SessionStateName::Interrupted, Status::Failed),
    (SessionStateName::Completed, Status::Completed),
    (SessionStateName::Failed, Status::Failed),
    (SessionStateName::Terminated, Status::Completed),
    (SessionStateName::Abandoned, Status::Failed),
];

/// What a session is called that was spawned and is idle, by its latest turn: it was there for that, and is polled until then.
const SPAWNED_STATUSES: &[(Option<TurnState>, Status)] = &[
    (None, Status::Idle),
    (Some(TurnState::Queued), Status::Running),
    (Some(TurnState::Running), Status::Running),
    (Some(TurnState::Completed), Status::Completed),
    (Some(TurnState::Cancelled), Status::Failed),
    (Some(TurnState::Failed), Status::Failed),
];

/// What the states of turns are called here.
const TASK_STATUSES: &[(TurnState, Status)] = &[
    (TurnState::Queued, Status::Idle),
    (TurnState::Running, Status::Running),
    (TurnState::Completed, Status::Completed),
    (TurnState::Cancelled, Status::Failed),
    (TurnState::Failed, Status::Failed),
];

/// What a session or a task is doing, in the contract's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Idle,
    Running,
    Completed,
    Failed,
}

/// The services that tools are named after.
const SERVICES: [&str; 5] = ["sessions", "worktrees", "boards", "tasks", "users"];

fn tools() -> Vec<DialectTool> {
    let services = [
        sessions::tools(),
        changes::tools(),
        tasks::tools(),
        worktrees::tools(),
        boards::tools(),
    ];
    services.into_iter().flatten().collect()
}

/// Says which part of a name leads nowhere.
fn unknown_tool(name: &str) -> ErrorView {
    let mut parts = name.splitn(3, '_');
    let mut part = || parts.next().unwrap_or_default();
    let (namespace, service, method) = (part(), part(), part());
    let message = if namespace != "agor" {
        format!("Invalid tool namespace: {namespace}")
    } else if !SERVICES.contains(&service) {
        format!("Service not found: {service}")
    } else {
        format!("Method not supported: {method}")
    };
    let hint = "tools are named agor_{service}_{action}, such as agor_sessions_list; tools/list names them all";
    let details = [("tool".to_owned(), name.into())];
    ErrorView {
        code: ErrorCode::NotFound.as_str().to_owned(),
        message,
        hint: Some(hint.to_owned()),
        advice: Vec::new(),
        details: details.into_iter().collect(),
    }
}

/// A resource that a request names, what the contract calls it, the parameter that named it, and the parameter's value.
type Named<'a> = (Resource, &'static str, &'static str, Option<&'a str>);

/// Returns a function that names the missing resource in the contract's words, if the request named it.
fn naming<'a>(names: impl IntoIterator<Item = Named<'a>>) -> impl FnOnce(AppError) -> AppError {
    let names: Vec<_> = names.into_iter().collect();
    move |error| {
        let Reason::NotFound(resource) = *error.reason else {
            return error;
        };
        match names.iter().find(|(named, ..)| *named == resource) {
            Some((_, label, parameter, Some(id))) => {
                let reason = Reason::NotFoundAs {
                    resource,
                    label,
                    id: (*id).to_owned(),
                };
                AppError {
                    reason: Box::new(reason),
                    ..error
                }
                .detail(parameter, *id)
            }
            _ => error,
        }
    }
}

fn session_named<'a>(parameter: &'static str, id: &'a str) -> Named<'a> {
    (Resource::Session, "Session", parameter, Some(id))
}

fn board_named(id: Option<&str>) -> Named<'_> {
    (Resource::Board, "Board", "boardId", id)
}

fn zone_named(id: Option<&str>) -> Named<'_> {
    (Resource::Zone, "Zone", "zoneId", id)
}

fn worktree_named(id: Option<&str>) -> Named<'_> {
    (Resource::Worktree, "Worktree", "worktreeId", id)
}

/// Reads a reference that may be left out.
fn optional(name: &str, text: Option<&str>) -> Result<Option<Reference>> {
    text.map(|text| reference(name, text)).transpose()
}

/// How many results there are at most.
fn default_limit() -> u32 {
    PageLimit::DEFAULT.get()
}

/// Asks for the first so many; more than the largest page is that page.
fn first<C>(limit: u32) -> PageRequest<C> {
    PageRequest::first(PageLimit::clamped(Some(limit)))
}

/// Asks for so many after the first ones, and how many there are in all.
fn skipping<C>(skip: u32, limit: u32) -> PageRequest<C> {
    PageRequest {
        skip,
        ..first(limit).counted()
    }
}

#[cfg(test)]
#[path = "agor/tests.rs"]
mod tests;
