//! Credentials for hosts that repositories are fetched from over https, and whose repositories each is used for.

use core::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use url::Url;

use crate::{CredentialId, Owner, RepoSource, SecretText, UserId, UserRole};

/// A host as credentials name it: in lower case, with its port unless that is 443, such as `github.com` or `git.example:8443`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GitHost(String);

/// Why a text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a host is a name or an address, with a port unless it is 443, such as github.com or git.example.org:8443"
)]
pub struct NotAGitHost;

/// Why a user name or a token cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialRefusal {
    #[error(
        "a user name has 1 to {} printable characters, and no colon",
        HostLogin::CHARS_MAX
    )]
    Username,
    #[error(
        "a token is one word of printable ASCII characters, at most {} of them",
        HostLogin::TOKEN_BYTES_MAX
    )]
    Token,
}

impl GitHost {
    /// The most bytes of a host.
    pub const BYTES_MAX: usize = 300;

    /// Reads `HOST` or `HOST:PORT`; the `https://` of an address may stand before it.
    pub fn parse(text: &str) -> Result<Self, NotAGitHost> {
        let text = text.trim();
        let bare = text.strip_prefix("https://").unwrap_or(text);
        let bare = bare.strip_suffix('/').unwrap_or(bare);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
        if bare.is_empty()
            || bare.starts_with('-')
            || bare.len() > Self::BYTES_MAX
            || !bare.chars().all(is_plain)
        {
            return Err(NotAGitHost);
        }
        let url = Url::parse(&format!("https://{bare}/")).map_err(|_| NotAGitHost)?;
        Self::of_url(&url).ok_or(NotAGitHost)
    }

    /// Returns the host of a repository that is fetched over https; no other transport uses a token.
    pub fn of(source: &RepoSource) -> Option<Self> {
        let RepoSource::Remote { url } = source else {
            return None;
        };
        Self::of_url(&Url::parse(url).ok()?)
    }

    fn of_url(url: &Url) -> Option<Self> {
        if url.scheme() != "https" {
            return None;
        }
        let host = url.host_str()?.trim_end_matches('.');
        Some(Self(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }))
    }

    /// Returns the host as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host without its port.
    pub fn name(&self) -> &str {
        match self.0.rsplit_once(':') {
            Some((name, _)) if !self.0.ends_with(']') => name,
            _ => &self.0,
        }
    }
}

impl fmt::Display for GitHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a host is shown: a user name, which most hosts ignore, and a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLogin {
    username: String,
    token: SecretText,
}

impl HostLogin {
    /// The user name unless another is given. Hosts that look at the token alone accept it.
    pub const USERNAME: &'static str = "x-access-token";
    /// The most characters of a user name.
    pub const CHARS_MAX: usize = 100;
    /// The most bytes of a token.
    pub const TOKEN_BYTES_MAX: usize = 4_000;

    /// Checks a user name and a token; spaces and line ends around them are dropped.
    pub fn new(username: Option<&str>, token: &SecretText) -> Result<Self, CredentialRefusal> {
        let username = check_username(username.unwrap_or(Self::USERNAME))?;
        let token = token.expose().trim();
        let is_word = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
        if !is_word || token.len() > Self::TOKEN_BYTES_MAX {
            return Err(CredentialRefusal::Token);
        }
        let token = SecretText::new(token.to_owned());
        Ok(Self { username, token })
    }

    /// Returns the user name.
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Returns the token.
    pub fn token(&self) -> &SecretText {
        &self.token
    }
}

/// Checks a user name.
fn check_username(text: &str) -> Result<String, CredentialRefusal> {
    let text = text.trim();
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && c != ':';
    let count = text.chars().count();
    if (1..=HostLogin::CHARS_MAX).contains(&count) && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err(CredentialRefusal::Username)
    }
}

/// Whose repositories a credential is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialUse {
    /// Those of the user who entered it.
    Own,
    /// Those of every administrator.
    Admins,
    /// Those of every user.
    Everyone,
}

impl CredentialUse {
    /// Every use, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Own, Self::Admins, Self::Everyone];

    /// Returns the use as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Admins => "admins",
            Self::Everyone => "everyone",
        }
    }

    /// Reads a use back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Returns whether the credential belongs to the server and not to one user.
    pub fn is_server_wide(self) -> bool {
        self != Self::Own
    }

    /// Returns whether a credential that `user` entered is used for what `owner`, who has `role`, adds.
    ///
    /// A client key sees only what it created itself, so it is given no credential that its user or another administrator
    /// reads more with.
    pub fn covers(self, user: UserId, owner: Owner, role: UserRole) -> bool {
        match self {
            Self::Own => owner.key.is_none() && owner.user == user,
            Self::Admins => owner.key.is_none() && role == UserRole::Admin,
            Self::Everyone => true,
        }
    }
}

/// A credential that was entered once and is stored encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCredential {
    pub id: CredentialId,
    /// Who entered it.
    pub user: UserId,
    pub host: GitHost,
    pub username: String,
    pub usable_by: CredentialUse,
    pub created_at: Timestamp,
}

/// A stored credential with its encrypted token.
#[derive(Clone)]
pub struct SealedCredential {
    pub credential: HostCredential,
    pub sealed: Vec<u8>,
}

