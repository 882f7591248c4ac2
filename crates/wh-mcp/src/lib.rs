//! The MCP surface: the transport that carries it, and the tools, resources and prompts it offers.

pub mod transport;
