//! A repository of an agent's own, from which the server fetches.
//!
//! A linked worktree shares references, objects and configuration with the user's repository. A private clone shares only the
//! checkout: it borrows the repository's objects read-only, and everything that the agent writes stays in the clone until
//! [`PrivateClone::fetch`] takes commits over. Towards the agent it looks like the linked worktree that it stands for.
//!
//! ```text
//! repository/.git/worktrees/NAME  <── fetch ──  DIR/git/worktrees/NAME   (HEAD and index)
//! repository/.git/refs, objects   <── fetch ──  DIR/git/refs, objects    (borrows the repository's objects)
//!                                               DIR/given                (references as the clone last received them)
//!                                               DIR/index-stamp          (the index as both last had it)
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use wh_domain::{RepoPaths, WorktreePaths};

use crate::{
    AgentAccess, CommitId, GitError, Identity, RepoHandle, WorktreeError, WorktreeHandle,
    agent_access::borrowed,
    command::{Git, text_despite_locks},
    repo::{read_refs, read_small},
    view::{View, copy_index},
};

/// References that a clone receives.
const GIVEN: &[&str] = &["refs/heads/", "refs/tags/", "refs/remotes/"];

/// References of a clone that are fetched; tags and remote branches are the repository's.
const FETCHED: &[&str] = &["refs/heads/", "refs/stash"];

/// Namespace for fetched commits that are not on the worktree's branch.
const KEPT: &str = "refs/wheelhouse/private";

/// The most references that are fetched at once.
const REFS_MAX: usize = 1_000;

type Refs = BTreeMap<String, CommitId>;

/// The private clone behind a worktree.
#[derive(Clone, Debug)]
pub struct PrivateClone {
    origin: WorktreeHandle,
    clone: WorktreeHandle,
    given: PathBuf,
    index_stamp: PathBuf,
}

/// Result of fetching from a private clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Whether the worktree's branch moved.
    pub has_moved: bool,
    /// References below `refs/wheelhouse/private` that were created or moved: other branches of the clone, and the worktree's own
    /// when it was moved in the repository meanwhile.
    pub kept: Vec<String>,
    /// Whether the worktree's index was replaced by the clone's.
    pub has_new_index: bool,
}

impl PrivateClone {
    /// Opens the private clone of a worktree in `dir`, if there is one.
    pub fn open(origin: &WorktreeHandle, dir: &Path) -> Result<Option<Self>, WorktreeError> {
        let git = dir.join("git");
        if !git.join("HEAD").is_file() {
            return Ok(None);
        }
        let repo = RepoHandle::open(RepoPaths {
            git_dir: git.clone(),
            common_dir: git.clone(),
            work_tree: None,
            alternates: Some(alternates(origin)),
        })?;
        let paths = WorktreePaths {
            git_dir: git.join("worktrees").join(name_of(origin)),
            path: origin.path().to_owned(),
        };
        Ok(Some(Self {
            origin: origin.clone(),
            clone: WorktreeHandle::open(&repo, paths)?,
            given: dir.join("given"),
            index_stamp: dir.join("index-stamp"),
        }))
    }

    /// Creates the private clone of a worktree in `dir`, or brings an existing one up to date with the repository. `config` is
    /// added to the configuration of a new clone.
    pub async fn ensure(
        origin: &WorktreeHandle,
        dir: &Path,
        config: &[(&str, &str)],
    ) -> Result<Self, WorktreeError> {
        let opened = match Self::open(origin, dir)? {
            Some(clone) => {
                clone.fetch().await?;
                clone
            }
            None => {
                create(origin, dir, config).await?;
                let none = || GitError::failed("the private clone could not be created");
                Self::open(origin, dir)?.ok_or_else(none)?
            }
        };
        opened.give().await?;
        Ok(opened)
    }

    /// Returns the worktree as the clone has it.
    pub fn worktree(&self) -> &WorktreeHandle {
        &self.clone
    }

    /// Returns what the agent may do with the clone. It also needs to read [`Self::objects`].
    pub fn agent_access(&self) -> io::Result<AgentAccess> {
        let mut access = self.clone.agent_access()?;
        let objects = self.objects();
        access.readable.retain(|path| *path != objects);
        access.readable.extend(borrowed(&self.origin.repo));
        Ok(access)
    }

