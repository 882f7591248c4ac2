//! Every git command the server runs, with one environment and one set of defences. Nothing else calls git.
//!
//! Whatever an agent can write is hostile input to git: commands run with an explicit git directory, no hooks, no
//! file-system monitor, no external diff, no credential helper, no system or global configuration and a protocol
//! allow-list, so that nothing in a repository can make the server run a program.

mod command;
mod inspect;
mod version;

pub use command::GitError;
pub use inspect::{RepoFacts, inspect};
pub use version::version;
