//! MCP as lines between a client's stdio and the server: `wheelhouse mcp`, and the small caller of `wheelhouse tool`.
//!
//! ```text
//!  client ── stdin ──► up ───► server          Ledger: what was asked and not yet answered,
//!  client ◄─ stdout ── down ◄── server                 and how the client introduced itself
//! ```
//!
//! Lines pass byte for byte. When the server goes away, whatever it still owed is answered with an error that says to
//! ask again, the client's introduction is repeated to the next server, and the bridge goes on: few MCP clients ever
//! recover from a server that ended, so it must not look as if it had.

mod caller;
mod connect;
mod ledger;
mod line;
mod run;

pub(crate) use caller::McpCaller;
pub(crate) use connect::{Connector, Tools, embedded_server};
pub(crate) use run::run;
