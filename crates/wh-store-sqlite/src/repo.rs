//! Repositories.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{BranchName, IdRef, Name, Page, PageRequest, Reach, Repo, RepoSource};
use wh_store::{Applied, Commit, RepoStore, Result, StoreError};

use crate::SqliteStore;
use crate::change::Change;
use crate::error::insert_error;
use crate::reach::{Owned, Query, push_candidates, push_owned};
use crate::row::{self, BadRow, Parsed, micros, uuid, uuid_opt};
use crate::user::push_page;

const COLUMNS: &str = "SELECT t.id, t.owner_user_id, t.owner_key_id, t.name, t.source_kind, t.source, t.default_branch,
    t.created_at FROM repos t WHERE ";

const LOCAL: &str = "local";
const REMOTE: &str = "remote";

#[async_trait]
impl RepoStore for SqliteStore {
    async fn repo_insert(&self, repo: &Repo, commit: Commit) -> Result<Applied> {
        self.commit(Change::RepoInsert(repo.clone()), commit).await
    }

    async fn repo_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Repo>> {
        let mut query = Query::new(COLUMNS);
        push_candidates(&mut query, reach, Owned::Repos, id);
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("repo", repo_row(r)))
            .collect()
    }

    async fn repo_list(&self, reach: Reach, page: PageRequest<Uuid>) -> Result<Page<Repo, Uuid>> {
        let mut query = Query::new(COLUMNS);
        push_owned(&mut query, reach, Owned::Repos);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        row::page("repo", rows, page.limit, row::id_cursor, repo_row)
    }
}

fn repo_row(row: &SqliteRow) -> Parsed<Repo> {
    let source: String = row::get(row, "source")?;
    let source = match row::get::<&str>(row, "source_kind")? {
        LOCAL => RepoSource::Local {
            path: source.into(),
        },
        REMOTE => RepoSource::Remote { url: source },
        other => {
            return Err(BadRow::new(
                "source_kind",
                format!("{other:?} is not known"),
            ));
        }
    };
    Ok(Repo {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        name: row::parse(row, "name", Name::parse)?,
        source,
        default_branch: row::parse_opt(row, "default_branch", BranchName::parse)?,
        created_at: row::time(row, "created_at")?,
    })
}

pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, repo: &Repo) -> Result<()> {
    let (kind, source) = match &repo.source {
        RepoSource::Local { path } => {
            let text = path.to_str().ok_or_else(|| StoreError::Unreadable {
                what: "repo",
                message: "its path is not valid UTF-8".to_owned(),
            })?;
            (LOCAL, text)
        }
        RepoSource::Remote { url } => (REMOTE, url.as_str()),
    };
    sqlx::query(
        "INSERT INTO repos (id, owner_user_id, owner_key_id, name, source_kind, source, default_branch, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(repo.id))
    .bind(uuid(repo.owner.user))
    .bind(uuid_opt(repo.owner.key))
    .bind(repo.name.as_str())
    .bind(kind)
    .bind(source)
    .bind(repo.default_branch.as_ref().map(BranchName::as_str))
    .bind(micros(repo.created_at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[("repos_owner_name", "the repository's name")]))
}
