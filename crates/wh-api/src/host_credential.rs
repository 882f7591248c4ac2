//! Credentials for hosts that repositories are fetched from.

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    ConfiguredCredential, ConfiguredToken, CredentialUse, GitHost, HostCredential, HostLogin,
    InputRefusal, NewHostCredential, Reference, SecretText, ShortId,
};

use crate::common::{field, list_request, reference, time};

/// A credential to store.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialSetRequest {
    /// The host, such as github.com or git.example.org:8443.
    pub host: String,
    /// The token; stored encrypted and never shown again.
    pub token: String,
    /// The user name, for hosts that require one; x-access-token by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Whose repositories it is used for: own, admins or everyone; own unless given. Others than own: administrators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_by: Option<String>,
    /// Idempotency key chosen by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl fmt::Debug for CredentialSetRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CredentialSetRequest({}, [secret])", self.host)
    }
}

impl TryFrom<CredentialSetRequest> for NewHostCredential {
    type Error = InputRefusal;

    fn try_from(request: CredentialSetRequest) -> Result<Self, InputRefusal> {
        let usable_by = match request.usable_by.as_deref() {
            None => CredentialUse::Own,
            Some(text) => CredentialUse::parse(text).ok_or_else(|| {
                InputRefusal::new("usable_by", "is own, admins or everyone".to_owned())
            })?,
        };
        let token = SecretText::new(request.token);
        Ok(Self {
            host: field("host", GitHost::parse(&request.host))?,
            login: field("token", HostLogin::new(request.username.as_deref(), &token))?,
            usable_by,
        })
    }
}

list_request! {
    /// Which credentials to list.
    CredentialListRequest {}
}

/// A credential to delete.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialDeleteRequest {
    /// The id of a stored credential, its last 8 digits, or its host.
    pub credential: String,
}

impl CredentialDeleteRequest {
    /// Returns which credential is meant.
    pub fn credential(&self) -> Result<Reference, InputRefusal> {
        reference("credential", &self.credential)
    }
}

/// A stored credential, without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialView {
    pub id: String,
    pub short_id: String,
    pub host: String,
    pub username: String,
    /// Whose repositories it is used for: own, admins or everyone.
    pub usable_by: String,
    /// Who entered it.
    pub user_id: String,
    pub created_at: String,
}

impl From<HostCredential> for CredentialView {
    fn from(credential: HostCredential) -> Self {
        Self {
            id: credential.id.to_string(),
            short_id: credential.id.short_id(),
            host: credential.host.to_string(),
            username: credential.username,
            usable_by: credential.usable_by.as_str().to_owned(),
            user_id: credential.user.to_string(),
            created_at: time(credential.created_at),
        }
    }
}

/// A credential of the configuration, without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfiguredCredentialView {
    pub host: String,
    /// configuration or gh; absent while there is no token
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whose repositories it is used for: admins or everyone.
    pub usable_by: String,
    /// Why there is no token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl From<(GitHost, ConfiguredCredential)> for ConfiguredCredentialView {
    fn from((host, credential): (GitHost, ConfiguredCredential)) -> Self {
        let source = credential.token.source();
        let problem = match &credential.token {
            ConfiguredToken::MissingVariable(name) => Some(format!(
                "the variable {name} is not set where the server was started"
            )),
            ConfiguredToken::Text(_) | ConfiguredToken::Gh => None,
        };
        Self {
            host: host.to_string(),
            source: source.map(|source| source.as_str().to_owned()),
            usable_by: credential.usable_by.as_str().to_owned(),
            problem,
        }
    }
}

/// Stored credentials, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CredentialListView {
    pub credentials: Vec<CredentialView>,
    /// Credentials of the configuration, shown to administrators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configured: Vec<ConfiguredCredentialView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of stored credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
