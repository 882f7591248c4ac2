//! Sessions that lead: what they may do to others of their user, and what they pass on.

use crate::{Board, Budget, HostList, PolicyRefusal, Session, SessionRole, Tier};

/// Why a session that leads may not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeadRefusal {
    /// Roles are given by people.
    #[error("only a person can create a session with the role lead")]
    NotAPerson,
    /// A lead stands at the top of its tree.
    #[error("a session below another one cannot have the role lead")]
    Child,
    /// Only that role can be taken away.
    #[error("only the role lead can be changed; it cannot be given to an existing session")]
    RoleChange,
    /// It would use the other one's rights.
    #[error("a session that leads cannot direct another one that leads")]
    AnotherLead,
    /// It would reach what its own containment keeps from it.
    #[error("the session's containment tier ({theirs}) is weaker than its lead's ({own})")]
    LessContained { own: Tier, theirs: Tier },
    /// It would reach hosts that its own list keeps from it.
    #[error("the session may connect to hosts that its lead may not")]
    MoreHosts,
    /// What others can see is decided by people.
    #[error("the board is shared with others, so only a person can add something to it")]
    SharedBoard,
    /// Whatever it creates is narrowed to what it may do itself.
    #[error("a session with the role lead can create children only for itself and its descendants")]
    NotBelow,
    /// It would let another session do what it may not do itself.
    #[error("the policy of the session that leads denies this")]
    DeniedToItself,
}

impl SessionRole {
    /// Returns the role of a child of a session of this role: what was asked for, or the same. The role lead is not passed on.
    pub fn of_child(self, asked: Option<Self>) -> Result<Self, LeadRefusal> {
        match (asked, self) {
            (Some(Self::Lead), _) => Err(LeadRefusal::Child),
            (Some(role), _) => Ok(role),
            (None, Self::Lead) => Ok(Self::General),
            (None, role) => Ok(role),
        }
    }

    /// Checks that a person may replace this role by another one: the role lead can be taken away, and nothing else changes.
    pub fn check_change(self, to: Self) -> Result<(), LeadRefusal> {
        let is_taken_away = self == Self::Lead && to != Self::Lead;
        match self == to || is_taken_away {
            true => Ok(()),
            false => Err(LeadRefusal::RoleChange),
        }
    }
}

impl Board {
    /// Checks that a session that leads may make this board out of `before`: it adds nothing where others see it.
    pub fn check_lead_places(&self, before: &Self) -> Result<(), LeadRefusal> {
        let was_there = |item| before.placements.iter().any(|it| it.item == item);
        let adds = self.placements.iter().any(|it| !was_there(it.item));
        match adds && !self.shares.is_empty() {
            true => Err(LeadRefusal::SharedBoard),
            false => Ok(()),
        }
    }
}

impl Session {
    /// Checks that this session, which leads, may prompt, answer, start or stop another one of its user.
    pub fn check_leads(&self, other: &Self) -> Result<(), LeadRefusal> {
        if other.role == SessionRole::Lead {
            return Err(LeadRefusal::AnotherLead);
        }
        if !other.tier.is_at_least(self.tier) {
            return Err(LeadRefusal::LessContained {
                own: self.tier,
                theirs: other.tier,
            });
        }
        let is_within = |own: &HostList| {
            let theirs = other.hosts.as_ref();
            theirs.is_some_and(|theirs| theirs.within(own) == *theirs)
        };
        match self.hosts.as_ref().is_none_or(is_within) {
            true => Ok(()),
            false => Err(LeadRefusal::MoreHosts),
        }
    }

    /// Checks that this session, which leads, may create something on a board: not where others see what nobody showed them.
    pub fn check_creates_on(&self, board: &Board) -> Result<(), LeadRefusal> {
        match board.shares.is_empty() || self.board == Some(board.id) {
            true => Ok(()),
            false => Err(LeadRefusal::SharedBoard),
        }
    }

    /// Returns it as a child of `parent` that may do no more than `parent`. `left` is what is left of the budgets of `parent` and of
    /// all sessions above it.
    pub fn narrowed_below(self, parent: &Self, left: Budget) -> Result<Self, PolicyRefusal> {
        Ok(Self {
            policy: self.policy.under(&parent.policy)?,
            budget: self.budget.intersect(left),
            ..self.below(parent)
        })
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::{AgentName, Owner, SessionId, Title, UserId};

    fn session(role: SessionRole, tier: Tier) -> Session {
        let id = Uuid::from_u128(1);
        let owner = Owner {
            user: UserId::from_untyped_uuid(id),
            key: None,
        };
        let agent = AgentName::parse("echo").unwrap();
        let title = Title::parse("title").unwrap();
        let at = jiff::Timestamp::UNIX_EPOCH;
        Session {
            role,
            tier,
            ..Session::new(SessionId::from_untyped_uuid(id), owner, agent, title, at)
        }
    }

    #[test]
    fn a_lead_directs_sessions_that_are_contained_as_much_and_do_not_lead() {
        use SessionRole::{General, Lead, Worker};
        let lead = session(Lead, Tier::Guarded);
        let directs = |role, tier| lead.check_leads(&session(role, tier));
        assert_eq!(directs(General, Tier::Guarded), Ok(()));
        assert_eq!(directs(Worker, Tier::Container), Ok(()));
        assert_eq!(directs(Lead, Tier::Strict), Err(LeadRefusal::AnotherLead));
        assert_eq!(
            directs(General, Tier::None),
            Err(LeadRefusal::LessContained {
                own: Tier::Guarded,
                theirs: Tier::None,
            })
        );
    }

    #[test]
    fn a_lead_directs_sessions_that_reach_no_other_hosts() {
        let of = |role, hosts: Option<&[&str]>| Session {
            hosts: hosts.map(|rules| HostList::parse(rules).unwrap()),
            ..session(role, Tier::Strict)
        };
        let lead = of(SessionRole::Lead, Some(&["*.example.org:443", "a.test"]));
        let directs = |hosts| lead.check_leads(&of(SessionRole::General, hosts));
        assert_eq!(directs(Some(&["x.example.org:443"])), Ok(()));
        assert_eq!(directs(Some(&[])), Ok(()));
        assert_eq!(
            directs(Some(&["a.test", "b.test"])),
            Err(LeadRefusal::MoreHosts)
        );
        assert_eq!(directs(None), Err(LeadRefusal::MoreHosts));
    }

    #[test]
    fn leading_is_not_passed_on_and_can_only_be_taken_away() {
        for role in SessionRole::ALL {
            let child = role.of_child(None).unwrap();
            assert_ne!(child, SessionRole::Lead);
            assert_eq!(child == role, role != SessionRole::Lead);
            assert_eq!(
                role.of_child(Some(SessionRole::Lead)),
                Err(LeadRefusal::Child)
            );
            for to in SessionRole::ALL {
                let may = role == to || role == SessionRole::Lead;
                assert_eq!(role.check_change(to).is_ok(), may);
            }
        }
    }
}
