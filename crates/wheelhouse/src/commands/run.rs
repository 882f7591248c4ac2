//! `wheelhouse run` and `wheelhouse send`: a prompt, and what comes of it.

mod files;
mod keyboard;
mod turn;
mod workspace;

use std::path::PathBuf;

use clap::Args;
use wh_api::{
    AgentView, BudgetInput, NarrowedView, SessionCreateRequest, SessionPromptRequest, SessionView,
    TurnListRequest,
};
use wh_client::Client;

use self::workspace::WorkspaceArgs;
pub(super) use self::{files::attached, turn::follow_turn};
use super::{money::micros, policy::PolicyArgs, session};
use crate::context::Context;
use crate::exit::{CliError, CliResult};

/// The agents to choose from when none is named, best first. The last one is always there.
const PREFERRED: [&str; 5] = ["claude-code", "codex", "gemini", "opencode", "echo"];

/// Start a session and follow its first turn
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse run 'fix the failing test'
  wheelhouse run --here 'fix the failing test'
  wheelhouse run --agent codex --repo app 'write a changelog'
  wheelhouse run --allow read,search,edit:src --deny fetch --budget-usd 2.50 'tidy up the parser'
  wheelhouse run --file error.log --file shot.png 'find out why this happens'
  wheelhouse run --scratch --agent echo 'say hello'
  wheelhouse run --detach 'tidy up the docs'

Inside a git repository the session works in a new worktree of it, on a branch of its own; the repository is added to the server
on first use. Outside of one, and with --scratch, it works in an empty directory.

When the agent asks for permission, type y to allow it once, a to allow all of its kind, or n to deny it; text after n is the reason,
which the agent reads. When it asks a question, type the answer, or /deny to decline. Without a terminal the command exits with
code 8 instead: answer with `wheelhouse approve` and continue with `wheelhouse logs -f` or `wheelhouse wait`.

Ctrl-C ends this command with exit code 130, and the session continues: `wheelhouse attach` talks to it, `wheelhouse stop` stops it.")]
pub(crate) struct RunArgs {
    /// What the agent is to do
    prompt: String,
    /// Send a file or an image along; can be given several times
    #[arg(long, short, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Which agent [default: the first that is ready of claude-code, codex, gemini, opencode; else echo]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Lay it on this board, by id
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Lay it into this zone of the board, by id or name; a zone with a template prompts it
    #[arg(long, requires = "board")]
    zone: Option<String>,
    /// What the session is called [default: the beginning of the prompt]
    #[arg(long)]
    title: Option<String>,
    /// The session's role: general, planning, coding, review, worker, or lead to give it access to everything you own [default: general]
    #[arg(long)]
    role: Option<String>,
    /// The agent's own name of a way of working, such as plan
    #[arg(long)]
    mode: Option<String>,
    /// The agent's name of a model; `wheelhouse agents show NAME` lists them [default: the agent's own choice]
    #[arg(long)]
    model: Option<String>,
    /// The agent's tools: wheelhouse, agor, clawed-abode or iteratr [default: as the repository or the agent is configured]
    #[arg(long, value_name = "NAME")]
    mcp_dialect: Option<String>,
    /// Containment tier: guarded, strict, container, or none where an administrator allows it [default: guarded]
    #[arg(long)]
    tier: Option<String>,
    /// In strict and container, allow connections to this host only; repeat for several [default: all that the server allows]
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Stop when this many tokens are used
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Stop when this many US dollars are spent, such as 2.50
    #[arg(long, value_name = "USD", value_parser = micros)]
    budget_usd: Option<u64>,
    /// Stop after this many turns
    #[arg(long, value_name = "N")]
    budget_turns: Option<u64>,
    /// Stop after this many seconds of work
    #[arg(long, value_name = "N")]
    budget_seconds: Option<u64>,
    /// Print the session's id and do not follow it
    #[arg(long, short)]
    detach: bool,
}

/// Send a prompt to a session
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse send 89abcdef 'now write the test'
  wheelhouse send 89abcdef --wait 'and run it'
  wheelhouse send 89abcdef --steer 'stop that, look at the other file'

A session that is at work takes the prompt when it is done, unless told otherwise.")]
pub(crate) struct SendArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    prompt: String,
    /// Send a file or an image along; can be given several times
    #[arg(long, short, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Follow the turn until it is over
    #[arg(long, short)]
    wait: bool,
    /// If the session is at work, end its turn first
    #[arg(long, conflicts_with = "reject")]
    steer: bool,
    /// If the session is at work, do nothing
    #[arg(long)]
    reject: bool,
}

