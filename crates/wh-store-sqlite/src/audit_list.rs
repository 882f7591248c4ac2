//! Finds entries of the audit log.
//!
//! The log is long and can be asked for by many things at once. One of them is followed by an index, newest first, and what
//! it leads to is compared with the others, a bounded number of entries at a time.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AuditAbout, AuditEntry, AuditFilter, ErrorCode, Outcome, OutcomeFilter, Page, PageRequest,
    Reach, UserId, UserName,
};
use wh_store::{AUDIT_COMPARED_MAX, Result};

use crate::SqliteStore;
use crate::audit::audit_row;
use crate::error::store_error;
use crate::reach::{Query, short_bytes};
use crate::retention::audit_since;
use crate::row::{self, int, micros, uuid};

/// How much later than it began a call is written at most. Entries are numbered in the order they are written, and tell when
/// their calls began.
const LATE_MAX: SignedDuration = SignedDuration::from_hours(1);

impl SqliteStore {
    pub(crate) async fn audit_page(
        &self,
        reach: Reach,
        filter: &AuditFilter,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>> {
        let mut numbers = self.numbers(filter).await?;
        numbers.end = numbers.end.min(page.after.map_or(i64::MAX, int));
        let way = Way::of(reach, filter);
        let floor = self.floor(way, numbers).await?;
        numbers.first = numbers.first.max(floor.unwrap_or(0));
        let rows = self.rows(page_query(
            way,
            numbers,
            reach,
            filter,
            page.limit.get() + 1,
        ));
        let cursor = |r: &SqliteRow| row::count(r, "seq");
        let mut found = row::page("audit entry", rows.await?, page.limit, cursor, audit_row)?;
        // What was not compared yet is for the next page.
        found.next = found.next.or(floor.map(i64::cast_unsigned));
        self.name_users(&mut found.items).await?;
        Ok(found)
    }

    /// Adds the names of those who called, deleted users among them.
    async fn name_users(&self, entries: &mut [AuditEntry]) -> Result<()> {
        let ids: HashSet<_> = entries.iter().map(|entry| entry.body.user).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut query = Query::new("SELECT id, name FROM users WHERE id IN (");
        let mut listed = query.separated(", ");
        for id in ids {
            listed.push_bind(uuid(id));
        }
        query.push(")");
        let rows = self.rows(query).await?;
        let mut names = HashMap::new();
        for found in &rows {
            let id: UserId = row::direct("user", row::id(found, "id"))?;
            let name = row::direct("user", row::parse(found, "name", UserName::parse))?;
            names.insert(id, name);
        }
        for entry in entries {
            entry.user_name = names.get(&entry.body.user).cloned();
        }
        Ok(())
    }

    /// Returns the numbers that entries of the time asked for can have.
    async fn numbers(&self, filter: &AuditFilter) -> Result<Numbers> {
        let mut numbers = Numbers {
            first: 0,
            end: i64::MAX,
        };
        if filter.since.is_none() && filter.until.is_none() {
            return Ok(numbers);
        }
        let mut conn = self.readers.acquire().await.map_err(store_error)?;
        if let Some(since) = filter.since {
            let since = since.checked_sub(LATE_MAX).unwrap_or(Timestamp::MIN);
            numbers.first = audit_since(&mut conn, since).await?;
        }
        if let Some(until) = filter.until {
            let until = until.checked_add(LATE_MAX).unwrap_or(Timestamp::MAX);
            numbers.end = audit_since(&mut conn, until).await?;
        }
        Ok(numbers)
    }

    /// Returns the number of the last entry that is compared for one page, unless all there are can be.
    async fn floor(&self, way: Way, numbers: Numbers) -> Result<Option<i64>> {
        let rows = self.rows(floor_query(way, numbers)).await?;
        let number = rows.first().map(|r| row::get(r, "seq")).transpose();
        row::direct("audit entry", number)
    }
}

/// The condition of the indexes that leave out successful reads: only what changed something has a subject.
const KEPT: &str = "(t.subject_id IS NOT NULL OR t.refused IS NOT NULL)";

/// The condition of parts of calls that have an entry of their own.
const IS_PART: &str = "instr(t.facts, '\"part_of\":') > 0";

/// A range of entries.
#[derive(Clone, Copy)]
struct Numbers {
    first: i64,
    /// The first that is not meant.
    end: i64,
}

/// Which index is followed.
#[derive(Clone, Copy)]
enum Way {
    Key(Uuid),
    Session(Uuid),
    Refused,
    Operation(&'static str),
    User(Uuid),
    /// Those of a user that are not of successful reads.
    UserKept(Uuid),
    /// Those that are not of successful reads.
    Kept,
    /// By number alone.
    All,
    Nothing,
}

impl Way {
    /// Chooses what leaves least to compare.
    fn of(reach: Reach, filter: &AuditFilter) -> Self {
        let user = match reach {
            Reach::Key(key) => return Self::Key(uuid(key)),
            Reach::Tree(session) => return Self::Session(uuid(session)),
            Reach::Guest { .. } => return Self::Nothing,
            Reach::User(user) | Reach::UserAndGuest { user, .. } => Some(user),
            Reach::All => filter.user,
        };
        match (filter.outcome, filter.operation, user) {
            (Some(outcome), ..) if outcome != OutcomeFilter::Done => Self::Refused,
            (_, Some(operation), _) => Self::Operation(operation.name()),
            (.., Some(user)) if !filter.without_reads => Self::User(uuid(user)),
            (.., Some(user)) => Self::UserKept(uuid(user)),
            _ if !filter.without_reads => Self::All,
            _ => Self::Kept,
        }
    }

