//! The audit log.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::Sqlite;
use sqlx::query_builder::Separated;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AuditEntry, AuditFilter, CredentialKind, ErrorCode, NewAuditEntry, Operation, Outcome, Page,
    PageRequest, Reach, Subject, SubjectKind, Surface,
};
use wh_store::{AuditStore, Result};

use crate::SqliteStore;
use crate::reach::Query;
use crate::row::{self, Parsed, facts_text, micros, uuid, uuid_opt};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_note(&self, entry: NewAuditEntry) -> Result<()> {
        self.shared.notes.audit(entry.into()).await
    }

    async fn audit_list(
        &self,
        reach: Reach,
        filter: &AuditFilter,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>> {
        self.audit_page(reach, filter, page).await
    }
}

pub(crate) fn audit_row(row: &SqliteRow) -> Parsed<AuditEntry> {
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
        // It is read once for all entries of a page.
        user_name: None,
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
    facts: Option<Arc<str>>,
    call: Call,
}

/// What calls have in common that one caller makes one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    user: Uuid,
    credential: &'static str,
    key: Option<Uuid>,
    session: Option<Uuid>,
    surface: &'static str,
    operation: &'static str,
    subject: Option<Subject>,
    refused: Option<&'static str>,
}

impl From<NewAuditEntry> for AuditRow {
    fn from(entry: NewAuditEntry) -> Self {
        Self {
            at: entry.at,
            request: entry.request,
            facts: facts_text(&entry.facts).map(Arc::from),
            call: Call {
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
            },
        }
    }
}

const CALL_COLUMNS: &str = "user_id, credential, key_id, session_id, surface, operation, subject_kind, subject_id, refused";

/// Adds a statement that inserts entries.
pub(crate) fn push_insert(script: &mut Query, entries: &[AuditRow]) {
    script.push(format_args!(
        "INSERT INTO audit ({CALL_COLUMNS}, at, request_id, facts) "
    ));
    match entries {
        [first, rest @ ..] if rest.iter().all(|row| row.call == first.call) => {
            push_alike(script, first.call, entries);
        }
        _ => push_mixed(script, entries),
    }
}

/// Adds the rows of calls that are alike: what they have in common is bound once.
fn push_alike(script: &mut Query, call: Call, rows: &[AuditRow]) {
    script.push("SELECT ");
    push_call(&mut script.separated(", "), call);
    script.push(", column1, column2, column3 FROM (");
    script.push_values(rows, |mut values, row| {
        values
            .push_bind(micros(row.at))
            .push_bind(row.request)
            .push_bind(row.facts.clone());
    });
    script.push(")");
}

fn push_mixed(script: &mut Query, rows: &[AuditRow]) {
    script.push_values(rows, |mut values, row| {
        push_call(&mut values, row.call);
        values
            .push_bind(micros(row.at))
            .push_bind(row.request)
            .push_bind(row.facts.clone());
    });
}

fn push_call(values: &mut Separated<'_, Sqlite, &'static str>, call: Call) {
    values
        .push_bind(call.user)
        .push_bind(call.credential)
        .push_bind(call.key)
        .push_bind(call.session)
        .push_bind(call.surface)
        .push_bind(call.operation)
        .push_bind(call.subject.map(|s| s.kind.as_str()))
        .push_bind(call.subject.map(|s| s.id))
        .push_bind(call.refused);
}
