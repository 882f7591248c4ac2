//! Amounts of money as people type and read them.

/// Reads US dollars, such as `2.50`, as millionths.
pub(super) fn micros(text: &str) -> Result<u64, String> {
    let refused = || "must be an amount of US dollars, such as 2.50".to_owned();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.is_empty() || fraction.len() > 6 {
        return Err(refused());
    }
    format!("{whole}{fraction:0<6}")
        .parse()
        .map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn dollars_become_micros_without_rounding() {
        for (text, expected) in [
            ("5", 5_000_000),
            ("0.1", 100_000),
            ("2.500001", 2_500_001),
            ("0", 0),
        ] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            ".5",
            "-1",
            "1e3",
            "1.0000001",
            "99999999999999",
            "NaN",
            "1,5",
            "1.2.3",
        ] {
            assert!(micros(text).is_err(), "{text}");
        }
    }
}
