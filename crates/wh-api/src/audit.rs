//! The audit log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{AuditEntry, InputRefusal, Operation, Outcome, Reference};

use crate::common::{list_request, optional_reference, time};

list_request! {
    /// Which calls to list.
    AuditListRequest {
        /// Only calls by this user, by id or name.
        user: String,
        /// Only calls of this operation, such as board_create.
        operation: String,
    }
}

impl AuditListRequest {
    /// Returns whose calls are meant.
    pub fn user(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("user", self.user.as_deref())
    }

    /// Returns which operation is meant.
    pub fn operation(&self) -> Result<Option<Operation>, InputRefusal> {
        let read = |name: &String| {
            Operation::parse(name)
                .ok_or_else(|| InputRefusal::new("operation", "is not the name of an operation"))
        };
        self.operation.as_ref().map(read).transpose()
    }
}

/// One call that reached the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntryView {
    pub seq: u64,
    pub at: String,
    pub request_id: String,
    pub user_id: String,
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

/// Some calls, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditListView {
    pub entries: Vec<AuditEntryView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
