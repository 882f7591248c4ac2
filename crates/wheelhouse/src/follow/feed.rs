//! What changes about one session, through restarts of the server.

use std::time::Duration;

use tokio::time::Instant;
use wh_api::{EventView, FeedView};
use wh_client::{Client, ClientError, EventFeed};

use super::Scope;

/// How long a server may be away before a follower gives up.
const AWAY_MAX: Duration = Duration::from_secs(120);
/// How long to wait before connecting again.
const PAUSE: Duration = Duration::from_millis(200);

/// What is to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Messages from this number on are new or have grown; none when there is no number.
    pub(super) from: Option<u64>,
    /// The session's state, its approvals or its turns may have changed.
    pub(super) state: bool,
}

impl Change {
    /// Nothing is known, so everything is looked at.
    pub(super) const EVERYTHING: Self = Self {
        from: Some(u64::MAX),
        state: true,
    };

    /// Joins two changes into one.
    pub(super) fn and(self, other: Self) -> Self {
        let from = match (self.from, other.from) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            from,
            state: self.state || other.state,
        }
    }

    /// Returns what an event says about a session, if anything.
    fn of(event: &EventView, session: &str) -> Option<Self> {
        if event.session_id.as_deref() != Some(session) {
            return None;
        }
        let added = event.kind == "message_added";
        let number = |fact: &str| event.facts.get(fact)?.parse().ok();
        Some(Self {
            from: added.then(|| number("from").or_else(|| number("seq")).unwrap_or(u64::MAX)),
            state: !added,
        })
    }
}

/// A feed of changes that is opened again when it breaks off, where it broke off.
pub(super) struct Changes {
    client: Client,
    session: String,
    repo: Option<String>,
    /// How far the repository's clone is, in git's words.
    progress: Option<String>,
    feed: Option<EventFeed>,
    through: Option<u64>,
    lost_at: Option<Instant>,
}

impl Changes {
    /// Begins to listen for changes of a session, and of the clone it may wait for.
    pub(super) async fn open(client: Client, scope: &Scope) -> Result<Self, ClientError> {
        let feed = client.events(None).await?;
        Ok(Self {
            client,
            session: scope.session.clone(),
            repo: scope.repo.clone(),
            progress: None,
            feed: Some(feed),
            through: None,
            lost_at: None,
        })
    }

    /// Waits for the next change.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not returned is heard again.
    pub(super) async fn next(&mut self) -> Result<Change, ClientError> {
        loop {
            let Some(feed) = &mut self.feed else {
                if self.connect().await? {
                    return Ok(Change::EVERYTHING);
                }
                continue;
            };
            match feed.next().await {
                Ok(Some(heard)) => {
                    self.through = Some(feed.through());
                    self.lost_at = None;
                    let change = match heard {
                        FeedView::Event(event) => {
                            Change::of(&event, &self.session).or_else(|| self.of_clone(&event))
                        }
                        FeedView::Resync { .. } => Some(Change::EVERYTHING),
                        FeedView::Idle { .. } => None,
                    };
                    if let Some(change) = change {
                        return Ok(change);
                    }
                }
                Ok(None) => self.lose(),
                Err(error) if error.is_temporary() => self.lose(),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns how far the repository's clone was when last heard of.
    pub(super) fn progress(&self) -> Option<&str> {
        self.progress.as_deref()
    }

    /// Remembers what an event says about the clone, which may change what the session waits for.
    fn of_clone(&mut self, event: &EventView) -> Option<Change> {
        if self.repo.as_ref() != Some(&event.subject_id) {
            return None;
        }
        self.progress = event.facts.get("progress").cloned();
        Some(Change {
            from: None,
            state: true,
        })
    }

    /// Lets go of a connection that does not work.
    pub(super) fn lose(&mut self) {
        self.feed = None;
        self.lost_at.get_or_insert_with(Instant::now);
    }

    /// Tries once to connect again; true when it worked.
    async fn connect(&mut self) -> Result<bool, ClientError> {
        match self.client.events(self.through).await {
            Ok(feed) => {
                self.feed = Some(feed);
                Ok(true)
            }
            Err(error) if error.is_temporary() && self.is_worth_waiting() => {
                tokio::time::sleep(PAUSE).await;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn is_worth_waiting(&self) -> bool {
        self.lost_at.is_some_and(|at| at.elapsed() < AWAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, facts: &[(&str, &str)]) -> EventView {
        let facts = facts
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        EventView {
            seq: 1,
            at: String::new(),
            kind: kind.to_owned(),
            subject_kind: "session".to_owned(),
            subject_id: "s".to_owned(),
            session_id: Some("s".to_owned()),
            actor_id: None,
            facts: facts.collect(),
        }
    }

    #[test]
    fn events_tell_what_to_look_at() {
        let grown = event("message_added", &[("seq", "9"), ("from", "7")]);
        let messages = Change {
            from: Some(7),
            state: false,
        };
        assert_eq!(Change::of(&grown, "s"), Some(messages));
        assert_eq!(Change::of(&grown, "another"), None);
        let state = Change::of(&event("state_changed", &[]), "s").unwrap();
        assert_eq!(
            state.and(messages),
            Change {
                from: Some(7),
                state: true
            }
        );
        assert_eq!(Change::EVERYTHING.and(messages).from, Some(7));
    }
}
