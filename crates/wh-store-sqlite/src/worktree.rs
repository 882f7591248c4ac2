//! Worktrees.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    BranchName, IdRef, Name, Page, PageRequest, Reach, SessionStateName, Worktree, WorktreeBase,
    WorktreeFilter, WorktreeId, WorktreeRemoval, WorktreeState, WorktreeStateName,
};
use wh_store::{Applied, Commit, Counted, Result, StoreError, Uncounted, WorktreeStore};

use crate::SqliteStore;
use crate::change::{Change, Request};
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, counted, push_candidates, push_owned};
use crate::row::{self, Parsed, micros, path_text, uuid, uuid_opt};
use crate::user::push_page;
use crate::worktree_count::{changes_columns, uncounted_query, uncounted_row};

const SELECT: &str = "SELECT t.* FROM worktrees t WHERE ";

#[async_trait]
impl WorktreeStore for SqliteStore {
    async fn worktree_insert(&self, worktree: &Worktree, commit: Commit) -> Result<Applied> {
        let change = Change::WorktreeInsert(Box::new(worktree.clone()));
        self.commit(change, commit).await
    }

    async fn worktree_move(
        &self,
        before: &Worktree,
        after: &Worktree,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::WorktreeMove(before.state.name(), Box::new(after.clone()));
        self.commit(change, commit).await
    }

    async fn worktree_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Worktree>> {
        let mut query = Query::new(SELECT);
        push_candidates(&mut query, reach, Owned::Worktrees, id);
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("worktree", worktree_row(r)))
            .collect()
    }

    async fn worktree_list(
        &self,
        reach: Reach,
        filter: &WorktreeFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Worktree, Uuid>> {
        let mut query = Query::new(SELECT);
        push_owned(&mut query, reach, Owned::Worktrees);
        push_filter(&mut query, filter);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("worktree", rows, page.limit, row::id_cursor, worktree_row)?;
        let total = match page.is_counted {
            true => Some(self.worktree_count(reach, filter).await?),
            false => None,
        };
        Ok(Page { total, ..found })
    }

    async fn worktree_count(&self, reach: Reach, filter: &WorktreeFilter) -> Result<u64> {
        let mut query = counted("worktrees t");
        push_owned(&mut query, reach, Owned::Worktrees);
        push_filter(&mut query, filter);
        self.count(query).await
    }

    async fn worktree_by_id(&self, id: WorktreeId) -> Result<Option<Worktree>> {
        let mut query = Query::new(SELECT);
        query.push("t.id = ").push_bind(uuid(id));
        let rows = self.rows(query).await?;
        let found = rows.first().map(worktree_row);
        found
            .map(|found| row::direct("worktree", found))
            .transpose()
    }

    async fn worktree_many(&self, ids: &[WorktreeId]) -> Result<Vec<Worktree>> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let mut query = Query::new(SELECT);
        query.push("t.id IN (");
        let mut values = query.separated(", ");
        for id in ids {
            values.push_bind(uuid(*id));
        }
        query.push(")");
        let rows = self.rows(query).await?;
        Ok(row::listed("worktree", &rows, worktree_row))
    }

    async fn worktree_touch(&self, id: WorktreeId, commit: Commit) -> Result<Applied> {
        self.commit(Change::WorktreeTouch(id), commit).await
    }

    async fn worktree_uncounted(&self, limit: u32) -> Result<Vec<Uncounted>> {
        let rows = self.rows(uncounted_query(limit)).await?;
        Ok(row::listed("worktree", &rows, uncounted_row))
    }

    async fn worktree_counted(&self, counted: Counted) -> Result<bool> {
        let counted = Box::new(counted);
        self.ask(|answer| Request::Counted { counted, answer })
            .await
    }
}

fn push_filter(query: &mut Query, filter: &WorktreeFilter) {
    if filter.states.is_empty() {
        query.push(" AND t.removed_at IS NULL");
    } else {
        // Written out and not bound, so that the index over the few that are under way can serve.
        let names: Vec<_> = filter.states.iter().map(|s| s.as_str()).collect();
        query.push(format_args!(" AND t.state IN ('{}')", names.join("', '")));
    }
    if let Some(repo) = filter.repo {
        query.push(" AND t.repo_id = ").push_bind(uuid(repo));
    }
    if let Some(board) = filter.board {
        query.push(" AND t.board_id = ").push_bind(uuid(board));
    }
    if let Some(board) = filter.on_board {
        query
            .push(" AND t.id IN (SELECT w.id FROM worktrees w WHERE w.board_id = ")
            .push_bind(uuid(board))
            .push(" UNION SELECT p.item_id FROM placements p WHERE p.item_kind = 'worktree' AND p.board_id = ")
            .push_bind(uuid(board))
            .push(")");
    }
    if filter.finished {
        let ends = SessionStateName::ALL.into_iter().filter(|s| s.is_end());
        let ends: Vec<_> = ends.map(SessionStateName::as_str).collect();
        query.push(format_args!(
            " AND t.state = 'ready' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.worktree_id = t.id
                AND s.archived = 0 AND s.state NOT IN ('{}'))",
            ends.join("', '")
        ));
    }
}

