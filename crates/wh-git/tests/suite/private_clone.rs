//! Private clones: an agent commits in a repository of its own, and the server fetches.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wh_git::{PrivateClone, WorktreeHandle};

use crate::{
    lab::{Lab, attempt, commit_id, run, write},
    trap::executable,
};

/// The agent's side: git is run in the checkout, but finds the clone.
struct Agent {
    git_dir: PathBuf,
    path: PathBuf,
}

impl Agent {
    fn of(clone: &PrivateClone) -> Self {
        let paths = clone.worktree().paths();
        Self {
            git_dir: paths.git_dir.clone(),
            path: paths.path.clone(),
        }
    }

    fn git(&self, args: &[&str]) -> String {
        let git_dir = format!("--git-dir={}", self.git_dir.display());
        let work_tree = format!("--work-tree={}", self.path.display());
        let all: Vec<&str> = [git_dir.as_str(), work_tree.as_str()]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        run(&self.path, &all)
    }

    fn commit(&self, file: &str, text: &str) {
        write(&self.path.join(file), text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", file]);
    }
}

fn clone_dir(lab: &Lab) -> PathBuf {
    lab.path().join("clones/one")
}

async fn ensure(lab: &Lab, made: &WorktreeHandle) -> PrivateClone {
    let config = [("user.name", "Grace")];
    PrivateClone::ensure(made, &clone_dir(lab), &config)
        .await
        .unwrap()
}

#[tokio::test]
async fn commits_arrive_on_the_worktrees_branch_and_nothing_else_changes() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    assert!(
        PrivateClone::open(&made, &clone_dir(&lab))
            .unwrap()
            .is_none()
    );
    let clone = ensure(&lab, &made).await;
    let agent = Agent::of(&clone);
    assert_eq!(agent.git(&["status", "--porcelain"]), "");
    assert_eq!(agent.git(&["config", "user.name"]), "Ada", "the test's own");
    assert_eq!(
        agent.git(&["rev-parse", "main"]),
        run(&lab.user(), &["rev-parse", "main"])
    );
    let config = fs::read_to_string(lab.user().join(".git/config")).unwrap();
    let objects = lab.user().join(".git/objects").canonicalize().unwrap();
    assert_eq!(clone.objects(), objects);
    assert!(!clone.agent_access().unwrap().readable.contains(&objects));

    agent.commit("new.txt", "new\n");
    write(&agent.path.join("staged.txt"), "staged\n");
    agent.git(&["add", "staged.txt"]);
    assert!(made.head().await.unwrap() != clone.worktree().head().await.unwrap());
    let fetched = clone.fetch().await.unwrap();
    assert!(fetched.has_moved);
    assert_eq!(fetched.kept, ["refs/wheelhouse/private/one/index"]);

    assert_eq!(
        made.head().await.unwrap(),
        clone.worktree().head().await.unwrap()
    );
    let status = made.status(None).await.unwrap();
    assert_eq!(status.staged, [PathBuf::from("staged.txt")]);
    assert!(status.untracked.is_empty(), "{status:?}");
    run(&lab.user(), &["fsck", "--full", "--strict"]);
    assert_eq!(
        fs::read_to_string(lab.user().join(".git/config")).unwrap(),
        config
    );
    assert_eq!(clone.fetch().await.unwrap(), wh_git::Fetched::default());
}

#[tokio::test]
async fn other_branches_and_stashes_are_kept_and_the_repositorys_stay() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let main = commit_id(&lab.user(), "main");
    let clone = ensure(&lab, &made).await;
    let agent = Agent::of(&clone);
    write(&agent.path.join("README.md"), "stashed\n");
    agent.git(&["stash", "push", "-q"]);
    agent.git(&["branch", "side"]);
    agent.commit("on-one.txt", "1\n");
    // Somebody else's branch, moved in the clone only.
    agent.git(&["update-ref", "refs/heads/main", "HEAD"]);
    agent.git(&["checkout", "-q", "--detach"]);
    agent.commit("detached.txt", "2\n");
    let fetched = clone.fetch().await.unwrap();
    assert!(fetched.has_moved);
    let prefix = "refs/wheelhouse/private/one";
    let kept: Vec<_> = ["HEAD", "heads/main", "heads/side", "stash"]
        .map(|name| format!("{prefix}/{name}"))
        .to_vec();
    let mut seen = fetched.kept.clone();
    seen.sort();
    assert_eq!(seen, kept);
    assert_eq!(commit_id(&lab.user(), "main"), main, "main stays");
    for (name, file) in [("HEAD", "detached.txt"), ("stash", "README.md")] {
        let shown = run(&lab.user(), &["show", &format!("{prefix}/{name}:{file}")]);
        assert!(!shown.is_empty());
    }
}

