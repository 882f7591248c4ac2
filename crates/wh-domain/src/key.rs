//! Credentials: what a key is, how it looks, and the type that keeps its secret from being printed.

use std::fmt;

use jiff::Timestamp;

use crate::{KeyId, Name, SessionId, UserId};

/// A credential as the server remembers it: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub user: UserId,
    pub name: Name,
    pub scope: KeyScope,
    pub prefix: KeyPrefix,
    pub hash: KeyHash,
    /// The session and run that a session token is bound to.
    pub session: Option<(SessionId, u64)>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl Key {
    /// Tells whether the key may be used at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

/// How far a key reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyScope {
    /// Everything of its user.
    Full,
    /// The same, without changing anything.
    Read,
    /// Only what this key itself created.
    Client,
    /// One session and its run.
    Session,
    /// A signed-in browser.
    Browser,
}

impl KeyScope {
    /// Every scope.
    pub const ALL: [Self; 5] = [
        Self::Full,
        Self::Read,
        Self::Client,
        Self::Session,
        Self::Browser,
    ];

    /// Returns the scope as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Read => "read",
            Self::Client => "client",
            Self::Session => "session",
            Self::Browser => "browser",
        }
    }

    /// Reads a scope back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }

    /// Returns what a key of this scope begins with.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Full => "wh_full_",
            Self::Read => "wh_read_",
            Self::Client => "wh_client_",
            Self::Session => "wh_sess_",
            Self::Browser => "wh_web_",
        }
    }
}

/// The part of a key that may be shown: its tag and first 8 digits. Unique among keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// Takes a prefix as it was stored.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The SHA-256 of a key. Keys are random in full, so a slow hash would add nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A text that must not end up in a log, an error or an answer by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a secret.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the secret; call it only where it is checked or handed over.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// A key's secret, known only while it is made or presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    scope: KeyScope,
    text: SecretText,
}

impl Secret {
    /// Hex digits after the tag.
    const DIGITS: usize = 32;

    /// Makes a secret from 128 random bits.
    pub fn from_random(scope: KeyScope, bits: u128) -> Self {
        Self {
            scope,
            text: SecretText::new(format!("{}{bits:032x}", scope.tag())),
        }
    }

    /// Recognises a presented secret by its shape; says nothing about whether it is valid.
    pub fn parse(text: &str) -> Option<Self> {
        let scope = KeyScope::ALL
            .into_iter()
            .find(|scope| text.starts_with(scope.tag()))?;
        let digits = &text[scope.tag().len()..];
        let shaped = digits.len() == Self::DIGITS
            && digits
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        shaped.then(|| Self {
            scope,
            text: SecretText::new(text.to_owned()),
        })
    }

    /// Returns the scope its tag names.
    pub fn scope(&self) -> KeyScope {
        self.scope
    }

    /// Returns the part that may be shown.
    pub fn prefix(&self) -> KeyPrefix {
        KeyPrefix(self.text.expose()[..self.scope.tag().len() + 8].to_owned())
    }

    /// Returns the whole secret.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_the_promised_shape() {
        let secret = Secret::from_random(KeyScope::Full, 0xabc);
        assert_eq!(secret.expose(), "wh_full_00000000000000000000000000000abc");
        assert_eq!(secret.prefix().as_str(), "wh_full_00000000");
        assert_eq!(Secret::parse(secret.expose()), Some(secret));
    }

    #[test]
    fn malformed_secrets_are_not_recognised() {
        for text in [
            "",
            "wh_full_",
            "wh_full_ABC",
            "wh_none_00000000000000000000000000000abc",
        ] {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
        let too_long = format!("{}0", Secret::from_random(KeyScope::Read, 1).expose());
        assert_eq!(Secret::parse(&too_long), None);
    }

    #[test]
    fn secrets_do_not_print() {
        let secret = Secret::from_random(KeyScope::Session, 0x1234_5678_9abc);
        assert!(!format!("{secret:?}").contains("123456789abc"));
    }
}
