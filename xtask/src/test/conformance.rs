//! The official MCP conformance suite, against `conformance-server` of `wh-testkit`: the suite's fixture tools on our
//! transport stack.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::cargo::built_binary;
use super::{Count, Outcome};
use crate::run::{self, Echo};
use crate::server::Server;
use crate::tools::{self, NodeTools};
use crate::ui;
use crate::workspace::Workspace;

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const SUITE_WITHIN: Duration = Duration::from_secs(10 * 60);
const FAILURES_SHOWN: usize = 40;
const REASON_CHARS_SHOWN: usize = 300;
/// How much of what the suite printed is shown when it ran nothing.
const LINES_SHOWN: usize = 10;

/// Every revision we speak, and how the suite is asked for it: a frozen list of requirements where there is one.
const REVISIONS: &[(&str, &[&str])] = &[
    ("2026-07-28", &["--requirements", "2026-07-28"]),
    ("2025-11-25", &["--requirements", "2025-11-25"]),
    (
        "2025-06-18",
        &["--suite", "all", "--spec-version", "2025-06-18"],
    ),
    (
        "2025-03-26",
        &["--suite", "all", "--spec-version", "2025-03-26"],
    ),
];

/// Names a server to test instead of ours; it must take `--port 0` and print `listening on URL`.
const OVERRIDE: &str = "WHEELHOUSE_CONFORMANCE_SERVER";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let Some(binary) = built_binary(workspace, "conformance-server", OVERRIDE)? else {
        return Ok(Outcome::BuildFailed);
    };
    let node = NodeTools::ready(workspace)?;
    let logs = tools::logs_dir(workspace)?;
    let mut command = run::command(&binary);
    command.args(["--port", "0"]);
    let mut server = Server::start(&mut command, &logs.join("conformance-server.log"))?;
    let url = server.wait_until(|log| listening(&fs::read_to_string(log).ok()?))?;
    let mut total = Count::default();
    for (revision, args) in REVISIONS {
        let out = logs.join(format!("conformance-{revision}"));
        total += run_revision(&node, &url, revision, args, &out)?;
    }
    Ok(Outcome::Counted(total))
}

/// The address in a complete line `listening on http://…`.
fn listening(log: &str) -> Option<String> {
    let (complete, _) = log.rsplit_once('\n')?;
    let mut words = complete
        .lines()
        .filter_map(|line| line.split_once("listening on "));
    let url = words.find_map(|(_, rest)| {
        rest.split_whitespace()
            .next()
            .filter(|url| url.starts_with("http"))
    });
    url.map(str::to_owned)
}

fn run_revision(
    node: &NodeTools,
    url: &str,
    revision: &str,
    args: &[&str],
    out: &Path,
) -> Result<Count> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("clearing {}", out.display()))?;
    }
    let mut suite = node.node(SUITE)?;
    suite
        .args(["server", "--url", url])
        .args(args)
        .arg("--output-dir")
        .arg(out);
    let ended = run::within(SUITE_WITHIN, Echo::Hide, &mut suite)?;
    let report = Report::read(&ended.stdout);
    let count = report.count(ended.success());
    let Count { passed, failed } = count;
    ui::line(&format!(
        "conformance {revision}: {passed} passed, {failed} failed ({} scenarios)",
        report.scenarios
    ));
    if failed > 0 {
        if report.checks == Count::default() {
            ui::line("    the suite ran no checks; it said:");
            for line in ended.text().lines().take(LINES_SHOWN) {
                ui::line(&format!("    {line}"));
            }
        }
        for failure in failures(out).iter().take(FAILURES_SHOWN) {
            ui::line(&format!("    {failure}"));
        }
        ui::line(&format!("    details: {}", out.display()));
    }
    Ok(count)
}

/// What the suite printed at its end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    scenarios: usize,
    checks: Count,
}

impl Report {
    /// Reads the lines `✓ ping: 2 passed, 0 failed` and `Total: 47 passed, 22 failed` after the summary's heading.
    fn read(output: &str) -> Self {
        let Some((_, summary)) = output.split_once("=== SUMMARY ===") else {
            return Self::default();
        };
        let scenario = |line: &&str| line.starts_with(['✓', '✗']) && line.ends_with(" failed");
        let total = summary
            .lines()
            .find_map(|line| line.strip_prefix("Total: "));
        Self {
            scenarios: summary.lines().filter(scenario).count(),
            checks: total.and_then(passed_failed).unwrap_or_default(),
        }
    }

