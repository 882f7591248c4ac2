//! Git repositories known to the server, and which addresses may name one.

use core::net::IpAddr;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use url::{Host, Url};

use crate::{BranchName, CredentialSource, ImageRef, McpDialect, Name, Owner, RepoId, Tier};

/// A git repository agents can work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    pub id: RepoId,
    pub owner: Owner,
    pub name: Name,
    pub source: RepoSource,
    pub default_branch: Option<BranchName>,
    pub state: RepoState,
    /// The credential that it is cloned with.
    pub credential: Option<CredentialSource>,
    /// The least containment that sessions in it need.
    pub tier: Option<Tier>,
    /// The tools that the agents of sessions in it are given, if it names any.
    pub mcp_dialect: Option<McpDialect>,
    /// The image that sessions in it run in, in the tier `container`.
    pub image: Option<ImageRef>,
    pub created_at: Timestamp,
    /// Whether it was deleted; sessions that used it stay readable.
    pub is_deleted: bool,
}

/// Whether the server can work on a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoState {
    /// It is still to be found or, if it is elsewhere, to be cloned.
    Pending,
    /// It is on this machine.
    Ready(RepoPaths),
    /// It could not be found or cloned.
    Failed { reason: String },
}

/// Where a repository is, found once and then recorded, so that nothing written later can lead git elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoPaths {
    /// The git directory of the checkout that was named.
    pub git_dir: PathBuf,
    /// The directory that holds objects and references, shared by all worktrees.
    pub common_dir: PathBuf,
    /// The user's checkout, unless the repository is bare.
    pub work_tree: Option<PathBuf>,
    /// What `objects/info/alternates` said when the repository was added; a later change is refused.
    pub alternates: Option<String>,
}

impl RepoState {
    /// Returns the state as stored and shown.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready(_) => "ready",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoSource {
    /// A directory on the server's machine.
    Local { path: PathBuf },
    /// An address that git can fetch from.
    Remote { url: String },
}

/// The host and port that a remote repository is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteEndpoint {
    /// A name or an address, without brackets.
    pub host: String,
    pub port: u16,
}

impl RemoteEndpoint {
    /// Returns the address that the host is, unless it is a name.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

/// Why an address was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepoSourceRefusal {
    #[error(
        "a repository address must not be empty or longer than {} bytes",
        RepoSource::BYTES_MAX
    )]
    Length,
    #[error("a repository address must not begin with a dash or hold control characters")]
    Shape,
    #[error("{scheme:?} is not a transport that may be used; use https:// or ssh://")]
    Scheme { scheme: String },
    #[error("the address has no usable host")]
    Host,
    #[error(
        "the address holds a user name, a password or a query; remove the credentials from the address"
    )]
    Credentials,
    #[error("a local repository is named by an absolute path without `.` or `..`")]
    NotAbsolute,
}

impl RepoSource {
    /// The most bytes an address may have.
    pub const BYTES_MAX: usize = 2_000;

    /// Reads an absolute path, an `https://` or `ssh://` address, or git's short form `user@host:path`.
    ///
    /// Everything else that git understands (`ext::`, `fd::`, `file://`, `git://`, options) is refused: those run
    /// commands or read files of the server.
    pub fn parse(text: &str) -> Result<Self, RepoSourceRefusal> {
        let text = text.trim();
        if text.is_empty() || text.len() > Self::BYTES_MAX {
            return Err(RepoSourceRefusal::Length);
        }
        if text.starts_with('-') || text.chars().any(char::is_control) {
            return Err(RepoSourceRefusal::Shape);
        }
        if text.starts_with('/') {
            return Self::parse_local(text);
        }
        // Not the colons of an address in brackets.
        let before = text.split_once("://").map_or(text, |(before, _)| before);
        if let Some((scheme, _)) = before.split_once("::") {
            let scheme = scheme.to_owned();
            return Err(RepoSourceRefusal::Scheme { scheme });
        }
        if text.contains("://") {
            return Self::parse_url(text);
        }
        Self::parse_short(text)
    }

