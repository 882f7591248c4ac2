//! `wheelhouse spawn`, `wheelhouse fork` and `wheelhouse tree`: sessions that come of sessions.

use std::path::PathBuf;

use clap::Args;
use wh_api::{SessionForkRequest, SessionSpawnRequest, TurnListRequest};

use super::run::{attached, follow_turn, note_narrowed};
use super::session;
use crate::context::Context;
use crate::exit::{CliError, CliResult};

/// Begin a session under another one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse spawn 89abcdef 'write the tests' --callback
  wheelhouse spawn 89abcdef --agent codex --workspace shared --wait 'review what you see'

A child has no more rights, budget or leave than its parent, and works in a worktree of its own that begins at its parent's
branch, unless told otherwise. With --callback the parent's agent is prompted when the child is done, failed or asks.")]
pub(crate) struct SpawnArgs {
    /// The parent's id or its last 8 digits
    #[arg(value_name = "ID")]
    parent: String,
    /// What the child is to do
    prompt: String,
    /// Send a file or an image along; can be given several times
    #[arg(long, short, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Which agent [default: the parent's]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Where the child works: own, shared or none
    #[arg(long, value_name = "WHERE")]
    workspace: Option<String>,
    /// The branch of its own worktree
    #[arg(long)]
    branch: Option<String>,
    /// The zone of the parent's board that it lies in, by id or name
    #[arg(long)]
    zone: Option<String>,
    /// The agent's name of a model [default: the parent's, with the same agent]
    #[arg(long)]
    model: Option<String>,
    /// The child's tools: wheelhouse, agor, clawed-abode or iteratr [default: the parent's]
    #[arg(long, value_name = "NAME")]
    mcp_dialect: Option<String>,
    /// What the child is called [default: the beginning of the prompt]
    #[arg(long)]
    title: Option<String>,
    /// What the child's token may do [default: as the parent's]
    #[arg(long)]
    role: Option<String>,
    /// Tell the parent's agent when the child is done, failed or asks
    #[arg(long)]
    callback: bool,
    /// Follow the child until its turn is over
    #[arg(long, short)]
    wait: bool,
}

/// Branch a session off another at one of its turns
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse fork 89abcdef 'try it the other way'
  wheelhouse fork 89abcdef --turn 3 --agent codex --wait 'go on from here'

The fork has the conversation up to that turn and the files as they were then, committed or not. `wheelhouse turns ID` lists turns.")]
pub(crate) struct ForkArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    /// How to go on
    prompt: Option<String>,
    /// The last turn to take over, by number or id [default: the last one that is over]
    #[arg(long)]
    turn: Option<String>,
    /// The agent that goes on [default: the same]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The agent's name of a model [default: the same, with the same agent]
    #[arg(long)]
    model: Option<String>,
    /// The fork's title [default: the session's, followed by "(fork)"]
    #[arg(long)]
    title: Option<String>,
    /// Start from the last commit, without the uncommitted files of that turn
    #[arg(long)]
    leave_uncommitted: bool,
    /// Follow the fork until its turn is over
    #[arg(long, short, requires = "prompt")]
    wait: bool,
}

/// Show a session among its parents and children
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
}

pub(crate) async fn spawn(cx: &Context, args: SpawnArgs) -> CliResult {
    let client = cx.client()?;
    let request = SessionSpawnRequest {
        parent: Some(args.parent),
        prompt: args.prompt,
        files: attached(&args.file)?,
        agent: args.agent,
        model: args.model,
        mcp_dialect: args.mcp_dialect,
        workspace: args.workspace,
        branch: args.branch,
        zone: args.zone,
        title: args.title,
        role: args.role,
        callback: args.callback.then_some(true),
        ..SessionSpawnRequest::default()
    };
    let spawned = client.session_spawn(&request).await?;
    let mut child = client.session_get(&spawned.session).await?;
    child.narrowed = spawned.terms.map_or(Vec::new(), |terms| terms.narrowed);
    note_narrowed(cx, &child.narrowed)?;
    if args.wait {
        return follow_turn(cx, &client, &child, spawned.turn.id, 0).await;
    }
    cx.ui.answer(&child, |ui| ui.line(&child.short_id))
}

pub(crate) async fn fork(cx: &Context, args: ForkArgs) -> CliResult {
    let client = cx.client()?;
    let request = SessionForkRequest {
        session: args.session,
        turn: args.turn.map(Into::into),
        prompt: args.prompt,
        agent: args.agent,
        model: args.model,
        title: args.title,
        leave_uncommitted: args.leave_uncommitted.then_some(true),
        ..SessionForkRequest::default()
    };
    let fork = client.session_fork(&request).await?;
    note_narrowed(cx, &fork.narrowed)?;
    if args.wait {
        // The prompt comes after everything that was taken over.
        let turns = TurnListRequest {
            session: fork.id.clone(),
            limit: Some(1),
            ..TurnListRequest::default()
        };
        let latest = client.turn_list(&turns).await?.turns.into_iter().next();
        let latest = latest.ok_or_else(|| CliError::failed("the fork has no turn"))?;
        return follow_turn(cx, &client, &fork, latest.id, fork.last_seq).await;
    }
    cx.ui.answer(&fork, |ui| ui.line(&fork.short_id))
}

pub(crate) async fn tree(cx: &Context, args: TreeArgs) -> CliResult {
    session::tree(cx, &args.session).await
}
