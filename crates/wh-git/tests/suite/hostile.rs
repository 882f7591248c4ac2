//! Every public function on a repository that tries to run programs: none runs.

use std::{collections::BTreeSet, fs, path::Path};

use jiff::Timestamp;
use wh_domain::RepoSource;
use wh_git::{
    Base, CommitId, DiffLimits, Identity, IgnoredFiles, Merge, Patches, Removal, RepoHandle,
    RescueLabel, RescueOf, Start, Transfer, What, WorktreeHandle, clean_up_list, inspect, version,
};

use crate::{
    lab::{Lab, branch, run, write},
    trap::Trap,
};

/// Functions of the library that do not touch a repository.
const PURE: &[&str] = &[
    "basic",
    // Reads no repository; gh is found by the test of credentials.
    "gh_token",
    // Runs in an empty directory of its own; tried by the test of credentials.
    "probe",
    "parse",
    "as_str",
    "new",
    "is_dirty",
    "is_clean",
    "is_detached",
    "stops_rescue",
    // Tried in private_clone.rs, as all of private clones is.
    "objects",
    "fail_after",
    "with_checkout_limits",
    "state",
    "counted",
    "check_links",
];

#[tokio::test]
async fn no_planted_program_runs() {
    let lab = Lab::new();
    let trap = Trap::new(&lab);
    let made = lab.worktree("one").await;
    let other = lab.worktree("two").await;
    write(&other.paths().path.join("README.md"), "theirs\n");
    run(&other.paths().path, &["commit", "-qam", "theirs"]);
    // Recorded before the agents had their turn.
    let (repo, paths) = (lab.repo(), made.paths().clone());
    trap.plant_shared(&repo.paths().common_dir);
    trap.works_on(&lab.user());
    for worktree in [&made, &other] {
        let paths = worktree.paths();
        trap.plant_worktree(&lab, &paths.path, &paths.git_dir);
    }
    let quiet = |what: &str| assert_eq!(trap.sprung(), None, "{what}");

    version().await.unwrap();
    inspect(&lab.user()).await.unwrap();
    let repo = RepoHandle::open(RepoHandle::find(&lab.user()).unwrap().paths().clone())
        .map(|_| repo)
        .unwrap();
    quiet("finding");
    assert_eq!(repo.default_branch().await.unwrap(), Some(branch("main")));
    let main = repo.head().await.unwrap().unwrap();
    assert_eq!(repo.branches().await.unwrap().len(), 3);
    let two = repo.branch_tip(&branch("two")).await.unwrap().unwrap();
    repo.merge_base(&main, &two).await.unwrap();
    repo.checkouts().await.unwrap();
    repo.exclude_set("s", &["/CLAUDE.local.md"]).unwrap();
    quiet("looking");
    looks(&repo, &paths, &main, &two).await;
    quiet("looking at a worktree");
    changes(&lab, &repo, &made).await;
    quiet("changing");
    transfers(&lab, &repo).await;
    quiet("transfers");
    removes(&made, &other).await;
    quiet("removing");
}

