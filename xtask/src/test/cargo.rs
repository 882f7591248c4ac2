//! The steps that are cargo's: format, lints, Rust tests, and building what the other steps start.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Count, Outcome};
use crate::run::{self, Echo};
use crate::tools;
use crate::ui;
use crate::workspace::{SourceFile, Workspace};

/// Part of the name of every test that drives the real agents.
const AGENT_TESTS: &str = "real_agents";

/// The test binary of the abuse suite, which has a step of its own.
const ABUSE_TESTS: &str = "abuse";

/// Longer than a cold build and all tests may take together.
const TESTS_WITHIN: Duration = Duration::from_secs(40 * 60);

pub(super) fn fmt(workspace: &Workspace) -> Result<Outcome> {
    let status = run::visibly(cargo(workspace).args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::Counted(Count::single(status.success())))
}

pub(super) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let mut clippy = cargo(workspace);
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let status = run::visibly(&mut clippy)?;
    Ok(Outcome::Counted(Count::single(status.success())))
}

/// All Rust tests but those of the real agents, which have a step of their own: with nextest where it is installed, which leaves
/// the doctests to cargo.
pub(super) fn unit(workspace: &Workspace) -> Result<Outcome> {
    if !has_nextest() {
        return counted(
            cargo(workspace)
                .args(["test", "--workspace", "--no-fail-fast", "--", "--skip"])
                .arg(AGENT_TESTS),
            cargo_test_count,
        );
    }
    let filter = format!("not test({AGENT_TESTS}) and not binary({ABUSE_TESTS})");
    let outcome = nextest(workspace, &filter, &[])?;
    let Outcome::Counted(mut count) = outcome else {
        return Ok(outcome);
    };
    if workspace.files()?.iter().any(has_doctest) {
        let mut doctests = cargo(workspace);
        doctests.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
        match counted(&mut doctests, cargo_test_count)? {
            Outcome::Counted(doc) => count += doc,
            Outcome::BuildFailed => return Ok(Outcome::BuildFailed),
        }
    }
    Ok(Outcome::Counted(count))
}

/// The tests that drive the real agents.
pub(super) fn agents(workspace: &Workspace) -> Result<Outcome> {
    if has_nextest() {
        return nextest(workspace, &format!("test({AGENT_TESTS})"), &[]);
    }
    counted(
        cargo(workspace).args(["test", "--workspace", "--no-fail-fast", AGENT_TESTS]),
        cargo_test_count,
    )
}

fn has_nextest() -> bool {
    run::quietly(run::cargo().args(["nextest", "--version"])).is_ok_and(|ended| ended.success())
}

/// The abuse suite, with the tables that it prints.
pub(super) fn abuse(workspace: &Workspace) -> Result<Outcome> {
    // Its agents attack with programs that every machine has.
    tools::debian(tools::CURL)?;
    tools::debian(tools::PODMAN)?;
    tools::debian(tools::PYTHON)?;
    if has_nextest() {
        let filter = format!("binary({ABUSE_TESTS})");
        return nextest(workspace, &filter, &["--success-output", "immediate"]);
    }
    let mut tests = cargo(workspace);
    tests.args(["test", "--package", "wheelhouse", "--test", ABUSE_TESTS]);
    tests.args(["--no-fail-fast", "--", "--show-output"]);
    counted(&mut tests, cargo_test_count)
}

fn nextest(workspace: &Workspace, filter: &str, more: &[&str]) -> Result<Outcome> {
    let mut tests = cargo(workspace);
    tests.args([
        "nextest",
        "run",
        "--workspace",
        "--no-fail-fast",
        "-E",
        filter,
    ]);
    tests.args(more);
    counted(&mut tests, nextest_count)
}

/// Builds a binary that another step starts; `None` when that failed.
///
/// The environment variable `override_variable` names another one to use instead, such as an installed release.
pub(super) fn built_binary(
    workspace: &Workspace,
    name: &str,
    override_variable: &str,
) -> Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os(override_variable) {
        let path = PathBuf::from(path);
        ui::progress(&format!(
            "using {} from {override_variable}",
            path.display()
        ));
        return Ok(Some(path));
    }
    let mut build = cargo(workspace);
    // Everything at once has the features that the tests were built with, so nothing is built a second time.
    build.args(["build", "--quiet", "--workspace", "--all-targets"]);
    let status = run::visibly(&mut build)?;
    Ok(status.success().then(|| workspace.dev_binary(name)))
}

fn cargo(workspace: &Workspace) -> Command {
    let mut cargo = run::cargo();
    cargo.current_dir(&workspace.root);
    cargo
}

