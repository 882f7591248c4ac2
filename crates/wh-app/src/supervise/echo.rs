//! What the built-in agent is told of its worktree, so that it need not look for a repository.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use wh_agents::{Launch, LaunchProgram};
use wh_domain::{RepoState, Session};
use wh_runner::sandbox::Sandbox;

use super::sandbox::{ALTERNATES, GIT_DIR};
use crate::{App, Result};

/// The recorded paths of a worktree, as the built-in agent is given them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EchoWorktree {
    pub path: PathBuf,
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub alternates: Option<String>,
}

impl EchoWorktree {
    /// The variable that holds them.
    pub const VARIABLE: &str = "WHEELHOUSE_ECHO_WORKTREE";

    /// Reads them back.
    pub fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let path = |name: &str| value[name].as_str().map(PathBuf::from);
        Some(Self {
            path: path("path")?,
            git_dir: path("git_dir")?,
            common_dir: path("common_dir")?,
            alternates: value["alternates"].as_str().map(str::to_owned),
        })
    }

    fn text(&self) -> String {
        json!({
            "path": self.path,
            "git_dir": self.git_dir,
            "common_dir": self.common_dir,
            "alternates": self.alternates,
        })
        .to_string()
    }
}

impl App {
    /// Returns the variables that tell the built-in agent of its worktree; none for other agents and other sessions.
    pub(super) async fn echo_variables(
        &self,
        session: &Session,
        launch: &Launch,
        sandbox: Option<&Sandbox>,
    ) -> Result<BTreeMap<String, String>> {
        let mut variables = BTreeMap::new();
        let is_ours = match &launch.program {
            LaunchProgram::Itself => true,
            LaunchProgram::Found(program) => *program == self.runs.program,
        };
        let Some(worktree) = session.worktree.filter(|_| is_ours) else {
            return Ok(variables);
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        if let (Some(paths), RepoState::Ready(repo)) = (worktree.paths(), repo.state) {
            // In its sandbox the repository may be at another path, or be a private clone.
            let mapped = |target: &str| {
                let mut mapped = sandbox.iter().flat_map(|sandbox| &sandbox.mapped);
                mapped.find(|it| it.target == Path::new(target))
            };
            let common_dir = mapped(GIT_DIR).map_or(&repo.common_dir, |it| &it.target);
            let name = paths.git_dir.file_name().unwrap_or_default();
            let worktree = EchoWorktree {
                path: paths.path,
                git_dir: common_dir.join("worktrees").join(name),
                common_dir: common_dir.clone(),
                alternates: match mapped(ALTERNATES) {
                    Some(file) => std::fs::read_to_string(&file.source).ok(),
                    None => repo.alternates,
                },
            };
            variables.insert(EchoWorktree::VARIABLE.to_owned(), worktree.text());
        }
        Ok(variables)
    }
}
