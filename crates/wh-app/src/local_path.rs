//! Directories of the server's machine that callers name: resolved, and checked against what they may open.
//!
//! The rule is [`LocalAccess`] in `wh-domain`; here symbolic links are followed, so that it compares what is opened and
//! not how it was written.

use std::path::{Path, PathBuf};

use newtype_uuid::GenericUuid;
use wh_domain::{
    AllowedPaths, Credential, LocalAccess, LocalPathRefusal, Owner, Reach, Reference, Repo,
    RepoSource, RepoState, Session, SessionId, User, UserId, UserPatch,
};
use wh_git::RepoHandle;

use crate::{AccessReason, App, AppError, OpContext, Resource, Result};

/// The most bytes of a path that a caller gives.
const PATH_BYTES_MAX: usize = 4_096;

/// Whether a path is a directory now.
enum Resolved {
    Directory(PathBuf),
    /// Where it would be: its nearest existing ancestor, resolved, with the rest as it was written.
    Absent(PathBuf),
}

impl App {
    /// Returns what a caller may open.
    pub(crate) async fn local_access(&self, cx: &OpContext) -> Result<LocalAccess> {
        let access = match &cx.principal.credential {
            Credential::Client { .. } => LocalAccess::of_client_key(self.data_dir.clone()),
            _ => self.user_access(cx.principal.user).await?,
        };
        let Some(session) = cx.principal.credential.session() else {
            return Ok(access);
        };
        // An agent opens nothing that its own session does not work in.
        let session = self
            .session_lookup(Reach::All, &Reference::from(session))
            .await?;
        let workspace = self.session_place(&session).await?;
        Ok(access.within(workspace.canonicalize().unwrap_or(workspace)))
    }

    /// Returns what whatever belongs to `owner` may open, when no caller is there to ask.
    pub(crate) async fn owner_access(&self, owner: Owner) -> Result<LocalAccess> {
        match owner.key {
            Some(_) => Ok(LocalAccess::of_client_key(self.data_dir.clone())),
            None => self.user_access(owner.user).await,
        }
    }

    async fn user_access(&self, user: UserId) -> Result<LocalAccess> {
        let user = self.store.user_by_id(user).await?;
        let user = user.ok_or_else(|| AppError::not_found(Resource::User))?;
        let roots = user.local_roots.into_iter();
        let roots = AllowedPaths::new(roots.chain(self.local_roots.iter().cloned()));
        Ok(LocalAccess::of_user(
            user.role,
            roots,
            self.data_dir.clone(),
        ))
    }

    /// Resolves a directory that a caller names, and refuses one that the caller may not open.
    ///
    /// Whether a directory exists is told only to callers who may open it.
    pub(crate) async fn open_directory(&self, cx: &OpContext, path: &Path) -> Result<PathBuf> {
        if !path.is_absolute() || path.as_os_str().len() > PATH_BYTES_MAX {
            let bytes_max = PATH_BYTES_MAX;
            return Err(AccessReason::PathShape { bytes_max }.into());
        }
        let access = self.local_access(cx).await?;
        match resolve(path) {
            Resolved::Directory(real) => {
                access.check(&real)?;
                Ok(real)
            }
            Resolved::Absent(real) => {
                access.check(&real)?;
                let path = path.to_owned();
                Err(AccessReason::NotADirectory { path }.into())
            }
        }
    }

    /// Finds a repository in a directory, and refuses one that reaches outside of what may be opened: a `.git` file, a
    /// `commondir` file and links lead elsewhere.
    pub(crate) async fn open_repository(
        &self,
        access: &LocalAccess,
        directory: &Path,
    ) -> Result<RepoHandle> {
        let found = RepoHandle::find(directory)?;
        let paths = found.paths();
        let named = [&paths.git_dir, &paths.common_dir].into_iter();
        for path in named.chain(paths.work_tree.as_ref()) {
            access.check(path)?;
        }
        if access.is_anywhere() {
            return Ok(found);
        }
        if paths.alternates.is_some() {
            return Err(AccessReason::Alternates.into());
        }
        for target in found.links().await? {
            access.check(&target)?;
        }
        Ok(found)
    }

