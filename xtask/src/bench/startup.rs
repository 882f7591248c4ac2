//! Time until ready and memory at start with 100 000 events, against an empty data directory.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub(super) fn run(_workspace: &Workspace) -> Result<String> {
    bail!("not built yet: it waits for a server to start");
}
