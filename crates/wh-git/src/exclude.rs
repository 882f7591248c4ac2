//! The marked block that the server keeps in `info/exclude`.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{RepoHandle, repo::read_small};

impl RepoHandle {
    /// Replaces the block of `key` in `info/exclude`, or takes it away when `patterns` is empty.
    ///
    /// The rest of the file is the user's and stays as it is. The file is shared by all worktrees of the repository,
    /// therefore the key, which should be a session's id. Written beside and renamed, so that a crash leaves the old or
    /// the new text. Two writers at the same moment can lose one block; the caller serialises them.
    pub fn exclude_set(&self, key: &str, patterns: &[&str]) -> io::Result<()> {
        let plain = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
        if !plain(key) || !patterns.iter().all(|pattern| plain(pattern)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let old = match read_exclude(self.common_dir()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let new = with_block(&old, key, patterns);
        if new == old {
            return Ok(());
        }
        let info = self.common_dir().join("info");
        fs::create_dir_all(&info)?;
        let mut file = tempfile::NamedTempFile::new_in(&info)?;
        file.write_all(new.as_bytes())?;
        file.as_file().sync_all()?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.as_file().set_permissions(readable)?;
        file.persist(exclude_path(self.common_dir()))?;
        Ok(())
    }
}

fn exclude_path(common_dir: &Path) -> PathBuf {
    common_dir.join("info/exclude")
}

/// Reads the excludes of a repository; a link in their place is not followed.
pub(crate) fn read_exclude(common_dir: &Path) -> io::Result<String> {
    read_small(&exclude_path(common_dir))
}

/// Returns the text with the block of `key` replaced.
fn with_block(text: &str, key: &str, patterns: &[&str]) -> String {
    let (begin, end) = (
        format!("# wheelhouse begin {key}"),
        format!("# wheelhouse end {key}"),
    );
    // A block that somebody left open is not a block: taking the rest of the file away would be worse.
    let closed = text.lines().any(|line| line == end);
    let mut inside = false;
    let mut new = String::new();
    for line in text.lines() {
        inside |= closed && line == begin;
        if !inside {
            new.push_str(line);
            new.push('\n');
        }
        inside &= line != end;
    }
    if !patterns.is_empty() {
        new.push_str(&format!("{begin}\n{}\n{end}\n", patterns.join("\n")));
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let one = with_block("*.tmp\n", "s1", &["a"]);
        let two = with_block(&one, "s2", &["b", "c"]);
        let three = with_block(&two, "s1", &["d"]);
        assert!(three.starts_with("*.tmp\n# wheelhouse begin s2\nb\nc\n"));
        assert!(three.ends_with("# wheelhouse begin s1\nd\n# wheelhouse end s1\n"));
        let gone = with_block(&with_block(&three, "s1", &[]), "s2", &[]);
        assert_eq!(gone, "*.tmp\n");
    }
}
