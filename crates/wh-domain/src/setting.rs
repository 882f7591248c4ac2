//! Settings that change at run time: which there are, what they may be, and what they are unless set.

use std::fmt;

use crate::Limits;

/// The settings, by the name `config_set` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SettingKey {
    ReviewMaxIterations,
    ReviewAutoAbandonAfter,
    ReviewTimeoutHours,
    SpawnDepthMax,
    SpawnChildrenMax,
    SpawnTreeMax,
    SpawnPerMinuteMax,
    SessionLivePerUserMax,
    BudgetSessionTokens,
    BudgetSessionCostMicros,
    BudgetSessionWallSeconds,
    BudgetSessionTurns,
    EventRetentionDays,
    AuditRetentionDays,
}

/// What a setting is and may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingSpec {
    pub key: SettingKey,
    pub name: &'static str,
    pub about: &'static str,
    /// Absent: no limit.
    pub default: Option<i64>,
    pub min: i64,
    pub max: i64,
}

/// A setting's value. Settings that may be without limit hold nothing then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingValue(pub Option<i64>);

/// A setting as it is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: SettingKey,
    pub value: SettingValue,
    /// Whether somebody set it; otherwise it is the default.
    pub is_set: bool,
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingRefusal {
    #[error("there is no setting called {name:?}")]
    Unknown { name: String },
    #[error("{name} must be from {min} to {max}")]
    OutOfRange {
        name: &'static str,
        min: i64,
        max: i64,
    },
    #[error("{name} must have a value")]
    Required { name: &'static str },
}

impl SettingKey {
    /// Every setting.
    pub const ALL: [Self; 14] = [
        Self::ReviewMaxIterations,
        Self::ReviewAutoAbandonAfter,
        Self::ReviewTimeoutHours,
        Self::SpawnDepthMax,
        Self::SpawnChildrenMax,
        Self::SpawnTreeMax,
        Self::SpawnPerMinuteMax,
        Self::SessionLivePerUserMax,
        Self::BudgetSessionTokens,
        Self::BudgetSessionCostMicros,
        Self::BudgetSessionWallSeconds,
        Self::BudgetSessionTurns,
        Self::EventRetentionDays,
        Self::AuditRetentionDays,
    ];

    /// Finds a setting by its name.
    pub fn parse(name: &str) -> Result<Self, SettingRefusal> {
        let found = Self::ALL.into_iter().find(|key| key.name() == name);
        found.ok_or_else(|| SettingRefusal::Unknown {
            name: name.chars().take(100).collect(),
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns what the setting is and may be.
    pub fn spec(self) -> SettingSpec {
        let limits = Limits::default();
        let count = |name, about, default: u32, max| SettingSpec {
            key: self,
            name,
            about,
            default: Some(i64::from(default)),
            min: 1,
            max,
        };
        let open = |name, about| SettingSpec {
            key: self,
            name,
            about,
            default: None,
            min: 1,
            max: i64::MAX,
        };
        match self {
            Self::ReviewMaxIterations => count(
                "review.max_iterations",
                "rounds of review of one coding session",
                limits.review_rounds_max,
                100,
            ),
            Self::ReviewAutoAbandonAfter => count(
                "review.auto_abandon_after",
                "failed reviews, refused requests included, after which the work is given up",
                limits.review_abandon_after,
                100,
            ),
            Self::ReviewTimeoutHours => count(
                "review.timeout_hours",
                "hours until a silent review is over",
                limits.review_timeout_hours,
                720,
            ),
            Self::SpawnDepthMax => count(
                "spawn.depth_max",
                "levels of children below a root session",
                limits.spawn_depth_max,
                20,
            ),
            Self::SpawnChildrenMax => count(
                "spawn.children_max",
                "live children of one session",
                limits.spawn_children_max,
                1_000,
            ),
            Self::SpawnTreeMax => count(
                "spawn.tree_max",
                "sessions in a whole tree, ended ones included",
                limits.spawn_tree_max,
                10_000,
            ),
            Self::SpawnPerMinuteMax => count(
                "spawn.per_minute_max",
                "spawns in one tree within a minute",
                limits.spawn_per_minute_max,
                1_000,
            ),
            Self::SessionLivePerUserMax => count(
                "session.live_per_user_max",
                "live sessions of one user",
                limits.live_sessions_max,
                10_000,
            ),
            Self::BudgetSessionTokens => open("budget.session.tokens", "tokens a session may use"),
            Self::BudgetSessionCostMicros => open(
                "budget.session.cost_micros",
                "millionths of a US dollar a session may cost",
            ),
            Self::BudgetSessionWallSeconds => open(
                "budget.session.wall_seconds",
                "seconds a session may be at work",
            ),
            Self::BudgetSessionTurns => open("budget.session.turns", "turns a session may take"),
            Self::EventRetentionDays => count(
                "retention.event_days",
                "days after which events may be forgotten",
                90,
                36_500,
            ),
            Self::AuditRetentionDays => count(
                "retention.audit_days",
                "days after which audit entries of reads may be forgotten",
                365,
                36_500,
            ),
        }
    }

    /// Checks a value for this setting.
    pub fn check(self, value: Option<i64>) -> Result<SettingValue, SettingRefusal> {
        let SettingSpec {
            name,
            default,
            min,
            max,
            ..
        } = self.spec();
        match value {
            None if default.is_some() => Err(SettingRefusal::Required { name }),
            Some(n) if !(min..=max).contains(&n) => {
                Err(SettingRefusal::OutOfRange { name, min, max })
            }
            value => Ok(SettingValue(value)),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(n) => write!(f, "{n}"),
            None => f.write_str("unlimited"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_valid_value_and_every_name_reads_back() {
        for key in SettingKey::ALL {
            assert!(key.check(key.spec().default).is_ok(), "{}", key.name());
            assert_eq!(SettingKey::parse(key.name()), Ok(key));
        }
    }

    #[test]
    fn bad_values_are_refused() {
        assert!(matches!(
            SettingKey::ReviewMaxIterations.check(Some(0)),
            Err(SettingRefusal::OutOfRange { .. })
        ));
        assert!(matches!(
            SettingKey::ReviewMaxIterations.check(None),
            Err(SettingRefusal::Required { .. })
        ));
        assert_eq!(
            SettingKey::BudgetSessionTokens.check(None),
            Ok(SettingValue(None))
        );
    }
}