    /// The checks; a run without any, or one that ended badly without a failure, is itself a failure.
    fn count(&self, success: bool) -> Count {
        let Count { passed, failed } = self.checks;
        let unexplained = failed == 0 && (passed == 0 || !success);
        Count {
            passed,
            failed: failed + usize::from(unexplained),
        }
    }
}

/// Reads `47 passed, 22 failed`, whatever follows.
fn passed_failed(text: &str) -> Option<Count> {
    let mut parts = text.split(',').map(str::trim);
    let passed = parts.next()?.strip_suffix(" passed")?.parse().ok()?;
    let failed = parts.next()?.strip_suffix(" failed")?.parse().ok()?;
    Some(Count { passed, failed })
}

/// A line for every failed check that the suite wrote down: a folder per scenario with a `checks.json`.
fn failures(out: &Path) -> Vec<String> {
    let mut failures = Vec::new();
    for entry in fs::read_dir(out).into_iter().flatten().flatten() {
        let Ok(text) = fs::read_to_string(entry.path().join("checks.json")) else {
            continue;
        };
        let scenario = entry.file_name().to_string_lossy().into_owned();
        failures.extend(
            failed_checks(&text)
                .into_iter()
                .map(|check| format!("{scenario}: {check}")),
        );
    }
    failures.sort();
    failures
}

fn failed_checks(json: &str) -> Vec<String> {
    let checks: Value = serde_json::from_str(json).unwrap_or_default();
    let failed = checks
        .as_array()
        .into_iter()
        .flatten()
        .filter(|check| check["status"] == "FAILURE");
    failed
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or("?");
            let why: Vec<_> = text("errorMessage").split_whitespace().collect();
            let why: String = why.join(" ").chars().take(REASON_CHARS_SHOWN).collect();
            format!("{}: {why}", text("id"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What the suite, 0.2.0-alpha.12, printed for server-everything, shortened.
    const WITH_FAILURES: &str = "\
=== Running scenario: ping ===
Running client scenario 'ping' against server: http://127.0.0.1:39331/mcp


=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ completion-complete: 1 passed, 1 failed
✗ server-session-lifecycle: 2 passed, 1 failed

Total: 5 passed, 2 failed

Not scored for 2025-11-25: 3 scenario(s) run, 3 failing. These do not affect conformance.
  ✗ server-session-lifecycle (added-after-release)
";

    #[test]
    fn the_suites_summary_is_read() {
        let report = Report::read(WITH_FAILURES);
        let checks = Count {
            passed: 5,
            failed: 2,
        };
        assert_eq!(
            report,
            Report {
                scenarios: 3,
                checks
            }
        );
        assert_eq!(report.count(false), checks);
    }

    #[test]
    fn a_run_without_checks_is_a_failure() {
        for output in [
            "",
            "Unknown spec revision: 2024-01-01.\n",
            "=== SUMMARY ===\n\nTotal: 0 passed, 0 failed\n",
        ] {
            let report = Report::read(output);
            assert_eq!(
                report.count(true),
                Count {
                    passed: 0,
                    failed: 1
                },
                "{output}"
            );
        }
    }

    #[test]
    fn a_bad_end_without_a_failure_is_a_failure() {
        let report = Report::read(
            "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n\nTotal: 2 passed, 0 failed\n",
        );
        assert_eq!(
            report.count(true),
            Count {
                passed: 2,
                failed: 0
            }
        );
        assert_eq!(
            report.count(false),
            Count {
                passed: 2,
                failed: 1
            }
        );
    }

    #[test]
    fn failed_checks_say_why() {
        let json = r#"[{"id": "tools-call-audio", "status": "FAILURE", "errorMessage": "No audio\n content found"},
                       {"id": "wire-schema-valid", "status": "SUCCESS"}]"#;
        assert_eq!(
            failed_checks(json),
            ["tools-call-audio: No audio content found"]
        );
        assert!(failed_checks("not json").is_empty());
    }

    #[test]
    fn only_a_complete_line_is_an_address() {
        assert_eq!(listening("starting\nlistening on http://127.0.0.1:4"), None);
        assert_eq!(listening("listening on port 4180\n"), None);
        assert_eq!(
            listening("starting\nlistening on http://127.0.0.1:4180/mcp\n").as_deref(),
            Some("http://127.0.0.1:4180/mcp")
        );
    }
}
