//! A model that says what a script tells it to, for real agents: Anthropic's Messages, OpenAI's Responses and Chat Completions, and
//! Gemini, streamed or whole, on a loopback port.
//!
//! It keeps no conversation: each request is answered from its own transcript (see [`conversation`]). It is strict: a route it does
//! not have is answered with 404, and every request is recorded, so that a test can tell what an agent really sent.

mod anthropic;
mod chat;
mod conversation;
mod gemini;
mod responses;
mod script;
mod server;

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use self::conversation::{Conversation, Reply};
pub use self::script::Script;
pub use self::server::{ModelServer, Recorded};

/// What every answer says it used, so that tests can tell how agents count.
pub mod tokens {
    /// Input tokens that were not cached.
    pub const INPUT: u64 = 100;
    /// Input tokens that came from a cache.
    pub const CACHED: u64 = 20;
    pub const OUTPUT: u64 = 7;
}

/// How one protocol is read and written.
#[derive(Clone, Copy)]
struct Dialect {
    read: fn(&Value) -> Conversation,
    /// Writes an answer in pieces.
    stream: fn(&Reply, &Value) -> Vec<Frame>,
    /// Writes an answer at once.
    whole: fn(&Reply, &Value) -> Value,
}

/// A piece of a stream, and how long to wait before it.
#[derive(Debug)]
struct Frame {
    wait: Duration,
    text: String,
}

impl Frame {
    fn raw(text: String) -> Self {
        let wait = Duration::ZERO;
        Self { wait, text }
    }

    fn data(data: &Value) -> Self {
        Self::raw(format!("data: {data}\n\n"))
    }

    fn event(name: &str, data: &Value) -> Self {
        Self::raw(format!("event: {name}\ndata: {data}\n\n"))
    }

    fn after(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }
}

/// Returns an id that nothing has.
fn fresh(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::new_v4().simple())
}
