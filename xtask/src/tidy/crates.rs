//! Rules about crates: who may use whom, and what every manifest has.

use super::{ABSENT_FROM_DOMAIN, ALLOWED_EDGES, ALLOWED_IN_TESTS, ANY_BUT_TESTKIT, CONFINED};
use crate::workspace::{DependencyKind, Package, SourceFile};

const TESTKIT: &str = "wh-testkit";
const DOMAIN: &str = "wh-domain";

/// Every crate has a row in the table of edges.
pub(super) fn listed(packages: &[Package]) -> Vec<String> {
    let unlisted = packages
        .iter()
        .filter(|package| allowed(&package.name).is_none());
    unlisted
        .map(|package| {
            let Package { name, dir, .. } = package;
            format!("{dir}/Cargo.toml: `{name}` is not in the table of crates; add it to ALLOWED_EDGES in xtask/src/tidy.rs")
        })
        .collect()
}

/// Dependencies between our crates point only where the table says.
pub(super) fn edges(packages: &[Package]) -> Vec<String> {
    let ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut problems = Vec::new();
    for package in packages {
        let Some(allowed) = allowed(&package.name) else {
            continue;
        };
        let used = package
            .dependencies
            .iter()
            .filter(|dependency| ours(&dependency.name));
        for dependency in used {
            let to = dependency.name.as_str();
            let in_tests = dependency.kind == DependencyKind::Dev;
            let any = allowed.contains(&ANY_BUT_TESTKIT) && to != TESTKIT;
            if any || allowed.contains(&to) || in_tests && ALLOWED_IN_TESTS.contains(&to) {
                continue;
            }
            let remedy = if to == TESTKIT {
                "it is for tests: move it to [dev-dependencies]"
            } else {
                "remove the dependency, or change ALLOWED_EDGES in xtask/src/tidy.rs and design section 2 together"
            };
            problems.push(format!(
                "{}/Cargo.toml: `{}` may not use `{to}`; {remedy}",
                package.dir, package.name
            ));
        }
    }
    problems
}

/// sqlx, axum, rmcp and clap are named only by the crates that exist to confine them.
pub(super) fn confined(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        for dependency in &package.dependencies {
            let confined = CONFINED
                .iter()
                .find(|(family, _)| is_kin(&dependency.name, family));
            let Some((_, homes)) = confined else { continue };
            if !homes.contains(&package.name.as_str()) {
                problems.push(format!(
                    "{}/Cargo.toml: `{}` belongs in {} only; reach it through that crate",
                    package.dir,
                    dependency.name,
                    homes.join(", ")
                ));
            }
        }
    }
    problems
}

/// The domain depends on nothing that does I/O.
pub(super) fn domain_is_pure(packages: &[Package]) -> Vec<String> {
    let domain = packages.iter().filter(|package| package.name == DOMAIN);
    let used = domain.flat_map(|package| &package.dependencies);
    used.filter(|dependency| dependency.kind == DependencyKind::Normal)
        .filter(|dependency| ABSENT_FROM_DOMAIN.iter().any(|family| is_kin(&dependency.name, family)))
        .map(|dependency| {
            let name = &dependency.name;
            format!("crates/wh-domain/Cargo.toml: the domain is pure, `{name}` is not; take what it gives as an argument")
        })
        .collect()
}

/// Every crate takes its lints from the workspace.
pub(super) fn lints_inherited(packages: &[Package], files: &[SourceFile]) -> Vec<String> {
    let inherits = |manifest: &str| {
        let lints = manifest
            .split("\n[")
            .find(|section| section.trim_start_matches('[').starts_with("lints]"));
        lints.is_some_and(|section| {
            section
                .lines()
                .any(|line| line.trim() == "workspace = true")
        })
    };
    packages
        .iter()
        .map(|package| format!("{}/Cargo.toml", package.dir))
        .filter(|path| {
            !files
                .iter()
                .any(|file| file.path == *path && inherits(&file.text))
        })
        .map(|path| {
            format!(
                "{path}: the workspace's lints are not on; add `[lints]` with `workspace = true`"
            )
        })
        .collect()
}

fn allowed(name: &str) -> Option<&'static [&'static str]> {
    let row = ALLOWED_EDGES
        .iter()
        .find(|(crate_name, _)| *crate_name == name);
    row.map(|(_, allowed)| *allowed)
}

