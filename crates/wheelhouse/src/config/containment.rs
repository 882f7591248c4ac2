//! What the configuration file says about containment: `[containment]`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::paths;
use crate::exit::CliResult;

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
}

/// Containment as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainmentSetting {
    pub(crate) hide: Vec<PathBuf>,
    pub(crate) show: Vec<PathBuf>,
    /// Use Landlock alone, also where namespaces work.
    pub(crate) without_namespaces: bool,
}

impl FileContainment {
    /// Returns the setting; paths are read relative to `file`.
    pub(super) fn setting(&self, file: &Path) -> CliResult<ContainmentSetting> {
        let read = |paths: &[String]| paths.iter().map(|path| paths::beside(file, path)).collect();
        let (hide, show): (CliResult<_>, CliResult<_>) = (read(&self.hide), read(&self.show));
        Ok(ContainmentSetting {
            hide: hide?,
            show: show?,
            without_namespaces: self.namespaces == Some(false),
        })
    }
}
