//! The change feed, followed from any number: read what is stored, then wait for more.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};
use wh_domain::{EventSeq, Facts, Operation, PageLimit, Principal, Reach};
use wh_store::{EventPage, EventsSeen};

use crate::{App, OpContext, Result};

/// How often a follower's credential is looked at again, and the longest silence before a sign of life.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// How long a follower that was just told something is left alone, at least and at most: what happens meanwhile it is told
/// together. Between the two it is [`PAUSE_EACH`] for every follower there is, so that being told costs the server about the
/// same whether ten or hundreds listen.
///
/// The first event after a silence is told at once.
const PAUSE: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(50)];
const PAUSE_EACH: Duration = Duration::from_micros(100);

/// Events read from the database at a time.
const BATCH: u32 = 200;

/// What a follower is told.
#[derive(Clone, Debug)]
pub enum FeedItem {
    /// Something changed.
    Events(EventsSeen),
    /// The number asked for is not kept (any more, or yet): forget what you know, read everything again, and go on
    /// from here.
    Resync { through: EventSeq },
    /// Nothing happened for a while; everything up to here was looked at.
    Idle { through: EventSeq },
}

/// A stretch of the feed, or word that it is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventStretch {
    Page(EventPage),
    /// The number asked for is not kept (any more, or yet): read everything again, and go on from here.
    Resync {
        through: EventSeq,
    },
}

/// Follows the feed for one principal. It holds a number and no queue: a slow follower costs nothing and misses nothing. Who keeps
/// up is told from memory; who fell behind reads the database, a page at a time, until the rest is in memory.
pub struct EventFeed {
    app: Arc<App>,
    principal: Principal,
    reach: Reach,
    after: EventSeq,
    newest: watch::Receiver<EventSeq>,
    is_checked: bool,
    valid_at: Option<Instant>,
    told_at: Option<Instant>,
    /// Counts the followers, by how many hold it.
    followers: Arc<()>,
}

impl App {
    /// Reads a stretch of the feed, from the oldest event kept unless `after` is given. Nothing is returned when `after` is not kept: the reader must start over.
    pub async fn event_list(
        &self,
        cx: &OpContext,
        after: Option<EventSeq>,
        limit: PageLimit,
    ) -> Result<EventStretch> {
        let operation = Operation::EventList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            if let Some(after) = after
                && let Some(through) = self.event_resync(after).await?
            {
                return Ok(EventStretch::Resync { through });
            }
            let page = self.store.event_list(reach, after.unwrap_or(0), limit);
            let mut page = page.await?;
            page.events
                .retain(|it| cx.principal.sees_events_of(it.body.subject.kind));
            Ok(EventStretch::Page(page))
        })
        .await
    }

    /// Tells where a reader must start over whose number is not kept any more, or not yet.
    async fn event_resync(&self, after: EventSeq) -> Result<Option<EventSeq>> {
        let (oldest, newest) = self.store.event_bounds().await?;
        let forgotten = after + 1 < oldest;
        let from_the_future = after > newest;
        Ok((forgotten || from_the_future).then_some(newest))
    }

    /// Follows the feed after `after`, or from now on.
    pub async fn event_follow(
        self: &Arc<Self>,
        cx: &OpContext,
        after: Option<EventSeq>,
    ) -> Result<EventFeed> {
        let operation = Operation::EventList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let newest = self.store.event_watch();
            let now = *newest.borrow();
            Ok(EventFeed {
                app: Arc::clone(self),
                principal: cx.principal.clone(),
                reach,
                after: after.unwrap_or(now),
                is_checked: after.is_none(),
                newest,
                valid_at: None,
                told_at: None,
                followers: Arc::clone(&self.followers),
            })
        })
        .await
    }
}

impl EventFeed {
    /// Waits for what comes next; nothing when the feed is over, because the server stops or the credential does.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was read is returned or read again.
    pub async fn next(&mut self) -> Result<Option<Vec<FeedItem>>> {
        if let Some(resync) = self.resync().await? {
            return Ok(Some(vec![resync]));
        }
        loop {
            if !self.is_still_valid().await? {
                return Ok(None);
            }
            self.pause().await;
            let (events, more) = self.read().await?;
            if !events.is_empty() {
                self.told_at = Some(Instant::now());
                return Ok(Some(events.into_iter().map(FeedItem::Events).collect()));
            }
            if more {
                continue;
            }
            tokio::select! {
                () = self.app.shutdown.cancelled() => return Ok(None),
                changed = self.newest.wait_for(|newest| *newest > self.after) => {
                    if changed.is_err() {
                        return Ok(None);
                    }
                }
                () = tokio::time::sleep(CHECK_EVERY) => {
                    return Ok(Some(vec![FeedItem::Idle { through: self.after }]));
                }
            }
        }
    }

    /// Lets events gather after some were told.
    async fn pause(&mut self) {
        if let Some(told_at) = self.told_at {
            let followers = Arc::strong_count(&self.followers);
            tokio::time::sleep_until(told_at + pause(followers)).await;
            self.told_at = None;
        }
    }

    /// Reads on, from memory if it is there; tells whether there is more right now.
    async fn read(&mut self) -> Result<(Vec<EventsSeen>, bool)> {
        let store = &self.app.store;
        // What is in memory is written for everybody of a reach; sessions that lead see less than that.
        let recent = match self.principal.leads() {
            true => None,
            false => store.event_recent(self.reach, self.after),
        };
        if let Some(recent) = recent {
            self.after = recent.through;
            // Only an answer that is full leaves something behind, and that has events or looked at many.
            let more = self.after < *self.newest.borrow();
            return Ok((recent.events, more));
        }
        let limit = PageLimit::clamped(Some(BATCH));
        let mut page = store.event_list(self.reach, self.after, limit).await?;
        let principal = &self.principal;
        page.events
            .retain(|it| principal.sees_events_of(it.body.subject.kind));
        self.after = self.after.max(page.through);
        Ok((
            EventsSeen::all(page.events).into_iter().collect(),
            page.more,
        ))
    }

    /// Looks at the credential again, now and then: a revoked one ends the feed within a second.
    async fn is_still_valid(&mut self) -> Result<bool> {
        let recent = |at: Instant| at.elapsed() < CHECK_EVERY;
        if self.valid_at.is_some_and(recent) {
            return Ok(true);
        }
        self.valid_at = Some(Instant::now());
        self.app.is_still_valid(&self.principal).await
    }

    /// On the first read, tells a follower whose number is not kept to start over.
    async fn resync(&mut self) -> Result<Option<FeedItem>> {
        if self.is_checked {
            return Ok(None);
        }
        self.is_checked = true;
        if let Some(through) = self.app.event_resync(self.after).await? {
            self.after = through;
            return Ok(Some(FeedItem::Resync { through }));
        }
        Ok(None)
    }
}

fn pause(followers: usize) -> Duration {
    let [least, most] = PAUSE;
    let all = u32::try_from(followers).map_or(most, |count| PAUSE_EACH * count);
    all.clamp(least, most)
}
