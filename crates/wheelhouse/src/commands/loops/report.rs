//! `wheelhouse loop summary` and `wheelhouse loop complete`: what somebody who works on a list reports.

use clap::Args;
use wh_api::{IterationSummaryRequest, LoopCompleteRequest};

use crate::commands::task::ListArgs;
use crate::context::Context;
use crate::exit::CliResult;

/// Record the summary of an iteration for the next one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse loop summary --list release 'wrote the tests; the parser is next'
  wheelhouse loop summary --loop 89abcdef 'fixed the build'

A second summary by the same caller replaces the first until the next iteration.")]
pub(crate) struct SummaryArgs {
    /// What was done, what was learned, what comes next
    #[arg(value_name = "TEXT")]
    summary: String,
    #[command(flatten)]
    list: ListArgs,
}

/// Mark a task list as complete, which ends its loop
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse loop complete --list release
  wheelhouse loop complete --loop 89abcdef

Refused while tasks of the list are open: complete or cancel them first with `wheelhouse task update`.")]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    list: ListArgs,
}

pub(super) async fn summary(cx: &Context, args: SummaryArgs) -> CliResult {
    let request = IterationSummaryRequest {
        summary: args.summary,
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
        idempotency_key: None,
    };
    let kept = cx.client()?.iteration_summary(&request).await?;
    cx.ui.answer(&kept, |ui| {
        ui.line(&format!("iteration {}: {}", kept.number, kept.summary))
    })
}

pub(super) async fn complete(cx: &Context, args: CompleteArgs) -> CliResult {
    let request = LoopCompleteRequest {
        session: args.list.session,
        board: args.list.board,
        r#loop: args.list.of_loop,
        list: args.list.list,
        ..LoopCompleteRequest::default()
    };
    let list = cx.client()?.loop_complete(&request).await?;
    cx.ui
        .answer(&list, |ui| ui.line(&format!("{} is complete", list.list)))
}
