//! `wheelhouse loop resume`.

use clap::Args;
use wh_api::{BudgetPatchInput, LoopResumeRequest, LoopView};

use super::super::limit::{Limit, count_limit, money_limit};
use crate::context::Context;
use crate::exit::CliResult;

/// Resume a loop that is paused or has reached one of its limits
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse loop resume 89abcdef
  wheelhouse loop resume 89abcdef --budget-usd 5
  wheelhouse loop resume 89abcdef --budget-tokens none --iterations 40

Limits are for all iterations together, past ones included. A loop that ended because its budget or its iterations were
used up continues once it has more.")]
pub(crate) struct ResumeArgs {
    /// The loop's id or its last 8 digits
    #[arg(value_name = "ID")]
    of_loop: String,
    /// US dollars that the loop may cost, or none
    #[arg(long, value_name = "USD", value_parser = money_limit)]
    budget_usd: Option<Limit>,
    /// Tokens that the loop may use, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_tokens: Option<Limit>,
    /// Turns that the loop may take, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_turns: Option<Limit>,
    /// Seconds that the loop may work, or none
    #[arg(long, value_name = "N", value_parser = count_limit)]
    budget_seconds: Option<Limit>,
    /// Maximum number of iterations
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
}

pub(super) async fn run(cx: &Context, args: ResumeArgs) -> CliResult<LoopView> {
    let budget = BudgetPatchInput {
        tokens: args.budget_tokens.map(|limit| limit.0),
        cost_micros: args.budget_usd.map(|limit| limit.0),
        wall_seconds: args.budget_seconds.map(|limit| limit.0),
        turns: args.budget_turns.map(|limit| limit.0),
    };
    let request = LoopResumeRequest {
        r#loop: args.of_loop,
        budget: Some(budget).filter(|budget| *budget != BudgetPatchInput::default()),
        iterations_max: args.iterations,
        idempotency_key: None,
    };
    Ok(cx.client()?.loop_resume(&request).await?)
}
