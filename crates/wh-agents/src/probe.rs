//! Looks for programs and asks them for their version.

use std::{
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

/// How long a program may take to say its version; some start a whole runtime for it.
const VERSION_WITHIN: Duration = Duration::from_secs(10);

/// The most characters of a version that are shown.
const VERSION_CHARS_MAX: usize = 80;

/// Finds a program the way a shell does.
pub(crate) fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        let program = PathBuf::from(name);
        return is_executable(&program).then_some(program);
    }
    env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|program| is_executable(program))
}

fn is_executable(path: &Path) -> bool {
    let mode = path
        .metadata()
        .map(|meta| (meta.is_file(), meta.permissions().mode()));
    mode.is_ok_and(|(is_file, mode)| is_file && mode & 0o111 != 0)
}

/// Asks a program for its version; nothing when it does not say in time.
///
/// It runs without our environment and in an empty home of its own, so that nothing of ours can reach the program or be changed by
/// it: some create their settings before they say a version.
#[expect(
    clippy::disallowed_methods,
    reason = "only asks for a version; sessions are run by wh-runner"
)]
pub(crate) async fn version(program: &Path, path: &OsStr) -> Option<String> {
    let home = tempfile::tempdir().ok()?;
    let mut command = Command::new(program);
    command
        .arg("--version")
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_WITHIN, command.output()).await;
    let output = output.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let shown = line.trim().chars().filter(|c| !c.is_control());
    Some(shown.take(VERSION_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn a_program_that_is_asked_for_its_version_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("agent");
        let script = "#!/bin/sh\nmkdir -p \"$HOME/.agent\" && echo \"$HOME\"\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = OsStr::new("/usr/bin:/bin");
        let home = version(&program, path).await.unwrap();
        assert!(Path::new(&home).is_absolute(), "{home}");
        assert!(!Path::new(&home).exists(), "{home}");
        let again = version(&program, path).await.unwrap();
        assert_ne!(again, home);
    }
}
