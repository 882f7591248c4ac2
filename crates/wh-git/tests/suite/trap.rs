//! A repository in which everything that git can run is planted.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::lab::{Lab, attempt, run, write};

/// Every hook that git knows and the server could set off.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
    "fsmonitor-watchman",
];

/// The lab's traps; each leaves the canary when it runs.
pub(crate) struct Trap {
    pub(crate) canary: PathBuf,
    script: PathBuf,
    config: String,
}

impl Trap {
    /// Writes the program that all traps run, and the configuration that runs it.
    pub(crate) fn new(lab: &Lab) -> Self {
        let canary = lab.path().join("CANARY");
        let script = lab.path().join("trap.sh");
        let text = format!(
            "#!/bin/sh\necho \"$0 $*\" >> {}\nexit 0\n",
            canary.display()
        );
        executable(&script, &text);
        let run = script.display();
        let config = format!(
            "[core]\n\tfsmonitor = {run}\n\tsshCommand = {run}\n\tpager = {run}\n\teditor = {run}\n\
             \taskPass = {run}\n\tgitProxy = {run}\n\talternateRefsCommand = {run}\n\
             [credential]\n\thelper = !{run}\n[diff]\n\texternal = {run}\n\
             [diff \"evil\"]\n\tcommand = {run}\n\ttextconv = {run}\n\
             [filter \"evil\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired = true\n\
             [filter \"worse\"]\n\tprocess = {run}\n\trequired = true\n\
             [merge \"evil\"]\n\tdriver = {run}\n[merge]\n\tdefault = evil\n[alias]\n\tstatus = !{run}\n\tdiff = !{run}\n\
             [commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {run}\n[sequence]\n\teditor = {run}\n\
             [protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n\
             [uploadpack]\n\tpackObjectsHook = {run}\n[interactive]\n\tdiffFilter = {run}\n\
             [url \"ext::{run} \"]\n\tinsteadOf = {}\n[remote \"origin\"]\n\turl = ext::{run}\n\
             \tuploadpack = {run}\n\tpromisor = true\n\tvcs = evil\n[extensions]\n\tworktreeConfig = true\n",
            lab.path().join("user").display(),
        );
        Self {
            canary,
            script,
            config,
        }
    }

    /// Plants everything in the shared git directory.
    pub(crate) fn plant_shared(&self, git_dir: &Path) {
        let hooks = git_dir.join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        for hook in HOOKS {
            fs::remove_file(hooks.join(hook)).ok();
            executable(
                &hooks.join(hook),
                &fs::read_to_string(&self.script).unwrap(),
            );
        }
        let included = git_dir.join("included");
        write(&included, &self.config);
        let config = fs::read_to_string(git_dir.join("config")).unwrap();
        let more = format!(
            "{config}\n{}[core]\n\thooksPath = {}\n[includeIf \"gitdir:/\"]\n\tpath = {}\n[include]\n\tpath = included\n",
            self.config,
            hooks.display(),
            included.display(),
        );
        write(&git_dir.join("config"), more);
        write(
            &git_dir.join("info/attributes"),
            "* filter=evil diff=evil merge=evil\n*.rs filter=worse\n",
        );
    }

    /// Plants the same in a worktree and its own git directory, and leads its pointers astray.
    pub(crate) fn plant_worktree(&self, lab: &Lab, path: &Path, git_dir: &Path) {
        write(&git_dir.join("config.worktree"), &self.config);
        write(
            &path.join(".gitattributes"),
            "* filter=evil diff=evil merge=evil\n",
        );
        let inner = path.join("inner");
        fs::create_dir_all(&inner).unwrap();
        run(&inner, &["init", "-q"]);
        run(&inner, &["commit", "-q", "--allow-empty", "-m", "inner"]);
        self.plant_shared(&inner.join(".git"));
        let evil = lab.path().join("evil");
        if !evil.exists() {
            fs::create_dir(&evil).unwrap();
            run(&evil, &["init", "-q"]);
            self.plant_shared(&evil.join(".git"));
        }
        write(
            &path.join(".git"),
            format!("gitdir: {}/.git\n", evil.display()),
        );
        write(
            &git_dir.join("commondir"),
            format!("{}/.git\n", evil.display()),
        );
    }

    /// Tells whether a trap has run, and what.
    pub(crate) fn sprung(&self) -> Option<String> {
        fs::read_to_string(&self.canary).ok()
    }

    /// Shows that the traps work on somebody who is not careful.
    pub(crate) fn works_on(&self, dir: &Path) {
        for args in [&["status"][..], &["diff"], &["add", "-A"]] {
            drop(attempt(dir, args));
        }
        assert!(self.sprung().is_some(), "the traps are not armed");
        fs::remove_file(&self.canary).unwrap();
    }
}

pub(crate) fn executable(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
