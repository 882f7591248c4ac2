//! Keys.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    Dialect, InputRefusal, Key, KeyBinding, KeyScope, Name, NewKey, Reference, ShortId,
};

use crate::common::{field, list_request, optional_reference, reference, time};

/// A key to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyCreateRequest {
    /// What the key is for.
    pub name: String,
    /// full (everything of its user), read (the same, changing nothing), client (only what the key itself creates) or, with
    /// dialect and session, session_internal (that session's name).
    pub scope: String,
    /// Whose it will be, by id or name; yours unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// When it ends, in RFC 3339, such as 2027-01-31T00:00:00Z; never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// clawed-abode creates a `ca_` key, which opens /mcp/clawed-abode and /api/mcp alone; scope full, read or session_internal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The session that a session_internal key may rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A mark of your choice: a repeat with the same mark makes no second key (and shows no secret again).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<KeyCreateRequest> for NewKey {
    type Error = InputRefusal;

    fn try_from(request: KeyCreateRequest) -> Result<Self, InputRefusal> {
        let scope = KeyScope::parse(&request.scope).ok_or_else(|| {
            InputRefusal::new("scope", "must be full, read, client or session_internal")
        })?;
        let dialect = request.dialect.as_deref().map(|text| {
            Dialect::parse(text).ok_or_else(|| {
                let known = Dialect::ALL.map(Dialect::as_str).join(", ");
                InputRefusal::new("dialect", format!("must be among {known}"))
            })
        });
        let expires_at = request.expires_at.as_deref().map(|text| {
            text.parse::<Timestamp>().map_err(|_| {
                InputRefusal::new("expires_at", "must be a time like 2027-01-31T00:00:00Z")
            })
        });
        Ok(Self {
            name: field("name", Name::parse(&request.name))?,
            scope,
            user: optional_reference("user", request.user.as_deref())?,
            expires_at: expires_at.transpose()?,
            dialect: dialect.transpose()?,
            session: optional_reference("session", request.session.as_deref())?,
        })
    }
}

list_request! {
    /// Which keys to list.
    KeyListRequest {
        /// Whose, by id or name; all you may see unless given.
        user: String,
        /// Signed-in browsers and agents' session tokens too; false unless given.
        include_automatic: bool,
    }
}

impl KeyListRequest {
    /// Returns whose keys are meant.
    pub fn user(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("user", self.user.as_deref())
    }
}

/// Names a key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRevokeRequest {
    /// The key's id (not its secret).
    pub key: String,
}

impl KeyRevokeRequest {
    /// Returns which key is meant.
    pub fn key(&self) -> Result<Reference, InputRefusal> {
        reference("key", &self.key)
    }
}

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    pub id: String,
    pub short_id: String,
    pub user_id: String,
    pub name: String,
    /// full, read, client, session, session_internal or browser
    pub scope: String,
    /// The dialect it was made for, if it was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The session it is bound to, if it is bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How the secret begins.
    pub prefix: String,
    /// active, expired or revoked
    pub status: String,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

impl KeyView {
    /// Shows a key as it is at `now`.
    pub fn at(key: Key, now: Timestamp) -> Self {
        let status = match key.revoked_at {
            Some(_) => "revoked",
            None if key.is_valid(now) => "active",
            None => "expired",
        };
        Self {
            id: key.id.to_string(),
            short_id: key.id.short_id(),
            user_id: key.user.to_string(),
            name: key.name.to_string(),
            scope: key.scope.as_str().to_owned(),
            dialect: key.dialect.map(|dialect| dialect.as_str().to_owned()),
            session_id: key.session.map(|binding| match binding {
                KeyBinding::Run { session, .. } | KeyBinding::Session(session) => {
                    session.to_string()
                }
            }),
            prefix: key.prefix.as_str().to_owned(),
            status: status.to_owned(),
            created_at: time(key.created_at),
            expires_at: key.expires_at.map(time),
            last_used_at: key.last_used_at.map(time),
            revoked_at: key.revoked_at.map(time),
        }
    }
}

/// A key that was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyCreatedView {
    /// The secret, shown this once; absent when the request repeats an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(flatten)]
    pub about: KeyView,
}

/// Some keys, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyListView {
    pub keys: Vec<KeyView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
