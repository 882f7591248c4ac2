//! Refusals and failures of starting an agent: its program, its containment, its image, its directories.

use std::{io, path::PathBuf};

use wh_agents::LaunchRefusal;
use wh_domain::{Advice, AgentName, ErrorCode, ImageRef, Operation, Tier};
use wh_git::{ConfigError, WorktreeError};
use wh_runner::image::ImageError;

use super::Explain;

/// When it turned out that an agent cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchMoment {
    /// While the request was checked: the caller named something that cannot be used.
    Request,
    /// While a session was started: something is missing on the server's machine.
    Start,
}

/// Why a session cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum RunReason {
    #[error("tier {tier} cannot be used in your own checkout")]
    SharesCheckout { tier: Tier },
    #[error("tier {tier} does not work on this machine: {reason}")]
    TierUnavailable {
        tier: Tier,
        reason: String,
        remedy: String,
    },
    #[error("tier {tier} cannot protect a home directory that the agent works in")]
    HomeUnprotected { tier: Tier },
    #[error("tier container requires an image, and none is configured for this session")]
    NoImage { agent: AgentName },
    #[error("image {image} has no program {}", .programs.join(" and "))]
    ImageLacks {
        image: ImageRef,
        programs: Vec<String>,
    },
    #[error("{path} cannot be created: {error}")]
    Directory { path: PathBuf, error: io::Error },
    #[error("the session's own directories cannot be created: {error}")]
    SessionDirectories { error: io::Error },
    #[error("the repository cannot be prepared for an agent: {error}")]
    GitAccess { error: io::Error },
    #[error("the project configuration cannot be protected: {error}")]
    ProjectConfig { error: io::Error },
    #[error("the agent {agent} would read project configuration that cannot be protected: {error}")]
    ProjectConfigUnreadable {
        agent: AgentName,
        error: ConfigError,
    },
    #[error("the session's commits cannot be fetched: {error}")]
    PrivateClone { error: WorktreeError },
    #[error("the runner cannot be started: {reason}")]
    Runner { reason: String },
}

impl Explain for RunReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::SharesCheckout { .. }
            | Self::HomeUnprotected { .. }
            | Self::ProjectConfigUnreadable { .. } => ErrorCode::Conflict,
            Self::TierUnavailable { .. }
            | Self::NoImage { .. }
            | Self::ImageLacks { .. }
            | Self::Directory { .. }
            | Self::SessionDirectories { .. }
            | Self::GitAccess { .. }
            | Self::ProjectConfig { .. }
            | Self::PrivateClone { .. }
            | Self::Runner { .. } => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::SharesCheckout { .. } => vec![
                Advice::call(Operation::RepoAdd, "add the repository"),
                Advice::note("start the session in a worktree of it"),
            ],
            Self::TierUnavailable { remedy, .. } if remedy.is_empty() => Vec::new(),
            Self::TierUnavailable { remedy, .. } => vec![Advice::note(remedy.clone())],
            Self::HomeUnprotected { .. } => {
                note("start the session in a directory below it, or in a worktree")
            }
            Self::NoImage { agent } => vec![
                Advice::config_file(
                    format!("agents.{agent}"),
                    "image",
                    "choose an image for the agent",
                ),
                Advice::config_file("containment", "image", "choose an image for all agents"),
                Advice::note("or add the repository with an image"),
            ],
            Self::ImageLacks { programs, .. } => vec![Advice::note(format!(
                "install {} in the image, or choose another image",
                programs.join(" and ")
            ))],
            Self::ProjectConfigUnreadable { .. } => {
                note("replace it with ordinary files or remove it, and prompt again")
            }
            Self::Directory { .. }
            | Self::SessionDirectories { .. }
            | Self::GitAccess { .. }
            | Self::ProjectConfig { .. }
            | Self::PrivateClone { .. }
            | Self::Runner { .. } => Vec::new(),
        }
    }
}

impl Explain for LaunchRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::Unknown { .. } => vec![Advice::call(Operation::AgentList, "list the agents")],
            Self::Missing { name, install, .. } => {
                let way = |line: &String| match line.strip_prefix("wheelhouse ") {
                    Some(command) => {
                        Advice::command(command.to_owned(), format!("install the agent {name}"))
                    }
                    // A line to paste into a shell on the server's machine.
                    None => Advice::note(line.clone()),
                };
                install.iter().map(way).collect()
            }
        }
    }
}

impl Explain for ImageError {
    fn code(&self) -> ErrorCode {
        ErrorCode::Unavailable
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::NotFound { engine, image } => {
                let engine = engine.as_str();
                vec![Advice::note(format!(
                    "run `{engine} pull {image}` or `{engine} build` as the server's user"
                ))]
            }
            Self::Engine { .. } => vec![Advice::note(
                "run the command as the server's user to see what is wrong",
            )],
            Self::Unpack(_) | Self::Io(_) => Vec::new(),
        }
    }
}
