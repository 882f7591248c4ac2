//! Limits of runs by control groups (cgroup v2), where a part of the hierarchy is delegated to the server.
//!
//! ```text
//! base                 delegated by systemd (`Delegate=`), or named by the operator
//! ├── server           the server and the runners, without limits
//! ├── run-SESSION.1    one agent's process tree: memory.max, pids.max, cpu.weight
//! └── run-SESSION.2
//! ```
//!
//! The server prepares the base once ([`Cgroups::prepare`]). A runner creates the cgroup of its run ([`RunCgroup`]), and the helper
//! between runner and agent moves itself into it before it does anything else, so that every descendant is born there and none can
//! leave: sandboxed agents see the hierarchy read-only. The runner stays outside; otherwise reaching a limit would end it too.
//!
//! Every controller is optional. What no controller enforces is watched by the runner, as without cgroups. A cgroup that nobody
//! delegated is never used: another manager may remove or change what is created in it.

mod controllers;
mod events;
mod find;
mod prepare;
mod run;

pub(crate) use self::controllers::threads_max;
pub(crate) use self::events::LimitEvents;
pub(crate) use self::prepare::probe_child;
pub(crate) use self::run::{RunCgroup, join};
pub use self::{
    controllers::Controllers,
    find::CgroupSetting,
    prepare::{Cgroups, inspect},
};
