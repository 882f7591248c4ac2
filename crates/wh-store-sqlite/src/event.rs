//! The change feed.

use std::cell::Cell;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use tokio::sync::watch;
use wh_domain::{
    Event, EventKind, EventSeq, NewEvent, PageLimit, Reach, SessionId, ShareLevel, Subject,
    SubjectKind, UserId,
};
use wh_store::{EventPage, EventStore, Recent, Result};

use crate::SqliteStore;
use crate::change::Request;
use crate::reach::{Owned, Query, push_shared_event, push_tree};
use crate::row::{self, Parsed, facts_text, int, micros, uuid, uuid_opt};

/// Events that are looked through at a time for those of a session's tree, or of what is shared.
const WINDOW: u64 = 5_000;

#[async_trait]
impl EventStore for SqliteStore {
    async fn event_list(
        &self,
        reach: Reach,
        after: EventSeq,
        limit: PageLimit,
    ) -> Result<EventPage> {
        // Everything up to here is committed, so the query below sees it.
        let newest = *self.events.borrow();
        let (query, end) = match reach {
            Reach::Tree(session) => {
                let window = self.window(after, newest).await?;
                (tree_query(session, window, limit), window.1)
            }
            Reach::UserAndGuest { user, level } if self.shared.guests.holds(user) => {
                let window = self.window(after, newest).await?;
                (guest_query(user, level, window, limit), window.1)
            }
            reach => (owner_query(reach, after, limit), newest),
        };
        let mut rows = self.rows(query).await?;
        let size = limit.get() as usize;
        let full = rows.len() > size;
        rows.truncate(size);
        let last = rows
            .last()
            .map(|r| row::direct("event", row::count(r, "seq")));
        let last = last.transpose()?.unwrap_or(after);
        let through = if full { last } else { last.max(end).max(after) };
        Ok(EventPage {
            events: row::listed("event", &rows, event_row),
            through,
            more: full || through < newest,
        })
    }

    fn event_recent(&self, reach: Reach, after: EventSeq) -> Option<Recent> {
        let unsure = Cell::new(false);
        let sees: Box<dyn Fn(&Event) -> bool> = match reach {
            Reach::All => Box::new(|_| true),
            Reach::UserAndGuest { user, .. } if self.shared.guests.holds(user) => {
                Box::new(|event| {
                    let is_own = reach.covers_owner(event.body.owner);
                    unsure.set(unsure.get() || !is_own && can_be_shared(event.body.subject.kind));
                    is_own
                })
            }
            Reach::User(_) | Reach::UserAndGuest { .. } => {
                Box::new(move |event| reach.covers_owner(event.body.owner))
            }
            Reach::Key(_) => Box::new(move |event| {
                reach.covers_owner(event.body.owner) && !is_identity(event.body.subject.kind)
            }),
            // Who belongs to a tree stands in the database.
            Reach::Guest { .. } | Reach::Tree(_) => return None,
        };
        let recent = self.shared.recent.after(after, sees);
        // So does what is shared with whom.
        recent.filter(|_| !unsure.get())
    }

    async fn event_bounds(&self) -> Result<(EventSeq, EventSeq)> {
        let query = Query::new(
            "SELECT (SELECT coalesce(min(seq), 0) FROM events) AS oldest,
                    (SELECT coalesce(max(seq), 0) FROM events) AS newest",
        );
        let rows = self.rows(query).await?;
        let Some(bounds) = rows.first() else {
            return Ok((0, 0));
        };
        let bound = |column| row::direct("event", row::count(bounds, column));
        Ok((bound("oldest")?, bound("newest")?))
    }

    async fn event_announce(&self, at: Timestamp, event: NewEvent) -> Result<EventSeq> {
        let event = Box::new(event);
        self.ask(|answer| Request::Announce { at, event, answer })
            .await
    }

    fn event_watch(&self) -> watch::Receiver<EventSeq> {
        self.events.clone()
    }
}

impl SqliteStore {
    /// Returns after which event to look, which is none that is no longer kept, and up to which.
    async fn window(&self, after: EventSeq, newest: EventSeq) -> Result<(EventSeq, EventSeq)> {
        let (oldest, _) = self.event_bounds().await?;
        let start = after.max(oldest.saturating_sub(1));
        Ok((start, start.saturating_add(WINDOW).min(newest)))
    }
}

/// Asks for events whose subject the reader owns. [`EventStore::event_recent`] says the same of those in memory.
fn owner_query(reach: Reach, after: EventSeq, limit: PageLimit) -> Query {
    let mut query = Query::new("SELECT t.* FROM events t WHERE t.seq > ");
    query.push_bind(int(after));
    match reach {
        Reach::All | Reach::Tree(_) => {}
        Reach::Guest { .. } => {
            query.push(" AND FALSE");
        }
        Reach::User(user) | Reach::UserAndGuest { user, .. } => {
            query.push(" AND t.owner_user_id = ").push_bind(uuid(user));
        }
        Reach::Key(key) => {
            query.push(" AND t.owner_key_id = ").push_bind(uuid(key));
            push_no_identity(&mut query);
        }
    }
    push_order(&mut query, limit);
    query
}

