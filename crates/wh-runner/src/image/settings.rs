//! The files of `/etc` that programs of an image need to run as the server's user without a network.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::sandbox::Mapped;

/// Host names that work without a name server.
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// The most bytes of a settings file of an image that is read.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// The login shell of the agent.
const SHELL: &str = "/bin/sh";

/// Writes the files into `into` and returns how they are shown. The user and group that the agent runs as are added to those of the
/// image, unless they are there.
pub fn write_settings(image: &Path, into: &Path, home: Option<&Path>) -> io::Result<Vec<Mapped>> {
    fs::create_dir_all(into)?;
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let home = home.unwrap_or(Path::new("/")).display();
    let user = format!("agent:x:{user}:{group}:agent:{home}:{SHELL}");
    let group = format!("agent:x:{group}:");
    let files = [
        ("hosts", HOSTS.to_owned()),
        ("passwd", with_entry(&read(image, "etc/passwd"), &user)),
        ("group", with_entry(&read(image, "etc/group"), &group)),
    ];
    let mut mapped = Vec::new();
    for (name, text) in files {
        let (source, target) = (into.join(name), PathBuf::from("/etc").join(name));
        fs::write(&source, text)?;
        mapped.push(Mapped {
            source,
            target,
            writable: false,
        });
    }
    Ok(mapped)
}

/// Reads a settings file of an image; nothing if it is a link or too large.
fn read(image: &Path, name: &str) -> String {
    let path = image.join(name);
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() && found.len() <= SETTINGS_BYTES_MAX => {
            fs::read_to_string(path).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Adds an entry to a table such as `/etc/passwd`, unless its number has one: programs look up who they run as.
fn with_entry(table: &str, entry: &str) -> String {
    let number = |line: &str| line.split(':').nth(2).map(str::to_owned);
    let has_entry = table.lines().any(|line| number(line) == number(entry));
    match (has_entry, table.is_empty() || table.ends_with('\n')) {
        (true, _) => table.to_owned(),
        (false, true) => format!("{table}{entry}\n"),
        (false, false) => format!("{table}\n{entry}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_added_once() {
        let table = "root:x:0:0:root:/root:/bin/bash";
        let added = with_entry(table, "agent:x:1000:1000:agent:/home/u:/bin/sh");
        assert_eq!(added.lines().count(), 2);
        assert!(added.starts_with(table) && added.ends_with("/bin/sh\n"));
        assert_eq!(with_entry(&added, "agent:x:1000:1:other"), added);
        assert_eq!(with_entry(table, "agent:x:0:0:agent:/:/bin/sh"), table);
    }

    #[test]
    fn a_link_in_place_of_a_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        fs::create_dir_all(image.join("etc")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", image.join("etc/passwd")).unwrap();
        let mapped = write_settings(&image, &dir.path().join("own"), None).unwrap();
        let passwd = mapped
            .iter()
            .find(|it| it.target == Path::new("/etc/passwd"));
        let text = fs::read_to_string(&passwd.unwrap().source).unwrap();
        assert_eq!(text.lines().count(), 1);
        assert!(text.starts_with("agent:x:"));
    }
}
