//! `cargo xtask web`: builds the dashboard into `web/dist`, which the server's binary embeds, or serves it from its sources
//! while somebody works on it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::args::WebTask;
use crate::run;
use crate::tools;
use crate::ui;
use crate::workspace::Workspace;

/// The dashboard's folder, with everything it depends on installed.
#[derive(Debug)]
pub(crate) struct Web {
    pub(crate) dir: PathBuf,
    node: PathBuf,
}

impl Web {
    /// Installs exactly what the lock file says, unless it is there already.
    pub(crate) fn ready(workspace: &Workspace) -> Result<Self> {
        let node = tools::node(workspace)?;
        let dir = workspace.root.join("web");
        tools::npm_ci_in_place(&dir, &node)?;
        Ok(Self { dir, node })
    }

    /// Installs what a folder of it needs besides, unless it is there already.
    pub(crate) fn install(&self, folder: &str) -> Result<()> {
        tools::npm_ci_in_place(&self.dir.join(folder), &self.node)
    }

    /// Describes a run of one of the scripts in `package.json`.
    pub(crate) fn npm(&self, script: &str) -> Result<Command> {
        let mut npm = run::command("npm");
        npm.current_dir(&self.dir)
            .env("PATH", tools::path_with(&self.node)?)
            .args(["run", "--silent", script]);
        Ok(npm)
    }

    /// Checks the types and writes `web/dist`.
    pub(crate) fn build(&self) -> Result<()> {
        run::visibly_ok(&mut self.npm("build")?)
    }
}

pub(crate) fn web(workspace: &Workspace, task: WebTask) -> Result<ExitCode> {
    let web = Web::ready(workspace)?;
    match task {
        WebTask::Build => web.build()?,
        WebTask::Dev => {
            ui::progress(
                "serving the sources; requests go to WHEELHOUSE_URL, http://127.0.0.1:4180 unless it is set",
            );
            run::visibly_ok(&mut web.npm("dev")?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
