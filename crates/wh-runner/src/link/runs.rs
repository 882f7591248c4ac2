//! Starting runs, and finding the ones that are there.

use std::{
    ffi::OsStr,
    fs::OpenOptions,
    io,
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    path::Path,
    process::Stdio,
};

use serde::{Deserialize, Serialize};

use crate::{
    process::ProcessMark,
    spec::{INHERITED_ENV, RunDir, RunSpec},
};

/// Why a run cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the directory {path} cannot be prepared for a run")]
    Prepare {
        path: std::path::PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the runner cannot be started")]
    Spawn(#[source] io::Error),
}

/// Says who runs; in `runner.json`, written when the socket answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunnerFile {
    pub(crate) runner: ProcessMark,
}

/// A run on this machine.
#[derive(Clone, Debug)]
pub struct RunState {
    pub dir: RunDir,
    pub spec: RunSpec,
    /// The runner, when it lives. A dead runner's records can still be read with [`JournalReader`](crate::journal::JournalReader).
    pub alive: Option<ProcessMark>,
}

/// Writes the spec and starts `program runner --run-dir DIR`, which detaches itself and outlives the caller. Use
/// [`attach`](super::attach) to talk to it.
///
/// Call it inside a tokio runtime, which takes the process out of the table should it end first.
pub fn spawn(program: &Path, dir: &RunDir, spec: &RunSpec) -> Result<ProcessMark, StartError> {
    let prepare = |source| StartError::Prepare {
        path: dir.path().to_owned(),
        source,
    };
    dir.create(spec).map_err(prepare)?;
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(dir.log())
        .map_err(prepare)?;
    let kept = INHERITED_ENV
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where runners are started"
    )]
    let mut command = tokio::process::Command::new(program);
    let child = command
        .arg("runner")
        .arg("--run-dir")
        .arg(dir.path())
        .env_clear()
        .envs(kept)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(prepare)?)
        .stderr(log)
        .spawn()
        .map_err(StartError::Spawn)?;
    let mark = child.id().and_then(ProcessMark::of);
    mark.ok_or_else(|| StartError::Spawn(io::Error::other("it ended at once")))
}

/// Lists the runs below `root`, one directory each, and whether their runners live.
pub fn list_runs(root: &Path) -> io::Result<Vec<RunState>> {
    let mut runs = Vec::new();
    let entries = match std::fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
        entries => entries?,
    };
    for entry in entries {
        let dir = RunDir::new(entry?.path());
        // A directory without a readable spec is not a run: it was being made, or being removed.
        let Ok(spec) = dir.read_spec() else { continue };
        let alive = read_runner(&dir).filter(|mark| mark.is_alive());
        runs.push(RunState { dir, spec, alive });
    }
    Ok(runs)
}

/// Tells whether a process is, or claims to be, the runner of a run below `root`.
pub fn is_runner(root: &Path, process: ProcessMark) -> bool {
    let runs = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut runs = runs.map(|entry| RunDir::new(entry.path()));
    runs.any(|dir| read_runner(&dir) == Some(process)) || is_called_runner(root, process.pid)
}

/// Tells whether a process was started as the runner of a run below `root`, as [`spawn`] does; its directory may be gone.
fn is_called_runner(root: &Path, pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).skip(1);
    let is_runner = words.next() == Some(b"runner") && words.next() == Some(b"--run-dir");
    let dir = words.next().map(OsStr::from_bytes).map(Path::new);
    is_runner && dir.is_some_and(|dir| dir.starts_with(root))
}

/// Returns the process of a run's runner, dead or alive; nothing when it has not begun.
pub fn read_runner(dir: &RunDir) -> Option<ProcessMark> {
    let bytes = std::fs::read(dir.state()).ok()?;
    let file: RunnerFile = serde_json::from_slice(&bytes).ok()?;
    Some(file.runner)
}
