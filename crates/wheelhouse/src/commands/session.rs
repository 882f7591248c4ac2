//! `wheelhouse session` and `wheelhouse ls`.

use clap::{Args, Subcommand};
use wh_api::{
    SessionListRequest, SessionListView, SessionTreeView, SessionUpdateRequest, SessionView,
};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui, age, dollars, moment, now, shortened};

/// How much of a title a table shows, so that the other columns have room.
const TITLE_CHARS_MAX: usize = 48;

/// See and name sessions, which are conversations with agents
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse session list --state running --state waiting
  wheelhouse session show 89abcdef
  wheelhouse session update 89abcdef --title 'Fix the parser'")]
pub(crate) enum SessionCommand {
    /// List sessions, newest first
    List(ListArgs),
    /// Show a session
    Show {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
    /// Change what a session is called
    Update {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
        #[arg(long)]
        title: Option<String>,
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Show a session among its parents and children
    Tree {
        /// The session's id or its last 8 digits
        #[arg(value_name = "ID")]
        session: String,
    },
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
    /// Only on this board
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Only in this worktree, or in that of this session
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

pub(crate) async fn run(cx: &Context, command: SessionCommand) -> CliResult {
    match command {
        SessionCommand::List(args) => list(cx, args).await,
        SessionCommand::Show { session } => {
            let session = cx.client()?.session_get(&session).await?;
            cx.ui.answer(&session, |ui| show(ui, &session))
        }
        SessionCommand::Update {
            session,
            title,
            description,
        } => {
            if title.is_none() && description.is_none() {
                return Err(CliError::usage("there is nothing to change")
                    .hint("give --title or --description"));
            }
            let request = SessionUpdateRequest {
                session: Some(session),
                title,
                description,
                idempotency_key: None,
            };
            let session = cx.client()?.session_update(&request).await?;
            cx.ui.answer(&session, |ui| show(ui, &session))
        }
        SessionCommand::Tree { session } => tree(cx, &session).await,
    }
}

pub(crate) async fn tree(cx: &Context, session: &str) -> CliResult {
    let tree = cx.client()?.session_tree(session).await?;
    cx.ui.answer(&tree, |ui| show_tree(ui, &tree))
}

pub(crate) async fn list(cx: &Context, args: ListArgs) -> CliResult {
    let request = SessionListRequest {
        states: (!args.states.is_empty()).then_some(args.states),
        needs_you: args.needs_you.then_some(true),
        board: args.board,
        worktree: args.worktree,
        parent: args.parent,
        include_archived: args.all.then_some(true),
        shared: args.shared.then_some(true),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let places = [&request.board, &request.worktree, &request.parent];
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
        let cost = session.cost_micros.map_or("-".to_owned(), dollars);
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
    ui.more(list.next_cursor.as_ref())
}

pub(crate) fn show(ui: &Ui, session: &SessionView) -> CliResult {
    let archived = session.archived.then(|| "yes".to_owned());
    ui.fields(&[
        ("id", Some(session.id.clone())),
        ("title", Some(session.title.clone())),
        ("description", session.description.clone()),
        ("agent", Some(session.agent.clone())),
        ("role", Some(session.role.clone())),
        ("state", Some(session.state.clone())),
        ("failure", session.failure.clone()),
        ("archived", archived),
        ("path", session.path.clone()),
        ("parent", session.parent_id.clone()),
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
        ("tokens", Some(session.tokens_used.to_string())),
        ("cost", Some(dollars(session.cost_micros))),
        ("changed", Some(moment(&session.updated_at))),
    ])
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
        let cost = dollars(node.cost_micros);
        table.row([&title, &node.state, &node.agent, &cost, &node.id]);
    }
    ui.table(&table, "no sessions")
}
