//! The audit log.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AuditEntry, CredentialKind, ErrorCode, NewAuditEntry, Operation, Outcome, Page, PageRequest,
    Reach, Subject, SubjectKind, Surface, UserId,
};
use wh_store::{AuditStore, Result};

use crate::SqliteStore;
use crate::batch::chunks;
use crate::reach::Query;
use crate::row::{self, Parsed, facts_text, int, micros, uuid, uuid_opt};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_note(&self, entry: NewAuditEntry) -> Result<()> {
        self.shared.notes.audit(entry.into()).await
    }

    async fn audit_list(
        &self,
        reach: Reach,
        user: Option<UserId>,
        operation: Option<Operation>,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>> {
        let mut query = Query::new("SELECT t.* FROM audit t WHERE ");
        match reach {
            Reach::All => query.push("TRUE"),
            Reach::User(user) => query.push("t.user_id = ").push_bind(uuid(user)),
            Reach::Key(key) => query.push("t.key_id = ").push_bind(uuid(key)),
            Reach::Tree(session) => query.push("t.session_id = ").push_bind(uuid(session)),
        };
        if let Some(user) = user {
            query.push(" AND t.user_id = ").push_bind(uuid(user));
        }
        if let Some(operation) = operation {
            query
                .push(" AND t.operation = ")
                .push_bind(operation.name());
        }
        if let Some(after) = page.after {
            query.push(" AND t.seq < ").push_bind(int(after));
        }
        let rows = page.limit.get() + 1;
        query.push(format_args!(" ORDER BY t.seq DESC LIMIT {rows}"));
        let rows = self.rows(query).await?;
        let cursor = |r: &SqliteRow| row::count(r, "seq");
        row::page("audit entry", rows, page.limit, cursor, audit_row)
    }
}

fn audit_row(row: &SqliteRow) -> Parsed<AuditEntry> {
    let subject = match row::get::<Option<&str>>(row, "subject_kind")? {
        None => None,
        Some(_) => Some(Subject {
            kind: row::parse_enum(row, "subject_kind", SubjectKind::parse)?,
            id: row::get(row, "subject_id")?,
        }),
    };
    let outcome = match row::get::<Option<&str>>(row, "refused")? {
        None => Outcome::Done,
        Some(_) => Outcome::Refused(row::parse_enum(row, "refused", ErrorCode::parse)?),
    };
    Ok(AuditEntry {
        seq: row::count(row, "seq")?,
        body: NewAuditEntry {
            at: row::time(row, "at")?,
            request: row::get(row, "request_id")?,
            user: row::id(row, "user_id")?,
            credential: row::parse_enum(row, "credential", CredentialKind::parse)?,
            key: row::id_opt(row, "key_id")?,
            session: row::id_opt(row, "session_id")?,
            surface: row::parse_enum(row, "surface", Surface::parse)?,
            operation: row::parse_enum(row, "operation", Operation::parse)?,
            subject,
            outcome,
            facts: row::facts(row, "facts")?,
        },
    })
}

/// An entry as it is written.
///
/// Entries of reads wait to be written, thousands at a time when there is much to do. A map of facts takes half a kilobyte
/// and several allocations, so it is turned into its text before it waits.
#[derive(Clone, Debug)]
pub(crate) struct AuditRow {
    pub(crate) at: Timestamp,
    request: Uuid,
    user: Uuid,
    credential: &'static str,
    key: Option<Uuid>,
    session: Option<Uuid>,
    surface: &'static str,
    operation: &'static str,
    subject: Option<Subject>,
    refused: Option<&'static str>,
    facts: Option<Arc<str>>,
}

impl From<NewAuditEntry> for AuditRow {
    fn from(entry: NewAuditEntry) -> Self {
        Self {
            at: entry.at,
            request: entry.request,
            user: uuid(entry.user),
            credential: entry.credential.as_str(),
            key: uuid_opt(entry.key),
            session: uuid_opt(entry.session),
            surface: entry.surface.as_str(),
            operation: entry.operation.name(),
            subject: entry.subject,
            refused: match entry.outcome {
                Outcome::Done => None,
                Outcome::Refused(code) => Some(code.as_str()),
            },
            facts: facts_text(&entry.facts).map(Arc::from),
        }
    }
}

/// Texts that come again in many rows: bound as what they are, each would be copied for every row.
#[derive(Default)]
struct Texts(Vec<(&'static str, Arc<str>)>);

impl Texts {
    fn shared(&mut self, text: &'static str) -> Arc<str> {
        let known = self.0.iter().find(|(known, _)| std::ptr::eq(*known, text));
        if let Some((_, shared)) = known {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = text.into();
        self.0.push((text, Arc::clone(&shared)));
        shared
    }
}

/// Adds entries, many with one statement.
pub(crate) async fn insert_in_txn(
    conn: &mut SqliteConnection,
    entries: &[AuditRow],
) -> sqlx::Result<()> {
    let mut texts = Texts::default();
    for chunk in chunks(entries) {
        let mut query = Query::new(
            "INSERT INTO audit (at, request_id, user_id, credential, key_id, session_id, surface, operation,
             subject_kind, subject_id, refused, facts) ",
        );
        query.push_values(chunk, |mut row, entry| {
            row.push_bind(micros(entry.at))
                .push_bind(entry.request)
                .push_bind(entry.user)
                .push_bind(texts.shared(entry.credential))
                .push_bind(entry.key)
                .push_bind(entry.session)
                .push_bind(texts.shared(entry.surface))
                .push_bind(texts.shared(entry.operation))
                .push_bind(entry.subject.map(|s| s.kind.as_str()))
                .push_bind(entry.subject.map(|s| s.id))
                .push_bind(entry.refused)
                .push_bind(entry.facts.clone());
        });
        query.build().execute(&mut *conn).await?;
    }
    Ok(())
}
