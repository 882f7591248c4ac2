//! What a step reads first and writes last. Every statement costs a trip to the connection's thread, which takes longer than
//! most statements do; so what can be asked at once is, and words are written along with the session they belong to.

use std::collections::{BTreeSet, HashMap};

use sqlx::{Column, Row, SqliteConnection};
use wh_domain::{NewMessage, Session, SessionId};
use wh_store::{Result, RunFact, RunStep, StoreError};

use crate::batch::is_common;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, int, micros, uuid, uuid_opt};
use crate::session_row::session_row;

/// What is known before a step is applied.
pub(super) struct Known {
    pub(super) session: Session,
    /// Whether the run's place in its journal was moved on; otherwise the step was stored before, or comes too early.
    pub(super) moved: bool,
    pub(super) words: Words,
}

/// Moves the run's place in its journal, and reads the session and the messages that the step says anew: one trip.
pub(super) async fn begin(conn: &mut SqliteConnection, step: &RunStep) -> Result<Known> {
    let mut query = Query::new("");
    let moves = step.after != step.through;
    if moves {
        query
            .push("UPDATE runs SET journal_seq = ")
            .push_bind(int(step.through))
            .push(" WHERE session_id = ")
            .push_bind(uuid(step.session))
            .push(" AND epoch = ")
            .push_bind(int(step.epoch))
            .push(" AND journal_seq = ")
            .push_bind(int(step.after))
            .push(" RETURNING journal_seq; ");
    }
    query
        .push("SELECT * FROM sessions WHERE id = ")
        .push_bind(uuid(step.session));
    let references = references(&step.facts);
    if !references.is_empty() {
        query
            .push("; SELECT reference, seq FROM messages WHERE session_id = ")
            .push_bind(uuid(step.session))
            .push(" AND reference IN (");
        let mut list = query.separated(", ");
        for reference in &references {
            list.push_bind(*reference);
        }
        query.push(")");
    }
    let asked = query.build().persistent(is_common(references.len()));
    let rows = asked.fetch_all(conn).await.map_err(store_error)?;
    let (mut moved, mut session, mut words) = (!moves, None, Words::default());
    // Each statement's rows are known by their first column.
    for row in &rows {
        match row.column(0).name() {
            "journal_seq" => moved = true,
            "reference" => {
                let reference = row::direct("message", row::get(row, "reference"))?;
                let seq = row::direct("message", row::count(row, "seq"))?;
                words.places.insert(reference, seq);
            }
            _ => session = Some(row::direct("session", session_row(row))?),
        }
    }
    Ok(Known {
        session: session.ok_or(StoreError::NotFound { what: "session" })?,
        moved,
        words,
    })
}

fn references(facts: &[RunFact]) -> BTreeSet<&str> {
    let mut references = BTreeSet::new();
    for fact in facts {
        if let RunFact::Message { reference, .. } = fact {
            references.extend(reference.as_deref());
        }
    }
    references
}

/// Messages of a step that wait to be written.
#[derive(Default)]
pub(super) struct Words {
    /// The numbers of messages that have a reference.
    places: HashMap<String, u64>,
    /// Text and detail of messages that are there already, by their number.
    changed: Vec<(u64, NewMessage)>,
    new: Vec<NewWords>,
}

struct NewWords {
    seq: u64,
    reference: Option<String>,
    message: NewMessage,
}

impl Words {
    /// Takes a message in and returns its number: the next after `last`, unless it says an earlier one anew.
    pub(super) fn say(&mut self, last: u64, reference: Option<String>, message: NewMessage) -> u64 {
        let place = reference
            .as_ref()
            .and_then(|name| self.places.get(name).copied());
        let Some(seq) = place else {
            let seq = last + 1;
            if let Some(name) = &reference {
                self.places.insert(name.clone(), seq);
            }
            self.new.push(NewWords {
                seq,
                reference,
                message,
            });
            return seq;
        };
        let new = self.new.iter_mut().find(|new| new.seq == seq);
        if let Some(new) = new {
            (new.message.text, new.message.detail) = (message.text, message.detail);
        } else {
            self.changed.retain(|(changed, _)| *changed != seq);
            self.changed.push((seq, message));
        }
        seq
    }

    /// Adds what waits to a query that goes on with a statement of its own, if that is little: only few texts of a query are
    /// worth keeping prepared.
    pub(super) fn push_few(&mut self, query: &mut Query, session: SessionId) {
        if self.changed.len() > 1 || self.new.len() > 1 {
            return;
        }
        for (seq, message) in self.changed.drain(..) {
            push_change(query, session, seq, message);
            query.push("; ");
        }
        for new in self.new.drain(..) {
            push_insert(query, session, new);
            query.push("; ");
        }
    }

    /// Writes everything that waits.
    pub(super) async fn write(
        &mut self,
        conn: &mut SqliteConnection,
        session: SessionId,
    ) -> Result<()> {
        let mut queries = Vec::new();
        for (seq, message) in self.changed.drain(..) {
            let mut query = Query::new("");
            push_change(&mut query, session, seq, message);
            queries.push(query);
        }
        for new in self.new.drain(..) {
            let mut query = Query::new("");
            push_insert(&mut query, session, new);
            queries.push(query);
        }
        for mut query in queries {
            let written = query.build().execute(&mut *conn).await;
            written.map_err(store_error)?;
        }
        Ok(())
    }
}

fn push_change(query: &mut Query, session: SessionId, seq: u64, message: NewMessage) {
    query
        .push("UPDATE messages SET text = ")
        .push_bind(message.text)
        .push(", detail = ")
        .push_bind(message.detail)
        .push(" WHERE session_id = ")
        .push_bind(uuid(session))
        .push(" AND seq = ")
        .push_bind(int(seq));
}

fn push_insert(query: &mut Query, session: SessionId, new: NewWords) {
    let NewWords {
        seq,
        reference,
        message,
    } = new;
    query.push(
        "INSERT INTO messages (id, session_id, seq, turn_id, kind, text, detail, approval_id, created_at, reference) VALUES (",
    );
    let mut row = query.separated(", ");
    row.push_bind(uuid(message.id))
        .push_bind(uuid(session))
        .push_bind(int(seq))
        .push_bind(uuid_opt(message.turn))
        .push_bind(message.kind.as_str())
        .push_bind(message.text)
        .push_bind(message.detail)
        .push_bind(uuid_opt(message.approval))
        .push_bind(micros(message.created_at))
        .push_bind(reference);
    query.push(")");
}
