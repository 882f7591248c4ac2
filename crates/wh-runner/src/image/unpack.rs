//! Unpacks the file system of an image from a tar archive. The archive is not trusted.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tar::{Archive, Entry, EntryType};

/// The most entries of an image.
const ENTRIES_MAX: u64 = 2_000_000;
/// The most bytes of all files of an image together.
const BYTES_MAX: u64 = 64 << 30;

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    #[error("it has more than {ENTRIES_MAX} files")]
    TooManyEntries,
    #[error("its files have more than {} GiB", BYTES_MAX >> 30)]
    TooLarge,
    #[error("{} leads outside of the image", path.display())]
    Outside { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Entry { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// Unpacks an archive into an empty directory. Files become the caller's own; devices, pipes and sockets are left out, and no file is
/// set-user-ID.
pub(super) fn unpack(archive: impl Read, into: &Path) -> Result<(), UnpackError> {
    unpack_within(archive, into, ENTRIES_MAX, BYTES_MAX)
}

fn unpack_within(
    archive: impl Read,
    into: &Path,
    entries_max: u64,
    bytes_max: u64,
) -> Result<(), UnpackError> {
    let mut archive = Archive::new(archive);
    archive.set_preserve_mtime(false);
    let (mut count, mut bytes) = (0, 0_u64);
    for entry in archive.entries()? {
        let mut entry = entry?;
        count += 1;
        bytes = bytes.saturating_add(entry.size());
        if count > entries_max {
            return Err(UnpackError::TooManyEntries);
        }
        if bytes > bytes_max {
            return Err(UnpackError::TooLarge);
        }
        unpack_entry(&mut entry, into)?;
    }
    // What is renamed later must be whole, also after a power failure.
    rustix::fs::syncfs(fs::File::open(into)?).map_err(io::Error::from)?;
    Ok(())
}

fn unpack_entry(entry: &mut Entry<'_, impl Read>, into: &Path) -> Result<(), UnpackError> {
    let kind = entry.header().entry_type();
    let is_kept = matches!(
        kind,
        EntryType::Regular
            | EntryType::Continuous
            | EntryType::GNUSparse
            | EntryType::Directory
            | EntryType::Symlink
            | EntryType::Link
    );
    if !is_kept {
        return Ok(());
    }
    let path = entry.path()?.into_owned();
    let failed = |source| UnpackError::Entry {
        path: path.clone(),
        source,
    };
    // Refuses paths with `..`, and entries below a symlink that leads out of the directory.
    if !entry.unpack_in(into).map_err(failed)? {
        return Err(UnpackError::Outside { path });
    }
    if kind == EntryType::Directory {
        // Without these, later entries could not be created in it, nor could it be removed.
        let target = into.join(path.strip_prefix("/").unwrap_or(&path));
        let mode = fs::symlink_metadata(&target)
            .map_err(failed)?
            .permissions()
            .mode();
        fs::set_permissions(&target, fs::Permissions::from_mode(mode | 0o700)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tar::{Builder, Header};

    use super::*;

    /// Adds an entry without any check of its name.
    fn add(archive: &mut Builder<Vec<u8>>, kind: EntryType, path: &str, link: &str, data: &[u8]) {
        let mut header = Header::new_gnu();
        let name = &mut header.as_gnu_mut().unwrap().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        let target = &mut header.as_gnu_mut().unwrap().linkname;
        target[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(if kind == EntryType::Directory {
            0o555
        } else {
            0o4755
        });
        header.set_size(data.len() as u64);
        header.set_cksum();
        archive.append(&header, data).unwrap();
    }

    fn archive(entries: &[(EntryType, &str, &str, &[u8])]) -> Vec<u8> {
        let mut archive = Builder::new(Vec::new());
        for (kind, path, link, data) in entries {
            add(&mut archive, *kind, path, link, data);
        }
        archive.into_inner().unwrap()
    }

    #[test]
    fn an_image_is_unpacked_without_devices_and_set_user_id() {
        let bytes = archive(&[
            (EntryType::Directory, "usr", "", b""),
            (EntryType::Directory, "usr/bin", "", b""),
            (EntryType::Regular, "usr/bin/su", "", b"program"),
            (EntryType::Symlink, "bin", "usr/bin", b""),
            (EntryType::Symlink, "etc-outside", "/etc", b""),
            (EntryType::Link, "usr/bin/link", "usr/bin/su", b""),
            (EntryType::Char, "dev-null", "", b""),
            (EntryType::Fifo, "pipe", "", b""),
        ]);
        let dir = tempfile::tempdir().unwrap();
        unpack(bytes.as_slice(), dir.path()).unwrap();
        let mode = |path: &str| {
            fs::symlink_metadata(dir.path().join(path))
                .unwrap()
                .permissions()
                .mode()
                & 0o7777
        };
        assert_eq!(mode("usr/bin/su"), 0o755);
        assert_eq!(mode("usr/bin"), 0o755);
        assert_eq!(
            fs::read(dir.path().join("usr/bin/link")).unwrap(),
            b"program"
        );
        assert_eq!(
            fs::read_link(dir.path().join("bin")).unwrap(),
            Path::new("usr/bin")
        );
        for absent in ["dev-null", "pipe"] {
            assert!(!dir.path().join(absent).exists(), "{absent}");
        }
    }

    #[test]
    fn nothing_is_written_outside_of_the_directory() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().to_str().unwrap();
        let hostile: [(&str, Vec<u8>); 5] = [
            (
                "..",
                archive(&[(EntryType::Regular, "a/../../evil", "", b"x")]),
            ),
            (
                "absolute symlink",
                archive(&[
                    (EntryType::Symlink, "out", target, b""),
                    (EntryType::Regular, "out/evil", "", b"x"),
                ]),
            ),
            (
                "relative symlink",
                archive(&[
                    (EntryType::Symlink, "up", "..", b""),
                    (EntryType::Regular, "up/evil", "", b"x"),
                ]),
            ),
            (
                "hard link",
                archive(&[(EntryType::Link, "shadow", "/etc/passwd", b"")]),
            ),
            (
                "hard link through a symlink",
                archive(&[
                    (EntryType::Symlink, "out", "/etc", b""),
                    (EntryType::Link, "stolen", "out/passwd", b""),
                ]),
            ),
        ];
        for (name, bytes) in hostile {
            let dir = tempfile::tempdir().unwrap();
            let into = dir.path().join("image");
            fs::create_dir(&into).unwrap();
            assert!(unpack(bytes.as_slice(), &into).is_err(), "{name}");
            assert!(!dir.path().join("evil").exists(), "{name}");
            assert!(
                !into.join("stolen").exists() && !into.join("shadow").exists(),
                "{name}"
            );
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        // A file over a symlink replaces the link and does not follow it.
        let victim = outside.path().join("victim");
        fs::write(&victim, "before").unwrap();
        let bytes = archive(&[
            (EntryType::Symlink, "file", victim.to_str().unwrap(), b""),
            (EntryType::Regular, "file", "", b"after"),
        ]);
        let dir = tempfile::tempdir().unwrap();
        unpack(bytes.as_slice(), dir.path()).ok();
        assert_eq!(fs::read(&victim).unwrap(), b"before");
    }

    #[test]
    fn too_many_entries_and_bytes_are_refused() {
        let bytes = archive(&[
            (EntryType::Regular, "a", "", b"12345"),
            (EntryType::Regular, "b", "", b"12345"),
        ]);
        let dir = tempfile::tempdir().unwrap();
        let unpacked = unpack_within(bytes.as_slice(), dir.path(), 1, 100);
        assert!(matches!(unpacked, Err(UnpackError::TooManyEntries)));
        let unpacked = unpack_within(bytes.as_slice(), dir.path(), 10, 9);
        assert!(matches!(unpacked, Err(UnpackError::TooLarge)));
        // A truncated archive is an error, too.
        let unpacked = unpack(&bytes[..600], dir.path());
        assert!(unpacked.is_err());
    }
}