/// Runs a test runner and reads its summary. Ending badly without one means that it could not build.
fn counted(command: &mut Command, count: fn(&str) -> Option<Count>) -> Result<Outcome> {
    let ended = run::within(TESTS_WITHIN, Echo::Show, command)?;
    match count(&ended.text()) {
        // A runner that is unhappy although no test failed has something to say, too.
        Some(count) if count.failed == 0 && !ended.success() => {
            Ok(Outcome::Counted(Count { failed: 1, ..count }))
        }
        Some(count) => Ok(Outcome::Counted(count)),
        None if ended.success() => {
            Err(anyhow::anyhow!("the test runner printed no summary")).context("counting tests")
        }
        None => Ok(Outcome::BuildFailed),
    }
}

/// Reads `Summary [   0.1s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`.
fn nextest_count(text: &str) -> Option<Count> {
    let line = text
        .lines()
        .rfind(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, results) = line.split_once("run:")?;
    let mut count = Count::default();
    for part in without_parentheses(results).split(',') {
        let (number, word) = part.trim().split_once(' ')?;
        let number: usize = number.parse().ok()?;
        match word.trim() {
            "passed" => count.passed += number,
            "skipped" => {}
            // "failed", "timed out", "exec failed": whatever else a test can come to.
            _ => count.failed += number,
        }
    }
    Some(count)
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |&letter: &char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(outside).collect()
}

/// Sums `test result: ok. 3 passed; 0 failed; …` over all test binaries.
fn cargo_test_count(text: &str) -> Option<Count> {
    let mut total = None;
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let number = |word: &str| -> Option<usize> {
            let before = line.split_once(word)?.0;
            before
                .split([' ', ';'])
                .rfind(|part| !part.is_empty())?
                .parse()
                .ok()
        };
        let count: &mut Count = total.get_or_insert_default();
        *count += Count {
            passed: number(" passed;")?,
            failed: number(" failed;")?,
        };
    }
    total
}

/// Whether a file has an example in its documentation that cargo would run.
fn has_doctest(file: &SourceFile) -> bool {
    if !file.path.starts_with("crates/") || !file.path.ends_with(".rs") {
        return false;
    }
    let mut inside = false;
    for line in file.text.lines().map(str::trim_start) {
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(fence) = doc.and_then(|doc| doc.trim().strip_prefix("```")) else {
            continue;
        };
        inside = !inside;
        let runs = ["text", "ignore", "json", "toml", "sh", "console"]
            .iter()
            .all(|word| !fence.starts_with(word));
        if inside && runs {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_summaries_are_read() {
        for (line, passed, failed) in [
            (
                "     Summary [   0.016s] 41 tests run: 41 passed, 0 skipped",
                41,
                0,
            ),
            (
                "     Summary [   1.5s] 12 tests run: 10 passed (1 slow, 2 leaky), 1 failed, 1 timed out, 3 skipped",
                10,
                2,
            ),
            (
                "     Summary [   1.5s] 3/12 tests run: 2 passed, 1 exec failed, 0 skipped",
                2,
                1,
            ),
            (
                "     Summary [   0.1s] 1 test run: 0 passed, 1 failed, 0 skipped",
                0,
                1,
            ),
        ] {
            assert_eq!(
                nextest_count(line),
                Some(Count { passed, failed }),
                "{line}"
            );
        }
        assert_eq!(nextest_count("error: could not compile `xtask`"), None);
    }

    #[test]
    fn cargo_test_summaries_are_summed() {
        let text = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(
            cargo_test_count(text),
            Some(Count {
                passed: 4,
                failed: 2
            })
        );
        assert_eq!(cargo_test_count("error: could not compile"), None);
    }

    #[test]
    fn a_runner_without_a_summary_could_not_build() {
        let shell = |script: &str| {
            let mut shell = run::command("sh");
            shell.args(["-c", script]);
            counted(&mut shell, cargo_test_count)
        };
        assert_eq!(shell("echo error; exit 101").unwrap(), Outcome::BuildFailed);
        let failed = "echo 'test result: ok. 3 passed; 0 failed;'; exit 1";
        assert_eq!(
            shell(failed).unwrap(),
            Outcome::Counted(Count {
                passed: 3,
                failed: 1
            })
        );
        assert!(shell("true").is_err());
    }

    #[test]
    fn only_examples_that_would_run_are_doctests() {
        let file = |text: &str| SourceFile {
            path: "crates/a/src/lib.rs".into(),
            text: text.into(),
        };
        assert!(has_doctest(&file("/// ```\n/// assert!(true);\n/// ```\n")));
        assert!(has_doctest(&file("    /// ```no_run\n")));
        assert!(!has_doctest(&file("/// ```text\n/// a -> b\n/// ```\n")));
        assert!(!has_doctest(&file("// ```\n")));
    }
}
