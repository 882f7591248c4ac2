//! An unpacked image as the root of a sandbox.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};

use crate::sandbox::Mapped;

/// Paths that every sandbox fills itself.
const REPLACED: &[&str] = &["/dev", "/proc", "/sys", "/tmp"];

/// Finds a program in an image: a path as it is, a name in the directories of `path`. Links are followed as they lead inside the
/// image.
pub fn find_program(root: &Path, name: &str, path: &str) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = match name.contains('/') {
        true => vec![Path::new("/").join(name)],
        false => path
            .split(':')
            .map(|dir| Path::new("/").join(dir).join(name))
            .collect(),
    };
    let candidates = candidates.into_iter();
    let root = open(
        root,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .ok()?;
    let is_program = |candidate: &PathBuf| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let found = openat2(&root, candidate, flags, Mode::empty(), resolve).and_then(fstat);
        found.is_ok_and(|found| {
            let kind = FileType::from_raw_mode(found.st_mode);
            kind == FileType::RegularFile && found.st_mode & 0o111 != 0
        })
    };
    let mut programs = candidates.filter(is_program);
    programs.next()
}

/// Returns the mounts that show an image read-only. `targets` lists everything that is mounted besides: directories that need a mount
/// point which the image does not have are built entry by entry.
pub fn root_mounts(image: &Path, targets: &[PathBuf]) -> io::Result<Vec<Mapped>> {
    let root = open(
        image,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let has = |path: &Path| {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(
            &root,
            path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        )
        .is_ok()
    };
    let missing: Vec<&PathBuf> = targets.iter().filter(|target| !has(target)).collect();
    let is_replaced = |path: &Path| {
        REPLACED.iter().any(|replaced| path == Path::new(replaced))
            || targets.iter().any(|target| target == path)
    };
    let mut mounts = Vec::new();
    let mut open_dirs = vec![PathBuf::from("/")];
    while let Some(dir) = open_dirs.pop() {
        for entry in fs::read_dir(below(image, &dir))? {
            let entry = entry?;
            let target = dir.join(entry.file_name());
            if is_replaced(&target) {
                continue;
            }
            let needs_mount_point = missing.iter().any(|it| it.starts_with(&target));
            if needs_mount_point && entry.file_type()?.is_dir() {
                open_dirs.push(target);
            } else {
                let (source, writable) = (entry.path(), false);
                mounts.push(Mapped {
                    source,
                    target,
                    writable,
                });
            }
        }
    }
    Ok(mounts)
}

fn below(image: &Path, path: &Path) -> PathBuf {
    image.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::*;

    fn image(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        dir
    }

    #[test]
    fn programs_are_found_inside_the_image_only() {
        let dir = image(&["usr/local/bin/agent", "opt/tool/run", "etc/plain"]);
        let root = dir.path();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::set_permissions(root.join("etc/plain"), fs::Permissions::from_mode(0o644)).unwrap();
        symlink("/opt/tool/run", root.join("usr/bin/tool")).unwrap();
        symlink("../../../../../../bin/sh", root.join("usr/bin/outside")).unwrap();
        symlink("/usr/bin/loop", root.join("usr/bin/loop")).unwrap();
        let find = |name: &str| find_program(root, name, "/usr/local/bin:/usr/bin:/etc");
        assert_eq!(find("agent"), Some("/usr/local/bin/agent".into()));
        assert_eq!(find("tool"), Some("/usr/bin/tool".into()));
        assert_eq!(find("/opt/tool/run"), Some("/opt/tool/run".into()));
        for absent in ["outside", "loop", "plain", "sh", "bin", "/bin/sh"] {
            assert_eq!(find(absent), None, "{absent}");
        }
    }

    #[test]
    fn directories_without_a_mount_point_are_built_entry_by_entry() {
        let dir = image(&[
            "usr/bin/git",
            "etc/passwd",
            "home/other/file",
            "var/lib/x",
            "tmp/left",
            "dev/console",
        ]);
        symlink("usr/bin", dir.path().join("bin")).unwrap();
        let targets = ["/etc/passwd", "/home/u/work", "/home/u", "/var/tmp"].map(PathBuf::from);
        let mounts = root_mounts(dir.path(), &targets).unwrap();
        let shown: BTreeSet<_> = mounts
            .iter()
            .map(|it| it.target.to_str().unwrap())
            .collect();
        // `/etc` has its mount point; `/home` and `/var` do not.
        let expected = BTreeSet::from(["/usr", "/etc", "/bin", "/home/other", "/var/lib"]);
        assert_eq!(shown, expected);
        assert!(
            mounts
                .iter()
                .all(|it| !it.writable && it.source.starts_with(dir.path()))
        );
    }
}
