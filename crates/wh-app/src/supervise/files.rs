//! What comes with a prompt, laid out for the agent.

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use wh_domain::{PromptFile, Run, Turn};
use wh_runner::PromptPart;

use crate::{App, Result};

impl App {
    /// Writes the files of a prompt into the run's directory, each into one of its own so that it keeps its name.
    pub(super) async fn lay_out(&self, run: &Run, turn: &Turn) -> Result<Vec<PromptPart>> {
        let mut parts = Vec::new();
        let place = self.run_dir(run).files().join(turn.id.to_string());
        for (number, about) in (1..).zip(&turn.files) {
            let Some(file) = self.store.turn_file(turn.id, number).await? else {
                continue;
            };
            let dir = place.join(number.to_string());
            let path = tokio::task::spawn_blocking(move || write(&dir, &file)).await;
            match path.map_err(io::Error::other).and_then(|path| path) {
                Ok(path) => parts.push(PromptPart {
                    name: about.name.clone(),
                    media_type: about.media_type.clone(),
                    path,
                }),
                // The prompt says what it says; the agent is better off with it than without.
                Err(error) => {
                    tracing::error!(turn = %turn.id, %error, "a file of a prompt cannot be written");
                }
            }
        }
        Ok(parts)
    }
}

fn write(dir: &Path, file: &PromptFile) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let path = dir.join(file.name.as_str());
    let mut open = OpenOptions::new();
    let mut written = open
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)?;
    written.write_all(&file.data)?;
    Ok(path)
}
