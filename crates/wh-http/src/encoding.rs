//! Which of the forms that a file is kept in a client takes.

use http::{HeaderMap, HeaderValue, header};

/// A form in which a file is kept besides its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// The smallest first.
    const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    pub(crate) fn name(self) -> HeaderValue {
        HeaderValue::from_static(self.token())
    }

    /// What is added to the name of a file that is kept so.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }
}

/// Returns what the client takes, the smallest first. That it would rather have another is not looked at: all of them cost it
/// little to read.
pub(crate) fn accepted(asked: &HeaderMap) -> impl Iterator<Item = Encoding> {
    Encoding::ALL
        .into_iter()
        .filter(|encoding| takes(asked, encoding.token()))
}

fn takes(asked: &HeaderMap, token: &str) -> bool {
    let weight_of = |wanted: &str| {
        let values = asked.get_all(header::ACCEPT_ENCODING).iter();
        let mut parts = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
        parts.find_map(|part| {
            let mut part = part.split(';');
            let name = part.next()?.trim();
            name.eq_ignore_ascii_case(wanted).then(|| weight(part))
        })
    };
    weight_of(token)
        .or_else(|| weight_of("*"))
        .is_some_and(|weight| weight > 0.0)
}

/// Reads the `q` of what follows a name. Nothing means wholly; what cannot be read, not at all.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f32 {
    let q = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then(|| value.trim().parse().unwrap_or(0.0))
    });
    q.unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &[Encoding]) {
        let mut asked = HeaderMap::new();
        asked.insert(header::ACCEPT_ENCODING, value.parse().unwrap());
        assert_eq!(accepted(&asked).collect::<Vec<_>>(), expected, "{value}");
    }

    #[test]
    fn what_is_taken_is_read_with_its_weight() {
        use Encoding::{Brotli, Gzip};
        check("gzip, deflate, br, zstd", &[Brotli, Gzip]);
        check("gzip", &[Gzip]);
        check("GZIP;q=0.5 , br;q=0", &[Gzip]);
        check("br; q=0.001", &[Brotli]);
        check("*", &[Brotli, Gzip]);
        check("*;q=0, gzip;q=1", &[Gzip]);
        check("*, br;q=0", &[Gzip]);
        check("identity", &[]);
        check("deflate, zstd, x-gzip, brotli", &[]);
        check("br;q=nan, gzip;q=x", &[]);
        check("", &[]);
        check(";;,,=;q", &[]);
        assert_eq!(accepted(&HeaderMap::new()).count(), 0);
    }
}
