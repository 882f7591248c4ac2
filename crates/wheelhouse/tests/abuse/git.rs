//! C7 to C11 from the agent's side: it can work with git, and plants nothing that runs for a person later.

use std::path::Path;

use wh_api::SessionManageRequest;
use wh_testkit::git::{git, program, repository};

use crate::harness::{Setting, World};

/// Everything that agents do with git in their own worktree.
const WORK: &str = "git config user.name; echo two > a.txt && git add -A && git commit -qm two && git branch tmp && git branch -d tmp \
    && echo three >> a.txt && git stash -q && git stash pop -q && git commit -qam three && git tag v1 && git tag -d v1 \
    && git checkout -q -b side && echo s > s.txt && git add -A && git commit -qm side && git checkout -q - && git cherry-pick side >/dev/null \
    && git rebase -q HEAD~1 && git reset -q --hard HEAD && git pack-refs --all && git branch -D side && git log --oneline | wc -l";

async fn works(setting: Setting) {
    let world = World::new(setting).await;
    // Deleting a branch also deletes its section of the configuration, which stays read-only; git warns and goes on.
    let printed = world.shell(&format!("{{ {WORK}; }} 2>/dev/null")).await;
    assert_eq!(
        printed.trim_end().lines().last().map(str::trim),
        Some("4"),
        "{printed}"
    );
    let status = world.shell("echo \"[$(git status --porcelain)]\"").await;
    assert_eq!(status.trim(), "[]");
    // A person sees what was committed, and git still works for them.
    let branch = world.shell("git branch --show-current").await;
    let log = git(&world.repo, &["log", "--oneline", branch.trim()]);
    assert_eq!(log.lines().count(), 4, "{log}");
    git(&world.repo, &["branch", "mine"]);
    git(&world.repo, &["pack-refs", "--all"]);
    git(&world.repo, &["branch", "-d", "mine"]);
    git(&world.repo, &["fsck", "--strict"]);
}

#[tokio::test]
async fn an_agent_works_with_git_in_guarded() {
    works(Setting::GUARDED).await;
}

#[tokio::test]
async fn an_agent_works_with_git_in_strict() {
    works(Setting::STRICT).await;
}

#[tokio::test]
async fn an_agent_works_with_git_in_strict_as_an_ordinary_user() {
    works(Setting::STRICT.as_user()).await;
}

#[tokio::test]
async fn an_agent_works_with_git_in_guarded_as_an_ordinary_user() {
    works(Setting::GUARDED.as_user()).await;
}

#[tokio::test]
async fn an_agent_works_with_git_in_guarded_without_namespaces() {
    works(Setting::GUARDED.as_user().without_namespaces()).await;
}

#[tokio::test]
async fn c8_to_c11_nothing_that_an_agent_plants_runs_for_a_person() {
    nothing_planted_runs(Setting::GUARDED).await;
}

#[tokio::test]
async fn c8_to_c11_nothing_that_an_agent_plants_runs_for_a_person_in_strict() {
    nothing_planted_runs(Setting::STRICT).await;
}

/// Plants a submodule in each of several ways. `TRAP` is the program that its configuration names.
const SUBMODULES: &str = "set -e; export GIT_CONFIG_GLOBAL=/dev/null; ID=$(git rev-parse HEAD)
    repo() { git init -q $1; git -C $1 -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; git -C $1 config core.fsmonitor $TRAP; }
    list() { git update-index --add --cacheinfo 160000,$ID,$1; }
    repo sub; list sub
    mkdir ignored; echo '*' > ignored/.gitignore; repo ignored/r
    mkdir file; echo 'gitdir: ../ignored/r/.git' > file/.git; list file
    ln -s ignored/r link; list link
    repo outer; repo outer/inner; echo inner > outer/.gitignore; list outer
    repo closed; list closed; chmod 555 closed
    repo untracked
    repo committed; list committed
    git -c user.name=x -c user.email=x@y commit -qm planted
    git rm -q --cached committed; echo committed > .gitignore";

