//! Calls of language models: one client for whatever speaks the protocol of OpenAI, Anthropic or Gemini, at any address.
//!
//! A call is bounded in time and in what it returns, and its errors say what went wrong without a word of what was sent: neither keys
//! nor prompts come back in them.

mod config;
mod model;

pub use config::{ModelConfig, ModelConfigError, Provider};
pub use model::{Ask, Model, ModelError, ModelSetupError};
