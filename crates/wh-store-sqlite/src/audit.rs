//! The audit log.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    AuditEntry, CredentialKind, ErrorCode, NewAuditEntry, Operation, Outcome, Page, PageRequest,
    Reach, Subject, SubjectKind, Surface, UserId,
};
use wh_store::{AuditStore, Result};

use crate::SqliteStore;
use crate::batch::{ROWS_MAX, is_common};
use crate::reach::Query;
use crate::row::{self, Parsed, facts_text, int, micros, uuid, uuid_opt};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_note(&self, entry: NewAuditEntry) -> Result<()> {
        self.shared.notes.audit(entry).await
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

/// Adds entries, many with one statement.
pub(crate) async fn insert_in_txn(
    conn: &mut SqliteConnection,
    entries: &[NewAuditEntry],
) -> sqlx::Result<()> {
    for chunk in entries.chunks(ROWS_MAX) {
        let mut query = Query::new(
            "INSERT INTO audit (at, request_id, user_id, credential, key_id, session_id, surface, operation,
             subject_kind, subject_id, refused, facts) ",
        );
        query.push_values(chunk, |mut row, entry| {
            let refused = match entry.outcome {
                Outcome::Done => None,
                Outcome::Refused(code) => Some(code.as_str()),
            };
            row.push_bind(micros(entry.at))
                .push_bind(entry.request)
                .push_bind(uuid(entry.user))
                .push_bind(entry.credential.as_str())
                .push_bind(uuid_opt(entry.key))
                .push_bind(uuid_opt(entry.session))
                .push_bind(entry.surface.as_str())
                .push_bind(entry.operation.name())
                .push_bind(entry.subject.map(|s| s.kind.as_str()))
                .push_bind(entry.subject.map(|s| s.id))
                .push_bind(refused)
                .push_bind(facts_text(&entry.facts));
        });
        let insert = query.build().persistent(is_common(chunk.len()));
        insert.execute(&mut *conn).await?;
    }
    Ok(())
}
