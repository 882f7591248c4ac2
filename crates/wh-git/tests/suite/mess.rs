//! Random states of a worktree.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use wh_git::WorktreeHandle;

use crate::lab::{Lab, attempt, run, write};

/// A small generator of random numbers with a seed that can be printed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    pub(crate) fn text(&mut self) -> String {
        format!("text {}\n", self.roll(u64::MAX))
    }
}

/// The things that can happen in a worktree.
pub(crate) const DEEDS: &[&str] = &[
    "modify",
    "stage",
    "stage twice",
    "untracked",
    "nested untracked",
    "executable",
    "links",
    "stash",
    "stash untracked",
    "commit",
    "amend",
    "detach",
    "merge",
    "rebase",
    "delete",
    "ignored",
    "announced",
    "assumed",
    "odd names",
    "pipe",
    "empty directory",
    "reset",
    "conflict solved",
    "crlf",
    "big",
];

/// The things that happen last, because git itself does not work in the worktree afterwards, or removal must refuse.
pub(crate) const ENDS: &[&str] = &[
    "swapped pointer",
    "directory gone",
    "git directory gone",
    "submodule",
    "inner repository",
];

/// Does one thing; some fail in some states, as they would for an agent.
pub(crate) fn deed(lab: &Lab, worktree: &WorktreeHandle, what: &str, dice: &mut Dice) {
    let path: PathBuf = worktree.paths().path.clone();
    let at = |name: &str| path.join(name);
    let git = |args: &[&str]| drop(attempt(&path, args));
    match what {
        "modify" => write(&at("README.md"), dice.text()),
        "stage" => {
            write(&at("src/lib.rs"), dice.text());
            git(&["add", "src/lib.rs"]);
        }
        "stage twice" => {
            write(&at("src/lib.rs"), dice.text());
            git(&["add", "src/lib.rs"]);
            write(&at("src/lib.rs"), dice.text());
        }
        "untracked" => write(&at(&format!("new{}", dice.roll(3))), dice.text()),
        "nested untracked" => write(&at("deep/down/there/file"), dice.text()),
        "executable" => {
            write(&at("run.sh"), dice.text());
            fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::set_permissions(at("README.md"), fs::Permissions::from_mode(0o755)).ok();
        }
        "links" => {
            symlink("/etc/passwd", at("out")).ok();
            symlink("nowhere", at("dangling")).ok();
            symlink("../../user", at("src/up")).ok();
        }
        "stash" | "stash untracked" => {
            write(&at("README.md"), dice.text());
            write(&at("stashed"), dice.text());
            git(if what == "stash" {
                &["stash"]
            } else {
                &["stash", "-u"]
            });
        }
        "commit" => {
            write(&at("committed"), dice.text());
            git(&["add", "committed"]);
            git(&["commit", "-qm", "more"]);
        }
        "amend" => {
            deed(lab, worktree, "commit", dice);
            write(&at("committed"), dice.text());
            git(&["commit", "-qam", "other", "--amend"]);
        }
        "detach" => {
            git(&["checkout", "-q", "--detach"]);
            deed(lab, worktree, "commit", dice);
        }
        "reset" => {
            deed(lab, worktree, "commit", dice);
            git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
        "merge" | "conflict solved" | "rebase" => conflict(lab, &path, what, dice),
        "delete" => drop(fs::remove_file(at("src/deep/er.rs"))),
        "ignored" => {
            write(&at("x.ignored"), dice.text());
            write(&at("build/out/a.o"), dice.text());
        }
        "announced" => {
            write(&at("announced"), dice.text());
            git(&["add", "-N", "announced"]);
        }
        "assumed" => {
            git(&["update-index", "--assume-unchanged", "README.md"]);
            write(&at("README.md"), dice.text());
        }
        "odd names" => {
            for name in [
                "-rf",
                ":(top)x",
                "a\nb",
                "q\"uo\\te",
                "ümläut",
                " ",
                "git~1",
                "a:b",
            ] {
                write(&at("odd").join(name), dice.text());
            }
        }
        "pipe" => drop(rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )),
        "empty directory" => drop(fs::create_dir_all(at("empty/one"))),
        "crlf" => {
            write(
                &at(".gitattributes"),
                "*.txt text eol=crlf\n* filter=planted\n",
            );
            write(&at("dos.txt"), "a\r\nb\r\n");
            git(&["add", "-A"]);
            git(&["commit", "-qm", "dos"]);
        }
        "big" => write(&at("big"), dice.text().repeat(20_000)),
        "swapped pointer" => write(&at(".git"), "gitdir: /tmp/evil\n"),
        "directory gone" => drop(fs::rename(&path, lab.path().join("gone"))),
        "git directory gone" => {
            fs::rename(&worktree.paths().git_dir, lab.path().join("gone.git")).unwrap();
        }
        "submodule" => {
            let user = lab.user();
            git(&["submodule", "--quiet", "add", user.to_str().unwrap(), "sub"]);
            write(&at("sub/inner"), dice.text());
        }
        "inner repository" => {
            fs::create_dir_all(at("inner")).unwrap();
            run(&at("inner"), &["init", "-q"]);
            write(&at("inner/file"), dice.text());
            run(&at("inner"), &["add", "-A"]);
        }
        other => panic!("no such deed: {other}"),
    }
}

/// Makes a merge or rebase stop in the middle.
fn conflict(lab: &Lab, path: &Path, what: &str, dice: &mut Dice) {
    let git = |args: &[&str]| drop(attempt(path, args));
    let user = lab.user();
    if attempt(&user, &["rev-parse", "-q", "--verify", "refs/heads/side"])
        .status
        .success()
    {
        return;
    }
    run(&user, &["checkout", "-q", "-b", "side"]);
    write(&user.join("README.md"), dice.text());
    run(&user, &["commit", "-qam", "side"]);
    run(&user, &["checkout", "-q", "main"]);
    git(&["commit", "-qam", "before"]);
    write(&path.join("README.md"), dice.text());
    git(&["commit", "-qam", "ours"]);
    git(&[if what == "rebase" { "rebase" } else { "merge" }, "side"]);
    if what == "conflict solved" {
        write(&path.join("README.md"), dice.text());
        git(&["add", "README.md"]);
    }
}
