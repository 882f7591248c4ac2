//! What the configuration file says about containment: `[containment]`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use wh_domain::{HostList, ImageRef};
use wh_runner::{cgroup::CgroupSetting, image::EngineKind};

use super::paths;
use crate::exit::{CliError, CliResult};

/// The table `[containment]`; what is absent has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileContainment {
    /// Files and directories that no agent sees, beside the usual credentials.
    #[serde(default)]
    hide: Vec<String>,
    /// Files and directories that agents see although they are usually hidden.
    #[serde(default)]
    show: Vec<String>,
    /// Whether namespaces are used where they work; true unless given.
    namespaces: Option<bool>,
    /// Files and directories that agents in the tier `strict` can read, beside the system and the toolchains.
    #[serde(default)]
    read: Vec<String>,
    /// Allowed network hosts for agents in the tier `strict`, such as `packages.example.com` or `*.example.org:8443`.
    #[serde(default)]
    hosts: Vec<String>,
    /// Hosts of that list allowed to resolve to loopback or private addresses.
    #[serde(default)]
    private_hosts: Vec<String>,
    /// The container engine: podman or docker; the first that is installed unless given.
    engine: Option<String>,
    /// The image for sessions in the tier `container` whose repository and agent name none.
    image: Option<String>,
    /// `auto`, `off`, or a cgroup v2 directory that the server may manage; `auto` unless given.
    cgroup: Option<String>,
}

/// Containment as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainmentSetting {
    pub(crate) hide: Vec<PathBuf>,
    pub(crate) show: Vec<PathBuf>,
    /// Use Landlock alone, also where namespaces work.
    pub(crate) without_namespaces: bool,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) hosts: HostList,
    pub(crate) private_hosts: HostList,
    pub(crate) engine: Option<EngineKind>,
    pub(crate) image: Option<ImageRef>,
    pub(crate) cgroup: CgroupSetting,
}

impl FileContainment {
    /// Returns the setting; paths are read relative to `file`.
    pub(super) fn setting(&self, file: &Path) -> CliResult<ContainmentSetting> {
        let read = |paths: &[String]| paths.iter().map(|path| paths::beside(file, path)).collect();
        let read = |paths| -> CliResult<Vec<PathBuf>> { read(paths) };
        Ok(ContainmentSetting {
            hide: read(&self.hide)?,
            show: read(&self.show)?,
            without_namespaces: self.namespaces == Some(false),
            read: read(&self.read)?,
            hosts: hosts(file, "hosts", &self.hosts)?,
            private_hosts: hosts(file, "private_hosts", &self.private_hosts)?,
            engine: self.engine(file)?,
            image: self.image(file)?,
            cgroup: self.cgroup(file)?,
        })
    }
}

impl FileContainment {
    fn engine(&self, file: &Path) -> CliResult<Option<EngineKind>> {
        let Some(name) = self.engine.as_deref() else {
            return Ok(None);
        };
        let wrong = || {
            wrong(
                file,
                format!("`engine` must be podman or docker, not {name:?}"),
            )
        };
        EngineKind::parse(name).map(Some).ok_or_else(wrong)
    }

    fn image(&self, file: &Path) -> CliResult<Option<ImageRef>> {
        let image = self.image.as_deref().map(ImageRef::parse).transpose();
        image.map_err(|why| wrong(file, format!("`image` {why}")))
    }

    fn cgroup(&self, file: &Path) -> CliResult<CgroupSetting> {
        let setting = self.cgroup.as_deref().map(CgroupSetting::parse);
        let setting = setting.transpose();
        let setting = setting.map_err(|why| wrong(file, format!("`cgroup` {why}")))?;
        Ok(setting.unwrap_or_default())
    }
}

fn wrong(file: &Path, why: String) -> CliError {
    CliError::usage(format!("{}: [containment]: {why}", file.display()))
}

fn hosts(file: &Path, key: &str, rules: &[String]) -> CliResult<HostList> {
    HostList::parse(rules).map_err(|(rule, refusal)| {
        let message = format!(
            "{}: {rule:?} in `{key}` of [containment]: {refusal}",
            file.display()
        );
        CliError::usage(message)
    })
}
