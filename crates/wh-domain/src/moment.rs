//! Moments as callers write them, and where their days begin.

use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

use crate::InputRefusal;

/// The most days before today that are named by their number.
pub(crate) const DAYS_MAX: u32 = 366;

/// How far a place's clock is from UTC at most.
const OFFSET_MINUTES_MAX: i32 = 18 * 60;

/// A moment as callers write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// `2026-11-15T08:00:00Z`
    At(Timestamp),
    /// `2026-11-15`: a day where the caller is.
    Day(Date),
    /// `30d`: so many days, today among them.
    LastDays(u32),
}

impl Moment {
    /// Reads a moment.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        if let Some(days) = text.strip_suffix('d') {
            let days = days
                .parse()
                .ok()
                .filter(|days| (1..=DAYS_MAX).contains(days));
            return days.map(Self::LastDays).ok_or("must be 1d to 366d");
        }
        let day = text.parse::<Date>().map(Self::Day);
        day.map_err(
            |_| "must be a day like 2026-11-15, a time like 2026-11-15T08:00:00Z, or days like 30d",
        )
    }

    /// Returns where something begins that lasts since then.
    pub fn begin(self, offset: DayOffset, now: Timestamp) -> Result<Timestamp, InputRefusal> {
        let begin = match self {
            Self::At(at) => Some(at),
            Self::Day(day) => offset.midnight(day),
            Self::LastDays(days) => {
                let before = Span::new().days(i64::from(days) - 1);
                let first = offset.day(now).checked_sub(before).ok();
                first.and_then(|first| offset.midnight(first))
            }
        };
        begin.ok_or_else(|| InputRefusal::new("since", "is too far away"))
    }

    /// Returns the first moment after something that lasts until then; a day is meant to its end.
    pub fn end(self, offset: DayOffset) -> Result<Timestamp, InputRefusal> {
        let end = match self {
            Self::At(at) => Some(at),
            Self::Day(day) => {
                let next = day.tomorrow().ok();
                next.and_then(|day| offset.midnight(day))
            }
            Self::LastDays(_) => {
                return Err(InputRefusal::new("until", "must be a day or a time"));
            }
        };
        end.ok_or_else(|| InputRefusal::new("until", "is too far away"))
    }
}

/// Where the caller's days begin, as minutes from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayOffset(Offset);

impl DayOffset {
    /// Days as UTC has them.
    pub const UTC: Self = Self(Offset::UTC);

    /// Takes minutes that clocks are ahead of UTC; behind it when they are negative.
    pub fn from_minutes(minutes: i32) -> Result<Self, &'static str> {
        if minutes.abs() > OFFSET_MINUTES_MAX {
            return Err("must be -1080 to 1080");
        }
        let offset = Offset::from_seconds(minutes * 60);
        offset.map(Self).map_err(|_| "must be -1080 to 1080")
    }

    /// Returns the seconds that clocks are ahead of UTC.
    pub fn seconds(self) -> i32 {
        self.0.seconds()
    }

    fn midnight(self, day: Date) -> Option<Timestamp> {
        self.0.to_timestamp(day.at(0, 0, 0, 0)).ok()
    }

    fn day(self, at: Timestamp) -> Date {
        self.0.to_datetime(at).date()
    }
}