#[tokio::test]
async fn what_happens_in_the_repository_reaches_the_clone_but_not_over_the_agents_work() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let clone = ensure(&lab, &made).await;
    let agent = Agent::of(&clone);
    run(
        &lab.user(),
        &["commit", "-q", "--allow-empty", "-m", "second"],
    );
    run(&lab.user(), &["branch", "later"]);
    // A person commits in the worktree itself, between two runs.
    write(&made.paths().path.join("person.txt"), "p\n");
    run(&made.paths().path, &["add", "-A"]);
    run(&made.paths().path, &["commit", "-q", "-m", "by a person"]);
    let clone = PrivateClone::ensure(&made, &clone_dir(&lab), &[])
        .await
        .unwrap();
    for name in ["main", "later", "one"] {
        assert_eq!(
            agent.git(&["rev-parse", name]),
            run(&lab.user(), &["rev-parse", name])
        );
    }
    assert_eq!(agent.git(&["status", "--porcelain"]), "");

    // Both move the branch at once: the repository's stays, the agent's is kept.
    agent.commit("agent.txt", "a\n");
    run(&lab.user(), &["update-ref", "refs/heads/one", "main"]);
    let fetched = clone.fetch().await.unwrap();
    assert_eq!(fetched.kept, ["refs/wheelhouse/private/one/heads/one"]);
    assert!(!fetched.has_moved);
    assert_eq!(
        commit_id(&lab.user(), "one"),
        commit_id(&lab.user(), "main")
    );
    let again = PrivateClone::ensure(&made, &clone_dir(&lab), &[]).await;
    again.unwrap();
    assert_eq!(agent.git(&["show", "one:agent.txt"]), "a");
}

#[tokio::test]
async fn nothing_in_a_hostile_clone_runs_or_is_followed() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let clone = ensure(&lab, &made).await;
    let agent = Agent::of(&clone);
    agent.commit("new.txt", "new\n");
    let common = clone_dir(&lab).join("git");
    let canary = lab.path().join("CANARY");
    let script = lab.path().join("trap.sh");
    executable(&script, &format!("#!/bin/sh\ntouch {}\n", canary.display()));
    let run_it = script.display();
    let mut config = fs::read_to_string(common.join("config")).unwrap();
    config.push_str(&format!(
        "[core]\n\tfsmonitor = {run_it}\n\talternateRefsCommand = {run_it}\n[uploadpack]\n\tpackObjectsHook = {run_it}\n"
    ));
    write(&common.join("config"), config);
    for hook in ["reference-transaction", "post-index-change", "pre-auto-gc"] {
        executable(
            &common.join("hooks").join(hook),
            &format!("#!/bin/sh\ntouch {}\n", canary.display()),
        );
    }
    clone.fetch().await.unwrap();
    PrivateClone::ensure(&made, &clone_dir(&lab), &[])
        .await
        .unwrap();
    assert!(!canary.exists());

    // An index that leads elsewhere is not copied.
    let secret = lab.path().join("secret");
    write(&secret, "secret");
    fs::remove_file(agent.git_dir.join("index")).unwrap();
    std::os::unix::fs::symlink(&secret, agent.git_dir.join("index")).unwrap();
    clone.fetch().await.unwrap_err();
    fs::remove_file(agent.git_dir.join("index")).unwrap();
    // Nor are objects of another repository borrowed.
    write(
        &common.join("objects/info/alternates"),
        "/srv/other/objects\n",
    );
    let refused = clone.fetch().await.unwrap_err();
    assert!(refused.to_string().contains("alternates"), "{refused}");
}

#[tokio::test]
async fn a_damaged_object_is_not_taken_over() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let before = commit_id(&lab.user(), "one");
    let clone = ensure(&lab, &made).await;
    let agent = Agent::of(&clone);
    agent.commit("new.txt", "new\n");
    let blob = agent.git(&["rev-parse", "HEAD:new.txt"]);
    let objects = clone_dir(&lab).join("git/objects");
    let file = objects.join(&blob[..2]).join(&blob[2..]);
    let other = agent.git(&["rev-parse", "HEAD"]);
    let other = objects.join(&other[..2]).join(&other[2..]);
    fs::remove_file(&file).unwrap();
    fs::copy(other, &file).unwrap();
    clone.fetch().await.unwrap_err();
    assert_eq!(commit_id(&lab.user(), "one"), before);
    assert!(
        attempt(Path::new(&lab.user()), &["cat-file", "-e", &blob])
            .status
            .code()
            != Some(0)
    );
}

#[tokio::test]
async fn commits_are_in_the_name_that_is_configured() {
    let lab = Lab::new();
    let home = lab.path().join("home");
    assert_eq!(
        lab.repo().configured_identity(Some(&home)).await.unwrap(),
        None
    );
    write(
        &home.join(".gitconfig"),
        "[user]\n\tname = Grace\n\temail = grace@example.org\n[include]\n\tpath = other\n",
    );
    let found = lab.repo().configured_identity(Some(&home)).await.unwrap();
    assert_eq!(found.unwrap().name, "Grace");
    run(&lab.user(), &["config", "user.name", "Own"]);
    let found = lab.repo().configured_identity(Some(&home)).await.unwrap();
    assert_eq!(found.unwrap().name, "Own");
}
