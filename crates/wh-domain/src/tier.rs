//! Containment tiers: how far an agent's processes are separated from everything else on the server's machine.

use std::fmt;

/// How far an agent's processes are contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Whatever the server's user can do. Only where an administrator allows it.
    None,
    /// The server's data, other sessions, credentials and what a person runs later are out of reach.
    Guarded,
    /// Besides, nothing can be read but what is named, commits go to a private clone, and the network is a proxy that holds the
    /// model's key.
    Strict,
    /// As strict, with the file system of a container image in place of the machine's programs.
    Container,
}

impl Tier {
    /// Every tier, the weakest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Guarded, Self::Strict, Self::Container];

    /// The tier of a session unless something else is asked for.
    pub const DEFAULT: Self = Self::Guarded;

    /// Returns the tier as stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Guarded => "guarded",
            Self::Strict => "strict",
            Self::Container => "container",
        }
    }

    /// Reads a tier; an error lists the choices.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|tier| tier.as_str() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|tier| tier.as_str()).collect();
            format!("must be one of {}", names.join(", "))
        })
    }

    /// Tells whether it contains at least as much as `other`.
    pub fn is_at_least(self, other: Self) -> bool {
        self.strength() >= other.strength()
    }

    /// Returns whether sessions of this tier have a root file system, a clone and a network of their own.
    pub fn is_isolated(self) -> bool {
        self.is_at_least(Self::Strict)
    }

    /// Returns the stronger of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self.is_at_least(other) { self } else { other }
    }

    fn strength(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Guarded => 1,
            Self::Strict => 2,
            Self::Container => 3,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a tier is enforced on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TierMechanism {
    Namespaces,
    Landlock,
}

impl TierMechanism {
    /// Every mechanism.
    pub const ALL: [Self; 2] = [Self::Namespaces, Self::Landlock];

    /// Returns the mechanism as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
        }
    }
}

/// The tier that a session's process really has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EffectiveTier {
    pub tier: Tier,
    /// Absent for [`Tier::None`].
    pub mechanism: Option<TierMechanism>,
}

impl EffectiveTier {
    /// Reads back what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let (tier, mechanism) = match text.split_once('/') {
            Some((tier, mechanism)) => (tier, Some(mechanism)),
            None => (text, None),
        };
        let find = |name: &str| {
            TierMechanism::ALL
                .into_iter()
                .find(|it| it.as_str() == name)
        };
        Some(Self {
            tier: Tier::parse(tier).ok()?,
            mechanism: match mechanism {
                Some(name) => Some(find(name)?),
                None => None,
            },
        })
    }
}

impl fmt::Display for EffectiveTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tier.as_str())?;
        match self.mechanism {
            Some(mechanism) => write!(f, "/{}", mechanism.as_str()),
            None => Ok(()),
        }
    }
}

/// Why a session cannot have the tier that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tier {asked} is below {minimum}, the minimum for this session")]
pub struct TierRefusal {
    pub asked: Tier,
    pub minimum: Tier,
}

/// Decides a session's tier. Each of `minimums` comes from the server, the agent, the repository or the parent; absent ones do not
/// count.
pub fn choose_tier(
    asked: Option<Tier>,
    minimums: impl IntoIterator<Item = Option<Tier>>,
) -> Result<Tier, TierRefusal> {
    let minimums = minimums.into_iter().flatten();
    let minimum = minimums.fold(Tier::None, Tier::max);
    match asked {
        Some(asked) if !asked.is_at_least(minimum) => Err(TierRefusal { asked, minimum }),
        Some(asked) => Ok(asked),
        None => Ok(minimum.max(Tier::DEFAULT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gets_what_it_asks_for_or_the_strongest_minimum() {
        let choose =
            |asked, minimums: &[Tier]| choose_tier(asked, minimums.iter().copied().map(Some));
        assert_eq!(choose(None, &[]), Ok(Tier::Guarded));
        assert_eq!(choose(None, &[Tier::None]), Ok(Tier::Guarded));
        assert_eq!(choose(Some(Tier::None), &[Tier::None]), Ok(Tier::None));
        assert_eq!(choose(None, &[Tier::Strict]), Ok(Tier::Strict));
        assert_eq!(
            choose(Some(Tier::Container), &[Tier::Strict]),
            Ok(Tier::Container)
        );
        let refused = TierRefusal {
            asked: Tier::None,
            minimum: Tier::Guarded,
        };
        assert_eq!(
            choose(Some(Tier::None), &[Tier::None, Tier::Guarded]),
            Err(refused)
        );
    }

    #[test]
    fn tiers_read_back() {
        for tier in Tier::ALL {
            assert_eq!(Tier::parse(tier.as_str()), Ok(tier));
            for mechanism in [
                None,
                Some(TierMechanism::Namespaces),
                Some(TierMechanism::Landlock),
            ] {
                let effective = EffectiveTier { tier, mechanism };
                assert_eq!(
                    EffectiveTier::parse(&effective.to_string()),
                    Some(effective)
                );
            }
        }
        assert!(Tier::parse("loose").unwrap_err().contains("guarded"));
        assert_eq!(EffectiveTier::parse("guarded/magic"), None);
    }
}
