//! `wheelhouse version`.

use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::exit::CliResult;
use crate::serve::server_file;

/// Show the version of this program and of the server that runs
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {}

#[derive(Debug, Serialize)]
struct VersionView {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<String>,
}

pub(crate) async fn run(cx: &Context, VersionArgs {}: VersionArgs) -> CliResult {
    let data_dir = cx.config().map(|config| config.data_dir.value);
    let server = data_dir
        .ok()
        .and_then(|dir| server_file(&dir).ok().flatten());
    let view = VersionView {
        version: env!("CARGO_PKG_VERSION"),
        server_version: server.map(|file| file.version),
    };
    cx.ui.answer(&view, |ui| {
        ui.line(&format!("wheelhouse {}", view.version))?;
        match &view.server_version {
            Some(version) if *version != view.version => ui.note(&format!(
                "the running server is {version}; restart it to use this one"
            )),
            _ => Ok(()),
        }
    })
}
