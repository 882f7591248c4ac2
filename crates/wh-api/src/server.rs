//! The server itself: who is calling, links to sign in, backups, and where it can be found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wh_domain::{InputRefusal, Principal, Reference, User};

use crate::UserView;
use crate::common::optional_reference;

/// Who is calling.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WhoAmIView {
    pub user: UserView,
    /// local, browser, full, read, client or session
    pub credential: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

impl WhoAmIView {
    /// Shows a principal and its user.
    pub fn new(principal: &Principal, user: User) -> Self {
        Self {
            user: user.into(),
            credential: principal.credential.kind().as_str().to_owned(),
            key_id: principal.credential.key().map(|id| id.to_string()),
            session_id: principal.credential.session().map(|id| id.to_string()),
        }
    }
}

/// Who is to be signed in.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginLinkCreateRequest {
    /// A user's id or name; you unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl LoginLinkCreateRequest {
    /// Returns which user is meant.
    pub fn user(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("user", self.user.as_deref())
    }
}

/// A link that signs a browser in, once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoginLinkView {
    pub url: String,
    pub expires_at: String,
}

/// What the server was started with.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServerConfigView {
    pub values: Vec<StartValueView>,
}

/// A value that is read when the server starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartValueView {
    pub key: String,
    /// The value in force. A secret is only said to be there.
    pub value: Value,
    /// default, the file with the line, the environment variable or the flag that it comes from.
    pub source: String,
    pub about: String,
}

/// Where to put a copy of the database.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupCreateRequest {
    /// An absolute path on the server's machine; the file must not exist.
    pub file: String,
}

/// A copy that was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupCreatedView {
    pub file: String,
    /// The number of the last event in the copy.
    pub through: u64,
}

/// What `server.json` in the data directory holds while a server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFile {
    pub url: String,
    pub mcp_url: String,
    pub pid: u32,
    pub version: String,
}
