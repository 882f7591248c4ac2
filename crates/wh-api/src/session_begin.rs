//! Sessions to begin: by themselves, under another, and branched off one.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wh_domain::{
    AgentName, BranchName, Description, ForkInput, HostList, InputRefusal, McpDialect, ModelName,
    Policy, Prompt, SessionInput, SessionPlace, SessionRole, SpawnInput, Tier, Title, Workspace,
};

use crate::{
    BudgetInput, NumberOrId, PolicyInput, PromptFileInput,
    common::{field, optional, optional_reference, reference},
    session_life::wait_of,
    session_terms::read_policy,
    turn::turn_of,
};

/// The most bytes of a mode's name.
const MODE_BYTES_MAX: usize = 100;

/// A session to begin.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionCreateRequest {
    /// An agent of agent_list, such as claude-code, codex or echo.
    pub agent: String,
    /// What the agent is to do first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Files with the prompt: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// Made of the prompt unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The role of the agent's token: general (default), planning, coding, review or worker; lead reaches all that you own. Not by agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Work in a new worktree of this repository: its id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// With repo: a branch that exists is checked out, another is made; named after the session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// With repo: the branch or full commit at which a new branch begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Work in this worktree, or in that of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// A directory of the server to work in as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Of the board, by id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The agent's own name of a way of working, such as plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The agent's name of a model, as agent_get lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Containment: guarded (default), strict, container, or none where an administrator allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// In strict and container: hosts it may connect to, such as *.example.org:8443; all allowed ones unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// The agent's tools: wheelhouse, agor, clawed-abode or iteratr; as configured unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetInput>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInput>,
    /// A repeat with the same key begins nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionCreateRequest {
    /// Returns the session to begin.
    pub fn input(&self) -> Result<SessionInput, InputRefusal> {
        let role = optional("role", self.role.as_deref(), read_role)?;
        let description = self.description.as_deref();
        Ok(SessionInput {
            agent: field("agent", AgentName::parse(&self.agent))?,
            prompt: optional("prompt", self.prompt.as_deref(), Prompt::parse)?,
            files: PromptFileInput::read_all(&self.files)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            description: optional("description", description, Description::parse)?,
            role: role.unwrap_or(SessionRole::General),
            place: self.place()?,
            board: optional_reference("board", self.board.as_deref())?,
            zone: optional_reference("zone", self.zone.as_deref())?,
            budget: self.budget.unwrap_or_default().into(),
            policy: self.policy()?,
            mode: optional("mode", self.mode.as_deref(), read_mode)?,
            model: optional("model", self.model.as_deref(), ModelName::parse)?,
            tier: optional("tier", self.tier.as_deref(), Tier::parse)?,
            hosts: read_hosts(self.hosts.as_deref())?,
            mcp_dialect: read_dialect(self.mcp_dialect.as_deref())?,
        })
    }

    fn place(&self) -> Result<SessionPlace, InputRefusal> {
        let branch = optional("branch", self.branch.as_deref(), BranchName::parse)?;
        let base = optional("base", self.base.as_deref(), crate::worktree::base)?;
        if self.repo.is_none() && (branch.is_some() || base.is_some()) {
            return Err(InputRefusal::new("branch", "and base go with repo"));
        }
        match (&self.repo, &self.worktree, &self.path) {
            (None, None, None) => Ok(SessionPlace::Scratch),
            (Some(repo), None, None) => Ok(SessionPlace::Repo {
                repo: reference("repo", repo)?,
                branch,
                base,
            }),
            (None, Some(worktree), None) => {
                Ok(SessionPlace::Worktree(reference("worktree", worktree)?))
            }
            (None, None, Some(path)) => Ok(SessionPlace::Path(PathBuf::from(path))),
            _ => Err(InputRefusal::new(
                "repo",
                "give one of repo, worktree and path",
            )),
        }
    }

    fn policy(&self) -> Result<Policy, InputRefusal> {
        let given = self.policy.as_ref().map(read_policy);
        given.unwrap_or_else(|| Ok(Policy::default()))
    }
}

