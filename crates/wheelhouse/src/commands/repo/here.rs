//! The repository that a directory belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::{CliError, CliResult};

/// Returns the directory of the repository that the current directory belongs to, if it belongs to one.
pub(in crate::commands) fn around_here() -> CliResult<Option<String>> {
    let here = std::env::current_dir()
        .map_err(|error| CliError::usage(format!("the current directory: {error}")))?;
    Ok(around(&here))
}

/// Returns the directory of the repository that a directory belongs to. A linked worktree belongs to its main repository.
pub(super) fn around(directory: &Path) -> Option<String> {
    let is_top = |it: &&Path| {
        let git = it.join(".git");
        git.is_file() || git.join("HEAD").exists()
    };
    let top = directory.ancestors().find(is_top)?;
    let main = main_of(top).unwrap_or_else(|| top.to_owned());
    main.into_os_string().into_string().ok()
}

/// Returns the main directory of the repository that a linked worktree belongs to, as its `.git` file says.
fn main_of(worktree: &Path) -> Option<PathBuf> {
    let link = fs::read_to_string(worktree.join(".git")).ok()?;
    let git_dir = worktree.join(link.strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(git_dir.join("commondir")).ok()?;
    let common = git_dir.join(common.trim()).canonicalize().ok()?;
    let main = common.parent()?.to_owned();
    common.ends_with(".git").then_some(main)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> Option<String> {
        Some(path.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_directory_within_a_repository_stands_for_it() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().canonicalize().unwrap().join("app");
        let inner = top.join("src/deep");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(around(&inner), None);
        let git = top.join(".git");
        fs::create_dir(&git).unwrap();
        // A folder of that name alone is no repository.
        assert_eq!(around(&inner), None);
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(around(&inner), text(&top));

        let linked = top.with_file_name("linked");
        fs::create_dir_all(linked.join("src")).unwrap();
        let about = git.join("worktrees/linked");
        fs::create_dir_all(&about).unwrap();
        fs::write(about.join("commondir"), "../..\n").unwrap();
        let link = format!("gitdir: {}\n", about.display());
        fs::write(linked.join(".git"), link).unwrap();
        assert_eq!(around(&linked.join("src")), text(&top));

        // A submodule is a repository of its own.
        let module = top.join("module");
        fs::create_dir_all(&module).unwrap();
        fs::create_dir_all(git.join("modules/module")).unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(around(&module), text(&module));
    }
}
