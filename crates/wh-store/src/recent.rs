//! The newest events in memory, so that those who follow the feed closely do not each read the database.

use std::{
    collections::VecDeque,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, OnceLock},
};

use bytes::Bytes;
use wh_domain::{Event, EventSeq};

/// Events kept in memory; older ones are read from the database.
const EVENTS_MAX: usize = 16_384;

/// About how many bytes they may take, with what was made of them.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Events that one answer from memory holds at most, give or take a transaction.
const ANSWER_MAX: usize = 1_024;

/// What an event takes beside its facts, and the text that is made of it.
const EVENT_BYTES: usize = 1_024;

/// Events in their order, shared by everyone who is told of them: what is made of them is made once.
struct EventBatch {
    events: Vec<Event>,
    written: OnceLock<Written>,
}

/// Events as text, one after the other.
struct Written {
    text: Bytes,
    /// Where each event's text ends.
    ends: Vec<usize>,
}

impl Written {
    /// Returns the text of some events.
    fn piece(&self, events: Range<usize>) -> Bytes {
        let begin = |n: usize| match n {
            0 => 0,
            n => self.ends[n - 1],
        };
        self.text.slice(begin(events.start)..begin(events.end))
    }
}

impl EventBatch {
    fn new(events: Vec<Event>) -> Self {
        Self {
            events,
            written: OnceLock::new(),
        }
    }

    fn written(&self, write: impl Fn(&mut String, &Event)) -> &Written {
        self.written.get_or_init(|| {
            let mut text = String::new();
            let end_of = |event| {
                write(&mut text, event);
                text.len()
            };
            let ends = self.events.iter().map(end_of).collect();
            Written {
                text: text.into(),
                ends,
            }
        })
    }
}

impl fmt::Debug for EventBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.events).finish()
    }
}

/// What one reader may see of a batch; never nothing.
#[derive(Clone, Debug)]
pub struct EventsSeen {
    batch: Arc<EventBatch>,
    /// In order, apart from each other.
    runs: Vec<Range<usize>>,
}

impl EventsSeen {
    /// Shows all of a batch; nothing when it is empty.
    pub fn all(events: Vec<Event>) -> Option<Self> {
        Self::of(&Arc::new(EventBatch::new(events)), 0, |_| true)
    }

    /// Shows what comes after `after` and is `visible`; nothing when there is none.
    fn of(
        batch: &Arc<EventBatch>,
        after: EventSeq,
        visible: impl Fn(&Event) -> bool,
    ) -> Option<Self> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (n, event) in batch.events.iter().enumerate() {
            if event.seq <= after || !visible(event) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == n => run.end = n + 1,
                _ => runs.push(n..n + 1),
            }
        }
        let batch = Arc::clone(batch);
        (!runs.is_empty()).then_some(Self { batch, runs })
    }

    /// Returns the events.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        let events = |run: &Range<usize>| &self.batch.events[run.clone()];
        self.runs.iter().flat_map(events)
    }

    /// Returns the events as text, in as few pieces as possible. The first to ask for the text of a batch makes it, for all; so
    /// `write` must be the same whoever asks.
    pub fn texts(&self, write: impl Fn(&mut String, &Event)) -> impl Iterator<Item = Bytes> {
        let written = self.batch.written(write);
        self.runs.iter().map(|run| written.piece(run.clone()))
    }

    /// Returns the text of each event, as [`Self::texts`] would.
    pub fn texts_of_each(
        &self,
        write: impl Fn(&mut String, &Event),
    ) -> impl Iterator<Item = Bytes> {
        let written = self.batch.written(write);
        let events = self.runs.iter().flat_map(Range::clone);
        events.map(|n| written.piece(n..n + 1))
    }
}

/// What memory knows of the feed after some number.
#[derive(Clone, Debug)]
pub struct Recent {
    /// What the reader may see of it, in order.
    pub events: Vec<EventsSeen>,
    /// Where to go on: everything up to here was looked at, seen or not.
    pub through: EventSeq,
}

/// The newest committed events, without gaps. It is bounded, and forgets the oldest first.
pub struct RecentEvents {
    inner: Mutex<Inner>,
}

struct Inner {
    batches: VecDeque<Arc<EventBatch>>,
    /// The number before the first event.
    before: EventSeq,
    through: EventSeq,
    events: usize,
    bytes: usize,
}

impl RecentEvents {
    /// Begins after the newest event of the database.
    pub fn new(through: EventSeq) -> Self {
        let inner = Inner {
            batches: VecDeque::new(),
            before: through,
            through,
            events: 0,
            bytes: 0,
        };
        Self {
            inner: Mutex::new(inner),
        }
    }

    /// Adds what was just committed after the event `before`, and before anybody is told of it.
    pub fn push(&self, before: EventSeq, events: Vec<Event>) {
        let Some(last) = events.last().map(|event| event.seq) else {
            return;
        };
        let mut inner = self.lock();
        if before != inner.through {
            // Something was committed without our knowing. What follows is whole again.
            inner.batches.clear();
            (inner.before, inner.events, inner.bytes) = (before, 0, 0);
        }
        inner.through = last;
        inner.events += events.len();
        inner.bytes += bytes_of(&events);
        inner.batches.push_back(Arc::new(EventBatch::new(events)));
        inner.forget();
    }

