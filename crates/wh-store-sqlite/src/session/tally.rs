//! How many sessions have the same facts that decide their stage.

use sqlx::sqlite::SqliteRow;
use wh_domain::{Reach, SessionFilter, SessionStateName, SessionTally, WorktreeChanges};
use wh_store::{COUNT_MAX, Result};

use super::{IS_SPENT, push_filter};
use crate::SqliteStore;
use crate::reach::{Owned, Query, push_owned};
use crate::row::{self, Parsed};

/// Whether prompts wait for the session `t`. Very many sessions are counted, so the queue is read once and not for each.
const IS_QUEUED: &str = "t.id IN (SELECT q.session_id FROM turns q WHERE q.state = 'queued')";

impl SqliteStore {
    /// Counts the sessions of a list in groups of the same facts.
    pub(super) async fn tally(
        &self,
        reach: Reach,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionTally>> {
        let mut query = Query::new(
            "SELECT state, is_spent, is_clean, has_commits, has_unmerged, COUNT(*) AS number FROM (",
        );
        query.push(format_args!(
            "SELECT CASE WHEN t.state = 'idle' AND {IS_QUEUED} THEN 'running' ELSE t.state END AS state, {IS_SPENT}"
        ));
        query.push(
            " AS is_spent, w.is_clean, w.commits_ahead > 0 AS has_commits, w.commits_unmerged > 0 AS has_unmerged
              FROM sessions t LEFT JOIN worktrees w ON w.id = t.worktree_id WHERE ",
        );
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        query.push(format_args!(" LIMIT {COUNT_MAX}) GROUP BY 1, 2, 3, 4, 5"));
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|row| row::direct("session", tally_row(row)))
            .collect()
    }
}

fn tally_row(row: &SqliteRow) -> Parsed<SessionTally> {
    Ok(SessionTally {
        state: row::parse_enum(row, "state", SessionStateName::parse)?,
        is_spent: row::get(row, "is_spent")?,
        changes: match row::get::<Option<bool>>(row, "is_clean")? {
            None => None,
            Some(is_clean) => Some(WorktreeChanges {
                added: 0,
                deleted: 0,
                ahead: row::count(row, "has_commits")?,
                unmerged: row::count(row, "has_unmerged")?,
                is_clean,
            }),
        },
        count: row::count(row, "number")?,
    })
}
