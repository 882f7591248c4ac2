//! `cargo xtask tidy`: rules about the shape of the code that the compiler cannot know. The tables are here, one small function
//! per rule is in [`crates`] and [`sources`]; each returns what is wrong, naming the file and what to do.
//!
//! Adding an edge or a user of a confined crate is a reviewed change to these tables.

mod crates;
mod sources;

use std::process::ExitCode;

use anyhow::Result;

use crate::ui;
use crate::workspace::Workspace;

/// Which of our crates may use which: design, section 2.
const ALLOWED_EDGES: &[(&str, &[&str])] = &[
    ("wh-domain", &[]),
    ("wh-store", &["wh-domain"]),
    ("wh-store-sqlite", &["wh-store", "wh-domain"]),
    ("wh-store-postgres", &["wh-store", "wh-domain"]),
    ("wh-git", &["wh-domain"]),
    ("wh-runner", &["wh-domain"]),
    ("wh-agents", &["wh-domain"]),
    ("wh-llm-agent", &["wh-domain"]),
    ("wh-forge", &["wh-domain"]),
    ("wh-webhook", &["wh-domain"]),
    (
        "wh-app",
        &[
            "wh-store",
            "wh-git",
            "wh-runner",
            "wh-agents",
            "wh-forge",
            "wh-webhook",
            "wh-domain",
        ],
    ),
    ("wh-api", &["wh-domain"]),
    ("wh-http", &["wh-app", "wh-api", "wh-domain"]),
    ("wh-mcp", &["wh-app", "wh-api", "wh-domain"]),
    ("wh-client", &["wh-api", "wh-domain"]),
    ("wheelhouse", &[ANY_BUT_TESTKIT]),
    ("wh-testkit", &[ANY_BUT_TESTKIT]),
    ("xtask", &[]),
];

/// In [`ALLOWED_EDGES`]: every crate of ours but the one for tests.
const ANY_BUT_TESTKIT: &str = "*";

/// What the tests of any crate may use beyond its edges.
const ALLOWED_IN_TESTS: &[&str] = &["wh-testkit", "wh-agents", "wh-store", "wh-store-sqlite"];

/// Third-party crates, each with their kin (`axum`, `axum-extra`), and the only crates of ours that may name them.
const CONFINED: &[(&str, &[&str])] = &[
    ("sqlx", &["wh-store-sqlite", "wh-store-postgres"]),
    ("axum", &["wh-http", "wh-testkit"]),
    ("rmcp", &["wh-mcp", "wh-testkit"]),
    ("agent-client-protocol", &["wh-runner", "wh-testkit"]),
    ("clap", &["wheelhouse"]),
    ("genai", &["wh-llm-agent"]),
];

/// What does I/O, reads a clock or makes randomness, and so has no place in the domain.
const ABSENT_FROM_DOMAIN: &[&str] = &[
    "async-std",
    "axum",
    "getrandom",
    "hyper",
    "mio",
    "nix",
    "rand",
    "reqwest",
    "rustix",
    "sqlx",
    "tempfile",
    "tokio",
];

/// Words that no line of code in the domain may contain.
const WORDS_ABSENT_FROM_DOMAIN: &[&str] = &[
    "SystemTime::now",
    "Timestamp::now",
    "std::fs",
    "std::net",
    "tokio",
];

/// Code that compares or rewrites the text of an error, or makes an error of a text.
const ERROR_TEXT: &[&str] = &[
    ".message ==",
    ".message !=",
    ".message.contains(",
    ".message.starts_with(",
    ".message.ends_with(",
    ".message.replace(",
    "error.to_string() ==",
    "error.to_string().contains(",
    "error.to_string().starts_with(",
    ".hint.map(",
    ".hint.replace(",
    "AppError::new(",
    "AppError::invalid(",
];

const PURPOSE_CHARS_MIN: usize = 80;
const FILE_LINES_WARN: usize = 500;
const FILE_LINES_MAX: usize = 800;

/// What tidy found. Problems fail the check, warnings are only listed.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Applies every rule to the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings> {
    let packages = &workspace.packages;
    let files = workspace.files()?;
    let problems = [
        crates::listed(packages),
        crates::edges(packages),
        crates::confined(packages),
        crates::domain_is_pure(packages),
        crates::lints_inherited(packages, &files),
        sources::purpose_stated(packages, &files),
        sources::domain_words(&files),
        sources::too_long(&files),
        sources::registry_hosts(&files),
        sources::unfinished(&files),
        sources::error_text(&files),
        sources::suite_members(&files),
    ];
    Ok(Findings {
        problems: problems.concat(),
        warnings: sources::long(&files),
    })
}

/// The command: prints what was found, and fails when there is a problem.
pub(crate) fn tidy(workspace: &Workspace) -> Result<ExitCode> {
    let findings = check(workspace)?;
    report(&findings);
    if findings.problems.is_empty() {
        ui::line("tidy: all rules hold");
        return Ok(ExitCode::SUCCESS);
    }
    ui::line(&format!("tidy: {} problems", findings.problems.len()));
    Ok(ExitCode::FAILURE)
}

pub(crate) fn report(findings: &Findings) {
    for warning in &findings.warnings {
        ui::line(&format!("warning: {warning}"));
    }
    for problem in &findings.problems {
        ui::line(&format!("problem: {problem}"));
    }
}