pub(crate) async fn run(cx: &Context, args: RunArgs) -> CliResult {
    let files = attached(&args.file)?;
    let policy = args.policy.input()?;
    let client = cx.client()?;
    let agent = match args.agent {
        Some(agent) => agent,
        None => {
            let agent = preferred(&client.agent_list().await?.agents);
            if agent == "echo" {
                cx.ui.note("no coding agent is ready here, so the built-in echo answers; `wheelhouse agents` says what is missing")?;
            }
            agent.to_owned()
        }
    };
    let workspace = args.workspace.resolve(cx, &client).await?;
    let request = SessionCreateRequest {
        agent,
        prompt: Some(args.prompt),
        files,
        title: args.title,
        repo: workspace.repo,
        branch: workspace.branch,
        base: workspace.base,
        worktree: workspace.worktree,
        board: args.board,
        zone: args.zone,
        path: workspace.path,
        role: args.role,
        mode: args.mode,
        model: args.model,
        mcp_dialect: args.mcp_dialect,
        tier: args.tier,
        hosts: Some(args.allow_host).filter(|hosts| !hosts.is_empty()),
        budget: Some(BudgetInput {
            tokens: args.budget_tokens,
            cost_micros: args.budget_usd,
            turns: args.budget_turns,
            wall_seconds: args.budget_seconds,
        }),
        policy,
        ..SessionCreateRequest::default()
    };
    let created = client.session_create(&request).await;
    let session = created.map_err(|error| workspace.implied.explain(error.into()))?;
    if let Some(note) = workspace.implied.note() {
        cx.ui.note(note)?;
    }
    note_narrowed(cx, &session.narrowed)?;
    if args.detach {
        return cx.ui.answer(&session, |ui| ui.line(&session.short_id));
    }
    let turn = first_turn(&client, &session).await?;
    cx.ui.note(&format!(
        "session {} with {}; talk to it with `wheelhouse attach {0}`",
        session.short_id, session.agent
    ))?;
    follow_turn(cx, &client, &session, turn, 0).await
}

/// Says which terms of a new session are not as they were requested.
pub(super) fn note_narrowed(cx: &Context, narrowed: &[NarrowedView]) -> CliResult {
    for term in narrowed {
        cx.ui.note(&format!("not as requested: {}", term.words()))?;
    }
    Ok(())
}

pub(crate) async fn send(cx: &Context, args: SendArgs) -> CliResult {
    let client = cx.client()?;
    let when_busy = match (args.steer, args.reject) {
        (true, _) => Some("steer"),
        (_, true) => Some("reject"),
        _ => None,
    };
    // What was said before is not told again.
    let session = client.session_get(&args.session).await?;
    let request = SessionPromptRequest {
        session: session.id.clone(),
        prompt: args.prompt,
        files: attached(&args.file)?,
        when_busy: when_busy.map(str::to_owned),
        ..SessionPromptRequest::default()
    };
    let prompted = client.session_prompt(&request).await?;
    if args.wait {
        let after = session.last_seq;
        return follow_turn(cx, &client, &session, prompted.turn.id, after).await;
    }
    cx.ui.answer(&prompted, |ui| {
        let turn = &prompted.turn;
        ui.line(&format!("turn {} is {}", turn.number, turn.state))
    })
}

/// Returns the best agent that can be run.
fn preferred(agents: &[AgentView]) -> &'static str {
    let is_ready = |name: &&&str| agents.iter().any(|it| it.ready && it.name == **name);
    PREFERRED.iter().find(is_ready).unwrap_or(&"echo")
}

/// Returns the turn that a session was begun with.
pub(super) async fn first_turn(client: &Client, session: &SessionView) -> CliResult<String> {
    let request = TurnListRequest {
        session: session.id.clone(),
        ..TurnListRequest::default()
    };
    let turns = client.turn_list(&request).await?.turns;
    let first = turns.last().map(|turn| turn.id.clone());
    first.ok_or_else(|| CliError::failed("the session has no turn"))
}

/// Show a session
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
}

pub(crate) async fn show(cx: &Context, args: ShowArgs) -> CliResult {
    let session = cx.client()?.session_get(&args.session).await?;
    cx.ui.answer(&session, |ui| session::show(ui, &session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_agent_that_is_ready_is_run() {
        let agent = |name: &str, ready| AgentView {
            name: name.to_owned(),
            title: String::new(),
            about: String::new(),
            origin: String::new(),
            ready,
            version: None,
            missing: Vec::new(),
            install: Vec::new(),
            models: Vec::new(),
        };
        let agents = [
            agent("gemini", true),
            agent("codex", true),
            agent("claude-code", false),
        ];
        assert_eq!(preferred(&agents), "codex");
        assert_eq!(
            preferred(&[agent("codex", false), agent("echo", true)]),
            "echo"
        );
        assert_eq!(preferred(&[]), "echo");
    }
}
