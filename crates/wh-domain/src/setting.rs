//! Settings that change at run time: which there are, what they may be, and what they are unless set.

use std::fmt;

use crate::{Limits, Tier};

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
    /// What the values are called, from `min` on; empty for a setting that is a number.
    pub names: &'static [&'static str],
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
    #[error("{name} must be one of {}", names.join(", "))]
    NotAName {
        name: &'static str,
        names: &'static [&'static str],
    },
    #[error("{name} must have a value")]
    Required { name: &'static str },
}

macro_rules! settings {
    ($($key:ident, $name:literal, $default:expr, $max:expr, $about:literal $(, $names:expr)?;)+) => {
        /// The settings. Each has a row in the table below.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum SettingKey {
            $(#[doc = concat!("`", $name, "`: ", $about)] $key,)+
        }

        impl SettingKey {
            /// Every setting, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$key,)+];
        }

        const SPECS: &[SettingSpec] = &[$(SettingSpec {
            key: SettingKey::$key,
            name: $name,
            about: $about,
            default: $default,
            min: 1,
            max: $max,
            names: names!($($names)?),
        },)+];
    };
}

macro_rules! names {
    () => {
        &[]
    };
    ($names:expr) => {
        $names
    };
}

/// The names of tiers, the weakest first.
const TIERS: &[&str] = &[
    Tier::None.as_str(),
    Tier::Guarded.as_str(),
    Tier::Strict.as_str(),
    Tier::Container.as_str(),
];

/// Whether sessions of a dialect ask.
const PERMISSIONS: &[&str] = &["ask", "allow"];

/// A setting that may be without limit.
const OPEN: Option<i64> = None;

const fn count(default: u32) -> Option<i64> {
    Some(default as i64)
}

const LIMITS: Limits = Limits::DEFAULT;

settings! {
    // key,                   name,                          default,                             at most,  what it is
    ReviewMaxIterations,      "review.max_iterations",       count(LIMITS.review_rounds_max),     100,      "rounds of review of one coding session";
    ReviewAutoAbandonAfter,   "review.auto_abandon_after",   count(LIMITS.review_abandon_after),  100,      "failed reviews, refused requests included, after which the work is given up";
    ReviewTimeoutHours,       "review.timeout_hours",        count(LIMITS.review_timeout_hours),  720,      "hours until a silent review is over";
    SpawnDepthMax,            "spawn.depth_max",             count(LIMITS.spawn_depth_max),       20,       "levels of children below a root session";
    SpawnChildrenMax,         "spawn.children_max",          count(LIMITS.spawn_children_max),    1_000,    "live children of one session";
    SpawnTreeMax,             "spawn.tree_max",              count(LIMITS.spawn_tree_max),        10_000,   "sessions in a whole tree, ended ones included";
    SpawnPerMinuteMax,        "spawn.per_minute_max",        count(LIMITS.spawn_per_minute_max),  1_000,    "spawns in one tree within a minute";
    SessionLivePerUserMax,    "session.live_per_user_max",   count(LIMITS.live_sessions_max),     10_000,   "live sessions of one user";
    SessionPromptsPerMinuteMax, "session.prompts_per_minute_max", count(LIMITS.prompts_per_minute_max), 1_000, "prompts that one session may send to another within a minute";
    SessionIdleSeconds,       "session.idle_seconds",        count(600),                          604_800,  "seconds after which the process of an idle session is put away";
    SessionSilentSeconds,     "session.silent_seconds",      count(900),                          604_800,  "seconds of silence after which an agent at work is reported as perhaps stuck";
    ApprovalTimeoutSeconds,   "approval.timeout_seconds",    count(86_400),                       2_592_000, "seconds after which an approval that nobody answers is denied";
    BudgetSessionTokens,      "budget.session.tokens",       OPEN,                                i64::MAX, "tokens a session may use";
    BudgetSessionCostMicros,  "budget.session.cost_micros",  OPEN,                                i64::MAX, "millionths of a US dollar a session may cost";
    BudgetSessionWallSeconds, "budget.session.wall_seconds", OPEN,                                i64::MAX, "seconds a session may be at work";
    BudgetSessionTurns,       "budget.session.turns",        OPEN,                                i64::MAX, "turns a session may take";
    EventRetentionDays,       "retention.event_days",        count(90),                           36_500,   "days after which events are forgotten";
    LimitMemoryMib,           "limits.memory_mib",           count(16_384),                                i64::MAX, "MiB of memory that a session's processes may use; reaching it ends them";
    LimitProcesses,           "limits.processes",            count(2_000),                        1_000_000, "processes that a session may have; reaching it ends them";
    LimitNice,                "limits.nice",                 count(5),                            19,       "how far agents yield the processor to others: the nice value of their processes";
    LimitOpenFiles,           "limits.open_files",           count(65_536),                       10_000_000, "files that one process of a session may have open";
    LimitDiskMib,             "limits.disk_mib",             count(51_200),                                i64::MAX, "MiB of disk that a session's worktree, home and /tmp may use; reaching it ends its processes";
    LimitNetworkMib,          "limits.network_mib",          OPEN,                                i64::MAX, "MiB that a session in the tier strict may send and receive; reaching it closes its connections";
    ContainmentMinimum,       "containment.minimum",         count(2),                            3,        "least containment that a session may have: none, guarded, strict or container", TIERS;
    BudgetUserDayTokens,      "budget.user_day.tokens",      OPEN,                                i64::MAX, "tokens that all sessions of a user may use in a day (UTC)";
    BudgetUserDayCostMicros,  "budget.user_day.cost_micros", OPEN,                                i64::MAX, "millionths of a US dollar that all sessions of a user may cost in a day (UTC)";
    BudgetUserDayWallSeconds, "budget.user_day.wall_seconds", OPEN,                               i64::MAX, "seconds that all sessions of a user together may work in a day (UTC)";
    BudgetUserDayTurns,       "budget.user_day.turns",       OPEN,                                i64::MAX, "turns that all sessions of a user may take in a day (UTC)";
    ClawedAbodePermissions,   "clawed_abode.permissions",    count(1),                            2,        "whether new sessions of the dialect clawed-abode ask before they use their tools: ask or allow", PERMISSIONS;
    AuditRetentionDays,       "retention.audit_days",        count(365),                          36_500,   "days after which audit entries of reads and refusals are forgotten";
}

