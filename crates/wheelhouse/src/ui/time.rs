//! Times as people read them: in the time zone of this machine, and relative where that is shorter. JSON holds them exactly.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Times within this many seconds are shown relative to now.
const RELATIVE_SECONDS_MAX: i64 = 24 * 3600;

/// Shows a time in the zone of this machine: `2026-11-15 11:52:30 CET`.
pub(crate) fn moment(at: &str) -> String {
    in_zone(at, TimeZone::system())
}

/// Shows a time in a table: `3 min ago` within a day, otherwise as [`moment`] does.
pub(crate) fn when(at: &str) -> String {
    near(at, now()).unwrap_or_else(|| moment(at))
}

/// Shows a time where there is room: `2026-11-15 11:52:30 CET (3 min ago)`.
pub(crate) fn moment_ago(at: &str) -> String {
    let moment = moment(at);
    match at.parse::<Timestamp>() {
        Ok(at) => format!("{moment} ({})", relative(at, now())),
        Err(_) => moment,
    }
}

/// Shows a time in a log: the time of day and the zone today, `11:52:30 CET`, otherwise as [`moment`] does.
pub(crate) fn clock(at: &str) -> String {
    clock_in_zone(at, now(), TimeZone::system())
}

/// Returns how many minutes the clocks of this machine are ahead of UTC now.
pub(crate) fn utc_offset_minutes() -> i32 {
    TimeZone::system().to_offset(now()).seconds() / 60
}

/// Returns the time of this machine, for what a person reads or writes relative to now.
#[expect(
    clippy::disallowed_methods,
    reason = "a person's \"in 30 days\" and \"2 hours ago\" count from the wall clock of this command"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns how long ago something was, in its largest unit: `12s`, `5m`, `3h`, `9d`.
pub(crate) fn age(at: &str, now: Timestamp) -> String {
    let Ok(at) = at.parse::<Timestamp>() else {
        return at.to_owned();
    };
    span(now.duration_since(at).as_secs())
}

/// Writes a number of seconds in its largest unit.
pub(crate) fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3600 => format!("{}m", s / 60),
        s @ 3600..86_400 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86_400),
    }
}

fn in_zone(at: &str, zone: TimeZone) -> String {
    match at.parse::<Timestamp>() {
        Ok(at) => at.to_zoned(zone).strftime("%F %T %Z").to_string(),
        Err(_) => at.to_owned(),
    }
}

fn clock_in_zone(at: &str, now: Timestamp, zone: TimeZone) -> String {
    match at.parse::<Timestamp>() {
        Ok(time) => {
            let (local, today) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
            match local.date() == today.date() {
                true => local.strftime("%T %Z").to_string(),
                false => in_zone(at, zone),
            }
        }
        Err(_) => at.to_owned(),
    }
}

/// Shows a time relative to now, if it is near.
fn near(at: &str, now: Timestamp) -> Option<String> {
    let at: Timestamp = at.parse().ok()?;
    let is_near = now.duration_since(at).as_secs().abs() < RELATIVE_SECONDS_MAX;
    is_near.then(|| relative(at, now))
}

fn relative(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs();
    let amount = match seconds.abs() {
        // Clocks of two machines differ a little.
        0..60 => return "just now".to_owned(),
        s @ 60..3600 => format!("{} min", s / 60),
        s @ 3600..86_400 => format!("{} h", s / 3600),
        s @ 86_400..172_800 => format!("{} day", s / 86_400),
        s => format!("{} days", s / 86_400),
    };
    match seconds > 0 {
        true => format!("{amount} ago"),
        false => format!("in {amount}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_zone_of_the_machine() {
        let zone = || TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for (at, expected) in [
            ("2026-11-15T10:52:30.123456Z", "2026-11-15 11:52:30 CET"),
            ("2026-07-15T23:00:00Z", "2026-07-16 01:00:00 CEST"),
            ("soon", "soon"),
        ] {
            assert_eq!(in_zone(at, zone()), expected);
        }
        let utc = in_zone("2026-11-15T10:52:30Z", TimeZone::UTC);
        assert_eq!(utc, "2026-11-15 10:52:30 UTC");
    }

    #[test]
    fn times_in_a_log_have_their_zone_and_their_day_unless_it_is_today() {
        let zone = || TimeZone::posix("CET-1").unwrap();
        let now = "2026-11-15T10:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-11-15T09:52:30Z", "10:52:30 CET"),
            ("2026-11-14T23:00:00Z", "00:00:00 CET"),
            // The day is that of the machine, not that of UTC.
            ("2026-11-14T22:59:59Z", "2026-11-14 23:59:59 CET"),
            ("2025-11-15T09:52:30Z", "2025-11-15 10:52:30 CET"),
            ("soon", "soon"),
        ] {
            assert_eq!(clock_in_zone(at, now, zone()), expected);
        }
    }

    #[test]
    fn near_times_are_relative() {
        let now = "2026-11-15T10:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-11-15T10:00:00Z", Some("just now")),
            ("2026-11-15T09:59:01Z", Some("just now")),
            ("2026-11-15T09:56:01Z", Some("3 min ago")),
            ("2026-11-15T07:00:00Z", Some("3 h ago")),
            ("2026-11-14T10:00:01Z", Some("23 h ago")),
            ("2026-11-14T09:00:00Z", None),
            ("2026-11-15T10:15:00Z", Some("in 15 min")),
            // A server whose clock is ahead of ours.
            ("2026-11-15T10:00:05Z", Some("just now")),
            ("soon", None),
        ] {
            assert_eq!(near(at, now).as_deref(), expected, "{at}");
        }
        let days = relative("2026-11-01T10:00:00Z".parse().unwrap(), now);
        assert_eq!(days, "14 days ago");
    }

    #[test]
    fn ages_have_one_unit() {
        let now = "2026-11-15T10:00:00Z".parse().unwrap();
        let cases = [
            ("2026-11-15T09:59:48Z", "12s"),
            ("2026-11-15T09:55:01Z", "4m"),
            ("2026-11-15T07:00:00Z", "3h"),
            ("2026-11-01T10:00:00Z", "14d"),
            // A server whose clock is ahead of ours.
            ("2026-11-15T10:00:05Z", "0s"),
            ("soon", "soon"),
        ];
        for (at, expected) in cases {
            assert_eq!(age(at, now), expected);
        }
    }
}
