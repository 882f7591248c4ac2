//! `wheelhouse loop start`.

use std::path::{Path, PathBuf};

use clap::Args;
use wh_api::{BudgetInput, LoopStartRequest, PolicyInput, TaskItem};

use super::{
    super::{money::micros, repo},
    follow,
};
use crate::context::Context;
use crate::exit::{CliError, CliResult};

/// Start a loop, and follow it until it has ended
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse loop start --repo . --agent codex --spec-file SPEC.md --allow-all
  wheelhouse loop start --repo app --agent echo --prompt 'say hello' --iterations 3 --detach

Ctrl-C ends this command, and the loop goes on: `wheelhouse loop logs -f` follows it, `wheelhouse loop stop` ends it.
Nobody may be there to answer what agents ask, so an agent that asks waits; `--allow-all` lets it do what it wants in its
worktree. The exit code is 0 when the work is done, 1 when the loop ended without that.")]
pub(crate) struct StartArgs {
    /// What is to be done
    #[arg(value_name = "SPEC", required_unless_present_any = ["spec_file", "prompt"], conflicts_with_all = ["spec_file", "prompt"])]
    spec: Option<String>,
    /// A file that says what is to be done
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    spec_file: Option<PathBuf>,
    /// All that each iteration is told, in place of a specification
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Which agent
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// The repository, by id, name, path or address
    #[arg(long, value_name = "REPO")]
    repo: String,
    /// The branch: one that exists, or a new one [default: named after the loop]
    #[arg(long)]
    branch: Option<String>,
    /// The branch or full commit at which a new branch begins
    #[arg(long, value_name = "BRANCH|COMMIT")]
    base: Option<String>,
    /// What the loop is called [default: the beginning of the specification]
    #[arg(long)]
    title: Option<String>,
    /// The board for its sessions
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// A task to begin with; may be repeated. Each waits for the one before with --in-order
    #[arg(long = "task", value_name = "TASK")]
    tasks: Vec<String>,
    /// Each task depends on the one before it
    #[arg(long)]
    in_order: bool,
    /// The most iterations
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// End when this many tokens are used
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// End when this many US dollars are spent, such as 2.50
    #[arg(long, alias = "budget-cost", value_name = "USD", value_parser = micros)]
    budget_usd: Option<u64>,
    /// End after this many seconds of work
    #[arg(long, value_name = "N")]
    budget_seconds: Option<u64>,
    /// A file with the template that makes the prompts
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    template: Option<PathBuf>,
    /// Let the agents do what they want without asking
    #[arg(long)]
    allow_all: bool,
    /// The agent's own name of a way of working
    #[arg(long)]
    mode: Option<String>,
    /// The agent's name of a model; `wheelhouse agents show NAME` lists them
    #[arg(long)]
    model: Option<String>,
    /// The tools of its agents: wheelhouse or iteratr [default: as the repository or the agent is configured]
    #[arg(long, value_name = "NAME")]
    mcp_dialect: Option<String>,
    /// Print the loop's id and do not follow it
    #[arg(long, short)]
    detach: bool,
}

pub(super) async fn run(cx: &Context, args: StartArgs) -> CliResult {
    let client = cx.client()?;
    let repo = repo::named(cx, &client, args.repo.clone()).await?;
    let detach = args.detach;
    let request = request(args, repo)?;
    let started = client.loop_start(&request).await?;
    if detach {
        return cx.ui.answer(&started, |ui| ui.line(&started.short_id));
    }
    cx.ui.note(&format!(
        "loop {} on branch {}",
        started.short_id, started.branch
    ))?;
    follow::to_the_end(cx, &client, &started.id).await
}

fn request(args: StartArgs, repo: String) -> CliResult<LoopStartRequest> {
    let spec = match (&args.spec, &args.spec_file) {
        (None, Some(file)) => Some(read(file)?),
        (spec, _) => spec.clone(),
    };
    let in_order = args.in_order;
    let task = |(n, content): (usize, String)| TaskItem {
        content,
        depends_on: match in_order && n > 0 {
            true => vec![format!("+{n}").into()],
            false => Vec::new(),
        },
        ..TaskItem::default()
    };
    let tasks = args.tasks.into_iter().enumerate().map(task).collect();
    Ok(LoopStartRequest {
        spec,
        prompt: args.prompt,
        agent: args.agent,
        repo,
        branch: args.branch,
        base: args.base,
        title: args.title,
        board: args.board,
        tasks,
        iterations_max: args.iterations,
        budget: Some(BudgetInput {
            tokens: args.budget_tokens,
            cost_micros: args.budget_usd,
            wall_seconds: args.budget_seconds,
            turns: None,
        }),
        template: args.template.as_deref().map(read).transpose()?,
        policy: args.allow_all.then(|| PolicyInput {
            default: Some("allow".to_owned()),
            ..PolicyInput::default()
        }),
        mode: args.mode,
        model: args.model,
        mcp_dialect: args.mcp_dialect,
        idempotency_key: None,
    })
}

fn read(path: &Path) -> CliResult<String> {
    std::fs::read_to_string(path)
        .map_err(|error| CliError::usage(format!("cannot read {}: {error}", path.display())))
}