    /// Adds where entries come from, and the condition of the index.
    fn push(self, query: &mut Query) {
        match self {
            Self::Key(key) => query
                .push(" FROM audit t INDEXED BY audit_key WHERE t.key_id = ")
                .push_bind(key),
            Self::Session(session) => query
                .push(" FROM audit t INDEXED BY audit_session WHERE t.session_id = ")
                .push_bind(session),
            Self::Refused => {
                query.push(" FROM audit t INDEXED BY audit_refused WHERE t.refused IS NOT NULL")
            }
            Self::Operation(operation) => query
                .push(" FROM audit t INDEXED BY audit_operation WHERE t.operation = ")
                .push_bind(operation),
            Self::User(user) => query
                .push(" FROM audit t INDEXED BY audit_user WHERE t.user_id = ")
                .push_bind(user),
            Self::UserKept(user) => query
                .push(" FROM audit t INDEXED BY audit_user_kept WHERE ")
                .push(KEPT)
                .push(" AND t.user_id = ")
                .push_bind(user),
            Self::Kept => query
                .push(" FROM audit t INDEXED BY audit_kept WHERE ")
                .push(KEPT),
            Self::All => query.push(" FROM audit t WHERE TRUE"),
            Self::Nothing => query.push(" FROM audit t WHERE FALSE"),
        };
    }
}

fn floor_query(way: Way, numbers: Numbers) -> Query {
    let mut query = Query::new("SELECT t.seq");
    way.push(&mut query);
    push_numbers(&mut query, numbers);
    let skipped = AUDIT_COMPARED_MAX - 1;
    query.push(format_args!(
        " ORDER BY t.seq DESC LIMIT 1 OFFSET {skipped}"
    ));
    query
}

fn page_query(way: Way, numbers: Numbers, reach: Reach, filter: &AuditFilter, rows: u32) -> Query {
    let mut query = Query::new("SELECT t.*");
    way.push(&mut query);
    push_numbers(&mut query, numbers);
    push_filter(&mut query, reach, filter);
    query.push(format_args!(" ORDER BY t.seq DESC LIMIT {rows}"));
    query
}

fn push_numbers(query: &mut Query, numbers: Numbers) {
    query.push(" AND t.seq >= ").push_bind(numbers.first);
    query.push(" AND t.seq < ").push_bind(numbers.end);
}

/// Adds everything that is asked for; what the index has found already costs nothing more.
fn push_filter(query: &mut Query, reach: Reach, filter: &AuditFilter) {
    if let Reach::User(user) | Reach::UserAndGuest { user, .. } = reach {
        query.push(" AND t.user_id = ").push_bind(uuid(user));
    }
    if let Some(user) = filter.user {
        query.push(" AND t.user_id = ").push_bind(uuid(user));
    }
    if let Some(operation) = filter.operation {
        query
            .push(" AND t.operation = ")
            .push_bind(operation.name());
    }
    if let Some(outcome) = filter.outcome {
        push_outcome(query, outcome);
    }
    if let Some(surface) = filter.surface {
        query.push(" AND t.surface = ").push_bind(surface.as_str());
    }
    if let Some(since) = filter.since {
        query.push(" AND t.at >= ").push_bind(micros(since));
    }
    if let Some(until) = filter.until {
        query.push(" AND t.at < ").push_bind(micros(until));
    }
    if let Some(about) = &filter.about {
        push_about(query, about);
    }
    if filter.without_reads {
        query.push(" AND (").push(KEPT);
        if filter.operation.is_some() {
            query.push(" OR ").push(IS_PART);
        }
        query.push(")");
    }
}

fn push_outcome(query: &mut Query, outcome: OutcomeFilter) {
    if outcome == OutcomeFilter::Done {
        query.push(" AND t.refused IS NULL");
        return;
    }
    query.push(" AND t.refused IN (");
    let mut codes = query.separated(", ");
    for code in ErrorCode::ALL {
        if outcome.covers(Outcome::Refused(code)) {
            codes.push_bind(code.as_str());
        }
    }
    query.push(")");
}

/// Adds that an entry's subject, or one of its facts, is what is looked for. Facts hold what callers wrote: an id, with or
/// without dashes, or its last digits. They are kept as JSON, in which a text ends with a quotation mark.
fn push_about(query: &mut Query, about: &AuditAbout) {
    let Some(id) = about.id else {
        query.push(" AND (substr(t.subject_id, 13) = ");
        query.push_bind(short_bytes(&about.short));
        query.push(" OR instr(lower(t.facts), ");
        query.push_bind(format!("{}\"", about.short)).push("))");
        return;
    };
    query.push(" AND (t.subject_id = ").push_bind(id);
    query.push(" OR instr(replace(lower(t.facts), '-', ''), ");
    query.push_bind(format!("{}\"", id.simple()));
    query.push(") OR instr(lower(t.facts), ");
    query.push_bind(format!("\"{}\"", about.short)).push("))");
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use sqlx::Row;
    use wh_domain::{Operation, Surface, UserId};

    use super::*;
    use crate::OpenOptions;

    /// Returns the steps by which SQLite would answer a query.
    async fn steps(store: &SqliteStore, query: Query) -> Vec<String> {
        let explained = Query::new(format!("EXPLAIN QUERY PLAN {}", query.sql().as_str()));
        let rows = store.rows(explained).await.unwrap();
        rows.iter().map(|row| row.get("detail")).collect()
    }

    #[tokio::test]
    async fn every_way_follows_its_index_and_sorts_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(directory.path().join("wheelhouse.db"));
        let store = SqliteStore::open(options).await.unwrap();
        let user = UserId::from_untyped_uuid(Uuid::from_u128(1));
        let key = wh_domain::KeyId::from_untyped_uuid(Uuid::from_u128(2));
        let session = wh_domain::SessionId::from_untyped_uuid(Uuid::from_u128(3));
        let filter = AuditFilter {
            surface: Some(Surface::Mcp),
            about: Some(AuditAbout::parse("89abcdef").unwrap()),
            since: Some(Timestamp::UNIX_EPOCH),
            ..AuditFilter::default()
        };
        let kept = AuditFilter {
            without_reads: true,
            ..filter.clone()
        };
        let of_operation = AuditFilter {
            operation: Some(Operation::BoardGet),
            outcome: Some(OutcomeFilter::Done),
            ..filter.clone()
        };
        let failed = AuditFilter {
            outcome: Some(OutcomeFilter::Failed),
            ..of_operation.clone()
        };
        let numbers = Numbers { first: 5, end: 9 };
        for (reach, filter, expected) in [
            (Reach::All, &filter, "INTEGER PRIMARY KEY"),
            (Reach::User(user), &filter, "INDEX audit_user "),
            (Reach::All, &kept, "INDEX audit_kept"),
            (Reach::User(user), &kept, "INDEX audit_user_kept"),
            (Reach::User(user), &of_operation, "INDEX audit_operation"),
            (Reach::User(user), &failed, "INDEX audit_refused"),
            (Reach::Key(key), &failed, "INDEX audit_key"),
            (Reach::Tree(session), &failed, "INDEX audit_session"),
        ] {
            let way = Way::of(reach, filter);
            for query in [
                floor_query(way, numbers),
                page_query(way, numbers, reach, filter, 51),
            ] {
                let steps = steps(&store, query).await;
                assert_eq!(steps.len(), 1, "nothing is sorted: {steps:?}");
                let is_searched = steps[0].starts_with("SEARCH") && steps[0].contains(expected);
                assert!(is_searched, "{expected}: {steps:?}");
            }
        }
        wh_store::Store::close(&store).await;
    }
}