    fn parse_local(text: &str) -> Result<Self, RepoSourceRefusal> {
        let path = Path::new(text);
        let plain = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
        if path.components().all(plain) && !text.contains("/./") {
            let path = path.to_owned();
            Ok(Self::Local { path })
        } else {
            Err(RepoSourceRefusal::NotAbsolute)
        }
    }

    fn parse_url(text: &str) -> Result<Self, RepoSourceRefusal> {
        let url = Url::parse(text).map_err(|_| RepoSourceRefusal::Host)?;
        if !matches!(url.scheme(), "https" | "ssh") {
            let scheme = url.scheme().to_owned();
            return Err(RepoSourceRefusal::Scheme { scheme });
        }
        let is_https = url.scheme() == "https";
        let has_credentials = url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some()
            || (is_https && !url.username().is_empty());
        if has_credentials {
            return Err(RepoSourceRefusal::Credentials);
        }
        // Git decodes `%2d` in an ssh address before it calls ssh, so such a name would not be what was checked.
        let is_name = match url.host() {
            Some(Host::Domain(name)) => is_word(name),
            Some(_) => true,
            None => false,
        };
        let user = url.username();
        if !is_name || !(user.is_empty() || is_word(user)) {
            return Err(RepoSourceRefusal::Host);
        }
        Ok(Self::Remote { url: url.into() })
    }

    /// Reads `user@host:path`, and writes it as the `ssh://` address it stands for.
    fn parse_short(text: &str) -> Result<Self, RepoSourceRefusal> {
        let not_absolute = RepoSourceRefusal::NotAbsolute;
        let (login, path) = text.split_once(':').ok_or(not_absolute.clone())?;
        let (user, host) = login.split_once('@').ok_or(not_absolute)?;
        if !is_word(user) || !is_word(host) || path.is_empty() || path.starts_with('-') {
            return Err(RepoSourceRefusal::Host);
        }
        Self::parse_url(&format!(
            "ssh://{user}@{host}/{}",
            path.trim_start_matches('/')
        ))
    }

    /// Returns the address of a repository that a forge calls `owner/name`; nothing if that is no such name.
    ///
    /// With `.git`, because some forges redirect the address without, and redirects are not followed.
    pub fn on_forge(forge: &str, full_name: &str) -> Option<Self> {
        let bare = full_name.strip_suffix(".git").unwrap_or(full_name);
        let is_part = |part: &str| is_word(part) && !part.starts_with('.');
        if bare.split('/').count() < 2 || !bare.split('/').all(is_part) {
            return None;
        }
        let forge = forge.trim_end_matches('/');
        Self::parse(&format!("{forge}/{bare}.git")).ok()
    }

    /// Returns what is connected to for an address that is elsewhere.
    pub fn endpoint(&self) -> Option<RemoteEndpoint> {
        let Self::Remote { url } = self else {
            return None;
        };
        let url = Url::parse(url).ok()?;
        let host = match url.host()? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        };
        let port = url.port().unwrap_or(match url.scheme() {
            "https" => 443,
            _ => 22,
        });
        Some(RemoteEndpoint { host, port })
    }

    /// Returns the address for errors: the host and the path of one that is elsewhere.
    pub fn brief(&self) -> String {
        let Self::Remote { url } = self else {
            return self.as_text();
        };
        let url = Url::parse(url).ok();
        let part = |url: Url| Some(format!("{}{}", url.host_str()?, url.path()));
        url.and_then(part).unwrap_or_default()
    }

    /// Returns the address as text.
    pub fn as_text(&self) -> String {
        match self {
            Self::Local { path } => path.display().to_string(),
            Self::Remote { url } => url.clone(),
        }
    }

    /// Tells whether the address ends in `full_name`, such as `owner/name`, with or without `.git`.
    pub fn ends_in(&self, full_name: &str) -> bool {
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        if full_name.split('/').count() < 2 || !full_name.split('/').all(is_part) {
            return false;
        }
        let bare = |text: &str| {
            let text = text.trim_end_matches('/');
            text.strip_suffix(".git").unwrap_or(text).to_owned()
        };
        bare(&self.as_text()).ends_with(&format!("/{}", bare(full_name)))
    }

    /// Returns the last part of the address, which most people call the repository.
    pub fn suggested_name(&self) -> Option<Name> {
        let text = self.as_text();
        let last = text.trim_end_matches('/').rsplit('/').next()?;
        Name::parse(last.strip_suffix(".git").unwrap_or(last)).ok()
    }
}

