//! Running the binary and comparing what it says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use wh_testkit::server::{self, TestServer};

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Returns everything for a snapshot.
    pub(crate) fn all(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }

    /// Returns the answer, which must be one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the error, which must be one JSON document in the usual shape.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let body: Value =
            serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert!(body["error"]["code"].is_string(), "{self:?}");
        body["error"].clone()
    }
}

/// A home directory without a server.
pub(crate) struct Home(pub(crate) TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let home = tempfile::Builder::new().prefix("wh-").tempdir();
        Self(home.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, |_| {})
    }

    pub(crate) fn run_with(&self, arguments: &[&str], set: impl Fn(&mut Command)) -> Said {
        let mut command = server::command(self.path());
        command.args(arguments);
        set(&mut command);
        said(&mut command)
    }
}

/// Runs a command for a server.
pub(crate) fn run(server: &TestServer, arguments: &[&str]) -> Said {
    said(server.command().args(arguments))
}

/// Runs a command that must succeed and returns its JSON answer.
#[track_caller]
pub(crate) fn run_json(server: &TestServer, arguments: &[&str]) -> Value {
    let said = said(server.command().args(arguments).arg("--json"));
    assert_eq!(said.code, 0, "{said:?}");
    said.json()
}

pub(crate) fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Compares with a snapshot after hiding what differs from run to run.
macro_rules! assert_said {
    ($name:literal, $said:expr, $home:expr) => {{
        let home = crate::harness::regex_escape($home.to_str().unwrap());
        insta::with_settings!({ filters => vec![
            (home.as_str(), "~"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[uuid]"),
            (r"wh_(full|read|client)_[0-9a-f]{32}", "wh_${1}_[secret]"),
            (r"wh_(full|read|client)_[0-9a-f]{8}", "wh_${1}_[8digits]"),
            (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
            (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", "[when              ]"),
            (r"\(in \d+ (min|h|days?)\)", "(in [time])"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
            (r"token=[0-9a-f]{32}", "token=[token]"),
            (r"\b[0-9a-f]{40}\b", "[commit]"),
            (r"\b[0-9a-f]{8}\b", "[short ]"),
        ]}, { insta::assert_snapshot!($name, $said.all()) })
    }};
}
pub(crate) use assert_said;

pub(crate) fn regex_escape(text: &str) -> String {
    text.replace('.', r"\.")
}
