//! The commands of Podman and Docker by which an image is found and exported.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use serde::Deserialize;
use tokio::process::Command;
use uuid::Uuid;
use wh_domain::ImageRef;

use super::unpack::{UnpackError, unpack};

/// How long a command that only asks the engine something may take.
const ASK_WITHIN: Duration = Duration::from_secs(60);
/// How long exporting and unpacking an image may take.
const UNPACK_WITHIN: Duration = Duration::from_secs(1_800);
/// The most of an engine's complaint that is repeated.
const COMPLAINT_CHARS_MAX: usize = 500;
/// The first part of the names of containers that exist only while their image is exported; the server's process id follows.
const CONTAINER_PREFIX: &str = "wheelhouse-unpack-";
/// The directories in which programs are searched for in an image that does not name any.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Which container engine provides images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    Podman,
    Docker,
}

impl EngineKind {
    /// Every engine, the preferred one first: Podman needs neither a daemon nor root.
    pub const ALL: [Self; 2] = [Self::Podman, Self::Docker];

    /// Returns the name of its program.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }

    /// Parses the name of an engine.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A container engine on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    pub kind: EngineKind,
    pub program: PathBuf,
}

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageConfig {
    /// The digest of its configuration, 64 hexadecimal digits: it changes with every change of the image.
    pub id: String,
    /// Variables that its programs expect.
    pub environment: BTreeMap<String, String>,
}

impl ImageConfig {
    /// Returns the directories in which programs of the image are searched for, as in the variable `PATH`.
    pub fn path(&self) -> &str {
        let path = self.environment.get("PATH").map(String::as_str);
        path.filter(|path| !path.is_empty()).unwrap_or(DEFAULT_PATH)
    }
}

