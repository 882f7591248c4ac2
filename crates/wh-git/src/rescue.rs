//! Saving everything in a worktree under a reference, before it is deleted.
//!
//! The shape is that of a stash, so that git's own commands can look at it and bring it back: a commit whose tree is the
//! files exactly as they are on disk (untracked ones too, no filter applied), and whose parents are the head, a commit of
//! the index, a commit of the worktree's git directory (merge and rebase state, logs), and whatever commits only that
//! directory still knew. `git switch -c again <reference>` brings the files back.

use std::{collections::BTreeSet, path::PathBuf};

use jiff::Timestamp;
use wh_domain::{SessionId, WorktreeId};

use crate::{
    CommitId, GitError, RemoveError, WorktreeHandle, fault,
    import::{Import, IndexEntry, import},
    mentioned::Mentioned,
    snapshot::Entry,
    view::View,
    walk::Found,
    worktree::path_of,
};

/// Whose work is saved, and when: the two parts of the reference's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescueLabel {
    pub of: RescueOf,
    pub at: Timestamp,
}

/// Whose work it is: the session's that worked there last or, when none did, nobody's but the worktree's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescueOf {
    Session(SessionId),
    Worktree(WorktreeId),
}

/// Where work was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// The reference, `refs/wheelhouse/rescue/<session or worktree>/<time>`.
    pub reference: String,
    pub commit: CommitId,
}

/// How many names are tried when the first is taken.
const NAME_TRIES: u32 = 100;

impl RescueLabel {
    fn reference(&self, attempt: u32) -> String {
        let of = match self.of {
            RescueOf::Session(id) => id.to_string(),
            RescueOf::Worktree(id) => id.to_string(),
        };
        let at = self.at.strftime("%Y%m%dT%H%M%SZ");
        match attempt {
            0 => format!("refs/wheelhouse/rescue/{of}/{at}"),
            n => format!("refs/wheelhouse/rescue/{of}/{at}-{n}"),
        }
    }
}

impl WorktreeHandle {
    /// Saves files, index and git directory, checks that all of it can be reached, and returns where.
    pub(crate) async fn rescue(
        &self,
        label: &RescueLabel,
        files: Vec<Found>,
        admin: Vec<Found>,
        dot_git: Option<Found>,
        mentioned: Mentioned,
    ) -> Result<Rescue, RemoveError> {
        let git_dir = &self.paths.git_dir;
        let head = if git_dir.join("HEAD").exists() {
            self.repo.resolve_in(git_dir, "HEAD").await?
        } else {
            None
        };
        let view = View::of(&self.repo)?.over_copy(self.path(), &self.index())?;
        let index = index_entries(&view).await?;
        fault::point("index read")?;
        let import_what = Import {
            files_root: self.paths.path.clone(),
            files,
            admin_root: git_dir.clone(),
            admin,
            dot_git,
            index,
            head: head.clone(),
            mentioned,
            seconds: label.at.as_second(),
            sha256: self.repo.is_sha256(),
        };
        let (commit, entries) = import(&view, import_what).await?;
        fault::point("objects written")?;
        verify(&view, &commit, head.as_ref(), entries).await?;
        fault::point("objects verified")?;
        let reference = self.rescue_name(label, &commit).await?;
        Ok(Rescue { reference, commit })
    }

    /// Sets the reference, under the first name that is free.
    async fn rescue_name(
        &self,
        label: &RescueLabel,
        commit: &CommitId,
    ) -> Result<String, RemoveError> {
        for attempt in 0..NAME_TRIES {
            let name = label.reference(attempt);
            let there = self.repo.resolve_in(self.repo.common_dir(), &name).await?;
            if there.is_some() {
                continue;
            }
            self.repo.ref_set(&name, commit, None).await?;
            let now = self.repo.resolve_in(self.repo.common_dir(), &name).await?;
            if now.as_ref() == Some(commit) {
                return Ok(name);
            }
        }
        Err(GitError::failed("no name is free for the rescue").into())
    }
}

/// Reads the index of a view. Entries whose object does not exist are left out: there is nothing to save.
async fn index_entries(view: &View) -> Result<Vec<IndexEntry>, GitError> {
    let said = view.git().args(["ls-files", "-s", "-z"]).bytes().await?;
    let mut entries = Vec::new();
    for record in said.split(|byte| *byte == 0).filter(|r| !r.is_empty()) {
        let unreadable = || GitError::failed("the index cannot be read");
        let tab = record.iter().position(|b| *b == b'\t');
        let (facts, path) = record.split_at(tab.ok_or_else(unreadable)?);
        let facts = String::from_utf8_lossy(facts);
        let mut facts = facts.split(' ').map(str::to_owned);
        let mut fact = || facts.next().ok_or_else(unreadable);
        entries.push(IndexEntry {
            mode: fact()?,
            object: fact()?,
            stage: fact()?,
            path: path_of(&path[1..]),
        });
    }
    let names: String = entries.iter().map(|e| format!("{}\n", e.object)).collect();
    let git = view.git().args(["cat-file", "--batch-check=%(objecttype)"]);
    let said = git.stdin(names).text().await?;
    let mut there = said.lines().map(|line| line == "blob");
    // A submodule's commit is in the submodule; the entry alone is kept.
    entries.retain(|e| there.next().unwrap_or(false) || e.mode == "160000");
    Ok(entries)
}

/// Checks that the commit's tree is exactly the files that were read, and that nothing it leads to is missing.
async fn verify(
    view: &View,
    commit: &CommitId,
    head: Option<&CommitId>,
    entries: Vec<Entry>,
) -> Result<(), RemoveError> {
    let kept = tree_entries(view, commit).await?;
    let wanted: BTreeSet<_> = entries.into_iter().map(key).collect();
    if kept != wanted {
        return Err(RemoveError::NotSaved);
    }
    let mut git = view.git().args(["rev-list", "--objects", "--quiet"]);
    git = git.arg(commit.as_str());
    if let Some(head) = head {
        git = git.args(["--not", head.as_str()]);
    }
    git.long().text().await?;
    Ok(())
}

pub(crate) type Key = (PathBuf, String, String);

/// The part of an entry that is compared.
pub(crate) fn key(entry: Entry) -> Key {
    (entry.path, entry.mode.to_owned(), entry.blob)
}

/// Returns the files of a commit.
pub(crate) async fn tree_entries(
    view: &View,
    commit: &CommitId,
) -> Result<BTreeSet<Key>, GitError> {
    let said = view
        .git()
        .args(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()])
        .bytes()
        .await?;
    let entry = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let facts = String::from_utf8_lossy(&record[..tab]).into_owned();
        let mut facts = facts.split(' ');
        let (mode, _, blob) = (facts.next()?, facts.next()?, facts.next()?);
        let path = path_of(&record[tab + 1..]);
        Some((path, mode.to_owned(), blob.to_owned()))
    };
    Ok(said.split(|b| *b == 0).filter_map(entry).collect())
}
