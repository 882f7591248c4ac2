//! The dashboard: its types are those of the server, it builds, its own tests pass, and Debian's Chromium drives it against a
//! real `wheelhouse serve`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::cargo::built_binary;
use super::{Count, Outcome};
use crate::run::{self, Echo};
use crate::tools;
use crate::ui;
use crate::web::Web;
use crate::workspace::Workspace;

const SUITE_WITHIN: Duration = Duration::from_secs(6 * 60);

/// Names a `wheelhouse` to test instead of the one built here.
const OVERRIDE: &str = "WHEELHOUSE_BINARY";

/// Names the program that fills a database, instead of the one built here.
const SEED: &str = "WHEELHOUSE_SEED";

/// What a line begins with that is shown also when all went well.
const FIGURE: &str = "figure: ";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    tools::debian(tools::CHROMIUM)?;
    let Some(binary) = built_binary(workspace, "wheelhouse", OVERRIDE)? else {
        return Ok(Outcome::BuildFailed);
    };
    let Some(seed) = built_binary(workspace, "bench-seed", SEED)? else {
        return Ok(Outcome::BuildFailed);
    };
    let web = Web::ready(workspace)?;
    let mut types = web.npm("api")?;
    let current = run::visibly(types.args(["--", "--check"]))?.success();
    let mut total = Count::single(current);
    if !run::visibly(&mut web.npm("build")?)?.success() {
        return Ok(Outcome::BuildFailed);
    }
    let logs = tools::logs_dir(workspace)?;
    total += suite(&mut web.npm("test")?, &logs.join("web-unit.json"))?;
    let mut browser = web.npm("e2e")?;
    browser.env(OVERRIDE, &binary).env(SEED, &seed);
    total += suite(&mut browser, &logs.join("web-e2e.json"))?;
    Ok(Outcome::Counted(total))
}

/// Runs a suite of vitest, which writes down what came of it.
fn suite(command: &mut Command, report: &Path) -> Result<Count> {
    if report.exists() {
        fs::remove_file(report).with_context(|| format!("removing {}", report.display()))?;
    }
    command
        .env("NO_COLOR", "1")
        .args(["--", "--reporter=default", "--reporter=json"])
        .arg(format!("--outputFile.json={}", report.display()));
    let ended = run::within(SUITE_WITHIN, Echo::Hide, command)?;
    let written = fs::read_to_string(report).unwrap_or_default();
    let count = counted(&written, ended.success());
    let Count { passed, failed } = count;
    let name = report
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    ui::line(&format!("{name}: {passed} passed, {failed} failed"));
    for line in ended.stdout.lines().filter(|line| line.starts_with(FIGURE)) {
        ui::line(&format!("    {line}"));
    }
    if failed > 0 {
        ui::line(&ended.text());
    }
    Ok(count)
}

/// Reads the report; one that says nothing, or a bad end without a failed test, is itself a failure.
fn counted(report: &str, success: bool) -> Count {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let number = |name: &str| {
        let number = report[name].as_u64().unwrap_or(0);
        usize::try_from(number).unwrap_or(usize::MAX)
    };
    let (passed, failed) = (number("numPassedTests"), number("numFailedTests"));
    let unexplained = failed == 0 && (passed == 0 || !success);
    Count {
        passed,
        failed: failed + usize::from(unexplained),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(report: &str, success: bool) -> (usize, usize) {
        let Count { passed, failed } = counted(report, success);
        (passed, failed)
    }

    #[test]
    fn a_report_is_read_and_silence_is_a_failure() {
        let report = r#"{"numTotalTests": 5, "numPassedTests": 4, "numFailedTests": 1}"#;
        assert_eq!(count(report, false), (4, 1));
        let report = r#"{"numPassedTests": 4, "numFailedTests": 0}"#;
        assert_eq!(count(report, true), (4, 0));
        assert_eq!(count(report, false), (4, 1));
        assert_eq!(count("", true), (0, 1));
    }
}
