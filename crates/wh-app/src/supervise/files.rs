//! What comes with a prompt, laid out for the agent.

use std::{io, path::PathBuf};

use wh_domain::{Run, Turn};
use wh_runner::PromptPart;

use crate::{App, Result};

/// Why a prompt is not run: the agent would not have all that came with it.
pub(super) struct Unlaid(pub(super) String);

impl App {
    /// Writes the files of a prompt into the run's directory, each into one of its own so that it keeps its name.
    pub(super) async fn lay_out(
        &self,
        run: &Run,
        turn: &Turn,
    ) -> Result<Result<Vec<PromptPart>, Unlaid>> {
        let mut parts = Vec::new();
        for (number, about) in (1..).zip(&turn.files) {
            let name = &about.name;
            let Some(file) = self.store.turn_file(turn.id, number).await? else {
                let why = format!("the file {name} is not kept any more; send it again");
                return Ok(Err(Unlaid(why)));
            };
            let dir = self.run_dir(run);
            let at = PathBuf::from(format!("{}/{number}/{name}", turn.id));
            let path = tokio::task::spawn_blocking(move || dir.write_file(&at, &file.data)).await;
            match path.map_err(io::Error::other).and_then(|path| path) {
                Ok(path) => parts.push(PromptPart {
                    name: name.clone(),
                    media_type: about.media_type.clone(),
                    path,
                }),
                Err(error) => {
                    tracing::error!(turn = %turn.id, %error, "a file of a prompt cannot be written");
                    let why = format!(
                        "the file {name} cannot be laid out for the agent ({error}); see whether the server's disk is full, then send the prompt again"
                    );
                    return Ok(Err(Unlaid(why)));
                }
            }
        }
        Ok(Ok(parts))
    }
}
