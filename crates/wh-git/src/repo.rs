//! A repository by the paths that were recorded when it was added.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use wh_domain::{BranchName, CheckoutLimits, RepoPaths};

use crate::{
    CommitId, GitError,
    command::{Git, text_despite_locks},
};

/// A repository that commands can be run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoHandle {
    paths: RepoPaths,
    sha256: bool,
    checkout: CheckoutLimits,
}

/// A branch and the commit at its tip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub name: BranchName,
    pub tip: CommitId,
}

/// The most of a small file of git's own that is read.
const SMALL_FILE_BYTES_MAX: u64 = 64 << 10;

impl RepoHandle {
    /// Finds the repository at `path`, which is a checkout, a linked worktree or a bare repository.
    ///
    /// The git directory is found by us and not by git, whose search would walk up into whatever contains `path`.
    pub fn find(path: &Path) -> Result<Self, GitError> {
        let none = || GitError::NotARepository {
            path: path.to_owned(),
        };
        let (git_dir, work_tree) = find_git_dir(path).ok_or_else(none)?;
        let git_dir = git_dir.canonicalize().map_err(|_| none())?;
        let common_dir = match read_small(&git_dir.join("commondir")) {
            Ok(text) => git_dir
                .join(text.trim_end())
                .canonicalize()
                .map_err(|_| none())?,
            Err(_) => git_dir.clone(),
        };
        let alternates = read_small(&common_dir.join("objects/info/alternates")).ok();
        Self::open(RepoPaths {
            git_dir,
            common_dir,
            work_tree: work_tree.and_then(|path| path.canonicalize().ok()),
            alternates,
        })
    }

    /// Opens a repository by its recorded paths.
    pub fn open(paths: RepoPaths) -> Result<Self, GitError> {
        if !looks_like_git_dir(&paths.common_dir) {
            return Err(GitError::NotARepository {
                path: paths.common_dir,
            });
        }
        let sha256 = uses_sha256(&paths.common_dir);
        Ok(Self {
            paths,
            sha256,
            checkout: CheckoutLimits::default(),
        })
    }

    /// Sets how large a checkout may be.
    #[must_use]
    pub fn with_checkout_limits(mut self, limits: CheckoutLimits) -> Self {
        self.checkout = limits;
        self
    }

    pub(crate) fn checkout_limits(&self) -> CheckoutLimits {
        self.checkout
    }

    /// Returns the paths to record.
    pub fn paths(&self) -> &RepoPaths {
        &self.paths
    }

    pub(crate) fn common_dir(&self) -> &Path {
        &self.paths.common_dir
    }

    pub(crate) fn is_sha256(&self) -> bool {
        self.sha256
    }

