//! Totals of session lists.
//!
//! Triggers keep a row of `session_totals` for every combination of owner, state and archived flag, so that counting a list that
//! filters by nothing else costs the same however many sessions there are. The rows go by the stored state. A list of running or of idle
//! sessions goes by the state as shown, so the idle sessions for which prompts wait are counted besides, by the queue.

use wh_domain::{Reach, SessionFilter, SessionStateName};
use wh_store::Result;

use super::{push_archived, push_filter, push_stored};
use crate::SqliteStore;
use crate::reach::{Owned, Query, counted, push_owned};
use crate::row::{self, uuid};

impl SqliteStore {
    pub(super) async fn count_sessions(&self, reach: Reach, filter: &SessionFilter) -> Result<u64> {
        if let Some(query) = totals_query(reach, filter) {
            return self.total(query).await;
        }
        let mut query = counted("sessions t");
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        self.count(query).await
    }

    async fn total(&self, query: Query) -> Result<u64> {
        let rows = self.rows(query).await?;
        let number = rows.first().map(|row| row::count(row, "number"));
        let number = row::direct("count", number.unwrap_or(Ok(0)))?;
        Ok(number.min(u64::from(wh_store::COUNT_MAX)))
    }
}

/// Returns the query that adds up totals, if these distinguish everything that the list filters by.
fn totals_query(reach: Reach, filter: &SessionFilter) -> Option<Query> {
    let SessionFilter {
        states: _,
        archived: _,
        spawned: None,
        needs_you: false,
        title: None,
        board: None,
        on_board: None,
        worktree: None,
        parent: None,
    } = filter
    else {
        return None;
    };
    let mut query =
        Query::new("SELECT (SELECT COALESCE(SUM(t.number), 0) FROM session_totals t WHERE ");
    push_owner(&mut query, reach)?;
    if !filter.states.is_empty() {
        push_stored(query.push(" AND "), filter.states.iter().copied());
    }
    push_archived(&mut query, filter.archived);
    query.push(")");
    let has = |state| filter.states.contains(&state);
    match (has(SessionStateName::Running), has(SessionStateName::Idle)) {
        (true, false) => push_queued(query.push(" + "), reach, filter)?,
        (false, true) => push_queued(query.push(" - "), reach, filter)?,
        _ => {}
    }
    query.push(" AS number");
    Some(query)
}

/// Adds the number of idle sessions for which prompts wait, as a subquery.
fn push_queued(query: &mut Query, reach: Reach, filter: &SessionFilter) -> Option<()> {
    query.push(
        "(SELECT COUNT(DISTINCT t.id) FROM turns q CROSS JOIN sessions t ON t.id = q.session_id
             WHERE q.state = 'queued' AND t.state = 'idle' AND ",
    );
    push_owner(query, reach)?;
    push_archived(query, filter.archived);
    query.push(")");
    Some(())
}

/// Adds the condition that the owner of `t` is in reach. Returns `None` if a row of totals does not hold what the reach needs.
fn push_owner(query: &mut Query, reach: Reach) -> Option<()> {
    match reach {
        Reach::All => query.push("TRUE"),
        Reach::User(user) => query.push("t.owner_user_id = ").push_bind(uuid(user)),
        Reach::Key(key) => query.push("t.owner_key_id = ").push_bind(uuid(key)),
        Reach::Guest { .. } | Reach::UserAndGuest { .. } | Reach::Tree(_) => return None,
    };
    Some(())
}
