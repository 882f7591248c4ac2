//! The per-session process: it holds the agent, outlives the server, journals what happens and ends the whole process tree.
//!
//! `wheelhouse runner` runs [`run`] for one session. It starts the agent so that the whole tree can be ended ([`process`]), speaks ACP
//! with it, writes what happens to a [`journal`], and tells the server over a [`link`]. The server starts runs with [`link::spawn`],
//! finds them again with [`link::list_runs`] and talks to them through [`link::attach`].

mod acp;
mod beneath;
pub mod cgroup;
pub mod echo;
pub mod egress;
pub mod event;
mod forward;
pub mod hook;
pub mod image;
pub mod journal;
pub mod link;
pub mod peer;
pub mod process;
mod run_files;
mod runner;
pub mod sandbox;
pub mod spec;

pub use event::AgentEvent;
pub use forward::Port as ForwardPort;
pub use link::PromptPart;
pub use runner::{RunError, close_inherited, run};
pub use spec::{
    Begin, Limits, McpSpec, PROXY_PORT, Quirks, Resources, RunDir, RunSpec, TOOLS_PORT, Token,
};
