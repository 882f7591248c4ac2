//! What was used, summed by the database: one query per way to look at it.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::civil::Date;
use sqlx::sqlite::SqliteRow;
use wh_domain::{Ranked, Reach, SessionId, Usage, UsageSpan, UsageSums, UsageTree, day_of_number};
use wh_store::{Result, USAGE_AGENTS_MAX, UsageStore};

use crate::SqliteStore;
use crate::reach::{Owned, Query, push_owned};
use crate::row::{self, BadRow, Parsed, micros, uuid};
use crate::session_row::{USED, usage_columns};

/// What of one turn is counted at most, whatever its agent told: no sum of such leaves 64 bits.
const OF_ONE_TURN_MAX: u64 = 1_000_000_000_000;

const DAY_MICROS: i64 = 86_400_000_000;

#[async_trait]
impl UsageStore for SqliteStore {
    async fn usage_sums(&self, reach: Reach, span: UsageSpan, trees: u32) -> Result<UsageSums> {
        let mut query = Query::new("SELECT (u.finished_at + ");
        query.push_bind(i64::from(span.offset.seconds()) * 1_000_000);
        query.push(format_args!(") / {DAY_MICROS} AS part, "));
        push_sums(&mut query, reach, span);
        query.push(" ORDER BY part");
        let days = self.rows(query).await?;
        let most = USAGE_AGENTS_MAX;
        let agents = self.usage_ranked(reach, span, Part::Agent, most).await?;
        let agents = ranked(&agents, most, |row| row::get(row, "part"));
        let roots = self.usage_ranked(reach, span, Part::Tree, trees).await?;
        let roots = ranked(&roots, trees, |row| row::id(row, "part"));
        Ok(UsageSums {
            days: row::listed("sum of a day", &days, day_row),
            agents,
            trees: self.usage_trees(reach, roots).await?,
        })
    }
}

/// By what is summed, apart from days.
#[derive(Clone, Copy)]
enum Part {
    Agent,
    Tree,
}

impl SqliteStore {
    /// Returns the dearest parts and, as one row behind them, all others.
    async fn usage_ranked(
        &self,
        reach: Reach,
        span: UsageSpan,
        part: Part,
        most: u32,
    ) -> Result<Vec<SqliteRow>> {
        let mut query = Query::new("WITH parts AS (SELECT ");
        match (part, reach) {
            (Part::Agent, _) => query.push("t.agent"),
            // A session sees of its tree what is below itself.
            (Part::Tree, Reach::Tree(session)) => query.push_bind(uuid(session)),
            (Part::Tree, _) => query.push("t.root_id"),
        };
        query.push(" AS part, ");
        push_sums(&mut query, reach, span);
        query.push(
            "), ranked AS (SELECT *, row_number() OVER (ORDER BY used_cost_micros DESC,
                 used_input_tokens + used_cached_tokens + used_output_tokens DESC, turns DESC, part) AS place FROM parts)
             SELECT ",
        );
        query.push("min(place) AS place, part, count(*) AS parts, sum(turns) AS turns");
        for column in USED {
            query.push(format_args!(", sum({column}) AS {column}"));
        }
        query.push(format_args!(
            " FROM ranked GROUP BY min(ranked.place, {most} + 1) ORDER BY 1"
        ));
        self.rows(query).await
    }

    /// Tells what the sessions at the roots are, as far as they may be seen.
    async fn usage_trees(
        &self,
        reach: Reach,
        roots: Ranked<SessionId>,
    ) -> Result<Ranked<UsageTree>> {
        let mut query = Query::new("SELECT t.id, t.title, t.agent FROM sessions t WHERE t.id IN (");
        let mut ids = query.separated(", ");
        for (root, _) in &roots.top {
            ids.push_bind(uuid(*root));
        }
        query.push(") AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        let rows = self.rows(query).await?;
        let read = |row: &SqliteRow| -> Parsed<(SessionId, (String, String))> {
            let about = (row::get(row, "title")?, row::get(row, "agent")?);
            Ok((row::id(row, "id")?, about))
        };
        let mut known: HashMap<_, _> = row::listed("root", &rows, read).into_iter().collect();
        let tree = |(root, usage)| {
            let about = known.remove(&root);
            (UsageTree { root, about }, usage)
        };
        Ok(Ranked {
            top: roots.top.into_iter().map(tree).collect(),
            others: roots.others,
        })
    }
}

/// Adds the sums, and which turns are summed, to a query that has named its part.
fn push_sums(query: &mut Query, reach: Reach, span: UsageSpan) {
    query.push("count(*) AS turns");
    for column in USED {
        query.push(format_args!(
            ", sum(min(u.{column}, {OF_ONE_TURN_MAX})) AS {column}"
        ));
    }
    // The database chooses where to begin: at the turns of the time, or at the few sessions of a user.
    query.push(" FROM turns u JOIN sessions t ON t.id = u.session_id WHERE u.finished_at >= ");
    query.push_bind(micros(span.since));
    query
        .push(" AND u.finished_at < ")
        .push_bind(micros(span.until));
    query.push(" AND u.number > coalesce(t.forked_at_turn, 0) AND ");
    push_owned(query, reach, Owned::Sessions);
    query.push(" GROUP BY part");
}

fn day_row(row: &SqliteRow) -> Parsed<(Date, Usage)> {
    let day = day_of_number(row::get(row, "part")?);
    let day = day.ok_or_else(|| BadRow::new("part", "is no day"))?;
    Ok((day, usage_row(row)?))
}

fn usage_row(row: &SqliteRow) -> Parsed<Usage> {
    usage_columns(row, USED, row::count(row, "turns")?)
}

/// Takes the rows apart: those with a place of their own, and the one that holds all others.
fn ranked<T>(rows: &[SqliteRow], most: u32, name: impl Fn(&SqliteRow) -> Parsed<T>) -> Ranked<T> {
    let parse = |row: &SqliteRow| {
        let part = match row::count(row, "place")? <= u64::from(most) {
            true => Some(name(row)?),
            false => None,
        };
        Ok((part, row::count(row, "parts")?, usage_row(row)?))
    };
    let mut ranked = Ranked::default();
    for (part, parts, usage) in row::listed("sum", rows, parse) {
        match part {
            Some(part) => ranked.top.push((part, usage)),
            None => ranked.others = (parts, usage),
        }
    }
    ranked
}