    /// Returns the object directory of the repository, from which the clone borrows.
    pub fn objects(&self) -> PathBuf {
        let objects = self.origin.repo.common_dir().join("objects");
        objects.canonicalize().unwrap_or(objects)
    }

    /// Takes the clone's commits over: the worktree's branch moves unless it was moved in the repository meanwhile, other branches
    /// and stashes are kept below `refs/wheelhouse/private`, and the worktree's index becomes the clone's.
    pub async fn fetch(&self) -> Result<Fetched, WorktreeError> {
        self.clone.repo.check_alternates()?;
        let (given, mut new) = (self.read_given(), self.refs(FETCHED).await?);
        if let Some(head) = self.clone.head().await?
            && !new.values().any(|id| *id == head)
        {
            new.insert("HEAD".to_owned(), head);
        }
        if let Some(staged) = self.staged().await? {
            new.insert("index".to_owned(), staged);
        }
        let kept: Refs = self
            .origin
            .repo
            .refs_under(&[KEPT])
            .await?
            .into_iter()
            .collect();
        new.retain(|name, id| {
            given.get(name) != Some(id) && kept.get(&self.kept(name)) != Some(id)
        });
        if new.len() > REFS_MAX {
            let message = format!("the session has more than {REFS_MAX} changed branches");
            return Err(GitError::failed(message).into());
        }
        let mut fetched = Fetched::default();
        if !new.is_empty() {
            self.transfer(&new).await?;
            self.store_refs(&new, given, &kept, &mut fetched).await?;
        }
        // An index that the agent has not changed may be older than the worktree's.
        if stamp(&self.clone.index()) != fs::read_to_string(&self.index_stamp).ok() {
            self.copy_index(&self.clone, &self.origin)?;
            fetched.has_new_index = true;
        }
        Ok(fetched)
    }

    async fn store_refs(
        &self,
        new: &Refs,
        mut given: Refs,
        kept: &Refs,
        fetched: &mut Fetched,
    ) -> Result<(), WorktreeError> {
        let repo = &self.origin.repo;
        let own = self.origin.branch().await?;
        let own = own.map(|branch| format!("refs/heads/{}", branch.as_str()));
        for (name, id) in new {
            let old = given.get(name);
            if Some(name) == own.as_ref() {
                let current = repo.resolve_in(repo.common_dir(), name).await?;
                if current.as_ref() == Some(id) || current.as_ref() == old {
                    if current.as_ref() != Some(id) {
                        repo.ref_set(name, id, old).await?;
                    }
                    given.insert(name.clone(), id.clone());
                    self.write_given(&given)?;
                    fetched.has_moved = true;
                    continue;
                }
            }
            let name = self.kept(name);
            repo.ref_set(&name, id, kept.get(&name)).await?;
            fetched.kept.push(name);
        }
        Ok(())
    }

    /// Returns where commits of a reference of the clone are kept.
    fn kept(&self, name: &str) -> String {
        let short = name.strip_prefix("refs/").unwrap_or(name);
        format!("{KEPT}/{}/{short}", name_of(&self.origin))
    }

    /// Returns a commit that holds every staged file that the head does not have, sides of conflicts included, if there is one:
    /// the index names them, so they must be in the repository as well.
    async fn staged(&self) -> Result<Option<CommitId>, WorktreeError> {
        if stamp(&self.clone.index()) == fs::read_to_string(&self.index_stamp).ok() {
            return Ok(None);
        }
        let view = self.clone.view_of_copy().await?;
        let head = self.clone.head().await?;
        let mut blobs = BTreeSet::new();
        if let Some(head) = &head {
            let git = view.git().args(["diff-index", "--cached", "--raw", "-z"]);
            let changes = git.args([head.as_str(), "--"]).long().bytes().await?;
            let fields = changes
                .split(|byte| *byte == 0)
                .filter(|it| it.starts_with(b":"));
            blobs.extend(fields.filter_map(|field| blob_of(field, 1, 3)));
        }
        let git = match &head {
            Some(_) => view.git().args(["ls-files", "--unmerged", "-z"]),
            None => view.git().args(["ls-files", "--stage", "-z"]),
        };
        let entries = git.long().bytes().await?;
        let entries = entries.split(|byte| *byte == 0);
        blobs.extend(entries.filter_map(|entry| blob_of(entry, 0, 1)));
        if blobs.is_empty() {
            return Ok(None);
        }
        let lines = blobs.iter().enumerate();
        let lines: String = lines
            .map(|(number, blob)| format!("100644 blob {blob}\t{number}\n"))
            .collect();
        let tree = view.git().arg("mktree").stdin(lines).long().text().await?;
        let who = Identity {
            name: "Wheelhouse".to_owned(),
            email: "wheelhouse@localhost".to_owned(),
        };
        // The same files always make the same commit.
        let git = who.on(view.git(), jiff::Timestamp::UNIX_EPOCH);
        let said = git.args(["commit-tree", &tree]).stdin("staged files\n");
        Ok(Some(CommitId::said(&said.text().await?)?))
    }

