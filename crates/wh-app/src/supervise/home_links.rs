//! A home directory of symlinks, for machines on which no private layer can be mounted over the real one.
//!
//! The agent is told this directory as its `HOME`. What it reads comes from the user's home through symlinks, which the sandbox
//! makes read-only; what it creates stays here. Directories in which agents keep their own files are created instead of linked, so
//! that new files can appear in them.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Directories that are created here and whose entries are linked one by one.
const CREATED: &[&str] = &[
    ".config",
    ".local",
    ".local/share",
    ".local/state",
    ".claude",
    ".codex",
    ".gemini",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
];

/// Directories that start empty: caches that every program can fill again, and files of the built-in agent.
const EMPTY: &[&str] = &[".cache", ".npm", ".wheelhouse-echo"];

/// Files that agents rewrite in place. They are copied once.
const COPIED: &[&str] = &[
    ".claude.json",
    ".gemini/settings.json",
    ".codex/config.toml",
];

/// Fills `links` from `home`. What is there already stays, so that a resumed agent finds its files.
pub(super) fn create(
    home: &Path,
    links: &Path,
    hidden: &[PathBuf],
    login_files: &[PathBuf],
) -> io::Result<()> {
    for dir in CREATED.iter().chain(EMPTY) {
        fs::create_dir_all(links.join(dir))?;
    }
    for name in COPIED {
        let (from, to) = (home.join(name), links.join(name));
        if from.is_file() && !to.exists() {
            fs::copy(from, to)?;
        }
    }
    for file in login_files {
        let Ok(name) = file.strip_prefix(home) else {
            continue;
        };
        let link = links.join(name);
        if let Some(parent) = link.parent() {
            fs::create_dir_all(parent)?;
        }
        link_once(file, &link)?;
    }
    for dir in [""].iter().chain(CREATED) {
        for entry in fs::read_dir(home.join(dir)).into_iter().flatten().flatten() {
            let name = Path::new(dir).join(entry.file_name());
            let is_hidden = hidden.iter().any(|path| *path == entry.path());
            if !is_hidden && !EMPTY.iter().any(|it| name.starts_with(it)) {
                link_once(&entry.path(), &links.join(&name))?;
            }
        }
    }
    Ok(())
}

fn link_once(target: &Path, link: &Path) -> io::Result<()> {
    match symlink(target, link) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_not_linked_and_what_the_agent_changed_stays() {
        let (home, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, links) = (home.path(), links.path());
        for dir in [".ssh", "code", ".config/git", ".config/gh", ".claude"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        fs::write(home.join(".claude.json"), "1").unwrap();
        fs::write(home.join(".claude/.credentials.json"), "login").unwrap();
        let hidden = [home.join(".ssh"), home.join(".config/gh")];
        let login = [home.join(".claude/.credentials.json")];
        create(home, links, &hidden, &login).unwrap();
        fs::write(links.join(".claude.json"), "2").unwrap();
        fs::write(links.join(".config/new"), "mine").unwrap();
        create(home, links, &hidden, &login).unwrap();

        assert!(!links.join(".ssh").exists() && !links.join(".config/gh").exists());
        assert!(links.join("code").is_symlink() && links.join(".config/git").is_symlink());
        assert_eq!(fs::read_to_string(links.join(".claude.json")).unwrap(), "2");
        assert_eq!(fs::read_to_string(home.join(".claude.json")).unwrap(), "1");
        assert!(links.join(".claude/.credentials.json").is_symlink());
        assert!(!home.join(".config/new").exists());
    }
}