/// Why an image cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("{} has no image {image}", engine.as_str())]
    NotFound { engine: EngineKind, image: ImageRef },
    #[error("{command} failed: {reason}")]
    Engine { command: String, reason: String },
    #[error("the image cannot be unpacked: {0}")]
    Unpack(#[from] UnpackError),
    #[error("the image cannot be unpacked: {0}")]
    Io(#[from] io::Error),
}

/// The parts of `image inspect` that both engines print in the same way.
#[derive(Deserialize)]
struct Inspected {
    #[serde(rename = "Id")]
    id: String,
    #[serde(rename = "Config", default)]
    config: InspectedConfig,
}

#[derive(Default, Deserialize)]
struct InspectedConfig {
    #[serde(rename = "Env", default)]
    env: Option<Vec<String>>,
}

impl Engine {
    /// Finds an engine in the directories of a `PATH`: the wanted one, or the first that is there.
    pub fn find(path: &[PathBuf], wanted: Option<EngineKind>) -> Option<Self> {
        let kinds = EngineKind::ALL.into_iter();
        let mut kinds = kinds.filter(|kind| wanted.is_none_or(|wanted| wanted == *kind));
        kinds.find_map(|kind| {
            let programs = path.iter().map(|dir| dir.join(kind.as_str()));
            let program = programs.into_iter().find(|program| program.is_file())?;
            Some(Self { kind, program })
        })
    }

    /// Returns the version that the engine prints; fails where the engine does not work, such as Docker without its daemon.
    pub async fn version(&self) -> Result<String, ImageError> {
        let format = match self.kind {
            EngineKind::Podman => "{{.Client.Version}}",
            EngineKind::Docker => "{{.Server.Version}}",
        };
        let output = self.ask(&["version", "--format", format]).await?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Reads what is known of an image. Nothing is pulled.
    pub async fn inspect(&self, image: &ImageRef) -> Result<ImageConfig, ImageError> {
        let arguments = ["image", "inspect", image.as_str()];
        let output = match self.ask(&arguments).await {
            Err(ImageError::Engine { .. }) if !self.has(image).await? => {
                let (engine, image) = (self.kind, image.clone());
                return Err(ImageError::NotFound { engine, image });
            }
            asked => asked?,
        };
        self.read_config(&output.stdout)
            .ok_or_else(|| self.failed("image", "it printed something unexpected"))
    }

    /// Unpacks an image into `into`, which must not exist. What does not arrive whole leaves nothing behind.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the export and may leave files beside `into`, which [`Self::remove_partial`] removes.
    pub async fn unpack(&self, image: &ImageConfig, into: &Path) -> Result<(), ImageError> {
        self.remove_stale_containers().await;
        let name = format!(
            "{CONTAINER_PREFIX}{}-{}",
            std::process::id(),
            Uuid::new_v4().simple()
        );
        // The command is never run; without one, images that name none are refused.
        let arguments = [
            "create",
            "--pull",
            "never",
            "--network",
            "none",
            "--name",
            &name,
            &image.id,
            "true",
        ];
        self.ask(&arguments).await?;
        let partial = into.with_extension("partial");
        let exported = tokio::time::timeout(UNPACK_WITHIN, self.export(&name, &partial)).await;
        self.ask(&["rm", "--force", &name]).await?;
        let exported = exported.unwrap_or_else(|_| {
            let seconds = UNPACK_WITHIN.as_secs();
            Err(self.failed("export", &format!("it took longer than {seconds} s")))
        });
        match exported {
            Ok(()) => Ok(fs::rename(&partial, into)?),
            Err(error) => {
                Self::remove_partial(into).await;
                Err(error)
            }
        }
    }

    /// Removes what an interrupted [`Self::unpack`] left.
    pub async fn remove_partial(into: &Path) {
        let partial = into.with_extension("partial");
        let removed = tokio::task::spawn_blocking(move || fs::remove_dir_all(partial)).await;
        if let Ok(Err(error)) = removed
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a partly unpacked image could not be removed");
        }
    }

    async fn export(&self, container: &str, partial: &Path) -> Result<(), ImageError> {
        Self::remove_partial(&partial.with_extension("")).await;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(partial)?;
        let mut child = self.command(["export", container]).spawn()?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("no pipe"))?;
        let (archive, partial) = (fs::File::from(stdout.into_owned_fd()?), partial.to_owned());
        let unpacked =
            tokio::task::spawn_blocking(move || unpack(io::BufReader::new(archive), &partial));
        // The pipe is closed when unpacking ends, so the engine ends too.
        let unpacked = unpacked.await.map_err(io::Error::other)?;
        let output = child.wait_with_output().await?;
        match output.status.success() {
            true => Ok(unpacked?),
            false => {
                unpacked?;
                Err(self.failed("export", &complaint(&output)))
            }
        }
    }

    /// Removes containers of servers that ended while they unpacked an image.
    async fn remove_stale_containers(&self) {
        let filter = format!("name={CONTAINER_PREFIX}");
        let listed = self
            .ask(&["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"])
            .await;
        let Ok(listed) = listed else { return };
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        for name in text.lines().filter(|name| is_stale(name)) {
            // Whoever else removes it at the same time is welcome to.
            self.ask(&["rm", "--force", name]).await.ok();
        }
    }

    async fn has(&self, image: &ImageRef) -> Result<bool, ImageError> {
        let filter = format!("reference={image}");
        let arguments = ["images", "--quiet", "--no-trunc", "--filter", &filter];
        // An id is no reference, and a digest is not always found by one.
        let listed = self.ask(&arguments).await?;
        Ok(!listed.stdout.is_empty())
    }

    fn read_config(&self, printed: &[u8]) -> Option<ImageConfig> {
        // Podman's templates differ from Docker's; the list that both print without one does not.
        let inspected: Vec<Inspected> = serde_json::from_slice(printed).ok()?;
        let inspected = inspected.into_iter().next()?;
        let id = inspected
            .id
            .strip_prefix("sha256:")
            .unwrap_or(&inspected.id);
        let is_digest = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let variables = inspected.config.env.unwrap_or_default();
        let variables = variables.iter().filter_map(|line| line.split_once('='));
        let variables = variables.filter(|(name, value)| !name.is_empty() && !value.contains('\0'));
        is_digest.then(|| ImageConfig {
            id: id.to_ascii_lowercase(),
            environment: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }

    async fn ask(&self, arguments: &[&str]) -> Result<Output, ImageError> {
        let name = arguments.first().copied().unwrap_or_default();
        let asked = self.command(arguments).output();
        let output = tokio::time::timeout(ASK_WITHIN, asked).await;
        let output = output.map_err(|_| self.failed(name, "it did not answer"))?;
        let output = output.map_err(|error| self.failed(name, &error.to_string()))?;
        match output.status.success() {
            true => Ok(output),
            false => Err(self.failed(name, &complaint(&output))),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the container engine is run here and nowhere else, with the operator's own environment: it holds its settings"
    )]
    fn command<T: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = T>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    fn failed(&self, command: &str, reason: &str) -> ImageError {
        ImageError::Engine {
            command: format!("{} {command}", self.kind.as_str()),
            reason: reason.to_owned(),
        }
    }
}

fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text
        .trim()
        .chars()
        .take(COMPLAINT_CHARS_MAX)
        .collect::<String>();
    match text.is_empty() {
        true => format!("it ended with {}", output.status),
        false => text,
    }
}

/// Returns whether a container is one of ours whose server is gone.
fn is_stale(name: &str) -> bool {
    let pid = name
        .strip_prefix(CONTAINER_PREFIX)
        .and_then(|rest| rest.split('-').next());
    let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Engine {
        let (kind, program) = (EngineKind::Podman, PathBuf::from("podman"));
        Engine { kind, program }
    }

    #[test]
    fn both_engines_answers_are_read() {
        let id = "ab".repeat(32);
        let docker =
            format!(r#"[{{"Id":"sha256:{id}","Config":{{"Env":["PATH=/x:/y","A=b=c","=bad"]}}}}]"#);
        let config = engine().read_config(docker.as_bytes()).unwrap();
        assert_eq!(config.id, id);
        assert_eq!(config.path(), "/x:/y");
        assert_eq!(config.environment["A"], "b=c");
        assert_eq!(config.environment.len(), 2);
        let podman = format!(r#"[{{"Id":"{id}","Config":{{}}}}]"#);
        let config = engine().read_config(podman.as_bytes()).unwrap();
        assert_eq!(config.path(), DEFAULT_PATH);
        for wrong in ["", "[]", r#"[{"Id":"../../etc"}]"#, r#"[{"Id":"ab"}]"#] {
            assert_eq!(engine().read_config(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn only_containers_of_servers_that_are_gone_are_stale() {
        let own = format!("{CONTAINER_PREFIX}{}-x", std::process::id());
        assert!(!is_stale(&own));
        assert!(is_stale(&format!("{CONTAINER_PREFIX}4294967295-x")));
        for other in [
            "web",
            "wheelhouse",
            CONTAINER_PREFIX,
            "wheelhouse-unpack-x-1",
        ] {
            assert!(!is_stale(other), "{other}");
        }
    }
}
