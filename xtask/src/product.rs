//! Building the product: the dashboard, then the binary that embeds it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run;
use crate::tools;
use crate::ui;
use crate::web::Web;
use crate::workspace::Workspace;

/// A cargo profile of the workspace.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    #[default]
    Release,
    Dist,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }

    /// Returns the folder inside cargo's target directory.
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release | Self::Dist => self.name(),
        }
    }
}

/// Builds the dashboard and the server, and returns the path of the binary.
pub(crate) fn build(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    tools::debian(tools::GIT)?;
    tools::debian(tools::C_COMPILER)?;
    ui::progress("dashboard: installing its build tools on first use, then building");
    Web::ready(workspace)?.build()?;
    ui::progress("server: building; the first build takes several minutes");
    build_binaries(workspace, profile, &["--bin", "wheelhouse"])?;
    Ok(workspace.target.join(profile.folder()).join("wheelhouse"))
}

/// Builds some targets of the product and the test kit.
///
/// Both packages are always selected: cargo unifies features over the selected packages, so benchmarks reuse every crate that
/// `up` has built.
pub(crate) fn build_binaries(
    workspace: &Workspace,
    profile: Profile,
    targets: &[&str],
) -> Result<()> {
    let mut build = run::cargo();
    build
        .current_dir(&workspace.root)
        .args(["build", "--profile", profile.name()])
        .args(["--package", "wheelhouse", "--package", "wh-testkit"])
        .args(targets);
    run::visibly_ok(&mut build)
}

/// Builds the binary for distribution into `target/dist/package`, moves its debug information into a file of its own, and prints both sizes.
pub(crate) fn dist(workspace: &Workspace) -> Result<()> {
    tools::debian(tools::BINUTILS)?;
    let built = build(workspace, Profile::Dist)?;
    let package = built.with_file_name("package");
    fs::create_dir_all(&package).with_context(|| format!("cannot create {}", package.display()))?;
    let binary = package.join("wheelhouse");
    let symbols = package.join("wheelhouse.debug");
    let objcopy = || run::command("objcopy");
    run::visibly_ok(objcopy().arg("--only-keep-debug").args([&built, &symbols]))?;
    let link = format!("--add-gnu-debuglink={}", symbols.display());
    run::visibly_ok(
        objcopy()
            .args(["--strip-unneeded", &link])
            .args([&built, &binary]),
    )?;
    for file in [&binary, &symbols] {
        ui::line(&format!("{}  {}", megabytes(file)?, file.display()));
    }
    Ok(())
}

/// Returns the size of a file for people.
fn megabytes(file: &Path) -> Result<String> {
    let metadata = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(format!("{:.1} MB", metadata.len() as f64 / 1e6))
}
