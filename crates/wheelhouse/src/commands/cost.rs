//! `wheelhouse cost`.

use clap::{Args, ValueEnum};
use wh_api::{UsageReportRequest, UsageReportView, UsageView};

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, cost, moment, span, utc_offset_minutes};

/// See what sessions have spent
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse cost
  wheelhouse cost --since 7d --by agent
  wheelhouse cost --since 2026-11-01 --until 2026-11-30 --by tree --json

A turn counts at the moment it ended. Not every agent tells what it costs; tokens are counted for all.")]
pub(crate) struct CostArgs {
    /// From when on: days until now like 30d, a day or a time; at most 366 days
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    since: String,
    /// Until when: a day, to its end, or a time [default: now]
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// By what it is summed; JSON holds all three
    #[arg(long, value_enum, default_value = "day")]
    by: By,
    /// UTC offset at which days begin, such as +02:00 [default: this machine's]
    #[arg(long, value_name = "OFFSET", value_parser = offset_minutes, allow_hyphen_values = true)]
    utc_offset: Option<i32>,
    /// How many trees of sessions to show, the dearest first; the others are one sum
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    trees: Option<u32>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Day,
    Agent,
    Tree,
}

pub(crate) async fn run(cx: &Context, args: CostArgs) -> CliResult {
    let request = UsageReportRequest {
        since: Some(args.since),
        until: args.until,
        utc_offset: Some(args.utc_offset.unwrap_or_else(utc_offset_minutes)),
        trees: args.trees,
    };
    let report = cx.client()?.usage_report(&request).await?;
    cx.ui.answer(&report, |ui| table(ui, &report, args.by))
}

fn table(ui: &Ui, report: &UsageReportView, by: By) -> CliResult {
    if report.total.turns == 0 {
        let since = moment(&report.since);
        return ui.note(&format!("nothing was spent since {since}"));
    }
    let heading = match by {
        By::Day => "DAY",
        By::Agent => "AGENT",
        By::Tree => "SESSION",
    };
    let mut table = Table::new(&[heading, "COST", "IN", "CACHED", "OUT", "TURNS", "TIME"]);
    for (name, usage) in rows(report, by) {
        row(&mut table, &name, &usage);
    }
    row(&mut table, "total", &report.total);
    ui.table(&table, "")
}

fn rows(report: &UsageReportView, by: By) -> Vec<(String, UsageView)> {
    let (mut rows, others): (Vec<_>, _) = match by {
        By::Day => {
            let days = report.days.iter();
            (days.map(|it| (it.day.clone(), it.usage)).collect(), None)
        }
        By::Agent => {
            let agents = report.agents.iter().map(|it| (it.agent.clone(), it.usage));
            (agents.collect(), report.other_agents)
        }
        By::Tree => {
            let name = |id: &str, title: Option<&str>| {
                let short = id.get(id.len().saturating_sub(8)..).unwrap_or(id);
                format!("{short} {}", title.unwrap_or("(not yours to see)"))
            };
            let trees = report.trees.iter();
            let trees = trees.map(|it| (name(&it.session_id, it.title.as_deref()), it.usage));
            (trees.collect(), report.other_trees)
        }
    };
    rows.extend(others.map(|it| {
        let plural = if it.count == 1 { "" } else { "s" };
        (format!("{} other{plural}", it.count), it.usage)
    }));
    rows
}

fn row(table: &mut Table, name: &str, usage: &UsageView) {
    table.row([
        name,
        &cost(usage.cost_micros, usage.estimated_micros),
        &usage.input_tokens.to_string(),
        &usage.cached_tokens.to_string(),
        &usage.output_tokens.to_string(),
        &usage.turns.to_string(),
        &span(i64::try_from(usage.wall_seconds).unwrap_or(i64::MAX)),
    ]);
}

/// Reads `+02:00`, `-0530` or `2` into minutes.
pub(super) fn offset_minutes(text: &str) -> Result<i32, String> {
    let refuse = || "give an offset like +02:00".to_owned();
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("-", rest)) => (-1, rest),
        Some(("+", rest)) => (1, rest),
        _ => (1, text),
    };
    let (hours, minutes) = match (rest.split_once(':'), rest.len()) {
        (Some(parts), _) => parts,
        (None, 4) => rest.split_at_checked(2).ok_or_else(refuse)?,
        (None, _) => (rest, "0"),
    };
    let number = |text: &str, max: u32| text.parse::<u32>().ok().filter(|n| *n <= max);
    let hours = number(hours, 18).ok_or_else(refuse)?;
    let minutes = number(minutes, 59).ok_or_else(refuse)?;
    Ok(sign * (hours * 60 + minutes).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_as_people_write_them() {
        for (text, minutes) in [
            ("+02:00", 120),
            ("-0530", -330),
            ("2", 120),
            ("-3", -180),
            ("+00:00", 0),
        ] {
            assert_eq!(offset_minutes(text), Ok(minutes), "{text}");
        }
        for text in ["", "+", "x", "+19:00", "+02:60", "1:2:3", "--2", "+é1"] {
            assert!(offset_minutes(text).is_err(), "{text}");
        }
    }
}