async fn looks(repo: &RepoHandle, paths: &wh_git::WorktreePaths, main: &CommitId, two: &CommitId) {
    let made = WorktreeHandle::open(repo, paths.clone()).unwrap();
    assert_eq!(made.repo().paths(), repo.paths());
    assert!(made.missing().is_none());
    // The swapped pointers lead nowhere: this is still the commit of the real repository.
    assert_eq!(made.head().await.unwrap().as_ref(), Some(main));
    assert_eq!(made.branch().await.unwrap(), Some(branch("one")));
    write(&made.paths().path.join("README.md"), "changed\n");
    let status = made.status(Some(main)).await.unwrap();
    assert_eq!(status.unstaged, [Path::new("README.md")]);
    assert!(made.local_block_set("NOTES.md", "s", "x").await.unwrap());
    made.local_block_remove("NOTES.md", "s").await.unwrap();
    made.disk_use().await.unwrap();
    made.agent_access().unwrap();
    made.repo().configured_identity(None).await.unwrap();
    wh_git::checkout_access(&made.paths().path).unwrap();
    assert!(wh_git::is_in_checkout(&made.paths().path));
    let config = wh_domain::ProjectConfig::parse("README.md").unwrap();
    let committed = repo.config_at(two, &config).await.unwrap().unwrap();
    let read = wh_git::config_read(&made.paths().path, &config)
        .unwrap()
        .unwrap();
    assert_eq!(committed.files[Path::new("")].bytes, b"theirs\n");
    assert_eq!(read.files[Path::new("")].bytes, b"changed\n");
    let config = wh_domain::ProjectConfig::parse(".agent.json").unwrap();
    let place = made.paths().path.join(".agent.json");
    wh_git::placeholder_create(&place, false).unwrap();
    assert_eq!(
        wh_git::config_read(&made.paths().path, &config).unwrap(),
        None
    );
    let shown = made.status(None).await.unwrap().untracked;
    assert!(!shown.contains(&".agent.json".into()), "{shown:?}");
    wh_git::placeholder_remove(&place).unwrap();
    assert!(!place.exists());
    let mark = made.mark().await.unwrap();
    assert_eq!(made.mark().await.unwrap(), mark);
    let counted = made.count(main, std::slice::from_ref(main)).await.unwrap();
    assert!(counted.added > 0);
    let limits = DiffLimits::default();
    let diff = made.diff(main, Patches::Include, limits).await.unwrap();
    assert!(
        diff.files
            .iter()
            .any(|file| file.path == Path::new("README.md"))
    );
    repo.diff(main, two, Patches::Include, limits)
        .await
        .unwrap();
    made.file_read(Path::new("README.md"), 100).await.unwrap();
    made.removal_risks().await.unwrap();
    clean_up_list(&[made]).await.unwrap();
}

async fn changes(lab: &Lab, repo: &RepoHandle, made: &WorktreeHandle) {
    let who = Identity {
        name: "Ada".to_owned(),
        email: "ada@example.org".to_owned(),
    };
    let at = Timestamp::UNIX_EPOCH;
    let paths = What::Paths(vec!["README.md".into()]);
    made.commit(&paths, "some", &who, at).await.unwrap();
    keeps(repo, made).await;
    write(&made.paths().path.join("src/lib.rs"), "fn c() {}\n");
    made.commit(&What::All, "all", &who, at).await.unwrap();
    let inside = lab.user().join("fresh");
    let files = [("a.txt", "one\n")];
    let fresh = RepoHandle::init(&inside, &files, "first", &who, at).await;
    fresh.unwrap();
    let start = Start::NewBranch {
        branch: branch("three"),
        base: Base::Branch(branch("main")),
    };
    let start_branch = &branch("three");
    let created = repo.worktree_create(&lab.root(), "three", &start).await;
    let three = created.unwrap().0;
    assert_eq!(
        fs::read(three.paths().path.join("src/lib.rs")).unwrap(),
        b"fn a() {}\n"
    );
    // Again, as after a crash; and from what an interrupted call left.
    let root = &lab.root();
    let ensure = || repo.worktree_ensure(root, "three", start_branch, None);
    ensure().await.unwrap();
    repo.commit_at(&Base::Branch(branch("three")))
        .await
        .unwrap();
    fs::remove_file(three.paths().git_dir.join("index")).unwrap();
    ensure().await.unwrap();
    let (one, two, three_name) = (branch("one"), branch("two"), branch("three"));
    let worktrees = [three];
    let mut merge = Merge {
        source: &one,
        into: &three_name,
        message: "merge",
        who: &who,
        at,
        worktrees: &worktrees,
    };
    repo.merge(&merge).await.unwrap();
    merge.source = &two;
    // Both changed the same file: a planted driver would have been asked.
    repo.merge(&merge).await.unwrap_err();
    // It is merged, and checked out.
    let is_deleted = repo.branch_delete_merged(&one, &three_name).await;
    assert!(!is_deleted.unwrap());
}

