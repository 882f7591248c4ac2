//! Where a session works: the flags, and the repository that the current directory belongs to.

use std::path::{Path, PathBuf};

use clap::Args;
use wh_client::Client;

use crate::commands::repo::{self, Known};
use crate::context::Context;
use crate::exit::{CliError, CliResult};

/// Says how to choose another directory than the repository's new worktree.
const OTHERWISE: &str = "--here works in this directory, --scratch in an empty one";

/// Where the session works.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it works")]
pub(super) struct WorkspaceArgs {
    /// Work in the current directory as it is
    #[arg(long, conflicts_with = "path")]
    here: bool,
    /// Work in this directory as it is
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Work in an empty directory, also inside a repository
    #[arg(long, conflicts_with_all = ["here", "path", "repo", "worktree"])]
    scratch: bool,
    /// Work in a new worktree of this repository, by id, name, path or address [default: the one of the current directory]
    #[arg(long, value_name = "REPO", conflicts_with_all = ["here", "path", "worktree"])]
    repo: Option<String>,
    /// The worktree's branch: one that exists, or a new one [default: named after the session]
    #[arg(long, conflicts_with_all = ["here", "path", "scratch", "worktree"])]
    branch: Option<String>,
    /// The branch or full commit at which a new branch begins [default: the repository's default branch]
    #[arg(long, value_name = "BRANCH|COMMIT", conflicts_with_all = ["here", "path", "scratch", "worktree"])]
    base: Option<String>,
    /// Work in this worktree, or in that of this session, by id
    #[arg(long, value_name = "ID", conflicts_with_all = ["here", "path"])]
    worktree: Option<String>,
}

/// Where a session works, as the server is told.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) path: Option<String>,
    pub(super) repo: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) base: Option<String>,
    pub(super) worktree: Option<String>,
    pub(super) implied: Implied,
}

/// What the current directory decided, because no flag did.
#[derive(Debug, Default)]
pub(super) enum Implied {
    #[default]
    Nothing,
    /// The repository it belongs to, with what to say about it.
    Repo { note: String },
    /// It belongs to a repository that a server elsewhere cannot see.
    Elsewhere,
}

impl Implied {
    /// Decides for a repository.
    fn repo(known: &Known, base: Option<&str>) -> Self {
        let Known { repo, is_new } = known;
        let what = match is_new {
            true => format!("added the repository {}, {}", repo.name, repo.source),
            false => format!("repository {}", repo.name),
        };
        let base = base.or(repo.default_branch.as_deref());
        let base = base.unwrap_or("its default branch");
        let note = format!("{what}: working in a new worktree from {base}; {OTHERWISE}");
        Self::Repo { note }
    }

    /// Returns what to say about it.
    pub(super) fn note(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Repo { note } => Some(note),
            Self::Elsewhere => Some(
                "the server is on another machine and cannot see this repository: working in an empty directory; --repo names one that the server knows",
            ),
        }
    }

    /// Adds to an error how to do without the repository.
    pub(super) fn explain(&self, error: CliError) -> CliError {
        match self {
            Self::Repo { .. } => unusable(error),
            Self::Nothing | Self::Elsewhere => error,
        }
    }
}

impl WorkspaceArgs {
    /// Returns where the session works; adds the repository of the current directory if the server does not know it.
    pub(super) async fn resolve(self, cx: &Context, client: &Client) -> CliResult<Workspace> {
        let is_decided = self.here || self.scratch || self.path.is_some();
        let is_decided = is_decided || self.repo.is_some() || self.worktree.is_some();
        let mut workspace = Workspace {
            branch: self.branch,
            base: self.base,
            worktree: self.worktree,
            ..Workspace::default()
        };
        match self.here {
            true => workspace.path = Some(absolute(Path::new("."))?),
            false => workspace.path = self.path.as_deref().map(absolute).transpose()?,
        }
        if let Some(repo) = self.repo {
            workspace.repo = Some(repo::named(cx, client, repo).await?);
        }
        if !is_decided && let Some(top) = repo::around_here()? {
            workspace.implied = Implied::Elsewhere;
            if cx.url().is_none() {
                let known = repo::known_or_added(cx, client, top).await;
                let known = known.map_err(unusable)?;
                workspace.implied = Implied::repo(&known, workspace.base.as_deref());
                workspace.repo = Some(known.repo.id);
            }
        }
        if workspace.repo.is_none() && (workspace.branch.is_some() || workspace.base.is_some()) {
            let error = CliError::usage("--branch and --base need a repository");
            return Err(error.hint("run this inside a repository, or add --repo"));
        }
        Ok(workspace)
    }
}

/// Says how to do without a repository that cannot be used.
fn unusable(mut error: CliError) -> CliError {
    let hint = error.body.error.hint.take();
    let before = hint.map_or(String::new(), |hint| format!("{hint}; "));
    error.hint(format!("{before}without this repository: {OTHERWISE}"))
}

fn absolute(path: &Path) -> CliResult<String> {
    let absolute = std::path::absolute(path)
        .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))?;
    let text = absolute.to_str().map(str::to_owned);
    text.ok_or_else(|| CliError::usage("the path is not text"))
}
