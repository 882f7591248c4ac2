//! Loops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    AgentName, BranchName, ITERATIONS_MAX, ITERATIONS_USUAL, InputRefusal, LoopInput, LoopSpec,
    LoopTerms, ModelName, PageLimit, PageRequest, Policy, PromptTemplate, Reference, TaskInput,
    Title,
};

use crate::{
    BudgetInput, BudgetPatchInput, NumberOrId, PolicyInput, TaskItem,
    common::{at_most, field, list_request, optional, optional_reference, reference},
    session_begin::{read_dialect, read_mode},
    session_terms::read_policy,
};

/// A loop to start. Give spec or prompt.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopStartRequest {
    /// What is to be done. Each iteration is told this with the open tasks, notes and last summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// In place of spec: all that each iteration is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Which agent: a name of agent_list.
    pub agent: String,
    /// The repository to work in: its id or name.
    pub repo: String,
    /// The branch for all iterations: one that exists is checked out, another is made; named after the loop unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch or full commit at which a new branch begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Made of the specification unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Tasks to begin with; the agent adds what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskItem>,
    /// 1 to 1000; 20 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_max: Option<u32>,
    /// For all iterations together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetInput>,
    /// What makes the prompt of each iteration, in place of the built-in one: text with {{ loop.spec }}, {{ tasks.open }},
    /// {{ next.content }}, {{ notes.latest }}, {{ summaries.latest }} and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// As in session_create; nobody may be there to answer, so allow what the work needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInput>,
    /// The agent's own name of a way of working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's tools: wheelhouse or iteratr; as the repository or the agent is configured unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_dialect: Option<String>,
    /// A mark of your choice: a repeat with the same mark starts nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// Says nothing but what was asked for.
const PROMPT_ALONE: &str = "{{ loop.spec }}";

impl LoopStartRequest {
    /// Returns the loop to start.
    pub fn input(&self) -> Result<LoopInput, InputRefusal> {
        let template = optional("template", self.template.as_deref(), PromptTemplate::parse)?;
        let (spec, template) = match (&self.spec, &self.prompt, template) {
            (Some(spec), None, template) => (field("spec", LoopSpec::parse(spec))?, template),
            (None, Some(prompt), None) => {
                let alone = field("prompt", PromptTemplate::parse(PROMPT_ALONE))?;
                (field("prompt", LoopSpec::parse(prompt))?, Some(alone))
            }
            (None, Some(_), Some(_)) => {
                let problem = "goes with spec; a prompt is told as it is";
                return Err(InputRefusal::new("template", problem));
            }
            _ => return Err(InputRefusal::new("spec", "give one of spec and prompt")),
        };
        Ok(LoopInput {
            spec,
            template,
            agent: field("agent", AgentName::parse(&self.agent))?,
            title: optional("title", self.title.as_deref(), Title::parse)?,
            repo: reference("repo", &self.repo)?,
            branch: optional("branch", self.branch.as_deref(), BranchName::parse)?,
            base: optional("base", self.base.as_deref(), crate::worktree::base)?,
            board: optional_reference("board", self.board.as_deref())?,
            tasks: self.tasks()?,
            iterations_max: iterations_max(self.iterations_max.unwrap_or(ITERATIONS_USUAL))?,
            budget: self.budget.unwrap_or_default().into(),
            policy: match &self.policy {
                Some(policy) => read_policy(policy)?,
                None => Policy::default(),
            },
            mode: optional("mode", self.mode.as_deref(), read_mode)?,
            model: optional("model", self.model.as_deref(), ModelName::parse)?,
            mcp_dialect: read_dialect(self.mcp_dialect.as_deref())?,
        })
    }

    fn tasks(&self) -> Result<Vec<TaskInput>, InputRefusal> {
        at_most("tasks", &self.tasks, wh_domain::ADD_MAX)?;
        self.tasks.iter().map(TaskItem::input).collect()
    }
}

fn iterations_max(asked: u32) -> Result<u32, InputRefusal> {
    match asked {
        1..=ITERATIONS_MAX => Ok(asked),
        _ => {
            let problem = format!("must be from 1 to {ITERATIONS_MAX}");
            Err(InputRefusal::new("iterations_max", problem))
        }
    }
}

/// Names a loop.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopGetRequest {
    /// The loop's id, or its last 8 digits.
    pub r#loop: String,
}

/// Names a loop that something is to become of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopChangeRequest {
    /// The loop's id, or its last 8 digits.
    pub r#loop: String,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// Names a loop to resume, with new limits for all iterations together.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopResumeRequest {
    /// The loop's id, or its last 8 digits.
    pub r#loop: String,
    /// New limits: tokens, cost_micros, wall_seconds, turns; null removes one. Not by agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub budget: Option<BudgetPatchInput>,
    /// 1 to 1000, past ones included. Not by agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_max: Option<u32>,
    /// Idempotency key chosen by the client; a retry with the same key changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

list_request! {
    /// Which loops to list.
    LoopListRequest {
        /// Only those that have not ended.
        open: bool,
    }
}

/// Asks for what happened in a loop.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopLogRequest {
    /// The loop's id, or its last 8 digits.
    pub r#loop: String,
    /// Only what came after the entry of this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NumberOrId>,
    /// How many entries at most: 1 to 200, 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl LoopGetRequest {
    /// Returns which loop is meant.
    pub fn reference(&self) -> Result<Reference, InputRefusal> {
        reference("loop", &self.r#loop)
    }
}

impl LoopChangeRequest {
    /// Returns which loop is meant.
    pub fn reference(&self) -> Result<Reference, InputRefusal> {
        reference("loop", &self.r#loop)
    }
}

impl LoopResumeRequest {
    /// Returns which loop is meant.
    pub fn reference(&self) -> Result<Reference, InputRefusal> {
        reference("loop", &self.r#loop)
    }

    /// Returns the new limits.
    pub fn terms(&self) -> Result<LoopTerms, InputRefusal> {
        Ok(LoopTerms {
            budget: self.budget.unwrap_or_default().into(),
            iterations_max: self.iterations_max.map(iterations_max).transpose()?,
        })
    }
}

impl LoopLogRequest {
    /// Returns which loop is meant.
    pub fn reference(&self) -> Result<Reference, InputRefusal> {
        reference("loop", &self.r#loop)
    }

    /// Returns which part of the log is asked for.
    pub fn page(&self) -> Result<PageRequest<u64>, InputRefusal> {
        let after = self.after.as_ref();
        let after = after.map(|it| it.number("after")).transpose()?;
        Ok(PageRequest {
            after,
            ..PageRequest::first(PageLimit::clamped(self.limit)).counted()
        })
    }
}