    /// Copies the objects of these references into the repository. Git checks each on the way.
    async fn transfer(&self, refs: &Refs) -> Result<(), GitError> {
        let repo = &self.origin.repo;
        let known = repo.refs_under(&["refs/"]).await?;
        // Git runs for the clone too, but in a directory of ours: its configuration is not the agent's.
        let source = View::of(&self.clone.repo)?;
        let numbered = refs.values().enumerate();
        let numbered: Vec<_> = numbered
            .map(|(number, id)| (format!("refs/heads/{number}"), id.clone()))
            .collect();
        let source = source.with_refs(&numbered)?.borrowing_its_objects()?;
        let view = View::of(repo)?.with_refs(&known)?;
        let git = view
            .git()
            .args(["-c", "protocol.file.allow=always", "fetch", "--quiet"])
            .args(["--no-tags", "--no-write-fetch-head"])
            .args(["--no-auto-maintenance", "--no-recurse-submodules", "--"])
            .arg(source.path())
            .arg("+refs/heads/*:refs/fetched/*")
            .env("GIT_ALLOW_PROTOCOL", "file");
        git.long().text().await.map(drop)
    }

    /// Passes what changed in the repository on to the clone. What the agent has changed itself stays.
    async fn give(&self) -> Result<(), WorktreeError> {
        let given = self.read_given();
        let ours = self.refs(GIVEN).await?;
        let theirs: Refs = self
            .origin
            .repo
            .refs_under(GIVEN)
            .await?
            .into_iter()
            .collect();
        let mut commands = String::new();
        for (name, new) in &theirs {
            let (old, base) = (ours.get(name), given.get(name));
            if old == base && old != Some(new) {
                let old = old.map_or_else(|| new.zero_like(), ToString::to_string);
                commands.push_str(&format!("update {name} {new} {old}\n"));
            }
        }
        for (name, base) in &given {
            if !theirs.contains_key(name) && ours.get(name) == Some(base) {
                commands.push_str(&format!("delete {name} {base}\n"));
            }
        }
        if !commands.is_empty() {
            let git = || self.git().args(["update-ref", "--no-deref", "--stdin"]);
            text_despite_locks(|| git().stdin(commands.clone())).await?;
        }
        // What the agent changed is its own until it is fetched.
        let unchanged = |name: &String| ours.get(name) == given.get(name);
        let mut now: Refs = theirs.into_iter().filter(|(n, _)| unchanged(n)).collect();
        for (name, base) in &given {
            if !unchanged(name) {
                now.entry(name.clone()).or_insert_with(|| base.clone());
            }
        }
        self.write_given(&now)?;
        self.copy_index(&self.origin, &self.clone)
    }

    async fn refs(&self, prefixes: &[&str]) -> Result<Refs, GitError> {
        let refs = self.clone.repo.refs_under(prefixes).await?;
        Ok(refs.into_iter().collect())
    }

    fn git(&self) -> Git {
        self.clone.repo.refs_git()
    }

    /// Gives both sides the same index.
    fn copy_index(&self, from: &WorktreeHandle, to: &WorktreeHandle) -> Result<(), WorktreeError> {
        let (from, to) = (from.index(), to.index());
        let Some(new) = stamp(&from) else {
            return Ok(());
        };
        let temporary = to.with_file_name("index.wheelhouse");
        let copy = || {
            if stamp(&to).as_ref() != Some(&new) {
                copy_index(&from, &temporary)?;
                fs::rename(&temporary, &to)?;
            }
            fs::write(&self.index_stamp, new)
        };
        copy().map_err(|source| WorktreeError::Directory {
            path: to.clone(),
            source,
        })
    }

