//! `wheelhouse backup`.

use std::path::PathBuf;

use clap::Args;
use wh_api::BackupCreateRequest;

use crate::context::Context;
use crate::exit::{CliError, CliResult};

/// Copy the database into a file while the server runs
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  wheelhouse backup /backup/wheelhouse-$(date +%F).db

The copy is consistent: it holds everything up to one moment. To go back to it, stop the server and put the file in the
place of wheelhouse.db in the data directory.")]
pub(crate) struct BackupArgs {
    /// The file to write, which must not exist
    file: PathBuf,
}

pub(crate) async fn run(cx: &Context, BackupArgs { file }: BackupArgs) -> CliResult {
    let file = match cx.url() {
        // The path is one of the server's machine, so where we are does not matter.
        Some(_) if file.is_relative() => {
            return Err(CliError::usage(
                "the file must be an absolute path on the server's machine",
            ));
        }
        _ => std::path::absolute(&file)
            .map_err(|error| CliError::usage(format!("the file cannot be named so: {error}")))?,
    };
    let file = file
        .into_os_string()
        .into_string()
        .map_err(|_| CliError::usage("the file's path is not UTF-8 text"))?;
    let made = cx
        .client()?
        .backup_create(&BackupCreateRequest { file })
        .await;
    let made = made.map_err(|error| match error {
        error @ wh_client::ClientError::NotRunning { .. } => {
            let error = CliError::from(error);
            error.hint("start the server with `wheelhouse serve`, or, while none runs, copy wheelhouse.db and wheelhouse.db-wal together")
        }
        error => error.into(),
    })?;
    cx.ui.answer(&made, |ui| {
        ui.line(&format!(
            "{} holds everything up to event {}",
            made.file, made.through
        ))
    })
}
