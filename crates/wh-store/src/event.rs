//! The change feed.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::watch;
use wh_domain::{Event, EventSeq, NewEvent, PageLimit, Reach};

use crate::{Recent, Result};

/// A stretch of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// What the reader may see of it, in order.
    pub events: Vec<Event>,
    /// Where to go on: everything up to here was looked at, seen or not.
    pub through: EventSeq,
    /// Whether there is more right now.
    pub more: bool,
}

/// Keeps the change feed.
#[async_trait]
pub trait EventStore {
    /// Returns events after `after` that lie within reach.
    ///
    /// An event about a session lies within reach of those who reach the session; one about a user or a setting, of
    /// that user or of [`Reach::All`]. Of what others share, boards, sessions and turns are told of.
    async fn event_list(
        &self,
        reach: Reach,
        after: EventSeq,
        limit: PageLimit,
    ) -> Result<EventPage>;

    /// Returns, from memory, what [`Self::event_list`] would return after `after`, as far as that is there; nothing when it
    /// has to be read: because it is older, or because memory cannot tell what lies within reach.
    fn event_recent(&self, reach: Reach, after: EventSeq) -> Option<Recent>;

    /// Returns the oldest and the newest number still kept; zeros when there is none.
    async fn event_bounds(&self) -> Result<(EventSeq, EventSeq)>;

    /// Adds an event about something that leaves no other trace, such as progress, and returns its number.
    async fn event_announce(&self, at: Timestamp, event: NewEvent) -> Result<EventSeq>;

    /// Returns a watch on the newest durable number: a hint to read, never a message in itself.
    fn event_watch(&self) -> watch::Receiver<EventSeq>;
}
