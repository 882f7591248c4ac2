//! The change feed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{Event, InputRefusal};

use crate::NumberOrId;
use crate::common::time;

/// Which part of the feed to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventListRequest {
    /// Events after this number; the beginning unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NumberOrId>,
    /// How many at most: 1 to 200, 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl EventListRequest {
    /// Returns after which event to begin.
    pub fn after(&self) -> Result<Option<u64>, InputRefusal> {
        let after = self.after.as_ref();
        after.map(|it| it.number("after")).transpose()
    }
}

/// Something changed. It says what, not what it changed to: ask for that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    pub seq: u64,
    pub at: String,
    /// What happened: created, updated, state_changed, message_added, log_changed, revoked or deleted
    pub kind: String,
    /// What it happened to: user, key, repo, worktree, board, session, turn, approval, setting, server or webhook
    pub subject_kind: String,
    pub subject_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let body = event.body;
        Self {
            seq: event.seq,
            at: time(event.at),
            kind: body.kind.as_str().to_owned(),
            subject_kind: body.subject.kind.as_str().to_owned(),
            subject_id: body.subject.id.to_string(),
            session_id: body.session.map(|id| id.to_string()),
            actor_id: body.actor.map(|id| id.to_string()),
            facts: body.facts,
        }
    }
}

/// A stretch of the feed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventListView {
    pub events: Vec<EventView>,
    /// Where to go on: pass it as `after`.
    pub through: u64,
    /// Whether there is more right now.
    pub more: bool,
    /// The number asked for is not kept: read everything again and go on from `through`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resync: bool,
}

/// What a follower of the feed receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FeedView {
    /// Something changed.
    Event(EventView),
    /// The number asked for is not kept: read everything again and go on from `through`.
    Resync { through: u64 },
    /// Nothing happened for a while; everything up to `through` was looked at.
    Idle { through: u64 },
}
