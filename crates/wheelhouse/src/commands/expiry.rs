//! When a key ends: a time from now, a day, or an exact time.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::ui::now;

/// Reads `30d`, `2027-01-31` or `2027-01-31T12:00:00Z` into RFC 3339. A day begins in the time zone of this machine.
pub(super) fn parse(text: &str) -> Result<String, String> {
    parse_at(text.trim(), now(), TimeZone::system())
}

fn parse_at(text: &str, now: Timestamp, zone: TimeZone) -> Result<String, String> {
    let refuse = || "give a time like 30d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z".to_owned();
    let at = if let Ok(at) = text.parse::<Timestamp>() {
        at
    } else if let Ok(day) = text.parse::<Date>() {
        let midnight = day.at(0, 0, 0, 0).to_zoned(zone);
        midnight.map_err(|_| refuse())?.timestamp()
    } else {
        let after = duration(text).ok_or_else(refuse)?;
        let at = now.checked_add(after);
        at.map_err(|_| "that is too far in the future".to_owned())?
    };
    if at <= now {
        return Err("that time is over already".to_owned());
    }
    Ok(at.to_string())
}

fn duration(text: &str) -> Option<SignedDuration> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let number: i64 = text[..digits].parse().ok()?;
    let unit_seconds = match &text[digits..] {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.checked_mul(unit_seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let now: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let parsed = parse_at(text, now, zone);
        match expected {
            Ok(at) => assert_eq!(parsed.as_deref(), Ok(at), "{text}"),
            Err(part) => assert!(parsed.unwrap_err().contains(part), "{text}"),
        }
    }

    #[test]
    fn all_three_forms_are_read() {
        check("30d", Ok("2026-12-15T10:00:00Z"));
        check("12h", Ok("2026-11-15T22:00:00Z"));
        check("2027-01-31", Ok("2027-01-30T22:00:00Z"));
        check("2027-01-31T12:00:00+02:00", Ok("2027-01-31T10:00:00Z"));
    }

    #[test]
    fn what_is_over_or_unclear_is_refused() {
        check("2020-01-01", Err("over already"));
        check("0d", Err("over already"));
        check("99999999999999w", Err("give a time"));
        check("999999999d", Err("too far"));
        for text in ["", "d", "30", "30y", "-3d", "tomorrow", "2027-02-30"] {
            check(text, Err("give a time"));
        }
    }
}