    /// Returns what comes after `after`; nothing when that is not in memory any more.
    pub fn after(&self, after: EventSeq, visible: impl Fn(&Event) -> bool) -> Option<Recent> {
        let (batches, through) = {
            let inner = self.lock();
            if after < inner.before {
                return None;
            }
            inner.batches_after(after)
        };
        let seen = |batch| EventsSeen::of(batch, after, &visible);
        Some(Recent {
            events: batches.iter().filter_map(seen).collect(),
            through: through.max(after),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Inner {
    /// Returns batches that hold what comes after `after`, and the number of their last event.
    fn batches_after(&self, after: EventSeq) -> (Vec<Arc<EventBatch>>, EventSeq) {
        let first = self.batches.partition_point(|b| last_of(b) <= after);
        let (mut found, mut count) = (Vec::new(), 0);
        for batch in self.batches.range(first..) {
            if count >= ANSWER_MAX {
                break;
            }
            count += batch.events.len();
            found.push(Arc::clone(batch));
        }
        let through = found.last().map_or(self.through, |batch| last_of(batch));
        (found, through)
    }

    /// Forgets the oldest until all limits are kept.
    fn forget(&mut self) {
        while self.events > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.batches.pop_front() else {
                return;
            };
            self.before = last_of(&oldest);
            self.events -= oldest.events.len();
            self.bytes -= bytes_of(&oldest.events);
        }
    }
}

fn last_of(batch: &EventBatch) -> EventSeq {
    batch.events.last().map_or(0, |event| event.seq)
}

/// Returns about how many bytes events take in memory, twice over for their text.
fn bytes_of(events: &[Event]) -> usize {
    let facts = |event: &Event| -> usize {
        let facts = event.body.facts.iter();
        facts.map(|(name, value)| name.len() + value.len()).sum()
    };
    let bytes = |event| EVENT_BYTES + 2 * facts(event);
    events.iter().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;
    use wh_domain::{EventKind, NewEvent, Owner, Subject, SubjectKind};

    use super::*;

    fn events(seqs: Range<EventSeq>) -> Vec<Event> {
        let subject = Subject {
            kind: SubjectKind::Server,
            id: Uuid::nil(),
        };
        let event = |seq| Event {
            seq,
            at: Timestamp::UNIX_EPOCH,
            body: NewEvent {
                kind: EventKind::Updated,
                subject,
                owner: Owner {
                    user: newtype_uuid::TypedUuid::nil(),
                    key: None,
                },
                session: None,
                actor: None,
                facts: Default::default(),
            },
        };
        seqs.map(event).collect()
    }

    fn seqs(recent: &RecentEvents, after: EventSeq) -> Option<Vec<EventSeq>> {
        let found = recent.after(after, |_| true)?;
        let events = found.events.iter().flat_map(EventsSeen::iter);
        Some(events.map(|event| event.seq).collect())
    }

    #[test]
    fn what_was_committed_is_found_after_any_number() {
        let recent = RecentEvents::new(7);
        assert_eq!(seqs(&recent, 7), Some(vec![]));
        assert_eq!(seqs(&recent, 6), None);
        recent.push(7, events(8..10));
        recent.push(9, events(10..13));
        assert_eq!(seqs(&recent, 7), Some(vec![8, 9, 10, 11, 12]));
        assert_eq!(seqs(&recent, 8), Some(vec![9, 10, 11, 12]));
        assert_eq!(seqs(&recent, 9), Some(vec![10, 11, 12]));
        assert_eq!(seqs(&recent, 12), Some(vec![]));
        assert_eq!(recent.after(99, |_| true).unwrap().through, 99);
    }

    #[test]
    fn a_gap_makes_everything_before_it_be_read_from_the_database() {
        let recent = RecentEvents::new(0);
        recent.push(0, events(1..4));
        recent.push(5, events(6..8));
        assert_eq!(seqs(&recent, 3), None);
        assert_eq!(seqs(&recent, 5), Some(vec![6, 7]));
    }

    #[test]
    fn the_oldest_are_forgotten_and_the_rest_is_whole() {
        let recent = RecentEvents::new(0);
        let all = 3 * EVENTS_MAX as u64;
        for seq in 1..=all {
            recent.push(seq - 1, events(seq..seq + 1));
        }
        let inner = recent.lock();
        assert!(inner.events <= EVENTS_MAX && inner.bytes <= BYTES_MAX);
        let mut after = inner.before;
        drop(inner);
        assert_eq!(seqs(&recent, after - 1), None);
        while after < all {
            let found = seqs(&recent, after).unwrap();
            assert!(found.len() <= ANSWER_MAX);
            assert_eq!(found.first(), Some(&(after + 1)));
            after += found.len() as u64;
        }
    }

    #[test]
    fn text_is_made_once_and_cut_for_each_reader() {
        let recent = RecentEvents::new(0);
        recent.push(0, events(1..6));
        let write = |out: &mut String, event: &Event| out.push_str(&format!("<{}>", event.seq));
        let all = recent.after(0, |_| true).unwrap();
        let whole: Vec<_> = all.events[0].texts(write).collect();
        assert_eq!(whole, ["<1><2><3><4><5>"]);
        let some = recent.after(1, |event| event.seq != 4).unwrap();
        let never = |_: &mut String, _: &Event| panic!("it is written already");
        let pieces: Vec<_> = some.events[0].texts(never).collect();
        assert_eq!(pieces, ["<2><3>", "<5>"]);
        let each: Vec<_> = some.events[0].texts_of_each(never).collect();
        assert_eq!(each, ["<2>", "<3>", "<5>"]);
        assert!(recent.after(0, |_| false).unwrap().events.is_empty());
    }
}
