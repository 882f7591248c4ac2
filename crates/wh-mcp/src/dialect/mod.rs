//! Dialects: other systems' contracts, so that a client written for one of them works unchanged.
//!
//! A [`Contract`] is a table: a name, addresses, tools with exactly the contract's parameters, and how answers and refusals
//! look. Each is one file here. Everything else is shared: the transport, authentication, the permission table, the audit log
//! and the operations of `wh-app`. No rule lives in a dialect; it translates.

mod agor;
mod clawed_abode;
mod endpoint;
mod handler;
mod hint;
mod iteratr;
mod shape;
mod tool;

use rmcp::model::CallToolResult;
use wh_api::ErrorView;
use wh_domain::Dialect;

pub use self::endpoint::DialectEndpoint;
use self::{
    shape::Shown,
    tool::{DialectTool, Written},
};

/// Another system's contract.
pub(crate) struct Contract {
    pub(crate) dialect: Dialect,
    /// Where it is served.
    pub(crate) addresses: &'static [&'static str],
    /// The parameter of the address that may carry the credential.
    pub(crate) token_parameter: Option<&'static str>,
    /// What `serverInfo` calls the server.
    pub(crate) server_name: &'static str,
    /// The version that `serverInfo` tells; ours unless the contract names one.
    pub(crate) server_version: Option<&'static str>,
    /// What a client should know before its first call.
    pub(crate) instructions: &'static str,
    /// In the order of lists.
    pub(crate) tools: fn() -> Vec<DialectTool>,
    /// How an answer looks.
    pub(crate) answer: fn(Written, Shown<'_>) -> CallToolResult,
    /// How a refusal looks, for a client whose revision knows structured content or not.
    pub(crate) refusal: fn(ErrorView, bool) -> CallToolResult,
    /// What the contract says of a tool that it has not; the protocol's own error unless it says something.
    pub(crate) unknown_tool: Option<fn(&str) -> ErrorView>,
}

/// Every contract.
const CONTRACTS: &[&Contract] = &[&agor::CONTRACT, &clawed_abode::CONTRACT, &iteratr::CONTRACT];
