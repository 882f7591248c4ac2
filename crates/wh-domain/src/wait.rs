//! Waits that outlive the call that began them: for sessions to come to rest, and remembered when they have.

use jiff::Timestamp;

use crate::{
    Credential, Owner, Principal, Reach, Session, SessionId, SessionStateName, WaitFor, WaitId,
};

/// Somebody waits for sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub id: WaitId,
    pub owner: Owner,
    /// The session whose agent waits.
    pub by: Option<SessionId>,
    pub sessions: Vec<SessionId>,
    pub wait_for: WaitFor,
    /// When it ends though nothing happened.
    pub until: Timestamp,
    pub created_at: Timestamp,
    /// What it came to; nothing follows.
    pub end: Option<WaitEnd>,
}

/// What a wait came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitEnd {
    pub at: Timestamp,
    pub how: WaitEnding,
    /// The sessions as they were then, without those that were deleted.
    pub sessions: Vec<WaitedSession>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnding {
    /// What was waited for is so.
    Done,
    /// The time was up.
    TimedOut,
    /// Whoever waited does not any more.
    Cancelled,
}

/// A session that is waited for, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedSession {
    pub id: SessionId,
    pub title: String,
    pub state: SessionStateName,
    /// At rest, ended, or in need of an answer.
    pub done: bool,
    pub last_words: Option<String>,
}

impl WaitedSession {
    /// Returns what of a session somebody who waits for it wants to know.
    pub fn new(session: &Session, has_queue: bool) -> Self {
        let state = session.state.name();
        Self {
            id: session.id,
            title: session.title.to_string(),
            state: state.with_queue(has_queue),
            done: state.is_at_rest(has_queue),
            last_words: session.last_words.clone(),
        }
    }
}

impl WaitFor {
    /// Tells whether the wait is over. Nobody waits for sessions that are gone.
    pub fn is_met(self, sessions: &[WaitedSession], gone: usize) -> bool {
        let mut done = sessions.iter().map(|session| session.done);
        match self {
            Self::All => done.all(|done| done),
            Self::Any => gone > 0 || done.any(|done| done),
        }
    }
}

impl Wait {
    /// Tells whether a caller may know of it: who began it, and the user for whom they did.
    pub fn is_of(&self, principal: &Principal, reach: Reach) -> bool {
        match principal.credential {
            Credential::Session { session, .. } => self.by == Some(session),
            _ => reach.covers_owner(self.owner),
        }
    }

    /// Returns what it comes to when its sessions are so, if it comes to anything now.
    pub fn look(&self, sessions: Vec<WaitedSession>, at: Timestamp) -> Option<WaitEnd> {
        let gone = self.sessions.len() - sessions.len();
        let how = match self.wait_for.is_met(&sessions, gone) {
            true => WaitEnding::Done,
            false if at >= self.until => WaitEnding::TimedOut,
            false => return None,
        };
        Some(WaitEnd { at, how, sessions })
    }
}

impl WaitEnding {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Done, Self::TimedOut, Self::Cancelled];

    /// Returns it as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads it back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::UserId;

    fn waited(done: bool) -> WaitedSession {
        WaitedSession {
            id: SessionId::from_untyped_uuid(Uuid::nil()),
            title: "x".to_owned(),
            state: SessionStateName::Idle,
            done,
            last_words: None,
        }
    }

    fn wait(wait_for: WaitFor, count: usize) -> Wait {
        let second = |n| Timestamp::from_second(n).unwrap();
        Wait {
            id: WaitId::from_untyped_uuid(Uuid::nil()),
            owner: Owner {
                user: UserId::from_untyped_uuid(Uuid::nil()),
                key: None,
            },
            by: None,
            sessions: vec![SessionId::from_untyped_uuid(Uuid::nil()); count],
            wait_for,
            until: second(100),
            created_at: second(0),
            end: None,
        }
    }

    #[test]
    fn a_wait_ends_when_it_is_met_or_its_time_is_up() {
        use WaitEnding::{Done, TimedOut};
        let cases = [
            (WaitFor::All, vec![true, false], 2, 99, None),
            (WaitFor::All, vec![true, false], 2, 100, Some(TimedOut)),
            (WaitFor::All, vec![true, true], 2, 1, Some(Done)),
            (WaitFor::Any, vec![true, false], 2, 1, Some(Done)),
            (WaitFor::Any, vec![false, false], 2, 1, None),
            // One of them was deleted.
            (WaitFor::Any, vec![false], 2, 1, Some(Done)),
            (WaitFor::All, vec![false], 2, 1, None),
            (WaitFor::All, vec![], 2, 1, Some(Done)),
        ];
        for (wait_for, done, count, at, how) in cases {
            let sessions = done.iter().map(|done| waited(*done)).collect();
            let at = Timestamp::from_second(at).unwrap();
            let end = wait(wait_for, count).look(sessions, at);
            assert_eq!(end.map(|end| end.how), how, "{wait_for:?} {done:?} {at}");
        }
    }
}
