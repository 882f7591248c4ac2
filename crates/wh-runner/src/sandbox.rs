//! Restricts what an agent's processes can see and change.
//!
//! The server describes the restrictions as a [`Sandbox`] in the run's spec; the helper between runner and agent
//! ([`crate::process`]) applies them to itself before it starts the agent, so that every descendant inherits them and none can
//! lift them. If one step fails, the agent is not started.
//!
//! With [`Mechanism::Namespaces`] there are four walls, each of which is enough against most attacks:
//!
//! 1. a mount namespace ([`mounts`]) in which the whole file system is read-only except for the session's own directories, hidden
//!    paths are empty, the home directory is a private copy-on-write layer, and `/proc` and `/dev` are new;
//! 2. no capabilities and no way to regain them ([`privileges`]), for root too;
//! 3. Landlock ([`rules`]), which repeats the write restrictions and adds limits on symlinks, signals and abstract sockets;
//! 4. a system call filter ([`syscalls`]).
//!
//! With [`Root::Built`] the first wall starts from an empty file system instead, and a [`PrivateNetwork`] ([`network`]) leaves the
//! agent nothing but the ports that the runner serves.
//!
//! With [`Mechanism::Landlock`], for machines that forbid user namespaces, the first wall is missing: Landlock then also denies
//! reading hidden paths, and the system call filter denies Unix sockets, which Landlock cannot restrict by path before ABI 9.

mod devices;
mod mounts;
mod network;
mod order;
mod privileges;
mod probe;
mod rules;
mod spec;
mod syscalls;

use std::{io, path::Path};

pub(crate) use self::network::{enable_loopback, receive_listeners, send_listeners};
pub use self::{
    probe::{Support, Unsupported, probe, probe_child},
    spec::{Home, Mapped, Mechanism, PrivateNetwork, Root, Sandbox},
};

/// A step that failed while a sandbox was set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the sandbox: {step}: {source}")]
pub(crate) struct SetupError {
    step: String,
    source: io::Error,
}

impl SetupError {
    fn new(step: impl Into<String>, source: impl Into<io::Error>) -> Self {
        let (step, source) = (step.into(), source.into());
        Self { step, source }
    }
}

/// Describes a step on a path for [`SetupError`].
fn on<E: Into<io::Error>>(step: &str, path: &Path) -> impl FnOnce(E) -> SetupError {
    let step = format!("{step} {}", path.display());
    move |source| SetupError::new(step, source)
}

/// Applies every restriction to the calling process, for good. The process must have one thread; with
/// [`Mechanism::Namespaces`] it must be the first process of its PID namespace, in a mount namespace of its own.
pub(crate) fn enter(sandbox: &Sandbox) -> Result<(), SetupError> {
    let cwd = std::env::current_dir().map_err(|error| SetupError::new("find the cwd", error))?;
    if sandbox.mechanism == Mechanism::Namespaces {
        mounts::build(sandbox)?;
        // The process still stands in the file system as it was before.
        std::env::set_current_dir(&cwd).map_err(on("enter", &cwd))?;
    }
    privileges::drop_all()?;
    rules::restrict(sandbox)?;
    syscalls::filter(sandbox)
}
