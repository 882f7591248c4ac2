//! `wheelhouse doctor`: is everything here that the server needs, and does it run well?

mod agents;
mod machine;
mod server;

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Tone, Ui, clean};

/// Check this machine, the configuration, the server and the agents
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is ok, warn or fail, with what to do about it. The exit code is 1 when something fails.")]
pub(crate) struct DoctorArgs {}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    name: &'static str,
    status: Status,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            message: message.into(),
            hint: None,
        }
    }

    fn warn(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status: Status::Warn,
            hint: Some(hint.into()),
            ..Self::ok(name, message)
        }
    }

    fn fail(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status: Status::Fail,
            ..Self::warn(name, message, hint)
        }
    }
}

#[derive(Debug, Serialize)]
struct DoctorView {
    checks: Vec<Check>,
}

pub(crate) async fn run(cx: &Context, DoctorArgs {}: DoctorArgs) -> CliResult {
    let mut checks = vec![machine::git().await, machine::platform()];
    match cx.config() {
        Ok(config) => {
            checks.push(machine::config_file(&config));
            checks.push(machine::model(&config));
            checks.extend(machine::data_dir(&config.data_dir.value));
            checks.push(machine::database(&config.database.value));
            checks.extend(server::checks(&config).await);
            checks.extend(agents::checks(&config).await);
        }
        Err(error) => {
            let view = error.body.error;
            let hint = view.hint.unwrap_or_else(|| "correct it".to_owned());
            checks.push(Check::fail("configuration", view.message, hint));
        }
    }
    let failed = checks.iter().filter(|c| c.status == Status::Fail).count();
    let view = DoctorView { checks };
    cx.ui.answer(&view, |ui| {
        view.checks.iter().try_for_each(|check| line(ui, check))
    })?;
    match failed {
        0 => Ok(()),
        1 => Err(CliError::failed("one check failed")),
        n => Err(CliError::failed(format!("{n} checks failed"))),
    }
}

fn line(ui: &Ui, check: &Check) -> CliResult {
    let word = match check.status {
        Status::Ok => ui.paint(Tone::Good, "ok  "),
        Status::Warn => ui.paint(Tone::Doubtful, "warn"),
        Status::Fail => ui.paint(Tone::Bad, "fail"),
    };
    let name = format!("{:14}", check.name);
    ui.raw(&format!("{word}  {name} {}\n", clean(&check.message)))?;
    match &check.hint {
        Some(hint) => ui.raw(&format!("      {:14} → {}\n", "", clean(hint))),
        None => Ok(()),
    }
}

/// Tells what a path is called in a message.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
