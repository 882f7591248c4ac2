//! What cargo and git know about this repository: where it is, its crates and what they depend on, its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run;

#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds; honours `CARGO_TARGET_DIR`.
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The crate's folder, relative to the root.
    pub(crate) dir: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// What ends up in the crate, or in its build script.
    Normal,
    Dev,
}

/// A text file of the repository, by its path relative to the root.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let metadata =
            run::quietly(run::cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        if !metadata.success() {
            bail!("cargo metadata failed:\n{}", metadata.stderr);
        }
        Self::from_metadata(&metadata.stdout)
    }

    fn from_metadata(json: &str) -> Result<Self> {
        let metadata: Value = serde_json::from_str(json).context("reading cargo metadata")?;
        let root = PathBuf::from(text(&metadata, "workspace_root")?);
        let packages = array(&metadata, "packages")?
            .iter()
            .map(|package| read_package(package, &root))
            .collect::<Result<_>>()?;
        Ok(Self {
            target: PathBuf::from(text(&metadata, "target_directory")?),
            root,
            packages,
        })
    }

    /// Where a binary of the workspace is after a dev build.
    pub(crate) fn dev_binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// Where a binary of the workspace is after a release build.
    pub(crate) fn release_binary(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// Every text file that git tracks or would track.
    pub(crate) fn files(&self) -> Result<Vec<SourceFile>> {
        let mut git = run::command("git");
        git.current_dir(&self.root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listed = run::quietly(&mut git)?;
        if !listed.success() {
            bail!("git ls-files failed:\n{}", listed.stderr);
        }
        let paths = listed.stdout.split('\0').filter(|path| !path.is_empty());
        // A file that git lists but that is gone was deleted and not committed yet; one that is not text has no lines to check.
        Ok(paths
            .filter_map(|path| read_source(&self.root, path))
            .collect())
    }
}

fn read_source(root: &Path, path: &str) -> Option<SourceFile> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    Some(SourceFile {
        path: path.to_owned(),
        text,
    })
}

fn read_package(package: &Value, root: &Path) -> Result<Package> {
    let manifest = PathBuf::from(text(package, "manifest_path")?);
    let dir = manifest
        .parent()
        .and_then(|dir| dir.strip_prefix(root).ok())
        .with_context(|| format!("{} lies outside the workspace", manifest.display()))?;
    let dependencies = array(package, "dependencies")?
        .iter()
        .map(read_dependency)
        .collect::<Result<_>>()?;
    Ok(Package {
        name: text(package, "name")?,
        dir: dir.to_string_lossy().into_owned(),
        dependencies,
    })
}

fn read_dependency(dependency: &Value) -> Result<Dependency> {
    let kind = match dependency["kind"].as_str() {
        Some("dev") => DependencyKind::Dev,
        _ => DependencyKind::Normal,
    };
    Ok(Dependency {
        name: text(dependency, "name")?,
        kind,
    })
}

fn text(value: &Value, key: &str) -> Result<String> {
    let found = value[key].as_str();
    Ok(found
        .with_context(|| format!("cargo metadata has no `{key}`"))?
        .to_owned())
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key]
        .as_array()
        .with_context(|| format!("cargo metadata has no list `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_says() {
        let json = r#"{"workspace_root": "/r", "target_directory": "/t", "packages": [{
            "name": "wh-app", "manifest_path": "/r/crates/wh-app/Cargo.toml",
            "dependencies": [{"name": "wh-store", "kind": null}, {"name": "cc", "kind": "build"}, {"name": "insta", "kind": "dev"}]
        }]}"#;
        let workspace = Workspace::from_metadata(json).unwrap();
        let package = &workspace.packages[0];
        assert_eq!(
            (package.name.as_str(), package.dir.as_str()),
            ("wh-app", "crates/wh-app")
        );
        let kinds: Vec<_> = package
            .dependencies
            .iter()
            .map(|dependency| dependency.kind)
            .collect();
        assert_eq!(
            kinds,
            [
                DependencyKind::Normal,
                DependencyKind::Normal,
                DependencyKind::Dev
            ]
        );
        assert_eq!(
            workspace.dev_binary("wheelhouse"),
            Path::new("/t/debug/wheelhouse")
        );
    }

    #[test]
    fn refuses_metadata_it_does_not_understand() {
        let error = Workspace::from_metadata(r#"{"workspace_root": "/r"}"#).unwrap_err();
        assert!(error.to_string().contains("packages"), "{error}");
    }
}
