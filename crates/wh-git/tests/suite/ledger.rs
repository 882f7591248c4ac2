//! What objects exist around a worktree, and which of them are still to be had.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
};

use sha1::Digest;
use wh_git::WorktreeHandle;

use crate::lab::{attempt, run};

/// Names the blob that git would make of these bytes.
pub(crate) fn blob_id(bytes: &[u8]) -> String {
    let mut hash = sha1::Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Names the contents of every file and link below a directory, `.git` at its top aside.
pub(crate) fn on_disk(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        let Ok(entries) = fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path == root.join(".git") {
                continue;
            }
            let kind = entry.file_type().unwrap();
            let bytes = if kind.is_dir() {
                left.push(path);
                continue;
            } else if kind.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .as_os_str()
                    .as_bytes()
                    .to_vec()
            } else if kind.is_file() {
                fs::read(&path).unwrap()
            } else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            all.insert(blob_id(&bytes), name);
        }
    }
    all
}

/// Names every object that the worktree's git directory can lead to: head, index, logs, merge state.
pub(crate) fn in_git_dir(user: &Path, worktree: &WorktreeHandle) -> BTreeSet<String> {
    let git_dir = &worktree.paths().git_dir;
    let mut args = vec![
        "--git-dir",
        git_dir.to_str().unwrap(),
        "rev-list",
        "--objects",
    ];
    args.extend(["--no-object-names", "--reflog", "--all"]);
    for name in ["HEAD", "AUTO_MERGE", "MERGE_HEAD", "ORIG_HEAD"] {
        if git_dir.join(name).exists() {
            args.push(name);
        }
    }
    let listed = attempt(user, &args);
    let mut all: BTreeSet<String> = lines(&listed.stdout).collect();
    let staged = attempt(
        user,
        &["--git-dir", git_dir.to_str().unwrap(), "ls-files", "-s"],
    );
    let object = |line: String| line.split(' ').nth(1).map(str::to_owned);
    let staged: BTreeSet<String> = lines(&staged.stdout).filter_map(object).collect();
    // An entry that was only announced (`add -N`) names the empty blob, which nobody wrote.
    all.extend(staged.into_iter().filter(|id| *id != blob_id(b"")));
    all
}

/// Names every object that a reference of the repository, or the log of its stash, leads to.
pub(crate) fn reachable(user: &Path) -> BTreeSet<String> {
    let mut args = vec!["rev-list", "--objects", "--no-object-names", "--all"];
    let stashes = attempt(user, &["reflog", "show", "--format=%H", "refs/stash"]);
    let stashes: Vec<String> = lines(&stashes.stdout).collect();
    args.extend(stashes.iter().map(String::as_str));
    lines(run(user, &args).as_bytes()).collect()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.into_iter()
}