impl SettingKey {
    /// Finds a setting by its name.
    pub fn parse(name: &str) -> Result<Self, SettingRefusal> {
        let found = Self::ALL.iter().copied().find(|key| key.name() == name);
        found.ok_or_else(|| SettingRefusal::Unknown {
            name: name.chars().take(100).collect(),
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns what the setting is and may be.
    pub fn spec(self) -> &'static SettingSpec {
        &SPECS[self as usize]
    }

    /// Reads a value that a person wrote: a number, or a name where the values have names.
    pub fn read(self, text: &str) -> Result<SettingValue, SettingRefusal> {
        let &SettingSpec {
            name,
            names,
            min,
            max,
            ..
        } = self.spec();
        if names.is_empty() {
            let number = text.parse().ok();
            let number = number.ok_or(SettingRefusal::OutOfRange { name, min, max })?;
            return self.check(Some(number));
        }
        let numbered = (min..).zip(names);
        let found = numbered.into_iter().find(|(_, it)| **it == text);
        let (number, _) = found.ok_or(SettingRefusal::NotAName { name, names })?;
        Ok(SettingValue(Some(number)))
    }

    /// Returns what a value is called, if this setting's values have names.
    pub fn name_of(self, value: SettingValue) -> Option<&'static str> {
        let index = usize::try_from(value.0? - self.spec().min).ok()?;
        self.spec().names.get(index).copied()
    }

    /// Checks a value for this setting.
    pub fn check(self, value: Option<i64>) -> Result<SettingValue, SettingRefusal> {
        let &SettingSpec {
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
        for &key in SettingKey::ALL {
            assert_eq!(key.spec().key, key);
            assert!(key.check(key.spec().default).is_ok(), "{}", key.name());
            assert_eq!(SettingKey::parse(key.name()), Ok(key));
        }
    }

    #[test]
    fn values_with_names_are_read_and_shown_by_them() {
        let key = SettingKey::ContainmentMinimum;
        for (number, name) in [(1, "none"), (2, "guarded"), (3, "strict")] {
            let value = SettingValue(Some(number));
            assert_eq!(key.read(name), Ok(value));
            assert_eq!(key.name_of(value), Some(name));
        }
        assert!(
            key.read("loose")
                .unwrap_err()
                .to_string()
                .contains("guarded")
        );
        assert_eq!(
            SettingKey::SpawnDepthMax.read("3"),
            Ok(SettingValue(Some(3)))
        );
        assert_eq!(
            SettingKey::SpawnDepthMax.name_of(SettingValue(Some(3))),
            None
        );
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
