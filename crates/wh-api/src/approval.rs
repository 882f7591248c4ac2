//! Approvals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wh_domain::{Approval, InputRefusal, Reference, ShortId, redact};

use crate::common::{list_request, optional_reference, reference, time};

list_request! {
    /// Which approvals to list.
    ApprovalListRequest {
        /// Only those of this session.
        session: String,
        /// Settled ones too; false unless given.
        include_settled: bool,
    }
}

impl ApprovalListRequest {
    /// Returns the session asked for.
    pub fn session(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("session", self.session.as_deref())
    }
}

/// How an approval is settled.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalAnswerRequest {
    /// The approval's id, or its last 8 digits.
    pub approval: String,
    /// allow or deny.
    pub decision: String,
    /// The same for everything of this kind from now on, if the agent offers that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
    /// The answer to a question, or the reason of a denial, for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl ApprovalAnswerRequest {
    /// Returns which approval is meant.
    pub fn approval(&self) -> Result<Reference, InputRefusal> {
        reference("approval", &self.approval)
    }

    /// Tells whether it is allowed.
    pub fn allow(&self) -> Result<bool, InputRefusal> {
        match self.decision.as_str() {
            "allow" => Ok(true),
            "deny" => Ok(false),
            _ => Err(InputRefusal::new("decision", "must be allow or deny")),
        }
    }
}

/// Something only a person or a parent may settle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalView {
    /// The last 8 digits of the approval's id, accepted wherever an id is.
    pub id: String,
    /// The session's id.
    pub session: String,
    /// permission, question or plan
    pub kind: String,
    /// pending, allowed, denied, timed_out or withdrawn
    pub state: String,
    /// What is asked, in the agent's words.
    pub text: String,
    /// The exact call and the options, as the agent sent them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
    /// The answer, or why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who settled it; nobody when a rule or the clock did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The session that settled it, if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by_session_id: Option<String>,
    /// When silence becomes a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    pub created_at: String,
}

impl From<&Approval> for ApprovalView {
    fn from(approval: &Approval) -> Self {
        let detail = approval.detail.as_deref();
        let by = approval.answered_by.as_ref();
        Self {
            id: approval.id.short_id(),
            session: approval.session.to_string(),
            kind: approval.kind.as_str().to_owned(),
            state: approval.state.as_str().to_owned(),
            text: approval.text.clone(),
            detail: detail.and_then(|text| serde_json::from_str(text).ok()),
            answer: approval.answer.as_deref().map(|it| redact(it).into_owned()),
            answered_by: by.map(|it| it.name.to_string()),
            answered_by_session_id: by.and_then(|it| it.session).map(|id| id.to_string()),
            expires_at: approval.expires_at.map(time),
            created_at: time(approval.created_at),
        }
    }
}

/// Some approvals, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalListView {
    pub approvals: Vec<ApprovalView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
