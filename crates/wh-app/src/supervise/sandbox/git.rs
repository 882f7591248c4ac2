//! Mounts a repository's git directory into a sandbox.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use wh_git::{AgentAccess, GitLink};
use wh_runner::sandbox::Mapped;

/// Where a contained agent sees the git directory of its worktree's repository: outside of every directory in which it may create
/// symlinks. Git appends to logs, and a symlink among them would have a person's git append to any file.
pub(in crate::supervise) const GIT_DIR: &str = "/run/wheelhouse/git";

/// Mount point of the object directory borrowed by a private clone.
const OBJECTS_DIR: &str = "/run/wheelhouse/objects";

/// The file by which git finds borrowed objects.
pub(in crate::supervise) const ALTERNATES: &str = "/run/wheelhouse/git/objects/info/alternates";

/// Shows the objects that a private clone borrows at [`OBJECTS_DIR`], so that nothing of where the repository is becomes visible.
pub(super) fn map_objects(objects: PathBuf, own: &Path) -> io::Result<[Mapped; 2]> {
    let alternates = own.join("alternates");
    fs::write(&alternates, format!("{OBJECTS_DIR}\n"))?;
    let read_only = |source, target: &str| Mapped {
        source,
        target: target.into(),
        writable: false,
    };
    Ok([
        read_only(objects, OBJECTS_DIR),
        read_only(alternates, ALTERNATES),
    ])
}

/// Shows the repository's git directory at [`GIT_DIR`] and leads the worktree's `.git` file there.
pub(super) fn map_git(link: &GitLink, access: &AgentAccess, own: &Path) -> io::Result<Vec<Mapped>> {
    let moved = |path: &Path| {
        let below = path.strip_prefix(&link.common_dir).ok()?;
        Some(Path::new(GIT_DIR).join(below))
    };
    let dot_git = own.join("dot-git");
    let git_dir = moved(&link.git_dir).unwrap_or_else(|| link.git_dir.clone());
    fs::write(&dot_git, format!("gitdir: {}\n", git_dir.display()))?;
    let map = |path: &PathBuf, writable| {
        let target = moved(path)?;
        let source = path.clone();
        Some(Mapped {
            source,
            target,
            writable,
        })
    };
    let mut mapped = vec![Mapped {
        source: dot_git,
        target: link.dot_git.clone(),
        writable: false,
    }];
    mapped.extend(map(&link.common_dir, false));
    mapped.extend(access.writable.iter().filter_map(|path| map(path, true)));
    mapped.extend(access.read_only.iter().filter_map(|path| map(path, false)));
    Ok(mapped)
}
