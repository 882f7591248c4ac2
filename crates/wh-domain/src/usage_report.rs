//! What was used within a time, summed by day, by agent and by tree of sessions.

use jiff::civil::{Date, date};
use jiff::{SignedDuration, Span, Timestamp};

use crate::moment::DAYS_MAX;
use crate::{DayOffset, InputRefusal, Moment, SessionId, Usage};

/// The days that a report covers unless it is told otherwise.
const DAYS_DEFAULT: u32 = 30;

/// The most trees that are told one by one; the others are told as one sum.
const TREES_MAX: u32 = 200;
const TREES_DEFAULT: u32 = 20;

/// What a caller wants to know of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    /// The last 30 days unless given.
    pub since: Option<Moment>,
    /// Now unless given; a day is meant to its end.
    pub until: Option<Moment>,
    pub offset: DayOffset,
    /// How many trees are told one by one, of those that cost most.
    pub trees: u32,
}

impl UsageQuery {
    /// Returns how many trees are told one by one.
    pub fn trees_within(asked: Option<u32>) -> u32 {
        asked.map_or(TREES_DEFAULT, |trees| trees.clamp(1, TREES_MAX))
    }

    /// Returns the time that is meant.
    pub fn span(&self, now: Timestamp) -> Result<UsageSpan, InputRefusal> {
        let since = self.since.unwrap_or(Moment::LastDays(DAYS_DEFAULT));
        let since = since.begin(self.offset, now)?;
        let until = match self.until {
            Some(until) => until.end(self.offset)?,
            None => now,
        };
        if until <= since {
            return Err(InputRefusal::new("until", "must be after since"));
        }
        let most = SignedDuration::from_hours(24 * i64::from(DAYS_MAX));
        if until.duration_since(since) > most {
            let problem = format!(
                "at most {DAYS_MAX} days are told at once; give a later since or an earlier until"
            );
            return Err(InputRefusal::new("since", problem));
        }
        let offset = self.offset;
        Ok(UsageSpan {
            since,
            until,
            offset,
        })
    }
}

/// A time, and how it is cut into days. A turn counts in whole at the moment it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageSpan {
    pub since: Timestamp,
    /// The first moment that does not belong to it.
    pub until: Timestamp,
    pub offset: DayOffset,
}

/// Returns how many days after 1 January 1970 the day (UTC) of a time begins.
pub fn day_number(at: Timestamp) -> i64 {
    at.as_second().div_euclid(86_400)
}

/// Returns the day that begins so many days after 1 January 1970.
pub fn day_of_number(number: i64) -> Option<Date> {
    let epoch = date(1970, 1, 1);
    let days = Span::new().try_days(number).ok()?;
    epoch.checked_add(days).ok()
}

/// What was used, summed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSums {
    /// Days in which something was used, earliest first.
    pub days: Vec<(Date, Usage)>,
    pub agents: Ranked<String>,
    pub trees: Ranked<UsageTree>,
}

/// A tree of sessions, as far as whoever asks may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageTree {
    /// The session at its root, or the one whose token asks.
    pub root: SessionId,
    /// The root's title and agent, if the root may be seen.
    pub about: Option<(String, String)>,
}

/// Those that cost most, and the others as one sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked<T> {
    /// The dearest first.
    pub top: Vec<(T, Usage)>,
    /// How many are not among them, and what they used.
    pub others: (u64, Usage),
}

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Self {
            top: Vec::new(),
            others: (0, Usage::default()),
        }
    }
}

impl UsageSums {
    /// Returns everything that was used.
    pub fn total(&self) -> Usage {
        let parts = self.days.iter().map(|(_, usage)| *usage);
        parts.fold(Usage::default(), Usage::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-15T23:30:00Z";

    fn span(since: Option<&str>, until: Option<&str>, minutes: i32) -> Result<[String; 2], String> {
        let moment = |text: Option<&str>| text.map(|text| Moment::parse(text).unwrap());
        let query = UsageQuery {
            since: moment(since),
            until: moment(until),
            offset: DayOffset::from_minutes(minutes).unwrap(),
            trees: 1,
        };
        let span = query
            .span(NOW.parse().unwrap())
            .map_err(|e| e.to_string())?;
        Ok([span.since.to_string(), span.until.to_string()])
    }

    #[track_caller]
    fn check(since: Option<&str>, until: Option<&str>, minutes: i32, expected: [&str; 2]) {
        let expected = Ok(expected.map(str::to_owned));
        assert_eq!(span(since, until, minutes), expected);
    }

    #[test]
    fn days_begin_where_the_caller_is() {
        check(None, None, 0, ["2026-10-17T00:00:00Z", NOW]);
        check(Some("1d"), None, 0, ["2026-11-15T00:00:00Z", NOW]);
        check(Some("1d"), None, 60, ["2026-11-15T23:00:00Z", NOW]);
        check(Some("2d"), None, -300, ["2026-11-14T05:00:00Z", NOW]);
        let one_day = ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"];
        check(Some("2026-11-01"), Some("2026-11-01"), 0, one_day);
        let exact = ["2026-11-01T08:00:00Z", "2026-11-01T09:00:00Z"];
        check(Some(exact[0]), Some(exact[1]), 330, exact);
        let year = ["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"];
        check(Some("2025-01-01"), Some("2025-12-31"), 0, year);
        assert!(span(Some("366d"), None, -1080).is_ok());
    }

    #[test]
    fn what_is_too_long_or_ends_before_it_begins_is_refused() {
        for (since, until) in [
            ("2024-01-01", None),
            ("2026-11-16", None),
            ("2026-11-02", Some("2026-11-01")),
            ("2020-01-01", Some("2021-01-02")),
        ] {
            assert!(span(Some(since), until, 0).is_err(), "{since}");
        }
        assert!(span(None, Some("30d"), 0).is_err());
        for text in [
            "",
            "d",
            "0d",
            "367d",
            "-1d",
            "30",
            "soon",
            "2026-02-30",
            "9999999999999d",
        ] {
            assert!(Moment::parse(text).is_err(), "{text}");
        }
        assert!(DayOffset::from_minutes(1081).is_err());
        assert!(DayOffset::from_minutes(i32::MIN + 1).is_err());
    }

    #[test]
    fn days_are_numbered_from_1970() {
        assert_eq!(day_of_number(0), Some(date(1970, 1, 1)));
        assert_eq!(day_of_number(20_772), Some(date(2026, 11, 15)));
        assert_eq!(day_of_number(i64::MAX), None);
    }
}
