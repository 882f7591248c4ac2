//! `cargo xtask up`: from a checkout to a running server. It builds the dashboard and the binary, then becomes `wheelhouse serve`, which prints the login
//! link and the MCP address itself.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::args::{Profile, UpOptions};
use crate::run;
use crate::tools;
use crate::ui;
use crate::web::Web;
use crate::workspace::Workspace;

pub(crate) fn up(workspace: &Workspace, options: &UpOptions) -> Result<ExitCode> {
    tools::debian(tools::GIT)?;
    tools::debian(tools::C_COMPILER)?;
    ui::progress("1 of 3: the dashboard; the first time this also installs what it is built with");
    // Before the binary that embeds it.
    Web::ready(workspace)?.build()?;
    let mut build = run::cargo();
    build.current_dir(&workspace.root).args([
        "build",
        "--package",
        "wheelhouse",
        "--bin",
        "wheelhouse",
    ]);
    let folder = match options.profile {
        Profile::Dev => "debug",
        Profile::Release => {
            build.arg("--release");
            "release"
        }
    };
    ui::progress("2 of 3: the server; the first time this takes several minutes");
    run::visibly_ok(&mut build)?;
    let binary = workspace.target.join(folder).join("wheelhouse");
    ui::progress(&format!("3 of 3: starting {}", binary.display()));
    let error = run::command(&binary)
        .arg("serve")
        .args(&options.serve_args)
        .exec();
    bail!("cannot start {}: {error}", binary.display());
}