impl fmt::Debug for SealedCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.credential.fmt(f)
    }
}

/// A credential to store.
#[derive(Clone, Debug)]
pub struct NewHostCredential {
    pub host: GitHost,
    pub login: HostLogin,
    pub usable_by: CredentialUse,
}

/// Where the credential for a repository comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    /// The owner of the repository entered it.
    Own,
    /// An administrator entered it for others too.
    Server,
    /// The configuration file, or a variable that it names.
    Configuration,
    /// `gh auth token`.
    Gh,
}

impl CredentialSource {
    /// Every source, in the order they are tried.
    pub const ALL: [Self; 4] = [Self::Own, Self::Server, Self::Configuration, Self::Gh];

    /// Returns the source as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Server => "server",
            Self::Configuration => "configuration",
            Self::Gh => "gh",
        }
    }

    /// Reads a source back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// What the configuration says about one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRules {
    pub host: GitHost,
    /// Certificates that the host's own is checked against, in place of the system's.
    pub ca_file: Option<PathBuf>,
    pub credential: Option<ConfiguredCredential>,
}

/// A credential of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredCredential {
    /// The default unless given.
    pub username: Option<String>,
    pub token: ConfiguredToken,
    /// [`CredentialUse::Own`] has no meaning here.
    pub usable_by: CredentialUse,
}

/// Where the configuration takes a token from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfiguredToken {
    /// The file itself, or a variable that it names.
    Text(SecretText),
    /// A variable that is not set.
    MissingVariable(String),
    /// `gh auth token --hostname HOST`, asked each time.
    Gh,
}

impl ConfiguredToken {
    /// Returns the source that it is shown as; nothing while there is no token.
    pub fn source(&self) -> Option<CredentialSource> {
        match self {
            Self::Text(_) => Some(CredentialSource::Configuration),
            Self::Gh => Some(CredentialSource::Gh),
            Self::MissingVariable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::KeyId;

    #[test]
    fn a_host_has_one_spelling() {
        for (text, host, name) in [
            ("github.com", "github.com", "github.com"),
            ("https://GitHub.com/", "github.com", "github.com"),
            ("github.com:443", "github.com", "github.com"),
            ("git.example:8443", "git.example:8443", "git.example"),
            ("127.1:9", "127.0.0.1:9", "127.0.0.1"),
            ("[::1]:9", "[::1]:9", "[::1]"),
            ("[::1]", "[::1]", "[::1]"),
        ] {
            let parsed = GitHost::parse(text).unwrap();
            assert_eq!((parsed.as_str(), parsed.name()), (host, name), "{text}");
        }
        for text in [
            "",
            "a/b",
            "user@host",
            "http://host",
            "a b",
            "host?x",
            "-",
            "host:x",
        ] {
            assert!(GitHost::parse(text).is_err(), "{text}");
        }
        let of = |text: &str| GitHost::of(&RepoSource::parse(text).unwrap());
        assert_eq!(
            of("https://GitHub.com/a/b"),
            GitHost::parse("github.com").ok()
        );
        assert_eq!(of("https://h:444/a"), GitHost::parse("h:444").ok());
        for other in ["ssh://git@github.com/a/b", "/srv/a"] {
            assert_eq!(of(other), None);
        }
    }

    #[test]
    fn a_token_is_one_word_and_does_not_print() {
        let token = |text: &str| HostLogin::new(None, &SecretText::new(text.to_owned()));
        let login = token(" canary\n").unwrap();
        assert_eq!(login.token().expose(), "canary");
        assert_eq!(login.username(), HostLogin::USERNAME);
        assert!(!format!("{login:?}").contains("canary"));
        for bad in ["", "two words", "line\nbreak", &"x".repeat(5_000), "é"] {
            assert_eq!(token(bad), Err(CredentialRefusal::Token), "{bad}");
        }
        let good = SecretText::new("t".to_owned());
        for bad in ["", "a:b", "a\nb", &"x".repeat(101)] {
            let refused = HostLogin::new(Some(bad), &good);
            assert_eq!(refused, Err(CredentialRefusal::Username), "{bad}");
        }
    }

    #[test]
    fn a_credential_is_used_for_whom_it_is_meant() {
        let user = |number: u128| UserId::from_untyped_uuid(Uuid::from_u128(number));
        let key = Some(KeyId::from_untyped_uuid(Uuid::from_u128(9)));
        let (ann, bob) = (user(1), user(2));
        use CredentialUse::{Admins, Everyone, Own};
        use UserRole::{Admin, Member};
        for (usable_by, owner, key, role, expected) in [
            (Own, ann, None, Member, true),
            (Own, ann, key, Member, false),
            (Own, bob, None, Admin, false),
            (Admins, bob, None, Admin, true),
            (Admins, bob, None, Member, false),
            // An administrator's client key does not have the administrator's credentials.
            (Admins, bob, key, Admin, false),
            (Everyone, bob, None, Member, true),
            (Everyone, bob, key, Member, true),
        ] {
            let owner = Owner { user: owner, key };
            let covered = usable_by.covers(ann, owner, role);
            assert_eq!(covered, expected, "{usable_by:?} {owner:?} {role:?}");
        }
    }
}
