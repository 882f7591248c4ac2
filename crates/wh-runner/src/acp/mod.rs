//! The client side of ACP version 1, over the stdio of an agent that we supervise.
//!
//! The types are the crate's; the loop is ours. The crate's own connection queues every line it has read without a bound, so
//! an agent that prints faster than we store would fill our memory. Here one line is read, handled and stored before the next
//! is looked at: when the journal cannot keep up, the pipe fills and the agent waits.
//!
//! [`lines`] reads bounded lines, [`wire`] knows the envelope, [`map`] turns each kind of message into an
//! [`AgentEvent`](crate::AgentEvent), [`prompt`] puts ours into its words, [`tools`] keeps tool calls whole, and [`text`] joins neighbouring chunks.

pub(crate) mod calls;
pub(crate) mod lines;
pub(crate) mod map;
pub(crate) mod models;
pub(crate) mod prompt;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod wire;

#[cfg(test)]
mod tests;