    /// Refuses a repository that began to borrow objects from elsewhere: the server may be able to read what the one
    /// who wrote that could not.
    pub(crate) fn check_alternates(&self) -> Result<(), GitError> {
        let path = self.common_dir().join("objects/info/alternates");
        let now = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            _ => Some(read_small(&path).map_err(GitError::Start)?),
        };
        if now == self.paths.alternates {
            Ok(())
        } else {
            Err(GitError::failed(
                "objects/info/alternates was changed after the repository was added",
            ))
        }
    }

    /// Starts a command on the real repository; only for commands that look at or move references.
    pub(crate) fn refs_git(&self) -> Git {
        self.refs_git_in(&self.paths.common_dir)
    }

    /// The same for the git directory of a worktree, whose own idea of the common directory is not asked.
    pub(crate) fn refs_git_in(&self, git_dir: &Path) -> Git {
        Git::new()
            .arg("--git-dir")
            .arg(git_dir)
            .env("GIT_COMMON_DIR", &self.paths.common_dir)
    }

    /// Returns the branch that `HEAD` names, if it names one.
    pub async fn default_branch(&self) -> Result<Option<BranchName>, GitError> {
        branch_of_head(self, &self.paths.git_dir).await
    }

    /// Returns the commit of `HEAD`, unless nothing was committed yet.
    pub async fn head(&self) -> Result<Option<CommitId>, GitError> {
        self.resolve_in(&self.paths.git_dir, "HEAD").await
    }

    /// Returns every branch with its tip. Branches whose names are not valid for us are left out.
    pub async fn branches(&self) -> Result<Vec<Branch>, GitError> {
        let refs = self.refs_under(&["refs/heads/"]).await?;
        let branch = |(name, tip): (String, CommitId)| {
            let name = BranchName::parse(name.strip_prefix("refs/heads/")?).ok()?;
            Some(Branch { name, tip })
        };
        Ok(refs.into_iter().filter_map(branch).collect())
    }

    /// Returns the tip of a branch, if there is such a branch.
    pub async fn branch_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, GitError> {
        let name = format!("refs/heads/{}", branch.as_str());
        self.resolve_in(self.common_dir(), &name).await
    }

    /// Returns the newest commit that both have in their history, if there is one.
    pub async fn merge_base(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let view = crate::view::View::of(self)?;
        let said = view
            .git()
            .args(["merge-base", one.as_str(), other.as_str()])
            .said()
            .await?;
        match said.code {
            0 => CommitId::said(&String::from_utf8_lossy(&said.stdout)).map(Some),
            1 => Ok(None),
            _ => Err(said.into_error()),
        }
    }

    /// Returns the references under any of these prefixes, with the objects they name.
    pub(crate) async fn refs_under(
        &self,
        prefixes: &[&str],
    ) -> Result<Vec<(String, CommitId)>, GitError> {
        let said = self
            .refs_git()
            .args(["for-each-ref", "--format=%(objectname) %(refname)", "--"])
            .args(prefixes)
            .text()
            .await?;
        Ok(read_refs(&said).collect())
    }

    /// Returns the commit that a full reference name leads to in the given git directory.
    pub(crate) async fn resolve_in(
        &self,
        git_dir: &Path,
        name: &str,
    ) -> Result<Option<CommitId>, GitError> {
        let said = self
            .refs_git_in(git_dir)
            .args(["rev-parse", "--verify", "-q", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .said()
            .await?;
        match said.code {
            0 => CommitId::said(&String::from_utf8_lossy(&said.stdout)).map(Some),
            1 => Ok(None),
            _ => Err(said.into_error()),
        }
    }

    /// Moves a reference if it still has the expected value; `None` expects that it does not exist.
    pub(crate) async fn ref_set(
        &self,
        name: &str,
        new: &CommitId,
        old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let old = old.map_or_else(|| new.zero_like(), ToString::to_string);
        text_despite_locks(|| {
            self.refs_git()
                .args(["-c", "core.fsync=all", "update-ref", "--no-deref"])
                .args(["-m", "wheelhouse", "--", name, new.as_str(), &old])
        })
        .await
        .map(drop)
    }
}

/// Reads lines of an object and the reference that names it; others are left out.
pub(crate) fn read_refs(text: &str) -> impl Iterator<Item = (String, CommitId)> {
    text.lines().filter_map(|line| {
        let (id, name) = line.split_once(' ')?;
        Some((name.to_owned(), CommitId::parse(id).ok()?))
    })
}

/// Returns the branch that `HEAD` of a git directory names.
pub(crate) async fn branch_of_head(
    repo: &RepoHandle,
    git_dir: &Path,
) -> Result<Option<BranchName>, GitError> {
    let said = repo
        .refs_git_in(git_dir)
        .args(["symbolic-ref", "-q", "HEAD"])
        .said()
        .await?;
    let text = String::from_utf8_lossy(&said.stdout);
    match said.code {
        0 => Ok(text
            .trim()
            .strip_prefix("refs/heads/")
            .and_then(|name| BranchName::parse(name).ok())),
        1 => Ok(None),
        _ => Err(said.into_error()),
    }
}

/// Reads a small regular file and follows no link; a larger file is an error.
pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    use std::{io::Read, os::unix::fs::OpenOptionsExt};
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(SMALL_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SMALL_FILE_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn looks_like_git_dir(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && dir.join("objects").is_dir()
}

/// Finds the git directory of what was named, and the checkout it belongs to.
fn find_git_dir(path: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let nested = path.join(".git");
    if looks_like_git_dir(&nested) {
        return Some((nested, Some(path.to_owned())));
    }
    if looks_like_git_dir(path) {
        return Some((path.to_owned(), None));
    }
    let pointer = read_small(&nested).ok()?;
    let git_dir = path.join(pointer.strip_prefix("gitdir: ")?.trim_end());
    let valid = git_dir.join("HEAD").is_file() && git_dir.join("commondir").is_file()
        || looks_like_git_dir(&git_dir);
    valid.then(|| (git_dir, Some(path.to_owned())))
}

/// Tells whether the repository names its objects by SHA-256.
///
/// Read by a look at the text, because asking git would read everything else in that file too.
fn uses_sha256(common_dir: &Path) -> bool {
    read_small(&common_dir.join("config")).is_ok_and(|text| {
        text.lines().any(|line| {
            let line = line.trim().to_ascii_lowercase().replace(' ', "");
            line == "objectformat=sha256"
        })
    })
}
