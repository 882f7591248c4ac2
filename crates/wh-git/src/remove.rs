//! Removing a worktree without losing anything.
//!
//! The order makes a crash harmless at every point: what would be lost is saved under a reference and checked; a marker in
//! the worktree's git directory says that the removal has begun and what it covers; files are deleted one by one, each
//! only if it is still the one that was saved; then the directory, and last git's own directory for the worktree with the
//! marker as its last file. A repeated call goes on when everything left is covered by the marker, and otherwise starts
//! over, which saves again. The branch is kept.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    CommitId, GitError, Missing, Rescue, RescueLabel, Risk, WorktreeError, WorktreeHandle,
    beneath::hold,
    erase::{Changed, erase_directory, erase_file, erase_root},
    fault,
    marker::Marker,
    repo::{branch_of_head, read_small},
    rescue::{key, tree_entries},
    snapshot::{Snapshot, entries, is_below},
    view::View,
    walk::{Found, blocking},
};

/// How to treat what would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Refuse when there is any risk.
    RefuseIfAnyRisk,
    /// Save everything first.
    RescueFirst { ignored: IgnoredFiles },
}

/// What a rescue does with files that git ignores, such as build output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// Saves them; more than this many bytes refuse the removal.
    SaveOrRefuse { bytes_max: u64 },
    /// Saves the smallest up to this many bytes and deletes the rest for good, because somebody said so.
    SaveOrDiscard { bytes_max: u64 },
}

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Where work was saved, if there was any that nothing else holds.
    pub rescue: Option<Rescue>,
    /// Ignored files that were deleted without being saved.
    pub discarded: Vec<PathBuf>,
}