/// Does what people do in a worktree.
fn use_git(worktree: &Path) {
    git(worktree, &["status"]);
    git(worktree, &["diff"]);
    git(worktree, &["reset", "-q"]);
    git(worktree, &["status"]);
    git(worktree, &["add", "-A"]);
    git(worktree, &["status"]);
    git(worktree, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    git(worktree, &["status"]);
    git(worktree, &["diff", "HEAD"]);
}

#[expect(clippy::disallowed_methods, reason = "the test plays a person")]
fn run_script(script: &Path, dir: &Path) {
    let mut shell = std::process::Command::new("sh");
    let status = shell.arg(script).current_dir(dir).status().unwrap();
    assert!(status.success(), "{status}");
}

async fn planted_submodules_do_not_run(setting: Setting) {
    let world = World::new(setting).await;
    let canary = world.server.home().join("CANARY");
    let trap = world.server.home().join("code/trap.sh");
    let text = format!("#!/bin/sh\necho \"$PWD $*\" >> {}\n", canary.display());
    program(&trap, &text);
    let plant = format!("TRAP={}; {SUBMODULES}", trap.display());
    // The same without Wheelhouse: there it runs.
    let control = repository(&world.server.home().join("code/control"));
    let script = world.server.home().join("code/plant.sh");
    std::fs::write(&script, &plant).unwrap();
    run_script(&script, &control);
    std::fs::remove_file(control.join("link")).unwrap();
    git(&control, &["status"]);
    assert!(canary.exists(), "the trap does not work");
    std::fs::remove_file(&canary).unwrap();

    let worktree = world.worktree().await;
    std::fs::write(worktree.join("plant.sh"), &plant).unwrap();
    let printed = world.shell("sh plant.sh 2>&1 && echo planted").await;
    assert!(printed.trim_end().ends_with("planted"), "{printed}");
    let note = world.latest_note().await;
    for name in [
        "sub/.git",
        "file/.git",
        "outer/inner/.git",
        "untracked/.git",
        "\"link\"",
    ] {
        assert!(note.contains(name), "{name}: {note}");
    }
    let ran = || std::fs::read_to_string(&canary).unwrap_or_default();
    use_git(&worktree);
    assert_eq!(ran(), "");
    let kept = std::fs::read_to_string(worktree.join("sub/.git.disabled/config")).unwrap();
    assert!(kept.contains("fsmonitor"), "{kept}");

    // What the agent does after its turn counts too.
    let late = format!(
        "(sleep 1; git init -q late; git -C late config core.fsmonitor {}; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),late; touch ignored/done) >/dev/null 2>&1 & echo begun",
        trap.display()
    );
    world.shell(&late).await;
    for _ in 0..200 {
        if worktree.join("ignored/done").exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(worktree.join("late/.git").exists());
    let request = SessionManageRequest {
        session: world.session.clone(),
        action: "stop".to_owned(),
        ..SessionManageRequest::default()
    };
    world.client.session_manage(&request).await.unwrap();
    for _ in 0..200 {
        let session = world.client.session_get(&world.session).await.unwrap();
        if session.state == "stopped" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    use_git(&worktree);
    assert_eq!(ran(), "");
    assert!(!worktree.join("late/.git").exists());
}

#[tokio::test]
async fn c8_to_c11_a_planted_submodule_does_not_run_for_a_person() {
    planted_submodules_do_not_run(Setting::GUARDED).await;
}

#[tokio::test]
async fn c8_to_c11_a_planted_submodule_does_not_run_for_a_person_in_strict() {
    planted_submodules_do_not_run(Setting::STRICT).await;
}

#[tokio::test]
async fn c8_to_c11_a_planted_submodule_does_not_run_for_an_ordinary_user() {
    planted_submodules_do_not_run(Setting::GUARDED.as_user()).await;
}

async fn nothing_planted_runs(setting: Setting) {
    let world = World::new(setting).await;
    let canary = world.server.home().join("CANARY");
    let trap = world.server.home().join("code/trap.sh");
    program(
        &trap,
        &format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", canary.display()),
    );
    let (git_dir, trap) = (world.repo.join(".git"), trap.display().to_string());
    let shown = git_dir.display();
    let plant = [
        format!("git config core.fsmonitor {trap}"),
        format!("git config --worktree core.fsmonitor {trap}"),
        format!("git config --global core.fsmonitor {trap}"),
        format!("printf '[core]\\n fsmonitor = {trap}\\n' >> {shown}/config"),
        format!(
            "mkdir -p {shown}/hooks; cp {trap} {shown}/hooks/post-checkout; cp {trap} {shown}/hooks/pre-commit"
        ),
        format!("printf '* filter=x\\n' > {shown}/info/attributes"),
        format!(
            "mkdir evil && git init -q --bare evil/r && git -C evil/r config core.fsmonitor {trap} && git -C evil/r config core.bare false"
        ),
        format!("echo \"$PWD/evil/r\" > {shown}/commondir"),
        "G=$(git rev-parse --git-dir); echo \"$PWD/evil/r\" > $G/commondir; printf 'x' > $G/gitdir"
            .to_owned(),
        format!(
            "G=$(git rev-parse --git-dir); printf '[core]\\n fsmonitor = {trap}\\n' > $G/config.worktree"
        ),
        "mv .git .git.old; echo \"gitdir: $PWD/evil/r\" > .git; rm -f .git; ln -s evil/r .git"
            .to_owned(),
        format!(
            "ln -sf {home}/.bashrc {shown}/logs/HEAD; ln -s {home}/.bashrc {shown}/logs/refs/heads/new",
            home = world.server.home().display()
        ),
        format!(
            "mv {shown}/logs {shown}/logs2; mv {shown} {shown}2; echo x > {shown}/objects/info/alternates"
        ),
    ];
    for line in plant {
        world
            .shell(&format!("{{ {line}; }} >/dev/null 2>&1; true"))
            .await;
    }
    let worktree = world.worktree().await;
    for dir in [&world.repo, &worktree] {
        git(dir, &["status"]);
        git(dir, &["diff"]);
        git(dir, &["log", "-1"]);
        git(dir, &["branch", "--list"]);
    }
    git(
        &world.repo,
        &["commit", "-q", "--allow-empty", "-m", "mine"],
    );
    git(&world.repo, &["checkout", "-q", "-b", "new"]);
    assert!(
        !canary.exists(),
        "{}",
        std::fs::read_to_string(&canary).unwrap_or_default()
    );
    let shell = std::fs::read_to_string(world.server.home().join(".bashrc")).unwrap();
    assert_eq!(shell, "# shell");
}
