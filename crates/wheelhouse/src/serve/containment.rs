//! Puts together what agents may see of this machine.

use std::path::PathBuf;

use wh_app::ContainmentConfig;
use wh_runner::sandbox::{Unsupported, probe};

use super::{DataDir, ServeOptions};

/// Tries what works here and returns how agents are contained.
pub(super) async fn prepare(
    options: &ServeOptions,
    data_dir: &DataDir,
    database: PathBuf,
) -> ContainmentConfig {
    let scratch = data_dir.homes().join(".probe");
    let tried = tokio::task::spawn_blocking(move || probe(&scratch)).await;
    let mut support = tried.unwrap_or_else(|error| {
        let failed = Unsupported {
            reason: error.to_string(),
            remedy: "start the server again".to_owned(),
        };
        wh_runner::sandbox::Support {
            namespaces: Err(failed.clone()),
            strict: Err(failed),
            landlock_abi: 0,
        }
    });
    if options.containment.without_namespaces {
        let off = Unsupported {
            reason: "the configuration turns namespaces off".to_owned(),
            remedy: "remove `namespaces = false` from [containment]".to_owned(),
        };
        support.namespaces = Err(off.clone());
        support.strict = Err(off);
    }
    let mut hidden = options.containment.hide.clone();
    hidden.push(data_dir.path().to_owned());
    // Beside a database there are files with its name and an ending.
    hidden.extend(["", "-wal", "-shm", ".lock"].map(|ending| {
        let mut path = database.clone().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    }));
    hidden.extend(options.config_file.clone());
    let path = std::env::var_os("PATH").unwrap_or_default();
    ContainmentConfig {
        support,
        home: std::env::var_os("HOME").map(PathBuf::from),
        path: std::env::split_paths(&path)
            .filter(|dir| dir.is_absolute())
            .collect(),
        homes: data_dir.homes(),
        clones: data_dir.clones(),
        hidden,
        shown: options.containment.show.clone(),
        strict_readable: options.containment.read.clone(),
        hosts: options.containment.hosts.clone(),
        private_hosts: options.containment.private_hosts.clone(),
    }
}