    /// Refuses a local repository that its owner may not open any more.
    pub(crate) async fn recheck_repository(&self, repo: &Repo) -> Result<()> {
        let RepoSource::Local { path } = &repo.source else {
            return Ok(());
        };
        let access = self.owner_access(repo.owner).await?;
        if let Resolved::Directory(real) = resolve(path) {
            access.check(&real)?;
        }
        if let RepoState::Ready(paths) = &repo.state
            && let Resolved::Directory(real) = resolve(&paths.common_dir)
        {
            access.check(&real)?;
        }
        Ok(())
    }

    /// Resolves the directory that a session works in and checks it again: since the session was created, the directory
    /// may have been replaced by a link, and its owner's rights may have been reduced.
    pub(crate) async fn reopen_directory(&self, session: &Session, path: &Path) -> Result<PathBuf> {
        let real = match resolve(path) {
            Resolved::Directory(real) => real,
            Resolved::Absent(_) => return Err(AccessReason::SessionDirectoryGone.into()),
        };
        if self.is_scratch_of_tree(session, &real).await? {
            return Ok(real);
        }
        self.owner_access(session.owner).await?.check(&real)?;
        Ok(real)
    }

    /// Tells whether a directory is the scratch directory of a session of the same tree, which children share.
    async fn is_scratch_of_tree(&self, session: &Session, path: &Path) -> Result<bool> {
        let Ok(scratch) = self.runs.scratch.canonicalize() else {
            return Ok(false);
        };
        let name = path.strip_prefix(&scratch).ok().and_then(Path::to_str);
        let Some(id) = name.and_then(|name| name.parse().ok()) else {
            return Ok(false);
        };
        let id = Reference::from(SessionId::from_untyped_uuid(id));
        let other = self.session_lookup(Reach::All, &id).await;
        Ok(other.is_ok_and(|other| other.root == session.root))
    }

    /// Resolves the directories that an administrator allows a user.
    pub(crate) fn resolve_roots(&self, mut patch: UserPatch, user: &User) -> Result<UserPatch> {
        for path in &mut patch.allow_paths {
            check_root(path)?;
            *path = match resolve(path) {
                Resolved::Directory(real) if real.to_str().is_some() => real,
                _ => {
                    let path = path.clone();
                    return Err(AccessReason::AllowedPathAbsent { path }.into());
                }
            };
            if path.starts_with(&self.data_dir) {
                return Err(LocalPathRefusal::DataDir.into());
            }
        }
        // A directory that is gone is named as it is stored.
        for path in &mut patch.disallow_paths {
            check_root(path)?;
            let real = path.canonicalize();
            if let Some(real) = real.ok().filter(|real| user.local_roots.contains(real)) {
                *path = real;
            }
        }
        Ok(patch)
    }
}

fn check_root(path: &Path) -> Result<()> {
    match path.is_absolute() && path.as_os_str().len() <= PATH_BYTES_MAX {
        true => Ok(()),
        false => {
            let bytes_max = PATH_BYTES_MAX;
            Err(AccessReason::AllowedPathShape { bytes_max }.into())
        }
    }
}

/// Follows every link of an absolute path. A path that is not valid UTF-8 could not be stored, so it counts as absent.
fn resolve(path: &Path) -> Resolved {
    let real = path.canonicalize().ok();
    if let Some(real) = real.filter(|real| real.is_dir() && real.to_str().is_some()) {
        return Resolved::Directory(real);
    }
    let ancestors = path.ancestors();
    let nearest = ancestors.filter_map(|it| Some((it, it.canonicalize().ok()?)));
    let (nearest, real) = nearest
        .into_iter()
        .next()
        .unwrap_or((Path::new("/"), PathBuf::from("/")));
    match path.strip_prefix(nearest) {
        Ok(rest) if rest.as_os_str().is_empty() => Resolved::Absent(real),
        Ok(rest) => Resolved::Absent(real.join(rest)),
        Err(_) => Resolved::Absent(real),
    }
}