/// Whether `name` is the crate `family` or one that is named after it.
fn is_kin(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    /// Makes a package from `name: dependency, (dev-dependency)`.
    fn package(line: &str) -> Package {
        let (name, dependencies) = line.split_once(':').unwrap();
        let dependencies = dependencies
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty());
        Package {
            name: name.to_owned(),
            dir: format!("crates/{name}"),
            dependencies: dependencies
                .map(|word| Dependency {
                    name: word.trim_matches(['(', ')']).to_owned(),
                    kind: if word.starts_with('(') {
                        DependencyKind::Dev
                    } else {
                        DependencyKind::Normal
                    },
                })
                .collect(),
        }
    }

    fn packages(lines: &[&str]) -> Vec<Package> {
        lines.iter().map(|line| package(line)).collect()
    }

    #[track_caller]
    fn check_one(problems: Vec<String>, parts: &[&str]) {
        assert_eq!(problems.len(), 1, "{problems:?}");
        for part in parts {
            assert!(
                problems[0].contains(part),
                "`{}` lacks `{part}`",
                problems[0]
            );
        }
    }

    const GOOD: &[&str] = &[
        "wh-domain: jiff, (proptest)",
        "wh-store: wh-domain",
        "wh-store-sqlite: wh-store, wh-domain, sqlx",
        "wh-git: wh-domain",
        "wh-app: wh-store, wh-git, (wh-testkit), (wh-store-sqlite)",
        "wh-api: wh-domain",
        "wh-http: wh-app, wh-api, axum, utoipa-axum",
        "wh-mcp: wh-app, wh-api, rmcp",
        "wheelhouse: wh-http, wh-mcp, wh-store-sqlite, clap, clap_complete, (wh-testkit)",
        "wh-testkit: wh-http, wh-mcp, axum, rmcp",
    ];

    #[test]
    fn the_design_itself_is_accepted() {
        let good = packages(GOOD);
        for rule in [listed, edges, confined, domain_is_pure] {
            assert_eq!(rule(&good), Vec::<String>::new());
        }
    }

    #[test]
    fn a_crate_outside_the_table_fails() {
        check_one(
            listed(&packages(&["wh-utils:"])),
            &["crates/wh-utils/Cargo.toml", "ALLOWED_EDGES"],
        );
    }

    #[test]
    fn an_edge_outside_the_table_fails() {
        let bad = packages(&["wh-store: wh-app", "wh-app:"]);
        check_one(
            edges(&bad),
            &[
                "crates/wh-store/Cargo.toml",
                "`wh-store` may not use `wh-app`",
            ],
        );
        let bad = packages(&["wh-domain: (wh-app)", "wh-app:"]);
        check_one(edges(&bad), &["`wh-domain` may not use `wh-app`"]);
        let bad = packages(&["xtask: wh-domain", "wh-domain:"]);
        check_one(edges(&bad), &["`xtask` may not use `wh-domain`"]);
    }

    #[test]
    fn the_testkit_in_the_product_fails() {
        let bad = packages(&["wheelhouse: wh-testkit", "wh-testkit:"]);
        check_one(
            edges(&bad),
            &["crates/wheelhouse/Cargo.toml", "[dev-dependencies]"],
        );
    }

    #[test]
    fn a_confined_crate_elsewhere_fails() {
        for (bad, parts) in [
            ("wh-app: sqlx", ["crates/wh-app", "wh-store-sqlite"]),
            ("wh-app: (sqlx-core)", ["`sqlx-core`", "wh-store-sqlite"]),
            ("wh-mcp: axum-extra", ["`axum-extra`", "wh-http"]),
            ("wh-http: rmcp", ["`rmcp`", "wh-mcp"]),
            ("xtask: clap", ["`clap`", "wheelhouse"]),
        ] {
            check_one(confined(&packages(&[bad])), &parts);
        }
    }

    #[test]
    fn io_in_the_domain_fails() {
        let bad = packages(&["wh-domain: tokio-util, (tokio)"]);
        check_one(
            domain_is_pure(&bad),
            &["crates/wh-domain/Cargo.toml", "`tokio-util`"],
        );
    }

    #[test]
    fn a_manifest_without_the_lints_fails() {
        let manifest = |name: &str, text: &str| SourceFile {
            path: format!("crates/{name}/Cargo.toml"),
            text: text.to_owned(),
        };
        let files = [
            manifest(
                "a",
                "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n",
            ),
            manifest(
                "b",
                "[package]\n\n[lints]\n\n[dependencies.x]\nworkspace = true\n",
            ),
        ];
        check_one(
            lints_inherited(&packages(&["a:", "b:"]), &files),
            &["crates/b/Cargo.toml", "[lints]"],
        );
    }
}
