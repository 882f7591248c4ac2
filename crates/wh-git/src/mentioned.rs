//! Commits that only a worktree's own git directory mentions.

use std::{
    collections::{BTreeSet, HashSet},
    io::{self, Read},
    path::Path,
};

use wh_domain::BranchName;

use crate::{
    GitError, WorktreeHandle,
    beneath::{hold, open_beneath},
    view::View,
    walk::{Found, blocking},
};

/// The most of one file in a worktree's git directory that is searched; a larger one is an error.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Objects that would be forgotten with a worktree's git directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentioned {
    /// Commits that no reference leads to, without those that another of them leads to.
    pub(crate) commits: Vec<String>,
    /// Trees, such as the one `AUTO_MERGE` names.
    pub(crate) trees: Vec<String>,
}

impl WorktreeHandle {
    /// Finds the commits and trees that the worktree's git directory or its stash entries name.
    ///
    /// Heads, logs, and the files of merges and rebases all name commits by their digits, in many formats. Whatever looks
    /// like a name and is an object counts; too much is kept rather than too little.
    pub(crate) async fn mentioned(
        &self,
        admin: &[Found],
        branch: Option<&BranchName>,
    ) -> Result<Mentioned, GitError> {
        let (git_dir, files) = (self.paths.git_dir.clone(), admin.to_vec());
        let digits = if self.repo.is_sha256() { 64 } else { 40 };
        let names = blocking(move || names_in(&git_dir, &files, digits));
        let mut names = names.await.map_err(GitError::Start)?;
        let stashes: Vec<String> = self.stashes(branch)?;
        names.extend(stashes.iter().cloned());
        let (commits, trees) = self.kinds_of(&names).await?;
        let mut mentioned = Mentioned {
            commits: self.unreachable_tips(&commits).await?,
            trees,
        };
        // Stash entries live on in the stash's log, which anybody can clear; the rescue holds them too.
        for stash in stashes {
            if commits.contains(&stash) && !mentioned.commits.contains(&stash) {
                mentioned.commits.push(stash);
            }
        }
        Ok(mentioned)
    }

    async fn kinds_of(
        &self,
        names: &BTreeSet<String>,
    ) -> Result<(Vec<String>, Vec<String>), GitError> {
        let (mut commits, mut trees) = (Vec::new(), Vec::new());
        if names.is_empty() {
            return Ok((commits, trees));
        }
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        let said = View::of(&self.repo)?
            .git()
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
            .stdin(lines)
            .text()
            .await?;
        for line in said.lines() {
            match line.split_once(' ') {
                Some((name, "commit")) => commits.push(name.to_owned()),
                Some((name, "tree")) => trees.push(name.to_owned()),
                _ => {}
            }
        }
        Ok((commits, trees))
    }

    async fn unreachable_tips(&self, commits: &[String]) -> Result<Vec<String>, GitError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = commits.iter().map(|name| format!("{name}\n")).collect();
        let said = self
            .repo
            .refs_git()
            .args(["rev-list", "--parents", "--stdin", "--not", "--all"])
            .stdin(lines)
            .long()
            .text()
            .await?;
        let mut tips = Vec::new();
        let mut parents = HashSet::new();
        for line in said.lines() {
            let mut names = line.split(' ');
            tips.extend(names.next().filter(|name| !name.is_empty()));
            parents.extend(names);
        }
        tips.retain(|tip| !parents.contains(tip));
        Ok(tips.into_iter().map(str::to_owned).collect())
    }
}

/// Collects every run of hex digits of the right length.
fn names_in(git_dir: &Path, files: &[Found], digits: usize) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    if files.is_empty() {
        return Ok(names);
    }
    let root = hold(git_dir)?;
    for found in files.iter().filter(|found| !is_index(found)) {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
        let Ok(file) = open_beneath(&root, &found.path, flags) else {
            // A link: its text names no commit.
            continue;
        };
        let mut bytes = Vec::new();
        let file = std::fs::File::from(file);
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        for word in bytes.split(|byte| !byte.is_ascii_hexdigit()) {
            if word.len() == digits && word.iter().any(|byte| *byte != b'0') {
                names.insert(String::from_utf8_lossy(word).to_ascii_lowercase());
            }
        }
    }
    Ok(names)
}

fn is_index(found: &Found) -> bool {
    found.path.as_os_str() == "index"
}