pub(crate) fn worktree_row(row: &SqliteRow) -> Parsed<Worktree> {
    let base_branch = row::parse_opt(row, "base_branch", BranchName::parse)?;
    let base_commit: Option<String> = row::get(row, "base_commit")?;
    Ok(Worktree {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        repo: row::id(row, "repo_id")?,
        name: row::parse(row, "name", Name::parse)?,
        branch: row::parse(row, "branch", BranchName::parse)?,
        base: base_branch
            .map(WorktreeBase::Branch)
            .or(base_commit.map(WorktreeBase::Commit)),
        base_sha: row::get(row, "base_sha")?,
        path: row::get::<String>(row, "path")?.into(),
        board: row::id_opt(row, "board_id")?,
        state: state_columns(row)?,
        changes: changes_columns(row)?,
        created_at: row::time(row, "created_at")?,
    })
}

/// Puts the state together again; columns that do not fit the name are an error.
fn state_columns(row: &SqliteRow) -> Parsed<WorktreeState> {
    let git_dir = || row::get::<String>(row, "git_dir").map(Into::into);
    let name = row::parse_enum(row, "state", WorktreeStateName::parse)?;
    Ok(match name {
        WorktreeStateName::Making => WorktreeState::Making,
        WorktreeStateName::Ready => WorktreeState::Ready {
            git_dir: git_dir()?,
        },
        WorktreeStateName::Removing => WorktreeState::Removing {
            git_dir: git_dir()?,
            how: row::parse_enum(row, "removal", WorktreeRemoval::parse)?,
        },
        WorktreeStateName::Removed => WorktreeState::Removed {
            at: row::time(row, "removed_at")?,
        },
    })
}

/// The columns that only some states have.
struct StateColumns<'w> {
    git_dir: Option<&'w str>,
    removal: Option<&'static str>,
    removed_at: Option<i64>,
}

impl<'w> StateColumns<'w> {
    fn of(state: &'w WorktreeState) -> Result<Self> {
        let git_dir = state.git_dir().map(|path| path_text("worktree", path));
        let (removal, removed_at) = match state {
            WorktreeState::Removing { how, .. } => (Some(how.as_str()), None),
            WorktreeState::Removed { at } => (None, Some(micros(*at))),
            WorktreeState::Making | WorktreeState::Ready { .. } => (None, None),
        };
        Ok(Self {
            git_dir: git_dir.transpose()?,
            removal,
            removed_at,
        })
    }
}

/// Adds a worktree inside the caller's transaction; also for changes that make more than a worktree.
pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, worktree: &Worktree) -> Result<()> {
    let state = StateColumns::of(&worktree.state)?;
    let (base_branch, base_commit) = match &worktree.base {
        Some(WorktreeBase::Branch(branch)) => (Some(branch.as_str()), None),
        Some(WorktreeBase::Commit(commit)) => (None, Some(commit.as_str())),
        None => (None, None),
    };
    sqlx::query(
        "INSERT INTO worktrees (id, owner_user_id, owner_key_id, repo_id, board_id, name, branch, base_branch,
             base_commit, base_sha, path, state, git_dir, removal, removed_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(worktree.id))
    .bind(uuid(worktree.owner.user))
    .bind(uuid_opt(worktree.owner.key))
    .bind(uuid(worktree.repo))
    .bind(uuid_opt(worktree.board))
    .bind(worktree.name.as_str())
    .bind(worktree.branch.as_str())
    .bind(base_branch)
    .bind(base_commit)
    .bind(worktree.base_sha.as_deref())
    .bind(path_text("worktree", &worktree.path)?)
    .bind(worktree.state.name().as_str())
    .bind(state.git_dir)
    .bind(state.removal)
    .bind(state.removed_at)
    .bind(micros(worktree.created_at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| {
        let taken = "the branch, by another worktree of the repository,";
        insert_error(e, &[("worktrees.repo_id, worktrees.branch", taken)])
    })
}

/// Records what became of a worktree, if it is still in the state it was seen in.
pub(crate) async fn move_in_txn(
    conn: &mut SqliteConnection,
    from: WorktreeStateName,
    after: &Worktree,
) -> Result<()> {
    let state = StateColumns::of(&after.state)?;
    let updated = sqlx::query(
        "UPDATE worktrees SET state = ?, base_sha = ?, git_dir = ?, removal = ?, removed_at = ?
         WHERE id = ? AND state = ?",
    )
    .bind(after.state.name().as_str())
    .bind(after.base_sha.as_deref())
    .bind(state.git_dir)
    .bind(state.removal)
    .bind(state.removed_at)
    .bind(uuid(after.id))
    .bind(from.as_str())
    .execute(conn)
    .await
    .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(StoreError::Stale { what: "worktree" });
    }
    Ok(())
}
