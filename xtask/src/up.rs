//! `cargo xtask up`: from a checkout to a running server. It builds the dashboard and the binary, then becomes `wheelhouse serve`, which prints the login
//! link and the MCP address itself.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::UpOptions;
use crate::product;
use crate::run;
use crate::ui;
use crate::workspace::Workspace;

pub(crate) fn up(workspace: &Workspace, options: &UpOptions) -> Result<ExitCode> {
    let start = Instant::now();
    let binary = product::build(workspace, options.profile)?;
    ui::progress(&format!(
        "built in {} s; starting {}",
        start.elapsed().as_secs(),
        binary.display()
    ));
    let error = run::command(&binary)
        .arg("serve")
        .args(&options.serve_args)
        .exec();
    bail!("cannot start {}: {error}", binary.display());
}