/// Tells whether this is a plain name of a host or user, which no program takes for an option.
fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_addresses_are_taken() {
        for (text, name) in [
            ("/srv/git/app.git", "app"),
            ("https://example.org/team/app.git", "app"),
            ("ssh://git@example.org/team/app", "app"),
            ("git@example.org:team/app.git", "app"),
        ] {
            let source = RepoSource::parse(text).unwrap();
            assert_eq!(source.suggested_name().unwrap().as_str(), name, "{text}");
        }
    }

    #[test]
    fn a_repository_is_known_by_the_end_of_its_address() {
        for text in [
            "https://example.org/team/app.git",
            "ssh://git@example.org/team/app",
            "git@example.org:team/app.git",
            "/srv/git/team/app",
        ] {
            let source = RepoSource::parse(text).unwrap();
            assert!(
                source.ends_in("team/app") && source.ends_in("team/app.git"),
                "{text}"
            );
            for other in [
                "app",
                "eam/app",
                "team/ap",
                "/app",
                "team/",
                "other/app",
                "../app",
            ] {
                assert!(!source.ends_in(other), "{text} {other}");
            }
        }
    }

    #[test]
    fn a_full_name_has_an_address_on_a_forge() {
        let on = |name: &str| RepoSource::on_forge("https://git.example/", name);
        for (name, address) in [
            ("team/app", "https://git.example/team/app.git"),
            ("team/app.git", "https://git.example/team/app.git"),
            (
                "group/team/app-2.x",
                "https://git.example/group/team/app-2.x.git",
            ),
        ] {
            let found = on(name).unwrap();
            assert_eq!(found.as_text(), address);
            assert!(found.ends_in(name), "{name}");
        }
        for name in [
            "app", "", "/app", "team/", "../app", "a/..", "a b/c", "-x/y", "a/b?c", "a/%2e",
        ] {
            assert_eq!(on(name), None, "{name}");
        }
        assert_eq!(RepoSource::on_forge("ext::sh", "team/app"), None);
    }

    #[test]
    fn what_is_connected_to_is_told_from_the_address() {
        for (text, host, port, brief) in [
            (
                "https://Example.org/t/a",
                "example.org",
                443,
                "example.org/t/a",
            ),
            ("https://127.1:8443/a", "127.0.0.1", 8443, "127.0.0.1/a"),
            ("https://[::1]/a", "::1", 443, "[::1]/a"),
            ("git@example.org:t/a", "example.org", 22, "example.org/t/a"),
            ("ssh://git@[fe80::1]:2222/a", "fe80::1", 2222, "[fe80::1]/a"),
        ] {
            let source = RepoSource::parse(text).unwrap();
            let host = host.to_owned();
            assert_eq!(source.endpoint(), Some(RemoteEndpoint { host, port }));
            assert_eq!(source.brief(), brief);
        }
        let local = RepoSource::parse("/srv/git/a").unwrap();
        assert_eq!(local.endpoint(), None);
    }

    #[test]
    fn addresses_that_run_commands_or_read_files_are_refused() {
        for text in [
            "",
            "--upload-pack=touch x",
            "-oProxyCommand=x",
            "ext::sh -c id",
            "fd::17",
            "file:///etc",
            "git://example.org/x",
            "http://example.org/x",
            "ssh://-oProxyCommand=x/y",
            "relative/path",
            "-x@host:y",
            "git@-oProxyCommand=x:y",
            "/srv/../etc",
            "https://user:pw@example.org/x",
            "https://",
            "git@host:-x",
            "/srv/a\nb",
            "https://token@example.org/x",
            "https://example.org/x?token=secret",
            "https://example.org/x?access_token=secret&y",
            "https://example.org/x#secret",
            "ssh://git:pw@example.org/x",
            "ssh://git@example.org/x?token=secret",
            "ssh://%2doProxyCommand=x/y",
            "ssh://%2dx@example.org/y",
            "ssh://git@exa%6dple.org/y",
        ] {
            assert!(RepoSource::parse(text).is_err(), "{text}");
        }
    }
}
