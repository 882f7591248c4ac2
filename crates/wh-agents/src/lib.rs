//! Finds the agents that can be run: the built-in one, the coding agents installed on this machine with their versions,
//! and those that the configuration names.
//!
//! What differs between agents (programs, environment, how a session is taken up again, how tokens are counted) stands
//! in one table, [`PROFILES`], and nowhere else. The facts in it were measured with the real programs.

mod custom;
mod find;
mod install;
mod launch;
mod price;
mod probe;
mod profile;

pub use custom::{ConfiguredAgents, CustomAgent, ModelSettings};
pub use find::Agents;
pub use install::{AGENTS_DIR, InstallFailure, Installation, Package};
pub use launch::{Launch, LaunchProgram, LaunchRefusal, ModelRoute};
pub use price::shipped_prices;
pub use profile::{
    ConfigPath, CostCount, ModelVariables, PROFILES, Profile, Program, Resume, TokenCount,
};
