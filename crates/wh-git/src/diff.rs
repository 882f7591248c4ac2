//! What changed between a base and a worktree or another commit, within bounds.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    CommitId, GitError, RepoHandle, WorktreeError, WorktreeHandle, patch::add_patches, view::View,
    worktree::path_of,
};

/// How much of a diff is returned; what is beyond is counted and left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLimits {
    /// Files at the beginning that were returned before.
    pub files_skipped: usize,
    pub files_max: usize,
    pub file_bytes_max: usize,
    pub total_bytes_max: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self {
            files_skipped: 0,
            files_max: 300,
            file_bytes_max: 128 << 10,
            total_bytes_max: 2 << 20,
        }
    }
}

/// Whether the text of the changes is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patches {
    Leave,
    Include,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub files: Vec<FileDiff>,
    /// Files after those in the list, which was full.
    pub files_left_out: usize,
    /// Added and deleted lines of all files, also of those left out.
    pub added: u64,
    pub deleted: u64,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    pub path: PathBuf,
    /// The path before, when the file was renamed or copied.
    pub old_path: Option<PathBuf>,
    pub change: Change,
    pub kind: FileKind,
    /// Added and deleted lines; none for a binary file.
    pub lines: Option<(u64, u64)>,
    pub patch: Patch,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
    /// A file became a link, or the like.
    TypeChanged,
    /// A conflict that is not solved.
    Unmerged,
}

/// What kind of file it is after the change, or was before it was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Executable,
    Link,
    Submodule,
}

/// The text of a change, as far as there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// Not asked for.
    NotAsked,
    /// The whole text.
    Whole(String),
    /// The beginning of the text; the rest was over a limit.
    Cut(String),
    /// Left out, because all files together were over the limit.
    LeftOut,
    /// The contents are not text.
    Binary,
}

impl RepoHandle {
    /// Compares two commits.
    pub async fn diff(
        &self,
        base: &CommitId,
        other: &CommitId,
        patches: Patches,
        limits: DiffLimits,
    ) -> Result<Diff, GitError> {
        let view = View::of(self)?;
        diff_in(&view, &[base.as_str(), other.as_str()], patches, limits).await
    }
}

impl WorktreeHandle {
    /// Compares a commit with the files as they are now, untracked ones included and ignored ones not.
    pub async fn diff(
        &self,
        base: &CommitId,
        patches: Patches,
        limits: DiffLimits,
    ) -> Result<Diff, WorktreeError> {
        let view = self.view_of_copy().await?;
        self.announce_untracked(&view).await?;
        Ok(diff_in(&view, &[base.as_str()], patches, limits).await?)
    }

    /// Announces untracked files in a view's copy of the index, so that they show as added; nothing is stored.
    pub(crate) async fn announce_untracked(&self, view: &View) -> Result<(), WorktreeError> {
        let git = view.git().args(["add", "--intent-to-add", "--all"]);
        git.args(["--ignore-errors", "--", "."])
            .long()
            .said()
            .await?;
        Ok(())
    }
}

/// Options that every diff has: nothing that runs a program or depends on configuration.
pub(crate) const OPTIONS: &[&str] = &[
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--full-index",
    "--find-renames",
    "-l1000",
    // Looking into a submodule would run git there.
    "--ignore-submodules=dirty",
    "--submodule=short",
];

pub(crate) async fn diff_in(
    view: &View,
    revisions: &[&str],
    patches: Patches,
    limits: DiffLimits,
) -> Result<Diff, GitError> {
    let said = view
        .git()
        .args(OPTIONS)
        .args(["--raw", "--numstat", "-z"])
        .args(revisions)
        .arg("--")
        .long()
        .bytes()
        .await?;
    let mut diff = read_list(&said)?;
    diff.files
        .drain(..limits.files_skipped.min(diff.files.len()));
    let rest = diff.files.len();
    diff.files.truncate(limits.files_max);
    diff.files_left_out = rest - diff.files.len();
    if patches == Patches::Include {
        add_patches(view, revisions, &mut diff, limits).await?;
    }
    Ok(diff)
}

/// Reads `--raw --numstat -z`: first all files, then all counts.
fn read_list(said: &[u8]) -> Result<Diff, GitError> {
    let mut diff = Diff::default();
    let mut counts: HashMap<PathBuf, Option<(u64, u64)>> = HashMap::new();
    let mut fields = said.split(|byte| *byte == 0);
    let unreadable = || GitError::failed("the list of changes cannot be read");
    while let Some(field) = fields.next().filter(|field| !field.is_empty()) {
        let mut path = || fields.next().map(path_of).ok_or_else(unreadable);
        if let Some(facts) = field.strip_prefix(b":") {
            let facts = String::from_utf8_lossy(facts);
            let first = path()?;
            let moved = facts
                .split(' ')
                .nth(4)
                .is_some_and(|s| s.starts_with(['R', 'C']));
            let second = if moved { Some(path()?) } else { None };
            diff.files
                .push(read_facts(&facts, first, second).ok_or_else(unreadable)?);
        } else {
            let mut parts = field.splitn(3, |byte| *byte == b'\t');
            let mut number =
                || -> Option<u64> { std::str::from_utf8(parts.next()?).ok()?.parse().ok() };
            let (added, deleted) = (number(), number());
            let name = parts.next().ok_or_else(unreadable)?;
            let name = if name.is_empty() {
                path()?;
                path()?
            } else {
                path_of(name)
            };
            counts.insert(name, added.zip(deleted));
        }
    }
    for file in &mut diff.files {
        file.lines = counts.remove(&file.path).flatten();
        let (added, deleted) = file.lines.unwrap_or_default();
        diff.added += added;
        diff.deleted += deleted;
    }
    Ok(diff)
}

fn read_facts(facts: &str, first: PathBuf, second: Option<PathBuf>) -> Option<FileDiff> {
    let mut facts = facts.split(' ');
    let (before, after) = (facts.next()?, facts.next()?);
    let change = match facts.nth(2)?.chars().next()? {
        'A' => Change::Added,
        'D' => Change::Deleted,
        'R' => Change::Renamed,
        'C' => Change::Copied,
        'T' => Change::TypeChanged,
        'U' => Change::Unmerged,
        _ => Change::Modified,
    };
    let kind = match if after == "000000" { before } else { after } {
        "120000" => FileKind::Link,
        "160000" => FileKind::Submodule,
        "100755" => FileKind::Executable,
        _ => FileKind::File,
    };
    let (path, old_path) = match second {
        Some(second) => (second, Some(first)),
        None => (first, None),
    };
    Some(FileDiff {
        path,
        old_path,
        change,
        kind,
        lines: None,
        patch: Patch::NotAsked,
    })
}
