//! `wheelhouse loop`.

mod follow;
mod report;
mod resume;
mod serve;
mod start;

use clap::{Args, Subcommand};
use wh_api::{BudgetInput, LoopListRequest, LoopListView, LoopLogRequest, LoopView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, age, now, shortened};

/// How much of a title a table shows.
const TITLE_CHARS_MAX: usize = 60;

/// The most entries of a log that one call reads.
const LOG_PAGE: u32 = 200;

/// Let fresh agents work through a list of tasks until the work is done
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse loop start --repo . --agent codex --spec-file SPEC.md --iterations 30
  wheelhouse loop start --repo app 'Port the parser.' --task 'write tests' --task 'port it' --budget-tokens 2000000
  wheelhouse loop ls
  wheelhouse loop logs -f 89abcdef
  wheelhouse loop resume 89abcdef --budget-tokens 4000000
  wheelhouse task ls --loop 89abcdef
  wheelhouse loop summary --list release 'wrote the tests; the parser is next'
  wheelhouse loop complete --list release
  wheelhouse loop serve --session release")]
pub(crate) enum LoopCommand {
    Start(Box<start::StartArgs>),
    Ls(LsArgs),
    Show(OneArgs),
    Logs(LogsArgs),
    Pause(OneArgs),
    Resume(resume::ResumeArgs),
    Stop(OneArgs),
    Summary(report::SummaryArgs),
    Complete(report::CompleteArgs),
    Serve(serve::ServeArgs),
}

/// List loops, newest first
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only those that have not ended
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    page: PageArgs,
}

/// Names a loop
#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The loop's id or its last 8 digits
    #[arg(value_name = "ID")]
    of_loop: String,
}

/// Show what happened in a loop
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The loop's id or its last 8 digits
    #[arg(value_name = "ID")]
    of_loop: String,
    /// Go on until the loop has ended or rests
    #[arg(long, short)]
    follow: bool,
}

pub(crate) async fn run(cx: &Context, command: LoopCommand) -> CliResult {
    let view = match command {
        LoopCommand::Start(args) => return start::run(cx, *args).await,
        LoopCommand::Serve(args) => return serve::run(cx, args).await,
        LoopCommand::Summary(args) => return report::summary(cx, args).await,
        LoopCommand::Complete(args) => return report::complete(cx, args).await,
        LoopCommand::Logs(args) => return logs(cx, args).await,
        LoopCommand::Ls(args) => return list(cx, args).await,
        LoopCommand::Show(args) => cx.client()?.loop_get(&args.of_loop).await?,
        LoopCommand::Pause(args) => cx.client()?.loop_pause(&args.of_loop).await?,
        LoopCommand::Resume(args) => resume::run(cx, args).await?,
        LoopCommand::Stop(args) => cx.client()?.loop_stop(&args.of_loop).await?,
    };
    cx.ui.answer(&view, |ui| show(ui, &view))
}

async fn list(cx: &Context, args: LsArgs) -> CliResult {
    let request = LoopListRequest {
        open: args.open.then_some(true),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.loop_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

async fn logs(cx: &Context, args: LogsArgs) -> CliResult {
    let client = cx.client()?;
    if args.follow {
        let found = client.loop_get(&args.of_loop).await?;
        return follow::follow(cx, &client, &found.id).await.map(drop);
    }
    let mut request = LoopLogRequest {
        r#loop: args.of_loop,
        after: None,
        limit: Some(LOG_PAGE),
    };
    let mut log = client.loop_log(&request).await?;
    while let Some(after) = log.next_after {
        request.after = Some(after.into());
        let page = client.loop_log(&request).await?;
        log.entries.extend(page.entries);
        (log.next_after, log.total) = (page.next_after, page.total);
    }
    cx.ui.answer(&log, |ui| {
        log.entries.iter().try_for_each(|it| follow::tell(ui, it))
    })
}

fn table(ui: &Ui, list: &LoopListView) -> CliResult {
    let mut table = Table::new(&["ID", "STATE", "ITERATION", "AGENT", "AGE", "TITLE"]);
    let now = now();
    for it in &list.loops {
        table.row([
            &it.id,
            it.outcome.as_deref().unwrap_or(&it.state),
            &format!("{}/{}", it.iteration, it.iterations_max),
            &it.agent,
            &age(&it.created_at, now),
            &shortened(&it.title, TITLE_CHARS_MAX),
        ]);
    }
    ui.table(
        &table,
        "no loops yet; start one with `wheelhouse loop start`",
    )?;
    ui.more(list.loops.len(), list.total, list.next_cursor.as_ref())
}

fn show(ui: &Ui, it: &LoopView) -> CliResult {
    let tasks = &it.tasks;
    ui.fields(&[
        ("id", Some(it.id.clone())),
        ("title", Some(it.title.clone())),
        ("state", Some(it.state.clone())),
        ("wanted", it.wanted.clone()),
        ("outcome", it.outcome.clone()),
        ("reason", it.reason.clone()),
        ("agent", Some(it.agent.clone())),
        (
            "iteration",
            Some(format!("{} of at most {}", it.iteration, it.iterations_max)),
        ),
        ("session", it.session_id.clone()),
        ("branch", Some(it.branch.clone())),
        ("worktree", Some(it.worktree_id.clone())),
        (
            "tasks",
            Some(format!(
                "{} remaining, {} in progress, {} blocked, {} completed, {} cancelled",
                tasks.remaining, tasks.in_progress, tasks.blocked, tasks.completed, tasks.cancelled
            )),
        ),
        ("task", it.task.clone()),
        ("used", Some(used(it))),
        ("left", left(&it.left)),
    ])?;
    let mut table = Table::new(&["#", "SESSION", "END", "CHANGED", "TOKENS"]);
    for iteration in it.iterations.iter().rev() {
        let session = iteration.session_id.as_deref().unwrap_or("-");
        table.row([
            &iteration.number.to_string(),
            &session[session.len().saturating_sub(8)..],
            iteration.end.as_deref().unwrap_or("under way"),
            if iteration.changed { "yes" } else { "no" },
            &iteration.tokens_used.to_string(),
        ]);
    }
    ui.table(&table, "no iterations yet")
}

/// Says what a loop has used.
fn used(it: &LoopView) -> String {
    let cost = crate::ui::cost(it.cost_micros, it.estimated_micros);
    format!(
        "{} tokens, {cost}, {} s",
        it.tokens_used, it.wall_seconds_used
    )
}

/// Says what is left of a budget, if it is limited.
fn left(budget: &BudgetInput) -> Option<String> {
    let parts = [
        budget.tokens.map(|it| format!("{it} tokens")),
        budget
            .cost_micros
            .map(|it| format!("${:.2}", it as f64 / 1e6)),
        budget.wall_seconds.map(|it| format!("{it} s")),
        budget.turns.map(|it| format!("{it} turns")),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
