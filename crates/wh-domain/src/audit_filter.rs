//! Which calls of the audit log are meant.

use jiff::Timestamp;
use uuid::Uuid;

use crate::ids::short_id_of;
use crate::{
    DayOffset, ErrorCode, IdRef, InputRefusal, Moment, Operation, Outcome, Reference, Surface,
    UserId,
};

/// Which calls a caller asks for.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    pub user: Option<Reference>,
    pub operation: Option<Operation>,
    pub outcome: Option<OutcomeFilter>,
    pub surface: Option<Surface>,
    pub about: Option<AuditAbout>,
    pub since: Option<Moment>,
    /// A day is meant to its end.
    pub until: Option<Moment>,
    pub offset: DayOffset,
    /// Successful reads too.
    pub include_reads: bool,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self {
            user: None,
            operation: None,
            outcome: None,
            surface: None,
            about: None,
            since: None,
            until: None,
            offset: DayOffset::UTC,
            include_reads: false,
        }
    }
}

impl AuditQuery {
    /// Returns what is looked for: `user` is whom the caller means, `now` decides what today is.
    pub fn filter(
        &self,
        user: Option<UserId>,
        now: Timestamp,
    ) -> Result<AuditFilter, InputRefusal> {
        let since = self.since.map(|since| since.begin(self.offset, now));
        let until = self.until.map(|until| until.end(self.offset));
        let (since, until) = (since.transpose()?, until.transpose()?);
        if let (Some(since), Some(until)) = (since, until)
            && until <= since
        {
            return Err(InputRefusal::new("until", "must be after since"));
        }
        Ok(AuditFilter {
            user,
            operation: self.operation,
            outcome: self.outcome,
            surface: self.surface,
            about: self.about.clone(),
            since,
            until,
            without_reads: !self.includes_reads(),
        })
    }

    /// Tells whether successful reads are meant, which are most of all calls: when they, or an operation that reads, are asked for.
    fn includes_reads(&self) -> bool {
        let reads = |operation: Operation| !operation.rule().effect.changes();
        self.include_reads || self.operation.is_some_and(reads)
    }
}

/// Which calls a list holds: those that everything given is true of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub user: Option<UserId>,
    pub operation: Option<Operation>,
    pub outcome: Option<OutcomeFilter>,
    pub surface: Option<Surface>,
    pub about: Option<AuditAbout>,
    pub since: Option<Timestamp>,
    /// The first moment that is not listed any more.
    pub until: Option<Timestamp>,
    /// Leave out successful calls that changed nothing and, unless an operation is asked for, parts of calls.
    pub without_reads: bool,
}

/// How calls ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeFilter {
    Done,
    /// Not done, and the fault was not ours.
    Refused,
    /// Not done, and the fault was ours.
    Failed,
    /// Not done for this reason.
    Code(ErrorCode),
}

impl OutcomeFilter {
    /// Reads `ok`, `refused`, `failed` or a code.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "ok" => Ok(Self::Done),
            "refused" => Ok(Self::Refused),
            "failed" => Ok(Self::Failed),
            code => ErrorCode::parse(code)
                .map(Self::Code)
                .ok_or("must be ok, refused, failed or a code such as FORBIDDEN"),
        }
    }

    /// Tells whether a call that ended like this is meant.
    pub fn covers(self, outcome: Outcome) -> bool {
        match (self, outcome) {
            (Self::Done, Outcome::Done) => true,
            (Self::Refused, Outcome::Refused(code)) => !code.is_ours(),
            (Self::Failed, Outcome::Refused(code)) => code.is_ours(),
            (Self::Code(meant), Outcome::Refused(code)) => meant == code,
            _ => false,
        }
    }
}

/// What calls are about: something that they changed, or that was named when they were made, by its id or by the last
/// digits of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAbout {
    /// The id, if all of it was given.
    pub id: Option<Uuid>,
    /// Its last digits.
    pub short: String,
}

impl AuditAbout {
    /// Reads an id, or its last 8 digits.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (id, short) = match IdRef::parse(text.trim()) {
            Ok(IdRef::Whole(id)) => (Some(id), Some(short_id_of(id))),
            Ok(IdRef::Part(part)) => (None, part.as_short().map(str::to_owned)),
            Err(_) => (None, None),
        };
        let short = short.ok_or("must be an id or its last 8 digits")?;
        Ok(Self { id, short })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_one_of_three_and_has_its_name() {
        let classes = ["ok", "refused", "failed"].map(|it| OutcomeFilter::parse(it).unwrap());
        let covering = |outcome: Outcome| classes.iter().filter(move |it| it.covers(outcome));
        assert_eq!(covering(Outcome::Done).count(), 1);
        for code in ErrorCode::ALL {
            assert_eq!(covering(Outcome::Refused(code)).count(), 1);
            let named = OutcomeFilter::parse(code.as_str()).unwrap();
            assert_eq!(named, OutcomeFilter::Code(code));
            assert!(named.covers(Outcome::Refused(code)) && !named.covers(Outcome::Done));
        }
        assert!(OutcomeFilter::parse("OK").is_err());
    }

    #[test]
    fn what_calls_are_about_is_an_id_or_its_last_digits() {
        let whole = AuditAbout::parse("019a8b2c-3d4e-7f60-8123-456789abcdef").unwrap();
        let short = AuditAbout::parse(" 89ABCDEF ").unwrap();
        assert_eq!((whole.short, whole.id.is_some()), (short.short, true));
        assert_eq!(short.id, None);
        for text in ["", "019a8b2c3d4e", "app", "89abcde"] {
            assert!(AuditAbout::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_that_ends_before_it_begins_is_refused() {
        let query = |since: &str, until: &str| AuditQuery {
            since: Some(Moment::parse(since).unwrap()),
            until: Some(Moment::parse(until).unwrap()),
            ..AuditQuery::default()
        };
        let now = "2026-11-15T23:30:00Z".parse().unwrap();
        let day = query("2026-11-01", "2026-11-01").filter(None, now).unwrap();
        let ends = [day.since, day.until].map(|end| end.unwrap().to_string());
        assert_eq!(ends, ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"]);
        for (since, until) in [("2026-11-02", "2026-11-01"), ("1d", "7d")] {
            assert!(query(since, until).filter(None, now).is_err());
        }
    }

    #[test]
    fn reads_are_meant_only_when_they_are_asked_for() {
        let now = Timestamp::UNIX_EPOCH;
        let of = |operation, include_reads| {
            let query = AuditQuery {
                operation,
                include_reads,
                ..AuditQuery::default()
            };
            !query.filter(None, now).unwrap().without_reads
        };
        assert!(!of(None, false) && of(None, true));
        assert!(of(Some(Operation::BoardGet), false));
        assert!(!of(Some(Operation::BoardCreate), false));
    }
}
