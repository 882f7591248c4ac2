//! What lies on this machine: programs, directories, files.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::{Check, shown};
use crate::config::{Config, KeyFrom};

/// The oldest git whose commands the server uses.
const GIT_MIN: (u32, u32) = (2, 34);
/// Free space below which a warning is due.
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// How every SQLite file begins.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) async fn git() -> Check {
    let hint = "install git 2.34 or newer, such as with `apt install git`";
    match wh_git::version().await {
        Err(error) => Check::fail("git", crate::exit::chain(&error), hint),
        Ok(version) => match git_number(&version) {
            Some(number) if number >= GIT_MIN => Check::ok("git", version),
            _ => Check::warn("git", format!("{version} is older than 2.34"), hint),
        },
    }
}

fn git_number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

pub(super) fn platform() -> Check {
    let name = std::env::consts::OS;
    match name {
        "linux" => Check::ok("platform", name),
        _ => Check::warn(
            "platform",
            format!("{name}: agents are contained by process groups only"),
            "use Linux for namespaces and Landlock",
        ),
    }
}

pub(super) fn config_file(config: &Config) -> Check {
    let path = &config.file.value;
    if !config.file_exists {
        return Check::ok(
            "configuration",
            format!("{} is absent; defaults apply", shown(path)),
        );
    }
    let mode = fs::metadata(path).map_or(0, |meta| meta.permissions().mode());
    let token = &config.github_token.source;
    let model = config.model.value.as_ref();
    let has_secret = matches!(token, crate::config::Source::File { .. })
        || config.has_host_token
        || model.is_some_and(|model| model.key == KeyFrom::File);
    if has_secret && mode & 0o077 != 0 {
        let message = format!("{} holds a token and others can read it", shown(path));
        return Check::warn(
            "configuration",
            message,
            format!("run `chmod 600 {}`", shown(path)),
        );
    }
    Check::ok("configuration", shown(path))
}

/// Tells which model writes summaries. It is not called: that would cost something.
pub(super) fn model(config: &Config) -> Check {
    const NAME: &str = "model";
    let Some(model) = &config.model.value else {
        return Check::ok(NAME, "none; summaries are extracts of the transcript");
    };
    let (name, base) = (model.config.name(), model.config.base_url());
    let key = match &model.key {
        KeyFrom::Nowhere => "without a key".to_owned(),
        KeyFrom::File => "with the key in the configuration file".to_owned(),
        KeyFrom::Variable(variable) => format!("with the key in {variable}"),
        KeyFrom::MissingVariable(variable) => {
            let message = format!("{name} needs its key in {variable}, which is not set");
            let hint = "set it where the server is started, or remove [model] or its key_env";
            return Check::fail(NAME, message, hint);
        }
    };
    Check::ok(NAME, format!("{name} at {base}, {key}"))
}

pub(super) fn data_dir(path: &Path) -> Vec<Check> {
    const NAME: &str = "data directory";
    let meta = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let message = format!("{} is absent; `wheelhouse serve` makes it", shown(path));
            return vec![Check::ok(NAME, message)];
        }
        Err(error) => {
            let message = format!("cannot look at {}: {error}", shown(path));
            return vec![Check::fail(
                NAME,
                message,
                "name another one with --data-dir",
            )];
        }
        Ok(meta) if !meta.is_dir() => {
            let message = format!("{} is not a directory", shown(path));
            return vec![Check::fail(
                NAME,
                message,
                "name another one with --data-dir",
            )];
        }
        Ok(meta) => meta,
    };
    vec![ownership(path, &meta), free_space(path)]
}

fn ownership(path: &Path, meta: &fs::Metadata) -> Check {
    const NAME: &str = "data directory";
    let mode = meta.permissions().mode() & 0o777;
    let (path, uid) = (shown(path), rustix::process::geteuid().as_raw());
    if meta.uid() != uid && uid != 0 {
        let message = format!("{path} belongs to another user ({})", meta.uid());
        return Check::fail(
            NAME,
            message,
            "run as that user, or name another with --data-dir",
        );
    }
    let hint = format!("run `chmod 700 {path}`");
    match mode & 0o077 {
        0 => Check::ok(NAME, path),
        others if others & 0o022 != 0 => Check::fail(
            NAME,
            format!("others can write to {path} (mode {mode:o})"),
            hint,
        ),
        _ => Check::warn(
            NAME,
            format!("others can read {path} (mode {mode:o})"),
            hint,
        ),
    }
}

fn free_space(path: &Path) -> Check {
    const NAME: &str = "free space";
    match rustix::fs::statvfs(path) {
        Err(error) => Check::warn(NAME, format!("cannot tell: {error}"), "check the disk"),
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let message = format!("{} MiB", free / (1024 * 1024));
            match free < FREE_BYTES_MIN {
                true => Check::warn(NAME, message, "make room before agents fill the disk"),
                false => Check::ok(NAME, message),
            }
        }
    }
}

/// Looks at the file's first bytes only: whether it can be opened is the server's to say, and it holds the lock.
pub(super) fn database(path: &Path) -> Check {
    const NAME: &str = "database";
    let hint = "put back a backup, or name another data directory";
    let mut head = [0; 100];
    match fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Check::ok(
            NAME,
            format!("{} is absent; `wheelhouse serve` makes it", shown(path)),
        ),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Check::fail(NAME, format!("{} is cut off", shown(path)), hint)
        }
        Err(error) => Check::fail(NAME, format!("cannot read {}: {error}", shown(path)), hint),
        Ok(()) if &head[..16] != SQLITE_MAGIC => Check::fail(
            NAME,
            format!("{} is not an SQLite database", shown(path)),
            hint,
        ),
        Ok(()) => {
            let schema = u32::from_be_bytes([head[60], head[61], head[62], head[63]]);
            Check::ok(NAME, format!("{}, schema {schema}", shown(path)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(git_number("2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(git_number("2.9"), Some((2, 9)));
        assert!(git_number("2.100.1").unwrap() > GIT_MIN);
        assert_eq!(git_number("odd"), None);
    }
}
