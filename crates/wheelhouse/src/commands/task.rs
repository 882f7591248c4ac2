//! `wheelhouse task`.

use clap::{Args, Subcommand};
use wh_api::{
    NumberOrId, TaskAddRequest, TaskItem, TaskListRequest, TaskListView, TaskNextRequest,
    TaskUpdateRequest, TaskView,
};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, shortened};

/// How much of a task a table shows.
const CONTENT_CHARS_MAX: usize = 80;

/// Plan work that several agents share: add tasks, hand them out, see how they stand
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse task add --list release 'write the notes' 'tag the commit'
  wheelhouse task add --list release 'publish' --depends-on 1 --depends-on 2 --priority 0
  wheelhouse task next --list release --claim
  wheelhouse task update --list release 1 --status completed
  wheelhouse task ls --session 89abcdef")]
pub(crate) enum TaskCommand {
    /// Add tasks to a list
    Add(AddArgs),
    /// List tasks by status, the most urgent first
    #[command(visible_alias = "list")]
    Ls(LsArgs),
    /// Show the next task, or take it
    Next(NextArgs),
    /// Change a task
    Update(UpdateArgs),
}

/// Which list is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArgs {
    /// The list of the tree that this session is in
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The list of this board
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) board: Option<String>,
    /// The list of this loop
    #[arg(id = "of_loop", long = "loop", value_name = "ID", conflicts_with_all = ["session", "board"])]
    pub(crate) of_loop: Option<String>,
    /// A list of your own; it is made when something is added
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "board", "of_loop"])]
    pub(crate) list: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What is to be done; a task each
    #[arg(required = true, value_name = "TASK")]
    tasks: Vec<String>,
    /// 0, the most urgent, to 4
    #[arg(long, value_name = "N")]
    priority: Option<u8>,
    /// A task to be done first, by number or id; may be repeated
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<NumberOrId>,
    /// remaining, in_progress, completed, blocked or cancelled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only of this status
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NextArgs {
    /// Take it, so that nobody else is given it for a while
    #[arg(long)]
    claim: bool,
    /// How long it is yours
    #[arg(long, value_name = "SECONDS", requires = "claim")]
    lease: Option<u32>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The task's number in the list, or its id
    task: NumberOrId,
    /// remaining, in_progress, completed, blocked or cancelled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// 0, the most urgent, to 4
    #[arg(long, value_name = "N")]
    priority: Option<u8>,
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// A task to be done first, in place of what there was; may be repeated
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<NumberOrId>,
    /// Nothing has to be done first
    #[arg(long, conflicts_with = "depends_on")]
    depends_on_nothing: bool,
    #[command(flatten)]
    list: ListArgs,
}

pub(crate) async fn run(cx: &Context, command: TaskCommand) -> CliResult {
    match command {
        TaskCommand::Add(args) => add(cx, args).await,
        TaskCommand::Ls(args) => list(cx, args).await,
        TaskCommand::Next(args) => next(cx, args).await,
        TaskCommand::Update(args) => update(cx, args).await,
    }
}

async fn add(cx: &Context, args: AddArgs) -> CliResult {
    let item = |content: String| TaskItem {
        content,
        status: args.status.clone(),
        priority: args.priority,
        depends_on: args.depends_on.clone(),
    };
    let request = TaskAddRequest {
        tasks: args.tasks.into_iter().map(item).collect(),
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
        idempotency_key: None,
    };
    let added = cx.client()?.task_add(&request).await?;
    cx.ui.answer(&added, |ui| {
        let mut table = Table::new(HEAD);
        for task in &added.tasks {
            row(&mut table, task);
        }
        ui.table(&table, "nothing was added")
    })
}

async fn list(cx: &Context, args: LsArgs) -> CliResult {
    let request = TaskListRequest {
        status: args.status,
        limit: args.page.limit,
        cursor: args.page.cursor,
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
    };
    let list = cx.client()?.task_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

async fn next(cx: &Context, args: NextArgs) -> CliResult {
    let request = TaskNextRequest {
        claim: args.claim.then_some(true),
        lease_seconds: args.lease,
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
        idempotency_key: None,
    };
    let next = cx.client()?.task_next(&request).await?;
    cx.ui.answer(&next, |ui| match &next.task {
        Some(task) => ui.line(&format!("#{} {}", task.number, task.content)),
        None => {
            let open = next.remaining + next.in_progress + next.blocked;
            ui.line(&match open {
                0 => "nothing is left to do".to_owned(),
                _ => format!("nothing can be begun now; {open} open"),
            })
        }
    })
}

async fn update(cx: &Context, args: UpdateArgs) -> CliResult {
    let is_given = args.depends_on_nothing || !args.depends_on.is_empty();
    let request = TaskUpdateRequest {
        task: args.task,
        status: args.status,
        priority: args.priority,
        content: args.content,
        depends_on: is_given.then_some(args.depends_on),
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
        idempotency_key: None,
    };
    let task = cx.client()?.task_update(&request).await?;
    cx.ui.answer(&task, |ui| {
        ui.line(&format!("#{} is {}", task.number, task.status))
    })
}

const HEAD: &[&str] = &["#", "ID", "STATUS", "PRIORITY", "BY", "AFTER", "TASK"];

fn row(table: &mut Table, task: &TaskView) {
    let by = task.claimed_by.as_deref().unwrap_or("-");
    let first_line = task.content.lines().next().unwrap_or_default();
    table.row([
        &task.number.to_string(),
        &task.id,
        &task.status,
        &task.priority.to_string(),
        &by[by.len().saturating_sub(8)..],
        &after(task),
        &shortened(first_line, CONTENT_CHARS_MAX),
    ]);
}

/// Returns the ids of the tasks to be done first, as the column of ids shows them.
fn after(task: &TaskView) -> String {
    match task.depends_on.is_empty() {
        true => "-".to_owned(),
        false => task.depends_on.join(", "),
    }
}

fn table(ui: &Ui, list: &TaskListView) -> CliResult {
    let mut table = Table::new(HEAD);
    for task in list.groups.iter().flat_map(|group| &group.tasks) {
        row(&mut table, task);
    }
    ui.table(&table, "no tasks")?;
    let shown = list.groups.iter().map(|group| group.tasks.len()).sum();
    ui.more(shown, Some(list.total), list.next_cursor.as_ref())
}
