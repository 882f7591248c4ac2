//! The requested and the effective terms of a new session.

use crate::{
    Budget, ForkInput, ModelName, Policy, Session, SessionInput, SpawnInput, Tier, Workspace,
};

/// The requested terms of a new session that the parent, the server or the agent can change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedTerms {
    pub budget: Budget,
    pub policy: Option<Policy>,
    pub model: Option<ModelName>,
    pub mode: Option<String>,
    pub tier: Option<Tier>,
}

/// A term whose effective value differs from the requested one.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrowed {
    /// Such as `budget.tokens`, `policy` or `model`.
    pub setting: &'static str,
    /// The requested value; `None` is no limit.
    pub requested: Option<TermValue>,
    /// The effective value; `None` is the agent's default.
    pub applied: Option<TermValue>,
}

/// The value of one term.
#[derive(Clone, Debug, PartialEq)]
pub enum TermValue {
    Limit(u64),
    Name(String),
    Policy(Policy),
}

impl From<&SessionInput> for RequestedTerms {
    fn from(input: &SessionInput) -> Self {
        Self {
            budget: input.budget,
            policy: Some(input.policy.clone()),
            model: input.model.clone(),
            mode: input.mode.clone(),
            tier: input.tier,
        }
    }
}

impl From<&SpawnInput> for RequestedTerms {
    fn from(input: &SpawnInput) -> Self {
        Self {
            budget: input.budget,
            policy: input.policy.clone(),
            model: input.model.clone(),
            mode: input.mode.clone(),
            tier: input.tier,
        }
    }
}

impl RequestedTerms {
    /// Returns the requested terms of a fork: its own, or else those of its source, with the source's remaining budget.
    pub fn of_fork(input: &ForkInput, source: &Session, left: Budget) -> Self {
        Self {
            budget: left,
            policy: Some(source.policy.clone()),
            model: input.model.clone().or_else(|| source.model.clone()),
            mode: source.mode.clone(),
            tier: Some(source.tier),
        }
    }
}

impl Session {
    /// Returns the terms whose effective value differs from the requested one.
    pub fn narrowed(&self, requested: &RequestedTerms) -> Vec<Narrowed> {
        let (asked, has) = (requested.budget, self.budget);
        let limits = [
            ("budget.tokens", asked.tokens, has.tokens),
            ("budget.cost_micros", asked.cost_micros, has.cost_micros),
            ("budget.wall_seconds", asked.wall_seconds, has.wall_seconds),
            ("budget.turns", asked.turns, has.turns),
        ];
        let limits = limits.into_iter().filter(|(_, asked, has)| {
            asked.is_some_and(|asked| has.is_some_and(|has| has < asked))
        });
        let limits = limits.map(|(setting, requested, applied)| Narrowed {
            setting,
            requested: requested.map(TermValue::Limit),
            applied: applied.map(TermValue::Limit),
        });
        let policy = requested
            .policy
            .as_ref()
            .filter(|asked| **asked != self.policy)
            .map(|asked| Narrowed {
                setting: "policy",
                requested: Some(TermValue::Policy(asked.clone())),
                applied: Some(TermValue::Policy(self.policy.clone())),
            });
        let named = |it: &dyn ToString| it.to_string();
        let names = [
            (
                "model",
                requested.model.as_ref().map(|it| named(it)),
                self.model.as_ref().map(|it| named(it)),
            ),
            ("mode", requested.mode.clone(), self.mode.clone()),
            (
                "tier",
                requested.tier.map(|it| named(&it)),
                Some(named(&self.tier)),
            ),
        ];
        let names = names
            .into_iter()
            .filter(|(_, asked, has)| asked.is_some() && asked != has)
            .map(|(setting, requested, applied)| Narrowed {
                setting,
                requested: requested.map(TermValue::Name),
                applied: applied.map(TermValue::Name),
            });
        limits.chain(policy).chain(names).collect()
    }

    /// Returns what kind of place it works in. A child works in the same kind unless something else is asked for: with files of its
    /// own where that is possible.
    pub fn workspace(&self) -> Workspace {
        match (self.worktree, &self.path) {
            (Some(_), _) => Workspace::Own,
            (None, Some(_)) => Workspace::Shared,
            (None, None) => Workspace::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::{AgentName, Owner, SessionId, Title, UserId, Verdict};

    fn session() -> Session {
        let id = Uuid::from_u128(1);
        let owner = Owner {
            user: UserId::from_untyped_uuid(id),
            key: None,
        };
        let agent = AgentName::parse("echo").unwrap();
        let title = Title::parse("title").unwrap();
        let at = jiff::Timestamp::UNIX_EPOCH;
        Session {
            budget: Budget {
                tokens: Some(10),
                turns: Some(3),
                ..Budget::default()
            },
            ..Session::new(SessionId::from_untyped_uuid(id), owner, agent, title, at)
        }
    }

    #[test]
    fn only_what_is_narrower_is_listed() {
        let asked = RequestedTerms {
            budget: Budget {
                tokens: Some(50),
                turns: Some(3),
                wall_seconds: Some(9),
                ..Budget::default()
            },
            policy: Some(Policy::default()),
            tier: Some(session().tier),
            ..RequestedTerms::default()
        };
        let tokens = Narrowed {
            setting: "budget.tokens",
            requested: Some(TermValue::Limit(50)),
            applied: Some(TermValue::Limit(10)),
        };
        assert_eq!(session().narrowed(&asked), [tokens]);
        assert_eq!(session().narrowed(&RequestedTerms::default()), []);
        let allow = Policy {
            default: Verdict::Allow,
            ..Policy::default()
        };
        let asked = RequestedTerms {
            policy: Some(allow.clone()),
            model: Some(ModelName::parse("large").unwrap()),
            mode: Some("plan".to_owned()),
            ..RequestedTerms::default()
        };
        let named = |setting, name: &str| Narrowed {
            setting,
            requested: Some(TermValue::Name(name.to_owned())),
            applied: None,
        };
        let policy = Narrowed {
            setting: "policy",
            requested: Some(TermValue::Policy(allow)),
            applied: Some(TermValue::Policy(Policy::default())),
        };
        let expected = [policy, named("model", "large"), named("mode", "plan")];
        assert_eq!(session().narrowed(&asked), expected);
    }
}
