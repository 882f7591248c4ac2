//! Why a turn has not begun yet.

use wh_api::{RepoListRequest, RepoView};
use wh_client::{Client, ClientError};

use super::feed::Changes;
use super::{Scope, Standing};

/// What a prompt waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The repository is being cloned; git's own words tell how far it is.
    Cloning {
        repo: String,
        progress: Option<String>,
    },
    /// The agent's process is not ready.
    Starting,
    /// The session is at another turn.
    Queued,
}

impl Stage {
    /// Finds out what is waited for. It is only told as a courtesy, so what cannot be found out is left out.
    pub(super) async fn of(
        client: &Client,
        scope: &Scope,
        standing: &Standing,
        changes: &Changes,
    ) -> Option<Self> {
        let turn = standing.turn.as_ref()?;
        if turn.turn.state != "queued" {
            return None;
        }
        match (standing.state.as_str(), &scope.repo) {
            ("running" | "waiting" | "reviewing", _) => Some(Self::Queued),
            ("creating", Some(repo)) => match find_repo(client, |it| it.id == *repo).await {
                Ok(Some(repo)) if repo.state != "ready" => Some(Self::Cloning {
                    repo: repo.name,
                    progress: changes.progress().map(str::to_owned),
                }),
                _ => Some(Self::Starting),
            },
            ("creating" | "idle" | "stopped" | "interrupted", _) => Some(Self::Starting),
            _ => None,
        }
    }

    /// Says it on a line.
    pub(crate) fn in_words(&self, agent: &str) -> String {
        match self {
            Self::Cloning { repo, progress } => match progress {
                Some(progress) => format!("cloning {repo}… {progress}"),
                None => format!("cloning {repo}…"),
            },
            Self::Starting => format!("starting {agent}…"),
            Self::Queued => "waiting for the turn before…".to_owned(),
        }
    }
}

/// Finds a repository by its whole id.
pub(crate) async fn find_repo(
    client: &Client,
    is_meant: impl Fn(&RepoView) -> bool,
) -> Result<Option<RepoView>, ClientError> {
    let mut request = RepoListRequest::default();
    loop {
        let page = client.repo_list(&request).await?;
        let found = page.repos.into_iter().find(|repo| is_meant(repo));
        match page.next_cursor {
            Some(cursor) if found.is_none() => request.cursor = Some(cursor.into()),
            _ => return Ok(found),
        }
    }
}
