//! A git directory of our own over somebody else's objects.
//!
//! Git reads `config`, `config.worktree`, `info/attributes` and hooks from the repository it works on, and an agent can
//! write all of them, at any moment. So whatever touches file contents, merges or talks to a network runs in a *view*: a
//! fresh private directory whose configuration we wrote, with the object directory, index and work tree of the real
//! repository named explicitly. A planted filter, merge driver, `insteadOf` or proxy is not overridden there, it is
//! simply not read. Only commands that look at or move references run on the real git directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{CommitId, GitError, RepoHandle, command::Git};

/// A private git directory; removed when dropped.
pub(crate) struct View {
    dir: TempDir,
    objects: PathBuf,
    work_tree: Option<PathBuf>,
    index: PathBuf,
}

impl View {
    /// Makes a view of the repository's objects, with an index of its own and no work tree.
    pub(crate) fn of(repo: &RepoHandle) -> Result<Self, GitError> {
        repo.check_alternates()?;
        Self::make(repo).map_err(GitError::Start)
    }

    fn make(repo: &RepoHandle) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("wheelhouse-").tempdir()?;
        let at = |name: &str| dir.path().join(name);
        for name in ["objects", "refs", "info"] {
            fs::create_dir(at(name))?;
        }
        fs::write(at("HEAD"), "ref: refs/heads/wheelhouse-none\n")?;
        let format = if repo.is_sha256() { "sha256" } else { "sha1" };
        fs::write(
            at("config"),
            format!(
                "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = {format}\n"
            ),
        )?;
        // What the user excludes stays excluded; the text is copied, so that it cannot be a link to something else.
        if let Ok(text) = crate::exclude::read_exclude(repo.common_dir()) {
            fs::write(at("info/exclude"), text)?;
        }
        let index = at("index");
        Ok(Self {
            objects: repo.common_dir().join("objects"),
            work_tree: None,
            index,
            dir,
        })
    }

    /// Lets the view see files in `work_tree`, and use `index`, which belongs to them.
    pub(crate) fn over(mut self, work_tree: &Path, index: &Path) -> Self {
        self.work_tree = Some(work_tree.to_owned());
        self.index = index.to_owned();
        self
    }

    /// Lets the view see files in `work_tree`, and start from a copy of `index` that it may change.
    pub(crate) fn over_copy(mut self, work_tree: &Path, index: &Path) -> Result<Self, GitError> {
        self.work_tree = Some(work_tree.to_owned());
        self.index = self.own_index();
        match copy_index(index, &self.index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(GitError::Start(error)),
            _ => Ok(self),
        }
    }

    /// Returns the index that nobody else uses.
    pub(crate) fn own_index(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// Lets `HEAD` of the view be this commit.
    pub(crate) fn at(self, head: Option<&CommitId>) -> Result<Self, GitError> {
        if let Some(head) = head {
            fs::write(self.dir.path().join("HEAD"), format!("{head}\n"))
                .map_err(GitError::Start)?;
        }
        Ok(self)
    }

    /// Gives the view references to know of, such as those that a fetch need not load again.
    pub(crate) fn with_refs(self, refs: &[(String, CommitId)]) -> Result<Self, GitError> {
        let mut text = String::new();
        for (name, id) in refs {
            text.push_str(&format!("{id} {name}\n"));
        }
        fs::write(self.dir.path().join("packed-refs"), text).map_err(GitError::Start)?;
        Ok(self)
    }

    /// Lets git find the repository's objects from the view's directory alone, for a command that is given nothing else.
    pub(crate) fn borrowing_its_objects(self) -> Result<Self, GitError> {
        let file = self.dir.path().join("objects/info");
        fs::create_dir_all(&file)
            .and_then(|()| {
                let line = format!("{}\n", self.objects.display());
                fs::write(file.join("alternates"), line)
            })
            .map_err(GitError::Start)?;
        Ok(self)
    }

    /// Returns the view's directory.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Starts a git command in the view.
    pub(crate) fn git(&self) -> Git {
        let git = Git::new()
            .arg("--git-dir")
            .arg(self.dir.path())
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .env("GIT_INDEX_FILE", &self.index);
        match &self.work_tree {
            Some(path) => git.arg("--work-tree").arg(path),
            None => git,
        }
    }
}

/// Copies an index together with its time: by that git knows that a file may have changed, in the same moment and to the same
/// size, after it was written down. A link in its place is not followed.
pub(crate) fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut from = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(from)?;
    let found = from.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut to = fs::File::create(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(found.modified()?)
}
