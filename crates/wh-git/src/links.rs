//! Symbolic links in a git directory: through them git reads what lies elsewhere.

use std::{fs, io, path::PathBuf};

use crate::{
    GitError, RepoHandle,
    walk::{Kind, Next, blocking, walk},
};

/// The most entries of a git directory that are looked at; a larger one has to be packed first.
const ENTRIES_MAX: usize = 500_000;

/// The most links that a git directory may hold.
const LINKS_MAX: usize = 1_000;

impl RepoHandle {
    /// Returns what the symbolic links below the repository's git directories lead to, resolved as far as it exists.
    pub async fn links(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut roots = vec![self.paths().common_dir.clone()];
        if !self.paths().git_dir.starts_with(&self.paths().common_dir) {
            roots.push(self.paths().git_dir.clone());
        }
        let found = blocking(move || {
            let (mut links, mut entries) = (Vec::new(), 0);
            for root in &roots {
                walk(root, &mut |found| {
                    entries += 1;
                    if found.kind == Kind::Link {
                        links.push(root.join(&found.path));
                    }
                    match entries > ENTRIES_MAX || links.len() > LINKS_MAX {
                        true => Err(io::ErrorKind::FileTooLarge.into()),
                        false => Ok(Next::Into),
                    }
                })?;
            }
            Ok(links.into_iter().map(target).collect())
        });
        found.await.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => GitError::failed(format!(
                "the git directory has more than {ENTRIES_MAX} entries or {LINKS_MAX} links; run `git gc` there first"
            )),
            _ => GitError::Start(error),
        })
    }
}

/// Returns what a link leads to; a dangling one to where its text leads.
fn target(link: PathBuf) -> PathBuf {
    link.canonicalize().unwrap_or_else(|_| {
        let text = fs::read_link(&link).unwrap_or_default();
        link.parent().map_or(text.clone(), |dir| dir.join(text))
    })
}