/// Keeps uncommitted files and brings them back.
async fn keeps(repo: &RepoHandle, made: &WorktreeHandle) {
    let file = made.paths().path.join("README.md");
    write(&file, "kept\n");
    let kept = made.uncommitted_keep("s", "1", 1 << 20).await.unwrap();
    assert_eq!(repo.uncommitted_kept("s", "1").await.unwrap(), kept);
    assert!(repo.uncommitted_copy(("s", "1"), ("t", "1")).await.unwrap());
    write(&file, "changed again\n");
    assert!(made.uncommitted_apply("t", "1").await.unwrap());
    assert_eq!(fs::read(&file).unwrap(), b"kept\n");
    repo.uncommitted_forget("s", 0).await.unwrap();
    assert_eq!(repo.uncommitted_kept("s", "1").await.unwrap(), None);
}

async fn transfers(lab: &Lab, repo: &RepoHandle) {
    let source = RepoSource::parse(lab.user().to_str().unwrap()).unwrap();
    let dir = lab.path().join("mirror.git");
    RepoHandle::mirror(&dir, &Transfer::of(&source), &|_| {})
        .await
        .unwrap();
    RepoHandle::mirrors_tidy(lab.path()).unwrap();
    repo.links().await.unwrap();
    let mirror = RepoSource::Local { path: dir };
    repo.fetch(&Transfer::of(&mirror), &branch("copy"), &|_| {})
        .await
        .unwrap();
}

async fn removes(made: &WorktreeHandle, other: &WorktreeHandle) {
    let label = RescueLabel {
        of: RescueOf::Session(uuid::Uuid::nil().to_string().parse().unwrap()),
        at: Timestamp::UNIX_EPOCH,
    };
    let save = Removal::RescueFirst {
        ignored: IgnoredFiles::SaveOrDiscard { bytes_max: 1 << 20 },
    };
    // The inner repository stops both until it is gone.
    made.remove(&label, save).await.unwrap_err();
    for worktree in [made, other] {
        fs::remove_dir_all(worktree.paths().path.join("inner")).unwrap();
    }
    made.embedded_disable(wh_git::Embedded::AndUntracked)
        .await
        .unwrap();
    made.remove(&label, Removal::RefuseIfAnyRisk)
        .await
        .unwrap_err();
    made.remove(&label, save).await.unwrap();
    other.remove(&label, save).await.unwrap();
    assert!(!made.paths().path.exists() && !other.paths().path.exists());
}

/// A new public function must be called above, or be listed as one that touches no repository.
#[test]
fn every_public_function_is_tried() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let here = include_str!("hostile.rs");
    let mut forgotten = BTreeSet::new();
    let mut seen = 0;
    for file in fs::read_dir(source).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().map(str::trim_start) {
            let rest = line
                .strip_prefix("pub fn ")
                .or(line.strip_prefix("pub async fn "));
            let Some(name) = rest.and_then(|rest| rest.split(['(', '<']).next()) else {
                continue;
            };
            seen += 1;
            if !PURE.contains(&name) && !here.contains(&format!("{name}(")) {
                forgotten.insert(name.to_owned());
            }
        }
    }
    assert!(seen > 25, "{seen}");
    assert!(forgotten.is_empty(), "{forgotten:?}");
}

#[tokio::test]
async fn borrowed_objects_and_odd_references_are_refused() {
    let lab = Lab::new();
    let made = lab.worktree("one").await;
    let objects = lab
        .repo()
        .paths()
        .common_dir
        .join("objects/info/alternates");
    let repo = lab.repo();
    write(&objects, "/srv/somebody/else/objects\n");
    let head = made.head().await.unwrap().unwrap();
    let refused = repo.merge_base(&head, &head).await.unwrap_err();
    assert!(refused.to_string().contains("alternates"), "{refused}");
    fs::remove_file(&objects).unwrap();
    for text in [
        "--output=x",
        "HEAD",
        "main",
        "-b",
        &"A".repeat(40),
        &"a".repeat(39),
    ] {
        assert!(CommitId::parse(text).is_err(), "{text}");
    }
    // A reference whose name is no branch for us is not listed, and does no harm.
    let evil = repo.paths().common_dir.join("refs/heads/-x");
    write(&evil, format!("{head}\n"));
    assert_eq!(repo.branches().await.unwrap().len(), 2);
}
