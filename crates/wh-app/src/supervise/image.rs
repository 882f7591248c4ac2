//! Container images for sessions in the tier `container`: which one a session runs in, and its unpacked files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use wh_agents::{Launch, LaunchRefusal};
use wh_domain::{AgentName, ImageRef, RepoId, Session};
use wh_runner::image::{Engine, ImageConfig, ImageError, find_program};

use crate::{App, LaunchMoment, Reason, Result, RunReason};

/// Names, in a session's own directory, the image that its last run used.
const LAST_IMAGE: &str = "image";

/// The length of an image's id in messages.
const SHORT_ID_CHARS: usize = 12;

/// An image whose files are on disk.
#[derive(Clone, Debug)]
pub(super) struct UnpackedImage {
    pub(super) reference: ImageRef,
    pub(super) config: ImageConfig,
    /// Its root directory.
    pub(super) root: PathBuf,
}

impl UnpackedImage {
    /// Returns what the transcript says when a run starts in the image.
    pub(super) fn notice(&self) -> String {
        let id: String = self.config.id.chars().take(SHORT_ID_CHARS).collect();
        format!("Running in image {} ({id})", self.reference)
    }
}

impl App {
    /// Refuses an agent that cannot be started in the image of its repository, of the agent or of the server.
    pub(crate) async fn check_image(&self, agent: &AgentName, repo: Option<RepoId>) -> Result<()> {
        let (_, reference, config) = self.image(agent, repo).await?;
        let root = self.runs.containment.image_dir(&config.id);
        // Programs can be searched for once the image is unpacked; before that, its first session finds out.
        match root.is_dir() {
            true => self.launch_in(agent, &reference, &config, &root).map(drop),
            false => Ok(()),
        }
    }

    /// Returns how a session's agent is started in its image. Unpacks the image if that was not done yet.
    pub(super) async fn image_launch(&self, session: &Session) -> Result<(Launch, UnpackedImage)> {
        let (engine, reference, config) = self.image(&session.agent, session.repo).await?;
        let root = self.runs.containment.image_dir(&config.id);
        {
            let _alone = self.image_locks.take(config.id.clone()).await;
            if !root.is_dir() {
                let parent = &self.runs.containment.images;
                fs::create_dir_all(parent).map_err(ImageError::Io)?;
                tracing::info!(image = %reference, id = config.id, "unpacking an image");
                engine.unpack(&config, &root).await?;
            }
            let recorded = self.record_image(session, &config.id);
            recorded.map_err(ImageError::Io)?;
        }
        self.remove_unused_images().await;
        let launch = self.launch_in(&session.agent, &reference, &config, &root)?;
        let image = UnpackedImage {
            reference,
            config,
            root,
        };
        Ok((launch, image))
    }

    async fn image(
        &self,
        agent: &AgentName,
        repo: Option<RepoId>,
    ) -> Result<(Engine, ImageRef, ImageConfig)> {
        let config = &self.runs.containment;
        let of_repo = match repo {
            Some(repo) => self.repo_by_id(repo).await?.image,
            None => None,
        };
        let image = of_repo
            .or_else(|| self.agents.image(agent).cloned())
            .or_else(|| config.image.clone());
        let Some(image) = image else {
            let agent = agent.clone();
            return Err(RunReason::NoImage { agent }.into());
        };
        let engine = config.container_engine()?.clone();
        let inspected = engine.inspect(&image).await?;
        Ok((engine, image, inspected))
    }

    fn launch_in(
        &self,
        agent: &AgentName,
        reference: &ImageRef,
        config: &ImageConfig,
        root: &Path,
    ) -> Result<Launch> {
        let find = |program: &str| find_program(root, program, config.path());
        self.agents
            .launch_with(agent, find)
            .map_err(|refusal| match refusal {
                LaunchRefusal::Missing { programs, .. } => {
                    let image = reference.clone();
                    RunReason::ImageLacks { image, programs }.into()
                }
                refusal @ LaunchRefusal::Unknown { .. } => {
                    let moment = LaunchMoment::Request;
                    Reason::Launch { refusal, moment }.into()
                }
            })
    }

    /// Notes which image a session uses, so that the image is kept as long as the session.
    fn record_image(&self, session: &Session, id: &str) -> std::io::Result<()> {
        let dir = self.runs.containment.session_dir(session.id);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join(LAST_IMAGE), id)
    }

    /// Removes unpacked images that no session has used last.
    async fn remove_unused_images(&self) {
        let config = &self.runs.containment;
        let (homes, images) = (config.homes.clone(), config.images.clone());
        let unused = tokio::task::spawn_blocking(move || unused_images(&homes, &images)).await;
        for (id, dir) in unused.unwrap_or_default() {
            let _alone = self.image_locks.take(id.clone()).await;
            let homes = config.homes.clone();
            let removed = tokio::task::spawn_blocking(move || {
                // Somebody may have started to use it meanwhile.
                match used_images(&homes).contains(&id) {
                    true => Ok(()),
                    false => fs::remove_dir_all(dir),
                }
            });
            if let Ok(Err(error)) = removed.await {
                tracing::warn!(%error, "an unused image could not be removed");
            }
        }
    }
}

/// Returns the images that the sessions below `homes` have used last.
fn used_images(homes: &Path) -> BTreeSet<String> {
    let sessions = fs::read_dir(homes).into_iter().flatten().flatten();
    let ids = sessions.filter_map(|dir| fs::read_to_string(dir.path().join(LAST_IMAGE)).ok());
    ids.collect()
}

fn unused_images(homes: &Path, images: &Path) -> Vec<(String, PathBuf)> {
    let used = used_images(homes);
    let dirs = fs::read_dir(images).into_iter().flatten().flatten();
    let dirs = dirs.filter_map(|dir| Some((dir.file_name().to_str()?.to_owned(), dir.path())));
    dirs.filter(|(name, _)| !name.contains('.') && !used.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_kept_as_long_as_a_session_used_them_last() {
        let dir = tempfile::tempdir().unwrap();
        let (homes, images) = (dir.path().join("homes"), dir.path().join("images"));
        for image in ["aa", "bb", "cc.partial"] {
            fs::create_dir_all(images.join(image)).unwrap();
        }
        fs::create_dir_all(homes.join("session")).unwrap();
        fs::write(homes.join("session").join(LAST_IMAGE), "aa").unwrap();
        let unused = unused_images(&homes, &images);
        assert_eq!(unused, [("bb".to_owned(), images.join("bb"))]);
    }
}
