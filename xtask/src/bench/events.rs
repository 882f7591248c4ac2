//! Appending events and reading them by cursor, against the store's own commit rate.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub(super) fn run(_workspace: &Workspace) -> Result<String> {
    bail!("not built yet: it waits for a server with an event feed");
}
