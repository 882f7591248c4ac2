//! Worktrees.

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{Resource, Result, WorktreeQuery};
use wh_domain::{BranchName, Name, NewWorktree, Operation, Reference, WorktreeRemoval};

use super::{
    Named, default_limit, naming, skipping,
    views::{Created, Listed, WorktreeView},
    worktree_named,
};
use crate::dialect::tool::{Call, DialectTool, Reply, field, reference};

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_worktrees_get",
            Op::WorktreeGet,
            "Get detailed information about a worktree, including path, branch, and git state",
            get,
        ),
        DialectTool::new(
            "agor_worktrees_list",
            Op::WorktreeList,
            "List all worktrees, of one repository or of all, newest first",
            list,
        ),
        DialectTool::new(
            "agor_worktrees_find",
            Op::WorktreeList,
            "List worktrees",
            list,
        )
        .alias(),
        DialectTool::new(
            "agor_worktrees_remove",
            Op::WorktreeRemove,
            "Remove a worktree that holds nothing unsaved",
            remove,
        )
        .alias(),
        DialectTool::new(
            "agor_worktrees_create",
            Op::WorktreeCreate,
            "Create a new git worktree",
            create,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    /// Worktree ID (UUIDv7 or short ID)
    worktree_id: String,
}

async fn get(call: Call, request: Get) -> Result<Reply<WorktreeView>> {
    let worktree = reference("worktreeId", &request.worktree_id)?;
    let look = call.app.worktree_get(&call.cx, &worktree).await;
    let look = look.map_err(naming([worktree_named(Some(&request.worktree_id))]))?;
    Ok(WorktreeView::from(look).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    /// Repository ID to filter by
    #[serde(default)]
    repo_id: Option<String>,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
    /// Number of results to skip
    #[serde(default)]
    skip: u32,
}

async fn list(call: Call, request: List) -> Result<Reply<Listed<WorktreeView>>> {
    let named = request.repo_id.as_deref();
    let repo = named.map(|repo| reference("repoId", repo));
    let query = WorktreeQuery {
        repo: repo.transpose()?,
        ..WorktreeQuery::default()
    };
    let page = skipping(request.skip, request.limit);
    let found = call.app.worktree_list(&call.cx, query, page).await;
    let found = found.map_err(naming([repo_named(named)]))?;
    let data = found.items.iter().map(WorktreeView::listed).collect();
    Ok(Listed::new(&page, found.total, data).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Create {
    /// Repository ID
    repo_id: String,
    /// Branch name; one that exists is checked out, otherwise it is made
    branch: String,
    /// Worktree name; the branch's unless given
    #[serde(default)]
    name: Option<String>,
}

async fn create(call: Call, request: Create) -> Result<Reply<Created<WorktreeView>>> {
    let name = request.name.as_deref().map(Name::parse);
    let new = NewWorktree {
        repo: reference("repoId", &request.repo_id)?,
        name: field("name", name.transpose())?,
        branch: Some(field("branch", BranchName::parse(&request.branch))?),
        base: None,
        board: None,
    };
    let made = call.app.worktree_create(&call.cx, new).await;
    let made = made.map_err(naming([repo_named(Some(&request.repo_id))]))?;
    let own = Reference::from(made.id);
    let look = call.app.worktree_get(&call.cx, &own).await?;
    let entity = WorktreeView::from(look);
    Ok(Created::new(made.id, entity).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// Worktree ID
    id: String,
}

async fn remove(call: Call, request: Remove) -> Result<Reply<WorktreeView>> {
    let worktree = reference("id", &request.id)?;
    let missing = || naming([worktree_named(Some(&request.id))]);
    let look = call.app.worktree_get(&call.cx, &worktree).await;
    let view = WorktreeView::from(look.map_err(missing())?);
    let removed = call
        .app
        .worktree_remove(&call.cx, &worktree, WorktreeRemoval::Refuse);
    removed.await.map_err(missing())?;
    Ok(view.into())
}

fn repo_named(id: Option<&str>) -> Named<'_> {
    (Resource::Repo, "Repository", "repoId", id)
}
