//! New limits of a budget, as people type them.

/// A new limit; `None` removes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) Option<u64>);

/// Reads a number, or `none`.
pub(super) fn count_limit(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit(None)),
        _ => match text.parse() {
            Ok(count) => Ok(Limit(Some(count))),
            Err(_) => Err("must be a whole number, or none".to_owned()),
        },
    }
}

/// Reads US dollars as millionths of one, or `none`.
pub(super) fn money_limit(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit(None)),
        _ => super::money::micros(text).map(|micros| Limit(Some(micros))),
    }
}
