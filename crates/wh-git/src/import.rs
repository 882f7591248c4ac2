//! Writing many files as objects in one go, through `git fast-import`.
//!
//! We open and read every file ourselves, beneath a held directory and without following links, and hand the bytes to
//! git. `git add` would apply filters and `hash-object` would follow a link that was swapped in.

use std::{
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
};

use crate::{
    CommitId, GitError, RemoveError,
    beneath::hold,
    child::Group,
    command::WORK_TIMEOUT,
    mentioned::Mentioned,
    snapshot::{Entry, mode_of, read_blob},
    view::View,
    walk::{Found, blocking},
};

/// Pieces that may wait between the reader of files and git.
const QUEUE: usize = 16;

/// What a rescue is made of.
pub(crate) struct Import {
    pub(crate) files_root: PathBuf,
    pub(crate) files: Vec<Found>,
    pub(crate) admin_root: PathBuf,
    pub(crate) admin: Vec<Found>,
    pub(crate) dot_git: Option<Found>,
    pub(crate) index: Vec<IndexEntry>,
    pub(crate) head: Option<CommitId>,
    pub(crate) mentioned: Mentioned,
    pub(crate) seconds: i64,
    pub(crate) sha256: bool,
}

/// One entry of an index.
pub(crate) struct IndexEntry {
    pub(crate) mode: String,
    pub(crate) object: String,
    /// 0, or 1 to 3 for the sides of a conflict.
    pub(crate) stage: String,
    pub(crate) path: PathBuf,
}

/// Writes everything and returns the commit, with the names of the files as we computed them.
pub(crate) async fn import(
    view: &View,
    what: Import,
) -> Result<(CommitId, Vec<Entry>), RemoveError> {
    let work = import_whenever(view, what);
    let limit = WORK_TIMEOUT;
    let entries = tokio::time::timeout(limit, work)
        .await
        .map_err(|_| GitError::TimedOut { limit })??;
    let git = view.git().args(["rev-parse", "--verify", "-q"]);
    let commit = git.arg("refs/heads/work").text().await?;
    Ok((CommitId::said(&commit)?, entries))
}

async fn import_whenever(view: &View, what: Import) -> Result<Vec<Entry>, RemoveError> {
    let mut command = view
        .git()
        // Names that only other systems mind are kept, and what is written is on disk when git ends.
        .args([
            "-c",
            "core.protectNTFS=false",
            "-c",
            "core.protectHFS=false",
        ])
        .args(["-c", "core.fsync=all", "fast-import", "--quiet", "--done"])
        .into_command();
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .map_err(GitError::Start)?;
    let group = Group::of(&child);
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(QUEUE);
    let producer = blocking(move || produce(&what, &sender));
    let (made, _, said) = tokio::join!(
        producer,
        async move {
            let Some(mut stdin) = stdin else { return };
            while let Some(piece) = pieces.recv().await {
                if stdin.write_all(&piece).await.is_err() {
                    // Git gave up; dropping the queue tells the reader.
                    return;
                }
            }
        },
        async move {
            let mut said = String::new();
            if let Some(stderr) = stderr {
                stderr.take(2_000).read_to_string(&mut said).await.ok();
            }
            said
        }
    );
    let status = child.wait().await.map_err(GitError::Start)?;
    group.done();
    let entries = made.map_err(RemoveError::files)?;
    if status.success() {
        Ok(entries)
    } else {
        Err(GitError::failed(said.trim()).into())
    }
}

/// Writes the stream.
fn produce(what: &Import, sender: &mpsc::Sender<Vec<u8>>) -> io::Result<Vec<Entry>> {
    let mut out = Out { sender };
    out.commit("state", "the git directory of the worktree", what.seconds)?;
    out.files(&what.admin_root, &what.admin, "", what.sha256)?;
    if let Some(dot_git) = &what.dot_git {
        out.files(
            &what.files_root,
            std::slice::from_ref(dot_git),
            "dot-",
            what.sha256,
        )?;
    }
    for tree in &what.mentioned.trees {
        out.text(&format!("M 040000 {tree} \"trees/{tree}\"\n"))?;
    }
    for entry in what.index.iter().filter(|entry| entry.stage != "0") {
        out.index_entry(entry, &format!("conflicts/{}/", entry.stage))?;
    }
    out.commit("index", "the index of the worktree", what.seconds)?;
    for entry in what.index.iter().filter(|entry| entry.stage == "0") {
        out.index_entry(entry, "")?;
    }
    out.commit("work", "the files of the worktree", what.seconds)?;
    let mut parents = what.head.iter().map(CommitId::as_str).collect::<Vec<_>>();
    parents.extend(["refs/heads/index", "refs/heads/state"]);
    let head = what.head.as_ref().map(CommitId::as_str);
    let others = what.mentioned.commits.iter().map(String::as_str);
    parents.extend(others.filter(|other| Some(*other) != head));
    for (n, parent) in parents.iter().enumerate() {
        let word = if n == 0 { "from" } else { "merge" };
        out.text(&format!("{word} {parent}\n"))?;
    }
    out.text("deleteall\n")?;
    let entries = out.files(&what.files_root, &what.files, "", what.sha256)?;
    out.text("\ndone\n")?;
    Ok(entries)
}

/// The stream to git.
struct Out<'a> {
    sender: &'a mpsc::Sender<Vec<u8>>,
}

impl Out<'_> {
    fn send(&self, bytes: Vec<u8>) -> io::Result<()> {
        self.sender
            .blocking_send(bytes)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.send(text.as_bytes().to_vec())
    }

    fn commit(&mut self, branch: &str, about: &str, seconds: i64) -> io::Result<()> {
        let message = format!("wheelhouse rescue: {about}\n");
        let (who, bytes) = ("Wheelhouse <wheelhouse@localhost>", message.len());
        self.text(&format!(
            "commit refs/heads/{branch}\ncommitter {who} {seconds} +0000\ndata {bytes}\n{message}"
        ))
    }

    fn index_entry(&mut self, entry: &IndexEntry, below: &str) -> io::Result<()> {
        let mut line = format!("M {} {} ", entry.mode, entry.object).into_bytes();
        quote(&mut line, below, &entry.path);
        self.send(line)
    }

    fn files(
        &mut self,
        root: &Path,
        files: &[Found],
        below: &str,
        sha256: bool,
    ) -> io::Result<Vec<Entry>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let held = hold(root)?;
        let mut entries = Vec::with_capacity(files.len());
        for found in files {
            let mode = mode_of(found.kind);
            let mut line = format!("M {mode} inline ").into_bytes();
            quote(&mut line, below, &found.path);
            line.extend_from_slice(format!("data {}\n", found.stamp.size).as_bytes());
            self.send(line)?;
            let mut piece = |bytes: &[u8]| self.send(bytes.to_vec());
            let blob = read_blob(&held, found, sha256, &mut piece)?;
            self.text("\n")?;
            entries.push(Entry {
                path: found.path.clone(),
                mode,
                blob,
            });
        }
        Ok(entries)
    }
}

/// Writes a path the way fast-import reads any path: in quotes, with odd bytes as octal digits.
fn quote(line: &mut Vec<u8>, below: &str, path: &Path) {
    line.push(b'"');
    for byte in below
        .bytes()
        .chain(path.as_os_str().as_bytes().iter().copied())
    {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => line.push(byte),
            _ => line.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    line.extend_from_slice(b"\"\n");
}
