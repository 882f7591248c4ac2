//! Joins streamed words, so that a stream of single tokens is not a stream of single records.

use std::time::{Duration, Instant};

use crate::event::AgentEvent;

/// Words wait at most so long for more of them.
pub(crate) const JOIN_TIME: Duration = Duration::from_millis(25);
/// More than this is passed on at once, in pieces of at most this.
const JOIN_BYTES: usize = 32 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    Text,
    Thought,
}

/// What has been said and not yet been passed on.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    pending: Option<(Voice, String, Instant)>,
}

impl Joiner {
    /// Takes words and returns what is to be passed on now.
    pub(crate) fn push(&mut self, voice: Voice, text: &str, now: Instant) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        if self.pending.as_ref().is_some_and(|(v, ..)| *v != voice) {
            out.extend(self.flush());
        }
        let (_, words, _) = self
            .pending
            .get_or_insert_with(|| (voice, String::new(), now));
        words.push_str(text);
        // Pieces are copied out: splitting would leave each with the room of the whole.
        let mut passed = 0;
        while words.len() - passed >= JOIN_BYTES {
            let end = words.floor_char_boundary(passed + JOIN_BYTES);
            out.push(event(voice, words[passed..end].to_owned()));
            passed = end;
        }
        if passed > 0 {
            *words = words[passed..].to_owned();
        }
        if words.is_empty() {
            self.pending = None;
        }
        out
    }

    /// Returns what is waiting.
    pub(crate) fn flush(&mut self) -> Option<AgentEvent> {
        let (voice, words, _) = self.pending.take()?;
        Some(event(voice, words))
    }

    /// Returns when to call [`Self::flush`].
    pub(crate) fn due(&self) -> Option<Instant> {
        self.pending
            .as_ref()
            .map(|(_, _, since)| *since + JOIN_TIME)
    }
}

fn event(voice: Voice, text: String) -> AgentEvent {
    match voice {
        Voice::Text => AgentEvent::Text { text },
        Voice::Thought => AgentEvent::Thought { text },
    }
}
