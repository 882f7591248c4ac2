//! Repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, Name, NewRepo, Repo, RepoSource, RepoState, ShortId, Tier};

use crate::common::{field, list_request, optional, time};

/// A repository to add.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoAddRequest {
    /// An absolute path on the server's machine, an https:// or ssh:// address, or user@host:path.
    pub source: String,
    /// What to call it; the last part of the source unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The least containment that sessions in it need; the server's minimum unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// A mark of your choice: a repeat with the same mark adds nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<RepoAddRequest> for NewRepo {
    type Error = InputRefusal;

    fn try_from(request: RepoAddRequest) -> Result<Self, InputRefusal> {
        Ok(Self {
            source: field("source", RepoSource::parse(&request.source))?,
            name: optional("name", request.name.as_deref(), Name::parse)?,
            tier: optional("tier", request.tier.as_deref(), Tier::parse)?,
        })
    }
}

list_request! {
    /// Which repositories to list.
    RepoListRequest {}
}

/// A git repository known to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoView {
    pub id: String,
    pub short_id: String,
    pub name: String,
    /// The path or address it was added by.
    pub source: String,
    /// local or remote
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// ready; pending while it is being cloned; or failed
    pub state: String,
    /// Why it could not be cloned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The least containment that sessions in it need, if it asks for more than the server does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    pub owner_id: String,
    pub created_at: String,
}

impl From<Repo> for RepoView {
    fn from(repo: Repo) -> Self {
        let kind = match repo.source {
            RepoSource::Local { .. } => "local",
            RepoSource::Remote { .. } => "remote",
        };
        Self {
            id: repo.id.to_string(),
            short_id: repo.id.short_id(),
            name: repo.name.to_string(),
            source: repo.source.as_text(),
            kind: kind.to_owned(),
            default_branch: repo.default_branch.map(|branch| branch.to_string()),
            state: repo.state.as_str().to_owned(),
            failure: match repo.state {
                RepoState::Failed { reason } => Some(reason),
                RepoState::Pending | RepoState::Ready(_) => None,
            },
            tier: repo.tier.map(|tier| tier.to_string()),
            owner_id: repo.owner.user.to_string(),
            created_at: time(repo.created_at),
        }
    }
}

/// Some repositories, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepoListView {
    pub repos: Vec<RepoView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
