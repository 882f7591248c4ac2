//! What a session may use and do without asking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{Budget, InputRefusal, Policy};

use crate::common::field;

/// What a session may use. It is stopped no later than the end of the turn that uses it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetInput {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Seconds at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

/// What the agent may do without asking. A refusal wins over an allowance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyInput {
    /// ask (unless given), allow or deny: what holds where no rule fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<PolicyRuleInput>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PolicyRuleInput>,
    /// human (unless given) or parent: who is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Seconds until silence is a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// Fits requests of some kinds that touch only some places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRuleInput {
    /// read, edit, delete, move, search, execute, think, fetch, switch_mode, other; every kind unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Directories or files, relative to where the agent works; everywhere unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl From<BudgetInput> for Budget {
    fn from(given: BudgetInput) -> Self {
        Self {
            tokens: given.tokens,
            cost_micros: given.cost_micros,
            wall_seconds: given.wall_seconds,
            turns: given.turns,
        }
    }
}

impl From<&Budget> for BudgetInput {
    fn from(budget: &Budget) -> Self {
        Self {
            tokens: budget.tokens,
            cost_micros: budget.cost_micros,
            wall_seconds: budget.wall_seconds,
            turns: budget.turns,
        }
    }
}

impl From<&Policy> for PolicyInput {
    fn from(policy: &Policy) -> Self {
        let text = serde_json::to_value(policy).and_then(serde_json::from_value);
        text.unwrap_or_default()
    }
}

pub(crate) fn read_policy(given: &PolicyInput) -> Result<Policy, InputRefusal> {
    let read = serde_json::to_value(given).and_then(serde_json::from_value::<Policy>);
    let policy = field("policy", read)?;
    field("policy", policy.check())
}
