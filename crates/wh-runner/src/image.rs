//! Container images as root file systems of sandboxes.
//!
//! Podman or Docker provides the image; the sandbox of this crate runs the agent in it. The engine exports the image once, it is unpacked
//! into a directory of the server's own, and its top-level entries are mounted read-only into a built root
//! ([`crate::sandbox::Root::Built`]). So a session in an image has the same walls, limits and end as every other, needs no daemon
//! while it runs, and starts as fast. Running agents with `podman run` instead would add two processes per session that live
//! outside of the session's process tree, and depends on the machine's cgroup layout.

mod engine;
mod root;
mod settings;
mod unpack;

pub use engine::{Engine, EngineKind, ImageConfig, ImageError};
pub use root::{find_program, root_mounts};
pub use settings::write_settings;
