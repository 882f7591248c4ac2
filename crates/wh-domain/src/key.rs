//! Credentials: what a key is, how it looks, and the type that keeps its secret from being printed.

use std::fmt;

use jiff::Timestamp;

use crate::{Dialect, KeyId, Name, SessionId, UserId};

/// A credential as the server remembers it: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub user: UserId,
    pub name: Name,
    pub scope: KeyScope,
    pub prefix: KeyPrefix,
    pub hash: KeyHash,
    /// What it is bound to, if its scope binds it.
    pub session: Option<KeyBinding>,
    /// The dialect it was made for; it opens no other address.
    pub dialect: Option<Dialect>,
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

    /// The most active keys that a user may have, beside browsers and session tokens. Reached: no further one is made.
    pub const ACTIVE_PER_USER_MAX: u32 = 100;
    /// The most active keys of all users together.
    pub const ACTIVE_MAX: u32 = 10_000;

    /// Returns the limit that is reached when its user has `of_user` active keys and all users together `of_all`.
    pub fn limit_reached(&self, of_user: u32, of_all: u32) -> Option<(&'static str, u32)> {
        if matches!(self.scope, KeyScope::Session | KeyScope::Browser) {
            return None;
        }
        if of_user >= Self::ACTIVE_PER_USER_MAX {
            return Some(("active keys of a user", Self::ACTIVE_PER_USER_MAX));
        }
        (of_all >= Self::ACTIVE_MAX).then_some(("active keys", Self::ACTIVE_MAX))
    }
}

/// What a key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBinding {
    /// One run of a session: a session token, which dies with it.
    Run { session: SessionId, epoch: u64 },
    /// A session, whichever run it is at: gone when the session is deleted.
    Session(SessionId),
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
    /// The name of one session, whichever run it is at. There are such keys for dialects alone.
    SessionInternal,
    /// A signed-in browser.
    Browser,
}

/// What keys begin with: who takes them, how far they reach, and how that looks.
const TAGS: &[(Option<Dialect>, KeyScope, &str)] = &[
    (None, KeyScope::Full, "wh_full_"),
    (None, KeyScope::Read, "wh_read_"),
    (None, KeyScope::Client, "wh_client_"),
    (None, KeyScope::Session, "wh_sess_"),
    (None, KeyScope::Browser, "wh_web_"),
    (Some(Dialect::ClawedAbode), KeyScope::Full, "ca_full_"),
    (Some(Dialect::ClawedAbode), KeyScope::Read, "ca_read_"),
    (
        Some(Dialect::ClawedAbode),
        KeyScope::SessionInternal,
        "ca_sess_",
    ),
    (Some(Dialect::Iteratr), KeyScope::Full, "it_full_"),
];

/// Returns everything that a key may begin with.
pub(crate) fn key_tags() -> impl Iterator<Item = &'static str> {
    TAGS.iter().map(|(_, _, tag)| *tag)
}

impl KeyScope {
    /// Every scope.
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::Read,
        Self::Client,
        Self::Session,
        Self::SessionInternal,
        Self::Browser,
    ];

    /// Returns the scope as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Read => "read",
            Self::Client => "client",
            Self::Session => "session",
            Self::SessionInternal => "session_internal",
            Self::Browser => "browser",
        }
    }

    /// Reads a scope back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }

    /// Returns the scopes of the keys that a dialect has, or that our own addresses have.
    pub fn of(dialect: Option<Dialect>) -> impl Iterator<Item = Self> {
        let rows = TAGS.iter().filter(move |(taker, _, _)| *taker == dialect);
        rows.map(|(_, scope, _)| *scope)
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
    dialect: Option<Dialect>,
    scope: KeyScope,
    tag: &'static str,
    text: SecretText,
}

impl Secret {
    /// Hex digits after the tag.
    const DIGITS: usize = 32;

    /// Makes a secret from 128 random bits, for a dialect or for our own addresses; nothing if there are no such keys.
    pub fn from_random(dialect: Option<Dialect>, scope: KeyScope, bits: u128) -> Option<Self> {
        let row = |(taker, reach, _): &&(Option<Dialect>, KeyScope, &str)| {
            *taker == dialect && *reach == scope
        };
        let (_, _, tag) = TAGS.iter().find(row)?;
        Some(Self {
            dialect,
            scope,
            tag,
            text: SecretText::new(format!("{tag}{bits:032x}")),
        })
    }

    /// Recognises a presented secret by its shape; says nothing about whether it is valid.
    pub fn parse(text: &str) -> Option<Self> {
        let row = TAGS.iter().find(|(_, _, tag)| text.starts_with(tag));
        let (dialect, scope, tag) = *row?;
        let digits = &text[tag.len()..];
        let shaped = digits.len() == Self::DIGITS
            && digits
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        shaped.then(|| Self {
            dialect,
            scope,
            tag,
            text: SecretText::new(text.to_owned()),
        })
    }

    /// Returns the scope its tag names.
    pub fn scope(&self) -> KeyScope {
        self.scope
    }

    /// Returns the dialect its tag names.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Returns the part that may be shown: the tag alone would be the same for all keys of a scope.
    pub fn prefix(&self) -> KeyPrefix {
        KeyPrefix(self.text.expose()[..self.tag.len() + 8].to_owned())
    }

    /// Returns the whole secret.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(dialect: Option<Dialect>, scope: KeyScope, bits: u128) -> Secret {
        Secret::from_random(dialect, scope, bits).unwrap()
    }

    #[test]
    fn a_secret_has_the_promised_shape() {
        let secret = made(None, KeyScope::Full, 0xabc);
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
            "ca_client_00000000000000000000000000000abc",
        ] {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
        let too_long = format!("{}0", made(None, KeyScope::Read, 1).expose());
        assert_eq!(Secret::parse(&too_long), None);
    }

    #[test]
    fn secrets_do_not_print() {
        let secret = made(None, KeyScope::Session, 0x1234_5678_9abc);
        assert!(!format!("{secret:?}").contains("123456789abc"));
    }

    #[test]
    fn a_dialect_has_keys_of_its_own_scopes_and_no_others() {
        let dialect = Some(Dialect::ClawedAbode);
        let scopes: Vec<_> = KeyScope::of(dialect).collect();
        let expected = [KeyScope::Full, KeyScope::Read, KeyScope::SessionInternal];
        assert_eq!(scopes, expected);
        assert_eq!(Secret::from_random(dialect, KeyScope::Client, 1), None);
        assert_eq!(
            Secret::from_random(None, KeyScope::SessionInternal, 1),
            None
        );
    }

    proptest! {
        /// Whatever the bits: a key is read back as what it was made for, and two keys of a scope differ in their
        /// prefixes when they differ in their first digits.
        #[test]
        fn every_secret_is_read_back(row in 0..TAGS.len(), bits: u128, other: u128) {
            let (dialect, scope, tag) = TAGS[row];
            let secret = made(dialect, scope, bits);
            prop_assert_eq!(secret.expose().len(), tag.len() + 32);
            let read = Secret::parse(secret.expose()).unwrap();
            prop_assert_eq!((read.dialect(), read.scope()), (dialect, scope));
            prop_assert_eq!(&read, &secret);
            let second = made(dialect, scope, other);
            let same_start = bits >> 96 == other >> 96;
            prop_assert_eq!(secret.prefix() == second.prefix(), same_start);
        }
    }
}
