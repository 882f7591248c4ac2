//! wh-mcp
