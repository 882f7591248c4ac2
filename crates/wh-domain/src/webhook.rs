//! Webhooks: addresses that are told of changes, and what is to be told.

use jiff::{SignedDuration, Timestamp};

use crate::{
    BoardId, EventKind, EventSeq, InputRefusal, NewEvent, Reference, SecretText, SessionId,
    SubjectKind, UserId, WebhookDeliveryId, WebhookId,
};

/// An address that is told of changes.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub id: WebhookId,
    pub user: UserId,
    pub url: String,
    pub kinds: WebhookKinds,
    /// Only what happens on this board.
    pub board: Option<BoardId>,
    /// Only what happens in this session.
    pub session: Option<SessionId>,
    /// What deliveries are signed with.
    pub secret: SecretText,
    pub state: WebhookState,
    /// Attempts that failed since one succeeded.
    pub failures: u32,
    pub last_error: Option<String>,
    /// Events up to this one were looked at.
    pub cursor: EventSeq,
    pub created_at: Timestamp,
}

/// A webhook to make.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub url: String,
    pub kinds: WebhookKinds,
    pub board: Option<Reference>,
    pub session: Option<Reference>,
}

/// Whether a webhook is told anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookState {
    Active,
    /// Somebody turned it off.
    Paused,
    /// It failed too often and was turned off.
    Failed,
}

impl WebhookState {
    /// Returns the state as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Failed => "failed",
        }
    }

    /// Reads a state back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Active, Self::Paused, Self::Failed]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// The kinds of events a webhook is told of, such as `session.state_changed`, `approval.*` or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookKinds(Vec<(Option<SubjectKind>, Option<EventKind>)>);

impl WebhookKinds {
    /// The most kinds of one webhook.
    pub const COUNT_MAX: usize = 50;

    /// Reads kinds as callers write them; none given means all.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, InputRefusal> {
        let mut kinds = Vec::new();
        for text in texts {
            let refuse = || {
                let text: String = text.chars().take(60).collect();
                let problem = format!("{text:?} is not of the form SUBJECT.KIND, SUBJECT.* or *");
                InputRefusal::new("events", problem)
            };
            let (subject, kind) = match text.trim() {
                "*" => ("*", "*"),
                text => text.split_once('.').ok_or_else(refuse)?,
            };
            let read_subject = || SubjectKind::parse(subject).ok_or_else(refuse).map(Some);
            let read_kind = || EventKind::parse(kind).ok_or_else(refuse).map(Some);
            kinds.push((
                if subject == "*" {
                    None
                } else {
                    read_subject()?
                },
                if kind == "*" { None } else { read_kind()? },
            ));
        }
        if kinds.len() > Self::COUNT_MAX {
            let problem = format!("holds at most {} entries", Self::COUNT_MAX);
            return Err(InputRefusal::new("events", problem));
        }
        if kinds.is_empty() {
            kinds.push((None, None));
        }
        Ok(Self(kinds))
    }

    /// Tells whether an event is of one of the kinds.
    pub fn hold(&self, event: &NewEvent) -> bool {
        let fits = |(subject, kind): &(Option<SubjectKind>, Option<EventKind>)| {
            subject.is_none_or(|it| it == event.subject.kind)
                && kind.is_none_or(|it| it == event.kind)
        };
        self.0.iter().any(fits)
    }

    /// Returns the kinds as callers write them.
    pub fn texts(&self) -> Vec<String> {
        let text =
            |(subject, kind): &(Option<SubjectKind>, Option<EventKind>)| match (subject, kind) {
                (None, None) => "*".to_owned(),
                (subject, kind) => format!(
                    "{}.{}",
                    subject.map_or("*", SubjectKind::as_str),
                    kind.map_or("*", EventKind::as_str)
                ),
            };
        self.0.iter().map(text).collect()
    }
}

/// Something that a webhook is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// The same at every attempt: receivers know a repeat by it.
    pub id: WebhookDeliveryId,
    pub webhook: WebhookId,
    pub event: EventSeq,
    pub body: String,
    /// Attempts so far.
    pub attempts: u32,
    pub created_at: Timestamp,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    Delivered,
    Failed { why: String },
}

/// How often and how long deliveries are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookRules {
    /// May addresses of this machine and of private networks be told? They are refused unless this is set.
    pub allow_private: bool,
    /// How long to wait after the first failure; each further one doubles it.
    pub retry_after: SignedDuration,
    /// Attempts after which a delivery is given up.
    pub attempts_max: u32,
    /// Failed attempts in a row after which a webhook is turned off.
    pub failures_max: u32,
}

impl WebhookRules {
    /// The longest wait between two attempts.
    const RETRY_MAX: SignedDuration = SignedDuration::from_hours(1);

    /// Returns when to try again after so many attempts; never when it is enough.
    pub fn retry_at(&self, attempts: u32, now: Timestamp) -> Option<Timestamp> {
        if attempts >= self.attempts_max {
            return None;
        }
        let factor = 1_i32 << attempts.saturating_sub(1).min(20);
        let wait = self
            .retry_after
            .checked_mul(factor)
            .unwrap_or(Self::RETRY_MAX);
        now.checked_add(wait.min(Self::RETRY_MAX)).ok()
    }
}

impl Default for WebhookRules {
    fn default() -> Self {
        Self {
            allow_private: false,
            retry_after: SignedDuration::from_secs(5),
            attempts_max: 12,
            failures_max: 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back_and_unknown_ones_are_refused() {
        let texts = ["session.state_changed", "approval.*", "*.deleted", "*"];
        let kinds = WebhookKinds::parse(texts).unwrap();
        assert_eq!(kinds.texts(), texts);
        assert_eq!(WebhookKinds::parse([]).unwrap().texts(), ["*"]);
        for text in [
            "",
            "session",
            "session.exploded",
            "nobody.created",
            ".",
            "a.b.c",
        ] {
            assert!(WebhookKinds::parse([text]).is_err(), "{text:?}");
        }
    }

    #[test]
    fn waits_double_up_to_an_hour_and_end() {
        let rules = WebhookRules::default();
        let now = Timestamp::UNIX_EPOCH;
        let wait = |attempts| rules.retry_at(attempts, now).map(|at| at.as_second());
        assert_eq!([wait(1), wait(2), wait(3)], [Some(5), Some(10), Some(20)]);
        assert_eq!(wait(11), Some(3_600));
        assert_eq!(wait(12), None);
    }
}
