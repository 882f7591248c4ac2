//! Every git command the server runs, with one environment and one set of defences. Nothing else calls git.
//!
//! Whatever an agent can write is hostile input to git: commands run with an explicit git directory, no hooks, no
//! file-system monitor, no external diff, no credential helper, no system or global configuration and a protocol
//! allow-list, so that nothing in a repository can make the server run a program. Commands that touch contents or a
//! network do not read the repository's configuration at all (module `view`).

mod agent_access;
mod beneath;
mod block;
mod checkout;
mod child;
mod cleanup;
mod command;
mod commit;
mod count;
mod create;
mod diff;
mod embedded;
mod ensure;
mod erase;
mod exclude;
#[doc(hidden)]
pub mod fault;
mod fetch;
mod gh;
mod import;
mod init;
mod inspect;
mod links;
mod local;
mod mark;
mod marker;
mod mentioned;
mod merge;
mod object;
mod patch;
mod private_clone;
mod probe;
mod process;
mod project_config;
mod read;
mod remove;
mod repo;
mod rescue;
mod risk;
mod snapshot;
mod status;
mod uncommitted;
mod version;
mod view;
mod walk;
mod worktree;

pub use agent_access::{AgentAccess, GitLink, checkout_access, is_in_checkout};
pub use cleanup::{CleanUp, clean_up_list};
pub use command::GitError;
pub use commit::{CommitError, Identity, What};
pub use count::Changes;
pub use create::{Base, Start};
pub use diff::{Change, Diff, DiffLimits, FileDiff, FileKind, Patch, Patches};
pub use embedded::{Disabled, Embedded};
pub use fetch::{HttpHeader, NotAHeader, PinnedHost, Progress, Transfer};
pub use gh::{GhError, gh_token};
pub use inspect::{RepoFacts, inspect};
pub use merge::{Merge, MergeError, Merged};
pub use object::{CommitId, NotACommitId};
pub use private_clone::{Fetched, PrivateClone};
pub use probe::{RemoteAccess, RemoteProbe, probe};
pub use project_config::{
    ConfigError, ConfigFile, ConfigTree, config_read, placeholder_create, placeholder_remove,
};
pub use read::{FileContent, FileError};
pub use remove::{IgnoredFiles, Removal, RemoveError, Removed};
pub use repo::{Branch, RepoHandle};
pub use rescue::{Rescue, RescueLabel, RescueOf};
pub use risk::Risk;
pub use status::Status;
pub use version::version;
pub use walk::DiskUse;
pub use wh_domain::{RepoPaths, WorktreePaths};
pub use worktree::{Checkout, Missing, WorktreeError, WorktreeHandle};