/// A session to begin under another.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSpawnRequest {
    /// What the child is to do; it knows nothing of your conversation.
    pub prompt: String,
    /// Files with the prompt: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// Yours unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// own: a new worktree from the parent's branch; shared: the parent's; none: an empty directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Of the parent's board, by id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Of its own worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Containment; at least the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// As in session_create; the parent's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
    /// tokens, cost_micros, wall_seconds, turns; at most what the parent has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, u64>>")]
    pub budget: Option<BudgetInput>,
    /// As in session_create, narrowed to the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub policy: Option<PolicyInput>,
    /// Prompt the parent when the child is done, failed or needs an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<bool>,
    /// Seconds to wait for the child: 0 (default) to 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionSpawnRequest {
    /// Returns the session to begin.
    pub fn input(&self) -> Result<SpawnInput, InputRefusal> {
        let policy = self.policy.as_ref().map(read_policy);
        Ok(SpawnInput {
            parent: optional_reference("parent", self.parent.as_deref())?,
            agent: optional("agent", self.agent.as_deref(), AgentName::parse)?,
            prompt: field("prompt", Prompt::parse(&self.prompt))?,
            files: PromptFileInput::read_all(&self.files)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            role: optional("role", self.role.as_deref(), read_role)?,
            workspace: optional("workspace", self.workspace.as_deref(), Workspace::parse)?,
            branch: optional("branch", self.branch.as_deref(), BranchName::parse)?,
            zone: optional_reference("zone", self.zone.as_deref())?,
            budget: self.budget.unwrap_or_default().into(),
            policy: policy.transpose()?,
            mode: optional("mode", self.mode.as_deref(), read_mode)?,
            model: optional("model", self.model.as_deref(), ModelName::parse)?,
            tier: optional("tier", self.tier.as_deref(), Tier::parse)?,
            hosts: read_hosts(self.hosts.as_deref())?,
            mcp_dialect: read_dialect(self.mcp_dialect.as_deref())?,
            callback: self.callback.unwrap_or(false),
        })
    }

    /// Returns how long to wait.
    pub fn wait(&self) -> Option<Duration> {
        wait_of(self.wait)
    }
}

/// A session to branch off another.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionForkRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// The last turn to take over: its number or id; the last one that is over unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<NumberOrId>,
    /// How to go on from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The agent that goes on; the same unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Prompt the parent when the fork is done, failed or needs an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<bool>,
    /// Leave out files that were not committed then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_uncommitted: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionForkRequest {
    /// Returns the session to branch off.
    pub fn input(&self) -> Result<ForkInput, InputRefusal> {
        Ok(ForkInput {
            session: reference("session", &self.session)?,
            turn: turn_of(self.turn.as_ref())?,
            agent: optional("agent", self.agent.as_deref(), AgentName::parse)?,
            model: optional("model", self.model.as_deref(), ModelName::parse)?,
            prompt: optional("prompt", self.prompt.as_deref(), Prompt::parse)?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            callback: self.callback.unwrap_or(false),
            leave_uncommitted: self.leave_uncommitted.unwrap_or(false),
        })
    }
}

pub(crate) fn read_dialect(name: Option<&str>) -> Result<Option<McpDialect>, InputRefusal> {
    optional("mcp_dialect", name, McpDialect::parse)
}

fn read_hosts(rules: Option<&[String]>) -> Result<Option<HostList>, InputRefusal> {
    let hosts = rules.map(HostList::parse).transpose();
    hosts.map_err(|(rule, why)| InputRefusal::new("hosts", format!("{rule:?}: {why}")))
}

pub(crate) fn read_role(text: &str) -> Result<SessionRole, String> {
    let known = SessionRole::ALL.map(SessionRole::as_str).join(", ");
    SessionRole::parse(text).ok_or_else(|| format!("must be among {known}"))
}

pub(crate) fn read_mode(text: &str) -> Result<String, String> {
    match text.len() {
        1..=MODE_BYTES_MAX if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        _ => Err(format!("has 1 to {MODE_BYTES_MAX} printable bytes")),
    }
}
