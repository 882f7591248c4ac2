//! Prepares the cgroup in which sessions run.

use anyhow::Result;
use wh_runner::{
    cgroup::{CgroupSetting, Cgroups},
    sandbox::Unsupported,
};

/// The configured cgroup cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `cgroup` of [containment]: {}", .0.reason)]
pub(super) struct CannotUseCgroup(pub(super) Unsupported);

/// Prepares cgroups as configured. Without a configured directory they are optional: `doctor` tells why there are none.
pub(super) async fn prepare(setting: &CgroupSetting) -> Result<Option<Cgroups>> {
    let wanted = setting.clone();
    let prepared = tokio::task::spawn_blocking(move || Cgroups::prepare(&wanted)).await?;
    match (setting, prepared) {
        (_, Ok(cgroups)) => {
            if let Some(cgroups) = &cgroups {
                let (base, controllers) = (cgroups.base().display(), cgroups.controllers());
                tracing::info!(cgroup = %base, %controllers, "sessions run in cgroups of their own");
            }
            Ok(cgroups)
        }
        (CgroupSetting::Directory(_), Err(why)) => Err(CannotUseCgroup(why).into()),
        (CgroupSetting::Auto | CgroupSetting::Off, Err(why)) => {
            tracing::info!(
                reason = why.reason,
                "limits of sessions are not enforced by cgroups"
            );
            Ok(None)
        }
    }
}
