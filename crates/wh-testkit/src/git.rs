//! Repositories as users and agents have them, made with git itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs git the way a user would and returns what it printed.
///
/// # Panics
///
/// Panics with what git said when it fails.
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        // Some repositories belong to an ordinary user while the test runs as root.
        .args(["-c", "safe.directory=*"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git can be run");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Writes a file and commits everything.
pub fn commit(dir: &Path, file: &str, text: &str) {
    fs::write(dir.join(file), text).expect("the file can be written");
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", file]);
}

/// Makes a repository with one commit of `a.txt` on `main`.
pub fn repository(dir: &Path) -> PathBuf {
    fs::create_dir_all(dir).expect("the directory can be made");
    git(dir, &["init", "-q", "-b", "main"]);
    commit(dir, "a.txt", "one\n");
    dir.to_owned()
}

/// Writes a program.
pub fn program(path: &Path, text: &str) {
    let dir = path.parent().expect("a program lies in a directory");
    fs::create_dir_all(dir).expect("the directory can be made");
    fs::write(path, text).expect("the program can be written");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).expect("our own file");
}

/// Plants programs wherever a repository's configuration, hooks and attributes can name one. Each leaves a line in the
/// file that is returned when git runs it.
pub fn plant_traps(repo: &Path) -> PathBuf {
    let git_dir = repo.join(".git");
    let canary = repo.with_file_name("CANARY");
    let trap = repo.with_file_name("trap.sh");
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", canary.display());
    program(&trap, &text);
    for hook in [
        "post-checkout",
        "pre-commit",
        "post-merge",
        "reference-transaction",
        "post-index-change",
    ] {
        program(&git_dir.join("hooks").join(hook), &text);
    }
    let run = trap.display();
    let config = fs::read_to_string(git_dir.join("config")).expect("a configuration");
    let planted = format!(
        "{config}\n[core]\n\tfsmonitor = {run}\n\tsshCommand = {run}\n[diff]\n\texternal = {run}\n\
         [filter \"evil\"]\n\tclean = {run}\n\tsmudge = {run}\n[diff \"evil\"]\n\ttextconv = {run}\n\
         [merge \"evil\"]\n\tdriver = {run}\n[credential]\n\thelper = !{run}\n"
    );
    fs::write(git_dir.join("config"), planted).expect("our own repository");
    let attributes = "* filter=evil diff=evil merge=evil\n";
    fs::write(git_dir.join("info/attributes"), attributes).expect("our own repository");
    canary
}
