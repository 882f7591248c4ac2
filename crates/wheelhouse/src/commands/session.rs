//! `wheelhouse session` and `wheelhouse ls`.

use clap::{Args, Subcommand};
use wh_api::{
    BudgetPatchInput, ForkedFromView, SessionListRequest, SessionListView, SessionTreeView,
    SessionUpdateRequest, SessionView,
};

use super::life;
use super::limit::{Limit, count_limit, money_limit};
use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui, age, cost, dollars, moment_ago, now, shortened};

/// How much of a title a table shows, so that the other columns have room.
const TITLE_CHARS_MAX: usize = 48;

/// See and name sessions, which are conversations with agents
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse session list --state running --state waiting
  wheelhouse session show 89abcdef
  wheelhouse session update 89abcdef --title 'Fix the parser' --budget-usd 5")]
pub(crate) enum SessionCommand {
    /// List sessions, newest first
    List(ListArgs),
    /// Show a session
    Show {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
    /// Change a session's title, description, budget or model, or take its role lead away
    Update(UpdateArgs),
    /// Archive a session: stop it and leave it out of lists
    Archive {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
    /// Restore an archived session
    Restore {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
    /// Show a session among its parents and children
    Tree {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
}

/// What to change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse session update 89abcdef --title 'Fix the parser'
  wheelhouse session update 89abcdef --budget-usd 5
  wheelhouse session update 89abcdef --budget-tokens none
  wheelhouse session update 89abcdef --role general

A budget covers everything that the session has used so far. Prompts that wait run once it is raised.")]
pub(crate) struct UpdateArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
    #[arg(long)]
    title: Option<String>,
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// US dollars that the session may cost, or none
    #[arg(long, value_name = "USD", value_parser = money_limit)]
    budget_usd: Option<Limit>,
    /// Tokens that the session may use, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_tokens: Option<Limit>,
    /// Turns that the session may take, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_turns: Option<Limit>,
    /// Seconds that the session may work, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_seconds: Option<Limit>,
    /// Take the role lead away and give this one instead: general, planning, coding, review or worker
    #[arg(long)]
    role: Option<String>,
    /// Another model that its agent offers, from the next turn on
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

/// Which sessions.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only in this state, such as running, waiting, idle, failed; may be repeated
    #[arg(long = "state", value_name = "STATE")]
    states: Vec<String>,
    /// Only what waits for an answer, failed, was interrupted, or has used up its budget
    #[arg(long)]
    needs_you: bool,
    /// Only with all these words in the title
    #[arg(long, value_name = "WORDS")]
    title: Option<String>,
    /// Only on this board
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Filter by worktree, or by a session's worktree
    #[arg(long, value_name = "ID")]
    worktree: Option<String>,
    /// Only children of this session
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Archived ones too
    #[arg(long, short)]
    all: bool,
    /// Those that others share with you, in place of your own
    #[arg(long)]
    shared: bool,
    #[command(flatten)]
    page: PageArgs,
}

async fn manage(cx: &Context, session: &str, action: &str) -> CliResult {
    let client = cx.client()?;
    let session = life::manage(&client, session, action).await?;
    cx.ui.answer(&session, |ui| show(ui, &session))
}

pub(crate) async fn run(cx: &Context, command: SessionCommand) -> CliResult {
    match command {
        SessionCommand::List(args) => list(cx, args).await,
        SessionCommand::Archive { session } => manage(cx, &session, "archive").await,
        SessionCommand::Restore { session } => manage(cx, &session, "restore").await,
        SessionCommand::Show { session } => {
            let session = cx.client()?.session_get(&session).await?;
            cx.ui.answer(&session, |ui| show(ui, &session))
        }
        SessionCommand::Update(args) => update(cx, args).await,
        SessionCommand::Tree { session } => tree(cx, &session).await,
    }
}

async fn update(cx: &Context, args: UpdateArgs) -> CliResult {
    let budget = BudgetPatchInput {
        tokens: args.budget_tokens.map(|limit| limit.0),
        cost_micros: args.budget_usd.map(|limit| limit.0),
        wall_seconds: args.budget_seconds.map(|limit| limit.0),
        turns: args.budget_turns.map(|limit| limit.0),
    };
    let budget = Some(budget).filter(|budget| *budget != BudgetPatchInput::default());
    let is_empty = args.title.is_none() && args.description.is_none() && args.model.is_none();
    if is_empty && budget.is_none() && args.role.is_none() {
        return Err(CliError::usage("there is nothing to change")
            .hint("give --title, --description, --model, --role or a --budget-… limit"));
    }
    let request = SessionUpdateRequest {
        session: Some(args.session),
        title: args.title,
        description: args.description,
        budget,
        role: args.role,
        model: args.model,
        idempotency_key: None,
    };
    let session = cx.client()?.session_update(&request).await?;
    cx.ui.answer(&session, |ui| show(ui, &session))
}

pub(crate) async fn tree(cx: &Context, session: &str) -> CliResult {
    let tree = cx.client()?.session_tree(session).await?;
    cx.ui.answer(&tree, |ui| show_tree(ui, &tree))
}

pub(crate) async fn list(cx: &Context, args: ListArgs) -> CliResult {
    let request = SessionListRequest {
        states: (!args.states.is_empty()).then_some(args.states),
        needs_you: args.needs_you.then_some(true),
        title: args.title,
        board: args.board,
        worktree: args.worktree,
        parent: args.parent,
        include_archived: args.all.then_some(true),
        shared: args.shared.then_some(true),
        count: Some(true),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let places = [
        &request.title,
        &request.board,
        &request.worktree,
        &request.parent,
    ];
    let narrowed =
        request.states.is_some() || args.needs_you || places.iter().any(|place| place.is_some());
    let empty = match narrowed {
        true if args.needs_you => "nothing needs you",
        true => "no such sessions",
        false => "no sessions yet; start one: wheelhouse run \"say hello\"",
    };
    let list = cx.client()?.session_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list, empty))
}

fn table(ui: &Ui, list: &SessionListView, empty: &str) -> CliResult {
    let mut table = Table::new(&["ID", "TITLE", "AGENT", "STATE", "AGE", "COST"]);
    let now = now();
    for session in &list.sessions {
        let age = age(&session.created_at, now);
        let cost = session.cost_micros.map_or("-".to_owned(), |micros| {
            cost(micros, session.estimated_micros)
        });
        let title = shortened(&session.title, TITLE_CHARS_MAX);
        table.row([
            &session.id,
            &title,
            &session.agent,
            &session.state,
            &age,
            &cost,
        ]);
    }
    ui.table(&table, empty)?;
    ui.more(list.sessions.len(), list.total, list.next_cursor.as_ref())
}

pub(crate) fn show(ui: &Ui, session: &SessionView) -> CliResult {
    let archived = session.archived.then(|| "yes".to_owned());
    ui.fields(&[
        ("id", Some(session.id.clone())),
        ("title", Some(session.title.clone())),
        ("description", session.description.clone()),
        ("agent", Some(session.agent.clone())),
        ("model", session.model.clone()),
        ("mcp dialect", session.mcp_dialect.clone()),
        ("role", Some(session.role.clone())),
        ("state", Some(session.state.clone())),
        ("failure", session.failure.clone()),
        ("archived", archived),
        ("path", session.path.clone()),
        ("parent", session.parent_id.clone()),
        ("forked from", session.forked_from.as_ref().map(forked_from)),
        ("board", session.board_id.clone()),
        ("worktree", session.worktree_id.clone()),
        ("messages", Some(session.last_seq.to_string())),
        ("last words", session.last_words.clone()),
        ("runs", Some(session.runs.to_string())),
        ("tier", Some(tier(session))),
        (
            "hosts",
            session.hosts.as_ref().map(|hosts| hosts.join(", ")),
        ),
        ("tools", tools(session)),
        ("commands", commands(session)),
        ("tokens", Some(session.tokens_used.to_string())),
        (
            "cost",
            Some(cost(session.cost_micros, session.estimated_micros)),
        ),
        ("budget", budget(session)),
        ("changed", Some(moment_ago(&session.updated_at))),
    ])
}

fn forked_from(from: &ForkedFromView) -> String {
    format!("{} after turn {}", from.session_id, from.turn)
}

/// Tells whether the agent has reached our tools, and what to do when it has not.
fn tools(session: &SessionView) -> Option<String> {
    let (link, id) = (session.tools_link.as_deref()?, &session.short_id);
    Some(match link {
        "broken" => format!(
            "broken: the agent has not connected to Wheelhouse's tools; see `wheelhouse logs {id} --system` and `wheelhouse \
             doctor`, then `wheelhouse stop {id}` and `wheelhouse resume {id}`"
        ),
        link => link.to_owned(),
    })
}

/// Lists the commands that a session's agent takes at the beginning of a prompt.
fn commands(session: &SessionView) -> Option<String> {
    let names = session.commands.iter();
    let names: Vec<_> = names.map(|command| format!("/{}", command.name)).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// Lists the limits of a session's budget; nothing when it has none.
fn budget(session: &SessionView) -> Option<String> {
    let budget = &session.budget;
    let limits = [
        budget.cost_micros.map(dollars),
        budget.tokens.map(|tokens| format!("{tokens} tokens")),
        budget.turns.map(|turns| format!("{turns} turns")),
        budget
            .wall_seconds
            .map(|seconds| format!("{seconds} s of work")),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// Says how far a session is contained: as it is now or, before its first run, as it will be.
fn tier(session: &SessionView) -> String {
    match &session.effective_tier {
        Some(effective) => effective.clone(),
        None => format!("{} (not started yet)", session.tier),
    }
}

fn show_tree(ui: &Ui, tree: &SessionTreeView) -> CliResult {
    let mut table = Table::new(&["SESSION", "STATE", "AGENT", "COST", "ID"]);
    for node in &tree.tree {
        let mark = if node.id == tree.session { "* " } else { "" };
        let title = format!("{}{mark}{}", "  ".repeat(node.depth as usize), node.title);
        let cost = cost(node.cost_micros, node.estimated_micros);
        table.row([&title, &node.state, &node.agent, &cost, &node.id]);
    }
    ui.table(&table, "no sessions")
}
