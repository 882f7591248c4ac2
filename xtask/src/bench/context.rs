//! Bytes of `tools/list` and of typical answers: what a caller's context window pays, per scope and toolset.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub(super) fn run(_workspace: &Workspace) -> Result<String> {
    bail!("not built yet: it waits for a server that lists tools");
}
