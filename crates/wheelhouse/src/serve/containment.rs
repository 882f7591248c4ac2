//! Puts together what agents may see of this machine.

use std::path::PathBuf;

use wh_app::{ContainmentConfig, no_engine};
use wh_runner::{
    image::{Engine, EngineKind},
    sandbox::{Support, Unsupported, probe},
};

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
        Support {
            namespaces: Err(failed.clone()),
            strict: Err(failed),
            landlock_abi: 0,
        }
    });
    if options.containment.without_namespaces {
        turn_namespaces_off(&mut support);
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
    let dirs: Vec<_> = std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .collect();
    ContainmentConfig {
        support,
        engine: find_engine(&dirs, options.containment.engine),
        home: std::env::var_os("HOME").map(PathBuf::from),
        path: dirs,
        homes: data_dir.homes(),
        clones: data_dir.clones(),
        hidden,
        shown: options.containment.show.clone(),
        strict_readable: options.containment.read.clone(),
        hosts: options.containment.hosts.clone(),
        private_hosts: options.containment.private_hosts.clone(),
        image: options.containment.image.clone(),
        images: data_dir.images(),
    }
}

/// Leaves what works when the configuration says `namespaces = false`.
pub(crate) fn turn_namespaces_off(support: &mut Support) {
    let off = Unsupported {
        reason: "the configuration turns namespaces off".to_owned(),
        remedy: "remove `namespaces = false` from [containment]".to_owned(),
    };
    support.namespaces = Err(off.clone());
    support.strict = Err(off);
}

/// Finds the container engine for the tier `container`.
pub(crate) fn find_engine(
    path: &[PathBuf],
    wanted: Option<EngineKind>,
) -> Result<Engine, Unsupported> {
    Engine::find(path, wanted).ok_or_else(|| match wanted {
        Some(kind) => Unsupported {
            reason: format!("{} is not installed", kind.as_str()),
            remedy: format!(
                "install {}, or remove `engine` from [containment]",
                kind.as_str()
            ),
        },
        None => no_engine(),
    })
}
