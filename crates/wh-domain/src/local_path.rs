//! Which directories of the server's machine a caller may open as they are.
//!
//! The rule compares resolved paths only: symbolic links are followed by whoever asks, before and not here.

use std::path::{Path, PathBuf};

use crate::{AllowedPaths, UserRole};

/// The directories of the server's machine that a caller may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalAccess {
    scope: LocalScope,
    data_dir: PathBuf,
}

/// The part of the file system that a caller may open, apart from the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LocalScope {
    Anywhere,
    Below(AllowedPaths),
    ClientKey,
}

/// Why a directory may not be opened. No variant names a path, so that an answer tells nothing about what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalPathRefusal {
    #[error("a client key cannot open directories of the server's machine")]
    ClientKey,
    #[error("the path is not below a directory that an administrator has allowed for this user")]
    NotAllowed,
    #[error("the path is part of, or contains, the server's data directory")]
    DataDir,
}

impl LocalAccess {
    /// Returns the access of a user: administrators may open every directory, members those below `roots`. Nobody may
    /// open the data directory.
    pub fn of_user(role: UserRole, roots: AllowedPaths, data_dir: PathBuf) -> Self {
        let scope = match role {
            UserRole::Admin => LocalScope::Anywhere,
            UserRole::Member => LocalScope::Below(roots),
        };
        Self { scope, data_dir }
    }

    /// Returns the access of a client key, whoever owns it: none.
    pub fn of_client_key(data_dir: PathBuf) -> Self {
        Self {
            scope: LocalScope::ClientKey,
            data_dir,
        }
    }

    /// Returns the access of an agent that works in `workspace`: no more than this, and nothing outside of it.
    #[must_use]
    pub fn within(self, workspace: PathBuf) -> Self {
        let workspace = AllowedPaths::new([workspace]);
        let scope = match self.scope {
            LocalScope::Anywhere => LocalScope::Below(workspace),
            LocalScope::Below(roots) => LocalScope::Below(roots.intersect(&workspace)),
            LocalScope::ClientKey => LocalScope::ClientKey,
        };
        Self { scope, ..self }
    }

    /// Checks a resolved path.
    ///
    /// A directory that contains the data directory is open to administrators alone.
    pub fn check(&self, path: &Path) -> Result<(), LocalPathRefusal> {
        let contains_data = match &self.scope {
            LocalScope::Anywhere => false,
            LocalScope::Below(roots) if roots.allow(path) => self.data_dir.starts_with(path),
            LocalScope::Below(_) => return Err(LocalPathRefusal::NotAllowed),
            LocalScope::ClientKey => return Err(LocalPathRefusal::ClientKey),
        };
        match contains_data || path.starts_with(&self.data_dir) {
            true => Err(LocalPathRefusal::DataDir),
            false => Ok(()),
        }
    }

    /// Tells whether every directory outside the data directory may be opened.
    pub fn is_anywhere(&self) -> bool {
        self.scope == LocalScope::Anywhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(paths: &[&str]) -> AllowedPaths {
        AllowedPaths::new(paths.iter().map(PathBuf::from))
    }

    fn data() -> PathBuf {
        "/srv/wheelhouse".into()
    }

    fn check(access: &LocalAccess, path: &str) -> Result<(), LocalPathRefusal> {
        access.check(Path::new(path))
    }

    #[test]
    fn members_open_what_lies_below_their_roots() {
        let member = LocalAccess::of_user(UserRole::Member, roots(&["/srv/a"]), data());
        assert_eq!(check(&member, "/srv/a"), Ok(()));
        assert_eq!(check(&member, "/srv/a/b/c"), Ok(()));
        for other in ["/srv/abc", "/srv", "/", "/etc", "/srv/wheelhouse/worktrees"] {
            let refused = check(&member, other);
            assert_eq!(refused, Err(LocalPathRefusal::NotAllowed), "{other}");
        }
        let nothing = LocalAccess::of_user(UserRole::Member, roots(&[]), data());
        assert_eq!(check(&nothing, "/"), Err(LocalPathRefusal::NotAllowed));
    }

    #[test]
    fn nobody_opens_the_data_directory() {
        let admin = LocalAccess::of_user(UserRole::Admin, roots(&[]), data());
        let member = LocalAccess::of_user(UserRole::Member, roots(&["/srv"]), data());
        for access in [&admin, &member] {
            for path in ["/srv/wheelhouse", "/srv/wheelhouse/worktrees/1/2"] {
                assert_eq!(check(access, path), Err(LocalPathRefusal::DataDir));
            }
            assert_eq!(check(access, "/srv/wheelhouse2"), Ok(()));
        }
        // An administrator's own machine: the home directory holds the data directory.
        assert_eq!(check(&admin, "/srv"), Ok(()));
        assert_eq!(check(&member, "/srv"), Err(LocalPathRefusal::DataDir));
    }

    #[test]
    fn client_keys_open_nothing_and_agents_their_own_workspace() {
        let client = LocalAccess::of_client_key(data());
        assert_eq!(check(&client, "/srv/a"), Err(LocalPathRefusal::ClientKey));
        let admin = LocalAccess::of_user(UserRole::Admin, roots(&[]), data());
        let member = LocalAccess::of_user(UserRole::Member, roots(&["/srv/a"]), data());
        for access in [admin, member.clone()] {
            let agent = access.within("/srv/a/project".into());
            assert_eq!(check(&agent, "/srv/a/project/sub"), Ok(()));
            for path in ["/srv/a", "/srv/a/other", "/srv/a/project2"] {
                assert_eq!(check(&agent, path), Err(LocalPathRefusal::NotAllowed));
            }
        }
        // A workspace that its user may not open (any more) opens nothing.
        let elsewhere = member.within("/srv/b".into());
        assert_eq!(
            check(&elsewhere, "/srv/b"),
            Err(LocalPathRefusal::NotAllowed)
        );
        assert_eq!(
            check(&client.within("/srv/a".into()), "/srv/a"),
            Err(LocalPathRefusal::ClientKey)
        );
    }
}
