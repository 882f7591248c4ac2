//! The addresses of resources: one table of kinds, and the one place where an address is read.

use std::path::PathBuf;

use rmcp::model::ResourceTemplate;
use wh_domain::Reference;

const SCHEME: &str = "wheelhouse://";

/// The kinds of resources. A new one gets a row in [`ResourceKind::row`], a way to be read and news to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ResourceKind {
    Agents,
    Board,
    Session,
    SessionMessages,
    SessionDiff,
    Worktree,
    WorktreeFile,
}

/// What is said about a kind of resources.
pub(crate) struct Row {
    /// What comes after the scheme.
    pub(crate) template: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mime: Option<&'static str>,
}

const JSON: Option<&str> = Some("application/json");

impl ResourceKind {
    /// Every kind, in the order in which they are listed.
    pub(crate) const ALL: [Self; 7] = [
        Self::Board,
        Self::Session,
        Self::SessionMessages,
        Self::SessionDiff,
        Self::Worktree,
        Self::WorktreeFile,
        Self::Agents,
    ];

    /// Returns what is said about the kind.
    pub(crate) fn row(self) -> Row {
        let row = |template, name, description, mime| Row {
            template,
            name,
            description,
            mime,
        };
        match self {
            Self::Agents => row("agents", "agents", "The agents that can be run here", JSON),
            Self::Board => row(
                "board/{id}",
                "board",
                "A board: its zones and what lies where",
                JSON,
            ),
            Self::Session => row(
                "session/{id}",
                "session",
                "A session: state, place, last words, cost",
                JSON,
            ),
            Self::SessionMessages => row(
                "session/{id}/messages",
                "session messages",
                "The newest messages of a session",
                JSON,
            ),
            Self::SessionDiff => row(
                "session/{id}/diff",
                "session diff",
                "What a session has changed in its worktree",
                JSON,
            ),
            Self::Worktree => row(
                "worktree/{id}",
                "worktree",
                "A worktree: state, what is not committed, sessions in it",
                JSON,
            ),
            Self::WorktreeFile => row(
                "worktree/{id}/files/{+path}",
                "worktree file",
                "A file of a worktree, up to 1 MiB; a directory lists its names; a link is shown",
                None,
            ),
        }
    }

    /// Returns the template of the kind's addresses; an address itself for a kind with one member.
    pub(crate) fn template(self) -> String {
        format!("{SCHEME}{}", self.row().template)
    }

    /// Returns the address of the thing with this id.
    pub(crate) fn address(self, id: &str) -> String {
        self.template().replace("{id}", id)
    }

    /// Returns the kind as clients are shown it.
    pub(crate) fn shown(self) -> ResourceTemplate {
        let row = self.row();
        let shown =
            ResourceTemplate::new(self.template(), row.name).with_description(row.description);
        match row.mime {
            Some(mime) => shown.with_mime_type(mime),
            None => shown,
        }
    }
}

/// What an address means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Agents,
    Board(Reference),
    Session(Reference),
    SessionMessages(Reference),
    SessionDiff(Reference),
    Worktree(Reference),
    /// Whether the path may be read is not decided here.
    WorktreeFile {
        worktree: Reference,
        path: PathBuf,
    },
}

impl Address {
    /// The most bytes of an address.
    pub(crate) const BYTES_MAX: usize = 8 * 1024;

    /// Reads an address.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri.len() > Self::BYTES_MAX {
            return None;
        }
        let rest = uri.strip_prefix(SCHEME)?;
        let mut parts = rest.splitn(4, '/');
        let kind = parts.next()?;
        let id = parts.next();
        let (part, path) = (parts.next(), parts.next());
        let reference = || Reference::parse(id?).ok();
        Some(match (kind, part, path) {
            ("agents", None, None) if id.is_none() => Self::Agents,
            ("board", None, None) => Self::Board(reference()?),
            ("session", None, None) => Self::Session(reference()?),
            ("session", Some("messages"), None) => Self::SessionMessages(reference()?),
            ("session", Some("diff"), None) => Self::SessionDiff(reference()?),
            ("worktree", None, None) => Self::Worktree(reference()?),
            ("worktree", Some("files"), path) => Self::WorktreeFile {
                worktree: reference()?,
                path: decoded(path.unwrap_or_default())?.into(),
            },
            _ => return None,
        })
    }
}

/// Undoes `%20` and its like.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Address {
        Address::WorktreeFile {
            worktree: Reference::parse("89abcdef").unwrap(),
            path: path.into(),
        }
    }

    #[test]
    fn every_kind_reads_back() {
        let id = Reference::parse("89abcdef").unwrap();
        for kind in ResourceKind::ALL {
            let address = kind.address("89abcdef").replace("{+path}", "src/lib.rs");
            let meant = match kind {
                ResourceKind::Agents => Address::Agents,
                ResourceKind::Board => Address::Board(id.clone()),
                ResourceKind::Session => Address::Session(id.clone()),
                ResourceKind::SessionMessages => Address::SessionMessages(id.clone()),
                ResourceKind::SessionDiff => Address::SessionDiff(id.clone()),
                ResourceKind::Worktree => Address::Worktree(id.clone()),
                ResourceKind::WorktreeFile => file("src/lib.rs"),
            };
            assert_eq!(Address::parse(&address), Some(meant), "{address}");
        }
    }

    #[test]
    fn paths_are_decoded() {
        for (uri, path) in [
            ("wheelhouse://worktree/89abcdef/files/a%20b", "a b"),
            ("wheelhouse://worktree/89abcdef/files/", ""),
            ("wheelhouse://worktree/89abcdef/files", ""),
        ] {
            assert_eq!(Address::parse(uri), Some(file(path)), "{uri}");
        }
    }

    #[test]
    fn what_is_no_address_is_not_read() {
        let long = format!(
            "wheelhouse://worktree/1/files/{}",
            "x".repeat(Address::BYTES_MAX)
        );
        for bad in [
            "",
            "file:///etc/passwd",
            "wheelhouse://user/1",
            "wheelhouse://agents/1",
            "wheelhouse://board",
            "wheelhouse://board/",
            "wheelhouse://board/1/files/x",
            "wheelhouse://session//messages",
            "wheelhouse://session/1/messages/2",
            "wheelhouse://session/1/files",
            "wheelhouse://worktree/89abcdef/filesystem",
            "wheelhouse://worktree//files/x",
            "wheelhouse://worktree/89abcdef/files/%zz",
            "wheelhouse://worktree/89abcdef/files/%4",
            &long,
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }
}
