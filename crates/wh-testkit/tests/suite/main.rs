//! Tests that need parts of the product together: the real agents, the runner, the server and a scripted model.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod real_agents;
