//! Repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    CONFIG_APPROVALS_MAX, ConfigDigest, ConfigFileReport, ConfigReport, ImageRef, InputRefusal,
    Name, NewRepo, Reference, Repo, RepoAccess, RepoCheck, RepoSource, RepoState, RepoTrust,
    ShortId, Tier, TrustReport,
};

use crate::{
    common::{at_most, field, list_request, optional, optional_reference, reference, time},
    session_begin::read_dialect,
};

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
    /// Container image for sessions in it, in the tier container. Administrators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The tools of agents in it: wheelhouse, agor, clawed-abode or iteratr; as the agent is configured unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
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
            image: optional("image", request.image.as_deref(), ImageRef::parse)?,
            mcp_dialect: read_dialect(request.mcp_dialect.as_deref())?,
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
    /// Source of the credential it is cloned with: own, server, configuration or gh; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The least containment that sessions in it need, if it asks for more than the server does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Container image for sessions in it, in the tier container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The tools of agents in it, if it names any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
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
            credential: repo.credential.map(|it| it.as_str().to_owned()),
            tier: repo.tier.map(|tier| tier.to_string()),
            image: repo.image.map(|image| image.to_string()),
            mcp_dialect: repo.mcp_dialect.map(|it| it.as_str().to_owned()),
            owner_id: repo.owner.user.to_string(),
            created_at: time(repo.created_at),
        }
    }
}

/// A repository to check.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoCheckRequest {
    /// The id of a repository, its last 8 digits, or its name.
    pub repo: String,
}

impl RepoCheckRequest {
    /// Returns which repository is meant.
    pub fn repo(&self) -> Result<Reference, InputRefusal> {
        reference("repo", &self.repo)
    }
}

/// Whether a repository can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoCheckView {
    pub repo_id: String,
    pub name: String,
    pub source: String,
    /// local, credential (read with one), anonymous (readable without), refused, not_found or unreachable
    pub access: String,
    /// Whether its host answered as a git server.
    pub reachable: bool,
    /// Whether it was read with a credential.
    pub authenticated: bool,
    /// Where the credential comes from: own, server, configuration or gh; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl From<RepoCheck> for RepoCheckView {
    fn from(check: RepoCheck) -> Self {
        Self {
            problem: check.problem(),
            repo_id: check.repo.id.to_string(),
            name: check.repo.name.to_string(),
            source: check.repo.source.as_text(),
            access: check.access.as_str().to_owned(),
            reachable: check.access != RepoAccess::Unreachable,
            authenticated: check.access == RepoAccess::Credential,
            credential: check.credential.map(|it| it.as_str().to_owned()),
            default_branch: check.default_branch.map(|branch| branch.to_string()),
        }
    }
}

/// Some repositories, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepoListView {
    pub repos: Vec<RepoView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Request to list or approve a repository's project configuration.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoTrustRequest {
    /// The id of a repository, its last 8 digits, or its name.
    pub repo: String,
    /// A worktree, or a session, whose files to show; the default branch unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The sha256 of each configuration to approve, as shown by this call; only shows them unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve: Vec<String>,
    /// The sha256 of each approval to revoke. Sessions that run keep what they loaded until their next run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoke: Vec<String>,
    /// Idempotency key chosen by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<RepoTrustRequest> for RepoTrust {
    type Error = InputRefusal;

    fn try_from(request: RepoTrustRequest) -> Result<Self, InputRefusal> {
        let digests = |name: &'static str, texts: &[String]| {
            at_most(name, texts, CONFIG_APPROVALS_MAX)?;
            let parsed = texts
                .iter()
                .map(|text| field(name, ConfigDigest::parse(text)));
            parsed.collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            repo: reference("repo", &request.repo)?,
            worktree: optional_reference("worktree", request.worktree.as_deref())?,
            approve: digests("approve", &request.approve)?,
            revoke: digests("revoke", &request.revoke)?,
        })
    }
}

/// Files of a repository from which coding agents read what they run or are permitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoTrustView {
    pub repo_id: String,
    /// The branch with its commit, or the directory, that was read.
    pub source: String,
    pub configs: Vec<ProjectConfigView>,
    /// Approvals of other content than what is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_approvals: Vec<ConfigApprovalView>,
}

/// An approval of project configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigApprovalView {
    /// Such as .mcp.json or .claude
    pub path: String,
    pub sha256: String,
}

/// One configuration file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectConfigView {
    /// Such as .mcp.json or .claude/
    pub path: String,
    /// The agents that read it.
    pub agents: Vec<String>,
    /// The hash to approve; absent when it cannot be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub approved: bool,
    /// Why it cannot be approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub files: Vec<ProjectConfigFileView>,
}

/// A file of project configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectConfigFileView {
    pub path: String,
    pub executable: bool,
    pub bytes: u64,
    /// The beginning of its content.
    pub text: String,
    pub truncated: bool,
}

impl From<TrustReport> for RepoTrustView {
    fn from(report: TrustReport) -> Self {
        Self {
            repo_id: report.repo.id.to_string(),
            source: report.source,
            configs: report.configs.into_iter().map(Into::into).collect(),
            other_approvals: report
                .other_approvals
                .into_iter()
                .map(|(path, digest)| ConfigApprovalView {
                    path,
                    sha256: digest.to_string(),
                })
                .collect(),
        }
    }
}

impl From<ConfigReport> for ProjectConfigView {
    fn from(report: ConfigReport) -> Self {
        Self {
            path: report.config.to_string(),
            agents: report.agents.iter().map(ToString::to_string).collect(),
            sha256: report.digest.map(|digest| digest.to_string()),
            approved: report.is_approved,
            problem: report.problem,
            files: report.files.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ConfigFileReport> for ProjectConfigFileView {
    fn from(file: ConfigFileReport) -> Self {
        Self {
            path: file.path,
            executable: file.is_executable,
            bytes: file.bytes,
            text: file.text,
            truncated: file.is_truncated,
        }
    }
}
