//! What a session may use and do without asking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    Budget, BudgetPatch, InputRefusal, Narrowed, Policy, RequestedTerms, Session, TermValue,
};

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

/// A change to a budget: limits that are absent stay, `null` removes one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetPatchInput {
    #[serde(
        default,
        with = "kept_or_removed",
        skip_serializing_if = "Option::is_none"
    )]
    pub tokens: Option<Option<u64>>,
    /// Millionths of a US dollar.
    #[serde(
        default,
        with = "kept_or_removed",
        skip_serializing_if = "Option::is_none"
    )]
    pub cost_micros: Option<Option<u64>>,
    /// Seconds at work.
    #[serde(
        default,
        with = "kept_or_removed",
        skip_serializing_if = "Option::is_none"
    )]
    pub wall_seconds: Option<Option<u64>>,
    #[serde(
        default,
        with = "kept_or_removed",
        skip_serializing_if = "Option::is_none"
    )]
    pub turns: Option<Option<u64>>,
}

/// Tells a field that is `null` from one that is absent.
mod kept_or_removed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Option<u64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.flatten().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<u64>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}

impl From<BudgetPatchInput> for BudgetPatch {
    fn from(given: BudgetPatchInput) -> Self {
        Self {
            tokens: given.tokens,
            cost_micros: given.cost_micros,
            wall_seconds: given.wall_seconds,
            turns: given.turns,
        }
    }
}

/// A term that is not as it was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NarrowedView {
    /// budget.tokens, budget.cost_micros, budget.wall_seconds, budget.turns, policy, model, mode or tier.
    pub setting: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<TermView>,
    /// What applies; absent when the agent chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<TermView>,
}

/// A limit, a name or a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TermView {
    Limit(u64),
    Name(String),
    Policy(PolicyInput),
}

impl From<TermValue> for TermView {
    fn from(value: TermValue) -> Self {
        match value {
            TermValue::Limit(limit) => Self::Limit(limit),
            TermValue::Name(name) => Self::Name(name),
            TermValue::Policy(policy) => Self::Policy(PolicyInput::from(&policy)),
        }
    }
}

impl NarrowedView {
    /// Lists the terms that are not as they were requested.
    pub(crate) fn list(session: &Session, requested: &RequestedTerms) -> Vec<Self> {
        let view = |narrowed: Narrowed| Self {
            setting: narrowed.setting.to_owned(),
            requested: narrowed.requested.map(TermView::from),
            applied: narrowed.applied.map(TermView::from),
        };
        session.narrowed(requested).into_iter().map(view).collect()
    }

    /// Returns a short description, such as `budget.turns 50 → 4`.
    pub fn words(&self) -> String {
        let value = |value: &Option<TermView>, absent: &str| match value {
            Some(TermView::Limit(limit)) => limit.to_string(),
            Some(TermView::Name(name)) => name.clone(),
            Some(TermView::Policy(policy)) => policy.words(),
            None => absent.to_owned(),
        };
        let requested = value(&self.requested, "unlimited");
        let applied = value(&self.applied, "chosen by the agent");
        format!("{} {requested} → {applied}", self.setting)
    }
}

/// What applies to a session that was just created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTermsView {
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// own, shared or none.
    pub workspace: String,
    pub tier: String,
    /// What it may use; what is absent is not limited.
    pub budget: BudgetInput,
    /// What its agent may do without asking.
    pub policy: PolicyInput,
    /// Terms that are not as requested, because of the parent, the server or the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<NarrowedView>,
}

impl SessionTermsView {
    /// Shows what applies to a session.
    pub fn new(session: &Session, requested: &RequestedTerms) -> Self {
        Self {
            agent: session.agent.to_string(),
            model: session.model.as_ref().map(ToString::to_string),
            mode: session.mode.clone(),
            workspace: session.workspace().as_str().to_owned(),
            tier: session.tier.to_string(),
            budget: BudgetInput::from(&session.budget),
            policy: PolicyInput::from(&session.policy),
            narrowed: NarrowedView::list(session, requested),
        }
    }
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

impl PolicyInput {
    /// Returns a short description, such as `ask, 2 allowed, 1 denied`.
    fn words(&self) -> String {
        let default = self.default.as_deref().unwrap_or("ask");
        let rules = |count: usize, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        format!(
            "{default}{}{}",
            rules(self.allow.len(), "allowed"),
            rules(self.deny.len(), "denied")
        )
    }
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