    fn read_given(&self) -> Refs {
        let text = fs::read_to_string(&self.given).unwrap_or_default();
        read_refs(&text).collect()
    }

    fn write_given(&self, refs: &Refs) -> Result<(), WorktreeError> {
        let lines = refs.iter().map(|(name, id)| format!("{id} {name}\n"));
        let text: String = lines.collect();
        let temporary = self.given.with_extension("new");
        let written = fs::write(&temporary, text);
        let written = written.and_then(|()| fs::rename(&temporary, &self.given));
        written.map_err(|source| WorktreeError::Directory {
            path: self.given.clone(),
            source,
        })
    }
}

/// Creates an empty clone; it appears at its path only when it is whole.
async fn create(
    origin: &WorktreeHandle,
    dir: &Path,
    config: &[(&str, &str)],
) -> Result<(), WorktreeError> {
    let failed = |source: io::Error| WorktreeError::Directory {
        path: dir.to_owned(),
        source,
    };
    fs::create_dir_all(dir).map_err(failed)?;
    let made = tempfile::Builder::new().prefix("new-").tempdir_in(dir);
    let made = made.map_err(failed)?;
    let git = made.path().join("git");
    let format = match origin.repo.is_sha256() {
        true => "--object-format=sha256",
        false => "--object-format=sha1",
    };
    let init = Git::new().args(["init", "-q", "--bare", "--template="]);
    let init = init.args([format, "-b", "wheelhouse-none", "--"]).arg(&git);
    init.text().await?;
    for (key, value) in [("core.bare", "false"), ("core.logAllRefUpdates", "true")]
        .iter()
        .chain(config)
    {
        let set = Git::new()
            .args(["config", "--file"])
            .arg(git.join("config"));
        set.args([*key, *value]).text().await?;
    }
    let admin = git.join("worktrees").join(name_of(origin));
    let head = read_small(&origin.paths.git_dir.join("HEAD")).map_err(failed)?;
    let dot_git = origin.path().join(".git");
    let files = || -> io::Result<()> {
        fs::create_dir_all(git.join("info"))?;
        fs::create_dir_all(&admin)?;
        fs::write(git.join("objects/info/alternates"), alternates(origin))?;
        if let Ok(text) = crate::exclude::read_exclude(origin.repo.common_dir()) {
            fs::write(git.join("info/exclude"), text)?;
        }
        fs::write(admin.join("HEAD"), head)?;
        fs::write(admin.join("commondir"), "../..\n")?;
        fs::write(admin.join("gitdir"), format!("{}\n", dot_git.display()))?;
        // References of an earlier clone are not those of this one.
        fs::write(dir.join("given"), "")?;
        fs::rename(&git, dir.join("git"))
    };
    files().map_err(failed)
}

/// Returns what a clone borrows from: the repository's objects.
fn alternates(origin: &WorktreeHandle) -> String {
    let objects = origin.repo.common_dir().join("objects");
    format!("{}\n", objects.display())
}

/// Returns the name by which git knows the worktree.
fn name_of(worktree: &WorktreeHandle) -> String {
    let name = worktree.paths.git_dir.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns what tells two versions of an index apart.
fn stamp(index: &Path) -> Option<String> {
    let found = fs::symlink_metadata(index).ok()?;
    let written = found.modified().ok()?;
    let since = written.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} {}", since.as_nanos(), found.len()))
}

/// Returns the file of a line of `diff-index --raw` or `ls-files --stage`, by the places of its mode and its object. Submodules and
/// deletions have none.
fn blob_of(line: &[u8], mode: usize, object: usize) -> Option<String> {
    let text = std::str::from_utf8(line.split(|byte| *byte == b'\t').next()?).ok()?;
    let fields: Vec<_> = text.split(' ').collect();
    let is_file = matches!(*fields.get(mode)?, "100644" | "100755" | "120000");
    let id = CommitId::parse(fields.get(object)?).ok()?;
    let is_there = id.as_str() != id.zero_like();
    (is_file && is_there).then(|| id.to_string())
}
