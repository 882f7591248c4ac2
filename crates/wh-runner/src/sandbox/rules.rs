//! Landlock: the kernel's rules about which files a process may read and change.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{
    SetupError,
    spec::{Mechanism, Root, Sandbox},
};

/// The newest rules that are asked for; an older kernel enforces those that it has.
const NEWEST: ABI = ABI::V9;

/// Where a write to a device, or to what stands for one, is allowed.
const DEVICE_DIRS: &[&str] = &["/dev"];

/// Restricts the calling thread and everything that it starts.
pub(super) fn restrict(sandbox: &Sandbox) -> Result<(), SetupError> {
    let failed =
        |error: RulesetError| SetupError::new("apply Landlock rules", std::io::Error::other(error));
    let status = ruleset(sandbox)
        .and_then(RulesetCreated::restrict_self)
        .map_err(failed)?;
    // With namespaces this is the second wall and may be missing; without them it is the only one.
    let is_enforced = status.ruleset != RulesetStatus::NotEnforced;
    if sandbox.mechanism == Mechanism::Landlock && !is_enforced {
        let missing = std::io::Error::other("this kernel has no Landlock");
        return Err(SetupError::new("apply Landlock rules", missing));
    }
    Ok(())
}

fn ruleset(sandbox: &Sandbox) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let full = all & !devices;
    let git =
        full & !(AccessFs::MakeSym | AccessFs::MakeSock | AccessFs::MakeFifo | AccessFs::Execute);
    let mut own: Vec<PathBuf> = sandbox.writable.clone();
    let mapped = sandbox.mapped.iter().filter(|mapped| mapped.writable);
    let mapped = mapped.map(|mapped| mapped.target.clone());
    let git_dirs = sandbox.git_writable.iter().cloned().chain(mapped);
    let mut roots = vec![PathBuf::from("/")];
    match sandbox.mechanism {
        Mechanism::Namespaces => {
            own.extend(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
            own.extend(sandbox.home.iter().map(|home| home.path.clone()));
            if sandbox.root == Root::Built {
                let mapped = sandbox.mapped.iter().map(|mapped| mapped.target.clone());
                roots = vec!["/proc".into()];
                roots.extend(sandbox.readable.iter().cloned().chain(mapped));
            }
        }
        Mechanism::Landlock => {
            own.push(sandbox.tmp.clone());
            own.push("/dev/shm".into());
            own.extend(
                sandbox
                    .home
                    .iter()
                    .flat_map(|home| [home.layer.clone()].into_iter().chain(home.shared.clone())),
            );
            roots = visible(Path::new("/"), &sandbox.hidden);
            roots.extend(sandbox.readable.iter().cloned());
            roots.extend(sandbox.read_only.iter().cloned());
        }
    }
    let device_access: BitFlags<AccessFs> =
        read | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
    Ruleset::default()
        .handle_access(all)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(roots, read))?
        .add_rules(path_beneath_rules(DEVICE_DIRS, device_access))?
        .add_rules(path_beneath_rules(own, full))?
        .add_rules(path_beneath_rules(git_dirs, git))
}

/// Returns the largest subtrees of `root` that contain nothing hidden. Directories that contain something hidden are themselves
/// not in the list, so they cannot be listed.
fn visible(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.iter().any(|path| root.starts_with(path)) {
        return Vec::new();
    }
    if !hidden.iter().any(|path| path.starts_with(root)) {
        return vec![root.to_owned()];
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries
        .flat_map(|entry| visible(&entry.path(), hidden))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_in_no_visible_subtree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for path in ["a/b/secret", "a/b/open", "a/c", "d"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let hidden = vec![root.join("a/b/secret"), root.join("d")];
        let mut visible = visible(root, &hidden);
        visible.sort();
        assert_eq!(visible, [root.join("a/b/open"), root.join("a/c")]);
    }
}