/// Asks for events of a session's tree, and of the boards, repositories and worktrees it works on.
fn tree_query(session: SessionId, window: (EventSeq, EventSeq), limit: PageLimit) -> Query {
    let mut query = window_query(window);
    query.push(" AND (t.session_id IN ");
    push_tree(&mut query, session, Owned::Sessions);
    query.push(" OR (t.subject_kind = 'session' AND t.subject_id IN ");
    push_tree(&mut query, session, Owned::Sessions);
    query.push(") OR (t.subject_kind = 'board' AND t.subject_id IN ");
    push_tree(&mut query, session, Owned::Boards);
    query.push(") OR (t.subject_kind = 'repo' AND t.subject_id IN ");
    push_tree(&mut query, session, Owned::Repos);
    query.push(") OR (t.subject_kind = 'worktree' AND t.subject_id IN ");
    push_tree(&mut query, session, Owned::Worktrees);
    query.push("))");
    push_no_identity(&mut query);
    push_order(&mut query, limit);
    query
}

/// Asks for events of what a user owns, and of what others share with them.
fn guest_query(
    user: UserId,
    level: ShareLevel,
    window: (EventSeq, EventSeq),
    limit: PageLimit,
) -> Query {
    let mut query = window_query(window);
    query
        .push(" AND (+t.owner_user_id = ")
        .push_bind(uuid(user));
    query.push(" OR ");
    push_shared_event(&mut query, user, level);
    query.push(")");
    push_order(&mut query, limit);
    query
}

/// Begins a query for events after one number and up to another.
fn window_query((start, end): (EventSeq, EventSeq)) -> Query {
    let mut query = Query::new("SELECT t.* FROM events t WHERE t.seq > ");
    query.push_bind(int(start));
    query.push(" AND t.seq <= ").push_bind(int(end));
    query
}

/// Tells whether others may be told what happens to this, as [`push_shared_event`] does.
fn can_be_shared(kind: SubjectKind) -> bool {
    use SubjectKind::{Board, Session, Turn};
    matches!(kind, Board | Session | Turn)
}

/// Leaves out what only users themselves may see, as [`is_identity`] does.
fn push_no_identity(query: &mut Query) {
    query.push(" AND t.subject_kind NOT IN ('user', 'key', 'setting', 'server', 'webhook')");
}

/// Tells whether only users themselves may see what happens to this.
fn is_identity(kind: SubjectKind) -> bool {
    use SubjectKind::{Key, Server, Setting, User, Webhook};
    matches!(kind, User | Key | Setting | Server | Webhook)
}

fn push_order(query: &mut Query, limit: PageLimit) {
    let rows = limit.get() + 1;
    query.push(format_args!(" ORDER BY t.seq LIMIT {rows}"));
}

fn event_row(row: &SqliteRow) -> Parsed<Event> {
    Ok(Event {
        seq: row::count(row, "seq")?,
        at: row::time(row, "at")?,
        body: NewEvent {
            kind: row::parse_enum(row, "kind", EventKind::parse)?,
            subject: Subject {
                kind: row::parse_enum(row, "subject_kind", SubjectKind::parse)?,
                id: row::get(row, "subject_id")?,
            },
            owner: row::owner(row)?,
            session: row::id_opt(row, "session_id")?,
            actor: row::id_opt(row, "actor_id")?,
            facts: row::facts(row, "facts")?,
        },
    })
}

/// Numbers events that were inserted after `last`, as they would be read back.
pub(crate) fn numbered(last: EventSeq, events: Vec<(Timestamp, NewEvent)>) -> Vec<Event> {
    let number = |(seq, (at, body)): (EventSeq, (Timestamp, NewEvent))| Event {
        seq,
        at: Timestamp::from_microsecond(micros(at)).unwrap_or(at),
        body,
    };
    (last + 1..).zip(events).map(number).collect()
}

/// Adds a statement that inserts events with the numbers after `last`.
pub(crate) fn push_insert(script: &mut Query, last: EventSeq, events: &[(Timestamp, NewEvent)]) {
    script.push(
        "INSERT INTO events (seq, at, kind, subject_kind, subject_id, owner_user_id, owner_key_id, session_id,
         actor_id, facts) ",
    );
    let mut seq = last;
    script.push_values(events, |mut row, (at, event)| {
        seq += 1;
        row.push_bind(int(seq))
            .push_bind(micros(*at))
            .push_bind(event.kind.as_str())
            .push_bind(event.subject.kind.as_str())
            .push_bind(event.subject.id)
            .push_bind(uuid(event.owner.user))
            .push_bind(uuid_opt(event.owner.key))
            .push_bind(uuid_opt(event.session))
            .push_bind(uuid_opt(event.actor))
            .push_bind(facts_text(&event.facts));
    });
}

/// Returns the number of the last event that was ever written, kept or not.
pub(crate) async fn last_on_conn(conn: &mut SqliteConnection) -> sqlx::Result<EventSeq> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)";
    let last: i64 = sqlx::query_scalar(sql).fetch_one(conn).await?;
    Ok(last.unsigned_abs())
}
