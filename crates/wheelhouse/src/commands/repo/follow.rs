//! Following a clone by what the feed tells of it.

use wh_api::{EventListRequest, FeedView, RepoAddRequest, RepoView};
use wh_client::Client;

use crate::exit::{CliError, CliResult};
use crate::follow::find_repo;
use crate::ui::Ui;

/// A number that no event has yet: asking for it tells what the newest is.
const BEYOND: u64 = 1 << 60;

/// Adds a repository and waits until it is ready, telling how far its clone is.
pub(super) async fn add_and_wait(
    client: &Client,
    ui: &Ui,
    request: &RepoAddRequest,
) -> CliResult<RepoView> {
    let newest = EventListRequest {
        after: Some(BEYOND.into()),
        limit: Some(1),
    };
    let newest = client.event_list(&newest).await?.through;
    let added = client.repo_add(request).await?;
    if added.state != "pending" {
        return Ok(added);
    }
    ui.note(&format!("cloning {}", added.source))?;
    let mut feed = client.events(Some(newest)).await?;
    while let Some(view) = feed.next().await? {
        let event = match view {
            FeedView::Event(event) if event.subject_id == added.id => event,
            // Whatever was missed, the list below tells how it is.
            FeedView::Resync { .. } => break,
            FeedView::Event(_) | FeedView::Idle { .. } => continue,
        };
        if let Some(progress) = event.facts.get("progress") {
            ui.note(progress)?;
        }
        if event.kind == "state_changed" {
            break;
        }
    }
    let found = find_repo(client, |repo| repo.id == added.id).await?;
    let repo = found.ok_or_else(|| CliError::failed("the repository is gone"))?;
    match &repo.failure {
        Some(failure) => Err(CliError::failed(failure.clone()).hint(
            "check the address and that the server may read it; making a worktree tries again",
        )),
        None => Ok(repo),
    }
}
