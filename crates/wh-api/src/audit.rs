//! The audit log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    AuditAbout, AuditEntry, AuditQuery, DayOffset, InputRefusal, Moment, Operation, Outcome,
    OutcomeFilter, Page, Surface,
};

use crate::common::{field, list_request, optional, optional_reference, time};

list_request! {
    /// Which calls to list.
    AuditListRequest {
        /// Only calls by this user, by id or name.
        user: String,
        /// Only calls of this operation, such as board_create.
        operation: String,
        /// Only calls that ended so: ok, refused, failed (the fault was the server's), or a code such as FORBIDDEN.
        outcome: String,
        /// Only calls that came in here: mcp, rest, server.
        surface: String,
        /// Only calls about what has this id, or these last 8 digits of one: they changed it, or named it.
        about: String,
        /// Only calls from then on: a day like 2026-11-15, a time in RFC 3339, or 7d (so many days, today among them).
        since: String,
        /// Only calls until then: a day, to its end, or a time.
        until: String,
        /// Successful reads and parts of other calls too; false by default, unless operation is one that reads.
        include_reads: bool,
        /// How many minutes your clocks are ahead of UTC, -1080 to 1080; it decides where a day begins. 0 unless given.
        utc_offset: i32,
    }
}

impl TryFrom<&AuditListRequest> for AuditQuery {
    type Error = InputRefusal;

    fn try_from(request: &AuditListRequest) -> Result<Self, InputRefusal> {
        let operation =
            |name: &str| Operation::parse(name).ok_or("is not the name of an operation");
        let surface = |name: &str| Surface::parse(name).ok_or("must be mcp, rest or server");
        let offset = DayOffset::from_minutes(request.utc_offset.unwrap_or(0));
        Ok(Self {
            user: optional_reference("user", request.user.as_deref())?,
            operation: optional("operation", request.operation.as_deref(), operation)?,
            outcome: optional("outcome", request.outcome.as_deref(), OutcomeFilter::parse)?,
            surface: optional("surface", request.surface.as_deref(), surface)?,
            about: optional("about", request.about.as_deref(), AuditAbout::parse)?,
            since: optional("since", request.since.as_deref(), Moment::parse)?,
            until: optional("until", request.until.as_deref(), Moment::parse)?,
            offset: field("utc_offset", offset)?,
            include_reads: request.include_reads.unwrap_or(false),
        })
    }
}

/// One call that reached the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntryView {
    pub seq: u64,
    pub at: String,
    pub request_id: String,
    pub user_id: String,
    /// The user's name, also after the user was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// local, browser, full, read, client or session
    pub credential: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// mcp, rest or server
    pub surface: String,
    pub operation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_id: Option<String>,
    /// ok, or the code of the refusal
    pub outcome: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        let body = entry.body;
        let outcome = match body.outcome {
            Outcome::Done => "ok",
            Outcome::Refused(code) => code.as_str(),
        };
        Self {
            seq: entry.seq,
            at: time(body.at),
            request_id: body.request.to_string(),
            user_id: body.user.to_string(),
            user: entry.user_name.map(|name| name.to_string()),
            credential: body.credential.as_str().to_owned(),
            key_id: body.key.map(|id| id.to_string()),
            session_id: body.session.map(|id| id.to_string()),
            surface: body.surface.as_str().to_owned(),
            operation: body.operation.name().to_owned(),
            subject_kind: body.subject.map(|s| s.kind.as_str().to_owned()),
            subject_id: body.subject.map(|s| s.id.to_string()),
            outcome: outcome.to_owned(),
            facts: body.facts,
        }
    }
}

/// Some calls, newest first. There may be fewer than asked for, even none, and yet a next page: calls are looked through
/// 50000 at a time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditListView {
    pub entries: Vec<AuditEntryView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl From<Page<AuditEntry, u64>> for AuditListView {
    fn from(page: Page<AuditEntry, u64>) -> Self {
        Self {
            entries: page.items.into_iter().map(AuditEntryView::from).collect(),
            next_cursor: crate::cursor_of(page.next),
        }
    }
}