/// Why a worktree was not removed. What was not deleted yet is still there.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("something would be lost or is in use")]
    Risky { risks: Vec<Risk> },
    #[error("ignored files come to {bytes} bytes, more than the {bytes_max} that are saved")]
    IgnoredTooLarge { bytes: u64, bytes_max: u64 },
    #[error("{path} changed while the worktree was being removed")]
    Changed { path: PathBuf },
    #[error("what was saved is not what lies in the worktree")]
    NotSaved,
    #[error("the worktree's files cannot be read or deleted")]
    Files(#[source] io::Error),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[doc(hidden)]
    #[error(transparent)]
    Fault(#[from] fault::Fault),
}

impl RemoveError {
    pub(crate) fn files(error: io::Error) -> Self {
        let changed = error.get_ref().and_then(|inner| inner.downcast_ref());
        match changed {
            Some(Changed(path)) => Self::Changed { path: path.clone() },
            None => Self::Files(error),
        }
    }
}

/// Files that are deleted together before others get their turn; one by one where a test wants to interrupt.
const BATCH: usize = if cfg!(debug_assertions) { 1 } else { 256 };

/// How often, and with what pause, a removal looks for processes in the worktree before it takes them for work.
const LEAVER_LOOKS: u32 = 20;
const LEAVER_PAUSE: Duration = Duration::from_millis(25);

/// What is in the two directories of a worktree, and what is to be deleted.
struct Plan {
    work: Snapshot,
    admin: Snapshot,
}

impl WorktreeHandle {
    /// Removes the worktree; the branch stays. Repeating it after a crash or an error goes on where it ended, and a
    /// worktree that is gone already is fine.
    pub async fn remove(&self, label: &RescueLabel, how: Removal) -> Result<Removed, RemoveError> {
        if self.missing() == Some(Missing::Replaced) {
            self.check()?;
        }
        // After a removal that ended in its last steps only a part of the git directory is left, which needs no mending.
        if self.paths.git_dir.join("HEAD").exists() {
            self.mend()?;
        }
        self.wait_for_leavers().await;
        let plan = self.plan().await?;
        let stops = self.blockers(&plan.work).await;
        if !stops.is_empty() {
            return Err(RemoveError::Risky { risks: stops });
        }
        let mut removed = Removed::default();
        if !self.is_covered_by_marker(&plan).await? {
            self.save(&plan, label, how, &mut removed).await?;
        }
        fault::point("saved")?;
        self.delete(plan).await?;
        Ok(removed)
    }

    /// Gives processes in the worktree a moment to leave: git itself leaves one behind after every commit, to see whether
    /// there is anything to tidy.
    async fn wait_for_leavers(&self) {
        for _ in 0..LEAVER_LOOKS {
            if self.processes().await.is_empty() {
                break;
            }
            tokio::time::sleep(LEAVER_PAUSE).await;
        }
    }

    async fn plan(&self) -> Result<Plan, RemoveError> {
        let work = self.snapshot().await?;
        let git_dir = self.paths.git_dir.clone();
        let mut admin = blocking(move || Snapshot::of(&git_dir))
            .await
            .map_err(RemoveError::files)?;
        admin.files.retain(|found| !Marker::is(&found.path));
        Ok(Plan { work, admin })
    }

    /// Makes sure that deleting the plan loses nothing, and leaves a marker that says so.
    async fn save(
        &self,
        plan: &Plan,
        label: &RescueLabel,
        how: Removal,
        removed: &mut Removed,
    ) -> Result<(), RemoveError> {
        if how == Removal::RefuseIfAnyRisk && self.paths.path.exists() {
            let risks = self.removal_risks().await?;
            if !risks.is_empty() {
                return Err(RemoveError::Risky { risks });
            }
        }
        let mut files = plan.work.files.clone();
        if let Removal::RescueFirst { ignored } = how {
            removed.discarded = self.choose_ignored(&mut files, ignored).await?;
        }
        let git_dir = &self.paths.git_dir;
        let has_git_dir = git_dir.join("HEAD").exists();
        let branch = if has_git_dir {
            branch_of_head(&self.repo, git_dir).await?
        } else {
            None
        };
        let mentioned = self.mentioned(&plan.admin.files, branch.as_ref()).await?;
        fault::point("looked")?;
        let commit = match self.covering_head(plan, how).await? {
            Some(head) if mentioned == Default::default() => head,
            _ => {
                let (admin, dot_git) = (plan.admin.files.clone(), plan.work.dot_git.clone());
                let rescue = self.rescue(label, files, admin, dot_git, mentioned).await?;
                let commit = rescue.commit.clone();
                removed.rescue = Some(rescue);
                commit
            }
        };
        fault::point("reference set")?;
        let (root, admin) = (git_dir.clone(), plan.admin.files.clone());
        let sha256 = self.repo.is_sha256();
        blocking(move || Marker::write(&root, &commit, &admin, sha256))
            .await
            .map_err(RemoveError::files)
    }

    /// Returns the head when it holds every file exactly as it is and the index too, so that nothing needs saving.
    async fn covering_head(
        &self,
        plan: &Plan,
        how: Removal,
    ) -> Result<Option<CommitId>, RemoveError> {
        if how != Removal::RefuseIfAnyRisk || self.missing().is_some() {
            return Ok(None);
        }
        let pointer = read_small(&self.paths.path.join(".git")).unwrap_or_default();
        let expected = format!("gitdir: {}\n", self.paths.git_dir.display());
        let Some(head) = self.head().await?.filter(|_| pointer == expected) else {
            return Ok(None);
        };
        let view = self.view_of_copy().await?;
        let git = view.git().args(["diff-index", "--cached", "--quiet"]);
        let same_index = git.args(["--ignore-submodules=dirty", head.as_str(), "--"]);
        if same_index.said().await?.code != 0 || !self.holds(&view, &head, plan).await? {
            return Ok(None);
        }
        Ok(Some(head))
    }

    /// Tells whether a commit's tree has every file of the plan exactly as it is.
    async fn holds(
        &self,
        view: &View,
        commit: &CommitId,
        plan: &Plan,
    ) -> Result<bool, RemoveError> {
        let kept = tree_entries(view, commit).await?;
        let (root, files) = (self.paths.path.clone(), plan.work.files.clone());
        let sha256 = self.repo.is_sha256();
        let there = blocking(move || entries(&root, &files, sha256)).await;
        let there: BTreeSet<_> = there
            .map_err(RemoveError::files)?
            .into_iter()
            .map(key)
            .collect();
        Ok(there.is_subset(&kept))
    }

    /// Tells whether an earlier call has saved everything that is still there.
    async fn is_covered_by_marker(&self, plan: &Plan) -> Result<bool, RemoveError> {
        let (root, admin) = (self.paths.git_dir.clone(), plan.admin.files.clone());
        let sha256 = self.repo.is_sha256();
        let marker = blocking(move || Marker::read_covering(&root, &admin, sha256)).await;
        let Some(commit) = marker.map_err(RemoveError::files)? else {
            return Ok(false);
        };
        // The marker lies where an agent can write; only a commit that a reference leads to is believed.
        let said = self
            .repo
            .refs_git()
            .args(["for-each-ref", "--count=1", "--format=%(refname)"])
            .args(["--contains", commit.as_str()])
            .said()
            .await?;
        if said.code != 0 || said.stdout.is_empty() {
            return Ok(false);
        }
        self.holds(&View::of(&self.repo)?, &commit, plan).await
    }

    /// Takes ignored files that are not to be saved out of `files` and returns them.
    async fn choose_ignored(
        &self,
        files: &mut Vec<Found>,
        how: IgnoredFiles,
    ) -> Result<Vec<PathBuf>, RemoveError> {
        if self.missing().is_some() {
            return Ok(Vec::new());
        }
        let tops = self.status(None).await?.ignored;
        let mut ignored: Vec<&Found> = files.iter().filter(|f| is_below(&f.path, &tops)).collect();
        ignored.sort_by_key(|found| found.stamp.size);
        let bytes = ignored.iter().map(|found| found.stamp.size).sum();
        let mut left = match how {
            IgnoredFiles::SaveOrRefuse { bytes_max } if bytes > bytes_max => {
                return Err(RemoveError::IgnoredTooLarge { bytes, bytes_max });
            }
            IgnoredFiles::SaveOrRefuse { .. } => return Ok(Vec::new()),
            IgnoredFiles::SaveOrDiscard { bytes_max } => bytes_max,
        };
        let mut discarded = BTreeSet::new();
        for found in ignored {
            match left.checked_sub(found.stamp.size) {
                Some(rest) => left = rest,
                None => drop(discarded.insert(found.path.clone())),
            }
        }
        files.retain(|found| !discarded.contains(&found.path));
        Ok(discarded.into_iter().collect())
    }

    /// Deletes what the plan lists, the worktree first and git's own directory last.
    async fn delete(&self, plan: Plan) -> Result<(), RemoveError> {
        let (path, git_dir) = (&self.paths.path, &self.paths.git_dir);
        if path.exists() {
            let mut files = plan.work.files;
            files.extend(plan.work.pipes);
            delete_files(path, files).await?;
            delete_directories(path, plan.work.directories).await?;
            fault::point("files deleted")?;
            delete_files(path, plan.work.dot_git.into_iter().collect()).await?;
            fault::point("pointer deleted")?;
            erase_root(path).map_err(RemoveError::files)?;
        }
        fault::point("directory deleted")?;
        if git_dir.exists() {
            delete_files(git_dir, plan.admin.files).await?;
            delete_directories(git_dir, plan.admin.directories).await?;
            fault::point("git directory emptied")?;
            Marker::erase(git_dir).map_err(RemoveError::files)?;
            fault::point("marker deleted")?;
            erase_root(git_dir).map_err(RemoveError::files)?;
        }
        Ok(())
    }
}

async fn delete_files(root: &Path, files: Vec<Found>) -> Result<(), RemoveError> {
    for batch in files.chunks(BATCH) {
        fault::point("file")?;
        let (root, batch) = (root.to_owned(), batch.to_vec());
        let work = move || {
            let held = hold(&root)?;
            batch
                .iter()
                .try_for_each(|found| erase_file(&held, &found.path, &found.stamp))
        };
        blocking(work).await.map_err(RemoveError::files)?;
    }
    Ok(())
}

async fn delete_directories(root: &Path, directories: Vec<PathBuf>) -> Result<(), RemoveError> {
    let root = root.to_owned();
    let work = move || {
        let held = hold(&root)?;
        let mut inner_first = directories.iter().rev();
        inner_first.try_for_each(|directory| erase_directory(&held, directory))
    };
    blocking(work).await.map_err(RemoveError::files)
}
