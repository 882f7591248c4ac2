//! What was spent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{DayOffset, InputRefusal, Moment, Ranked, Usage, UsageQuery, UsageSpan, UsageSums};

use crate::common::{field, is_zero, optional, time};

/// Which spending is told.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageReportRequest {
    /// From when on: 30d (so many days, today among them), a day like 2026-11-15, or a time in RFC 3339; 30d unless given. At
    /// most 366 days are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Until when: a day, to its end, or a time; now unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// How many minutes your clocks are ahead of UTC, -1080 to 1080; it decides where a day begins. 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utc_offset: Option<i32>,
    /// How many trees of sessions to tell one by one, 1 to 200, 20 unless given; the others are told as one sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<u32>,
}

impl TryFrom<UsageReportRequest> for UsageQuery {
    type Error = InputRefusal;

    fn try_from(request: UsageReportRequest) -> Result<Self, InputRefusal> {
        let offset = DayOffset::from_minutes(request.utc_offset.unwrap_or(0));
        Ok(Self {
            since: optional("since", request.since.as_deref(), Moment::parse)?,
            until: optional("until", request.until.as_deref(), Moment::parse)?,
            offset: field("utc_offset", offset)?,
            trees: Self::trees_within(request.trees),
        })
    }
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageView {
    /// Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
    pub cost_micros: u64,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    /// Tokens that were read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens that were read from a cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Seconds at work.
    pub wall_seconds: u64,
    pub turns: u64,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            cost_micros: usage.cost_micros,
            estimated_micros: usage.estimated_micros,
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            wall_seconds: usage.wall_seconds,
            turns: usage.turns,
        }
    }
}

/// What was used on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageDayView {
    /// Such as 2026-11-15.
    pub day: String,
    #[serde(flatten)]
    pub usage: UsageView,
}

/// What sessions of an agent used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAgentView {
    pub agent: String,
    #[serde(flatten)]
    pub usage: UsageView,
}

/// What a session and its descendants used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageTreeView {
    /// The session at the root.
    pub session_id: String,
    /// Absent when the root is not yours to see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The root's agent; others of the tree may have another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(flatten)]
    pub usage: UsageView,
}

/// What those used that are not told one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageOthersView {
    /// How many they are.
    pub count: u64,
    #[serde(flatten)]
    pub usage: UsageView,
}

/// What was spent within a time. A turn counts at the moment it ended; sessions that were deleted are not counted any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReportView {
    pub since: String,
    /// The first moment that is not counted.
    pub until: String,
    pub total: UsageView,
    /// Days on which a turn ended, earliest first.
    pub days: Vec<UsageDayView>,
    /// By agent, the dearest first.
    pub agents: Vec<UsageAgentView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_agents: Option<UsageOthersView>,
    /// By tree of sessions, the dearest first.
    pub trees: Vec<UsageTreeView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_trees: Option<UsageOthersView>,
}

impl UsageReportView {
    /// Shows what was used within a time.
    pub fn new(span: UsageSpan, sums: UsageSums) -> Self {
        let days = sums.days.iter().map(|(day, usage)| UsageDayView {
            day: day.to_string(),
            usage: (*usage).into(),
        });
        Self {
            since: time(span.since),
            until: time(span.until),
            total: sums.total().into(),
            days: days.collect(),
            other_agents: others(&sums.agents),
            other_trees: others(&sums.trees),
            agents: sums
                .agents
                .top
                .into_iter()
                .map(|(agent, usage)| UsageAgentView {
                    agent,
                    usage: usage.into(),
                })
                .collect(),
            trees: sums
                .trees
                .top
                .into_iter()
                .map(|(tree, usage)| {
                    let (title, agent) = tree.about.unzip();
                    UsageTreeView {
                        session_id: tree.root.to_string(),
                        title,
                        agent,
                        usage: usage.into(),
                    }
                })
                .collect(),
        }
    }
}

fn others<T>(ranked: &Ranked<T>) -> Option<UsageOthersView> {
    let (count, usage) = ranked.others;
    let usage = usage.into();
    (count > 0).then_some(UsageOthersView { count, usage })
}
