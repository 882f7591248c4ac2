//! References to container images.

use std::fmt;

/// The most bytes of an image reference.
const REFERENCE_BYTES_MAX: usize = 300;

/// A reference to a container image, as Podman and Docker take it: `localhost/dev:1`, `debian:13`, `registry.example/app@sha256:…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageRef(String);

/// Why a text is not an [`ImageRef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageRefRefusal {
    #[error("has 1 to {REFERENCE_BYTES_MAX} characters")]
    Length,
    #[error(
        "must be an image reference such as localhost/dev:1 or debian@sha256:…: letters, digits and . _ - / : @, beginning with a letter or digit"
    )]
    Character,
}

impl ImageRef {
    /// Parses a reference. The engine decides whether such an image exists; here it is only made sure that the text is neither an option
    /// nor a path.
    pub fn parse(text: &str) -> Result<Self, ImageRefRefusal> {
        if !(1..=REFERENCE_BYTES_MAX).contains(&text.len()) {
            return Err(ImageRefRefusal::Length);
        }
        let is_allowed =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@');
        let is_first = |c: char| c.is_ascii_alphanumeric();
        let has_parts = text
            .split(['/', ':', '@'])
            .all(|part| !part.is_empty() && part.chars().any(|c| c.is_ascii_alphanumeric()));
        if !text.starts_with(is_first) || !text.chars().all(is_allowed) || !has_parts {
            return Err(ImageRefRefusal::Character);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the reference as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_neither_options_nor_paths() {
        for text in [
            "debian",
            "localhost/dev:1",
            "registry.example:5000/team/app_x:v1.2-rc",
            "debian@sha256:0123456789abcdef",
        ] {
            assert_eq!(
                ImageRef::parse(text).map(|it| it.to_string()),
                Ok(text.to_owned())
            );
        }
        let long = "a".repeat(REFERENCE_BYTES_MAX + 1);
        for text in [
            "",
            "-v",
            "--privileged",
            "/etc",
            "../x",
            "a/../b",
            "a//b",
            "a b",
            "a\nb",
            "dir:",
            "a;b",
            &long,
        ] {
            assert!(ImageRef::parse(text).is_err(), "{text:?}");
        }
    }
}
