//! The per-session process: it holds the agent, and outlives the server.
//!
//! `wheelhouse runner` runs this crate's [`run`] for one session. It starts the agent so that the whole tree can be ended
//! ([`process`]), speaks ACP with it ([`acp`]), writes what happens to a [`journal`], and tells the server over a [`link`].

pub mod event;
pub mod journal;
pub mod spec;

pub use event::AgentEvent;
pub use spec::{Begin, Limits, McpSpec, Quirks, RunDir, RunSpec, Token};
