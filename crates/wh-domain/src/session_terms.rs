//! What a caller asked of a new session, and what applies.

use crate::{Budget, ForkInput, Policy, Session, SessionInput, SpawnInput, Workspace};

/// What was asked for, of those things that a parent or the server can narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedTerms {
    pub budget: Budget,
    pub policy: Option<Policy>,
}

/// Something that is narrower than was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// Such as `budget.tokens` or `policy`.
    pub setting: &'static str,
    /// What was asked for, of limits.
    pub requested: Option<u64>,
    /// What applies, of limits.
    pub applied: Option<u64>,
}

impl From<&SessionInput> for RequestedTerms {
    fn from(input: &SessionInput) -> Self {
        Self {
            budget: input.budget,
            policy: Some(input.policy.clone()),
        }
    }
}

impl From<&SpawnInput> for RequestedTerms {
    fn from(input: &SpawnInput) -> Self {
        Self {
            budget: input.budget,
            policy: input.policy.clone(),
        }
    }
}

impl From<&ForkInput> for RequestedTerms {
    /// A fork asks for nothing: it has what is left of its source.
    fn from(_: &ForkInput) -> Self {
        Self::default()
    }
}

impl Session {
    /// Returns what is narrower than was asked for.
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
            requested,
            applied,
        });
        let policy = requested
            .policy
            .as_ref()
            .filter(|asked| **asked != self.policy);
        let policy = policy.map(|_| Narrowed {
            setting: "policy",
            requested: None,
            applied: None,
        });
        limits.chain(policy).collect()
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
        };
        let tokens = Narrowed {
            setting: "budget.tokens",
            requested: Some(50),
            applied: Some(10),
        };
        assert_eq!(session().narrowed(&asked), [tokens]);
        assert_eq!(session().narrowed(&RequestedTerms::default()), []);
        let allow = Policy {
            default: Verdict::Allow,
            ..Policy::default()
        };
        let asked = RequestedTerms {
            policy: Some(allow),
            ..RequestedTerms::default()
        };
        let narrowed = session().narrowed(&asked);
        assert_eq!(
            narrowed.iter().map(|it| it.setting).collect::<Vec<_>>(),
            ["policy"]
        );
    }
}
