//! The order in which a sandbox's mounts are laid over each other.

use std::path::{Path, PathBuf};

use super::spec::Sandbox;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) target: PathBuf,
    pub(super) content: Content,
    /// What is shown, when that is not what is at the target.
    pub(super) source: Option<PathBuf>,
}

/// What a mount shows at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Content {
    /// The home directory as a private copy-on-write layer.
    Home,
    /// Nothing.
    Hidden,
    /// The session's own temporary directory.
    Tmp,
    /// A new `/dev`.
    Devices,
    /// What is there, read-only.
    ReadOnly,
    /// What is there, writable.
    Writable,
    /// What is there, read-only, inside something writable.
    Protected,
}

/// Returns every mount of a sandbox so that each comes after those that it lies in.
pub(super) fn layers(sandbox: &Sandbox) -> Vec<Layer> {
    let mut layers = vec![
        layer("/dev", Content::Devices),
        layer("/tmp", Content::Tmp),
        layer("/var/tmp", Content::Tmp),
    ];
    let mut add = |paths: &[PathBuf], content| {
        layers.extend(paths.iter().map(|path| layer(path, content)));
    };
    add(&sandbox.hidden, Content::Hidden);
    add(&sandbox.readable, Content::ReadOnly);
    add(&sandbox.writable, Content::Writable);
    add(&sandbox.git_writable, Content::Writable);
    add(&sandbox.read_only, Content::Protected);
    if let Some(home) = &sandbox.home {
        layers.push(layer(&home.path, Content::Home));
        layers.extend(
            home.shared
                .iter()
                .map(|path| layer(path, Content::Writable)),
        );
    }
    layers.extend(sandbox.mapped.iter().map(|mapped| Layer {
        source: Some(mapped.source.clone()),
        ..layer(
            &mapped.target,
            match mapped.writable {
                true => Content::Writable,
                false => Content::ReadOnly,
            },
        )
    }));
    // A path has more components than every path above it. Of two mounts on one path the later one is seen.
    layers.sort_by_key(|layer| (layer.target.components().count(), layer.content));
    layers.dedup();
    layers
}

fn layer(target: impl AsRef<Path>, content: Content) -> Layer {
    let target = target.as_ref().to_owned();
    Layer {
        target,
        content,
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Home, Mechanism, Root};

    #[test]
    fn every_mount_comes_after_those_it_lies_in() {
        let path = |text: &str| PathBuf::from(text);
        let sandbox = Sandbox {
            mechanism: Mechanism::Namespaces,
            root: Root::Whole,
            network: None,
            hidden: vec![path("/home/u/data"), path("/run"), path("/home/u/.ssh")],
            readable: vec![path("/run/systemd/resolve/resolv.conf")],
            writable: vec![path("/home/u/data/worktrees/a")],
            git_writable: vec![path("/home/u/code/.git/objects")],
            mapped: Vec::new(),
            read_only: vec![path("/home/u/data/worktrees/a/.git")],
            home: Some(Home {
                path: path("/home/u"),
                layer: path("/home/u/data/homes/1"),
                shared: vec![path("/home/u/.claude/.credentials.json")],
            }),
            tmp: path("/home/u/data/homes/1/tmp"),
        };
        let layers = layers(&sandbox);
        for (index, layer) in layers.iter().enumerate() {
            let below = |other: &Layer| {
                other.target != layer.target && other.target.starts_with(&layer.target)
            };
            assert!(!layers[..index].iter().any(below), "{layer:?}");
        }
        assert_eq!(layers.len(), 12);
    }

    #[test]
    fn a_protected_path_wins_over_a_writable_one() {
        let mut contents = [
            Content::Protected,
            Content::Writable,
            Content::Hidden,
            Content::Home,
        ];
        contents.sort();
        assert_eq!(contents.last(), Some(&Content::Protected));
        assert!(Content::Home < Content::Hidden);
    }
}
