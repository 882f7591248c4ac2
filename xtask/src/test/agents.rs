//! The step that drives the real agents: the tests are Rust's, the programs come from `cargo xtask agents`.

use anyhow::Result;

use super::{Count, Outcome, cargo};
use crate::agents;
use crate::ui;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if agents::installed(workspace).is_none() {
        ui::line(
            "agents: not installed, so not tested; `cargo xtask test --agents` installs them (1.6 GB) and tests with them",
        );
        return Ok(Outcome::Counted(Count::default()));
    }
    cargo::agents(workspace)
}
