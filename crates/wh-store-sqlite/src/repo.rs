//! Repositories.

use std::{collections::BTreeSet, path::PathBuf};

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    BranchName, ConfigDigest, CredentialSource, IdRef, ImageRef, McpDialect, Name, Page,
    PageRequest, Reach, Repo, RepoId, RepoPaths, RepoSource, RepoState, Tier, TrustedConfig,
};
use wh_store::{Applied, Commit, RepoStore, Result, StoreError};

use crate::SqliteStore;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, counted, push_candidates, push_owned};
use crate::row::{self, BadRow, Parsed, micros, path_text, uuid, uuid_opt};
use crate::user::push_page;

const COLUMNS: &str = "SELECT t.id, t.owner_user_id, t.owner_key_id, t.name, t.source_kind, t.source, t.default_branch,
    t.state, t.failure, t.git_dir, t.common_dir, t.work_tree, t.alternates, t.tier, t.image, t.mcp_dialect, t.credential, t.created_at, t.deleted_at FROM repos t WHERE ";

const LOCAL: &str = "local";
const REMOTE: &str = "remote";

#[async_trait]
impl RepoStore for SqliteStore {
    async fn repo_insert(&self, repo: &Repo, commit: Commit) -> Result<Applied> {
        let change = Change::RepoInsert(Box::new(repo.clone()));
        self.commit(change, commit).await
    }

    async fn repo_settle(&self, repo: &Repo, commit: Commit) -> Result<Applied> {
        let change = Change::RepoSettle(Box::new(repo.clone()));
        self.commit(change, commit).await
    }

    async fn repo_pending(&self, limit: u32) -> Result<Vec<Repo>> {
        let mut query = Query::new(COLUMNS);
        query.push(format_args!(
            "t.state = 'pending' AND t.deleted_at IS NULL ORDER BY t.id LIMIT {limit}"
        ));
        let rows = self.rows(query).await?;
        Ok(row::listed("repo", &rows, repo_row))
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
        query.push("t.deleted_at IS NULL AND ");
        push_owned(&mut query, reach, Owned::Repos);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("repo", rows, page.limit, row::id_cursor, repo_row)?;
        let of_reach = || {
            let mut query = counted("repos t");
            query.push("t.deleted_at IS NULL AND ");
            push_owned(&mut query, reach, Owned::Repos);
            Some(query)
        };
        let total = self.list_total(page, of_reach).await?;
        Ok(Page { total, ..found })
    }

    async fn repo_trust(
        &self,
        repo: RepoId,
        approve: &[TrustedConfig],
        revoke: &[ConfigDigest],
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::RepoTrust(repo, approve.to_vec(), revoke.to_vec());
        self.commit(change, commit).await
    }

    async fn repo_trusted(&self, repo: RepoId) -> Result<BTreeSet<(String, ConfigDigest)>> {
        let mut query = Query::new("SELECT name, sha256 FROM trusted_configs WHERE repo_id = ");
        query.push_bind(uuid(repo));
        let rows = self.rows(query).await?;
        let read = |row: &SqliteRow| {
            let digest: Vec<u8> = row::get(row, "sha256")?;
            let digest = digest.try_into();
            let digest = digest.map_err(|_| BadRow::new("sha256", "it has another length"))?;
            Ok((row::get(row, "name")?, ConfigDigest(digest)))
        };
        let rows = rows
            .iter()
            .map(|row| row::direct("trusted config", read(row)));
        rows.collect()
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
        state: state_columns(row)?,
        credential: row::parse_enum_opt(row, "credential", CredentialSource::parse)?,
        tier: row::parse_opt(row, "tier", Tier::parse)?,
        mcp_dialect: crate::session_row::dialect(row)?,
        image: row::parse_opt(row, "image", ImageRef::parse)?,
        created_at: row::time(row, "created_at")?,
        is_deleted: row::time_opt(row, "deleted_at")?.is_some(),
    })
}

/// Puts the state together again; columns that do not fit the name are an error.
fn state_columns(row: &SqliteRow) -> Parsed<RepoState> {
    let path = |column| row::get::<String>(row, column).map(PathBuf::from);
    match row::get::<&str>(row, "state")? {
        "pending" => Ok(RepoState::Pending),
        "failed" => Ok(RepoState::Failed {
            reason: row::get(row, "failure")?,
        }),
        "ready" => Ok(RepoState::Ready(RepoPaths {
            git_dir: path("git_dir")?,
            common_dir: path("common_dir")?,
            work_tree: row::get::<Option<String>>(row, "work_tree")?.map(Into::into),
            alternates: row::get(row, "alternates")?,
        })),
        other => Err(BadRow::new("state", format!("{other:?} is not known"))),
    }
}

/// The columns of a state, in the order of the statements below.
fn bind_state<'q>(query: Statement<'q>, repo: &'q Repo) -> Result<Statement<'q>> {
    let (mut failure, mut paths) = (None, None);
    match &repo.state {
        RepoState::Pending => {}
        RepoState::Ready(ready) => paths = Some(ready),
        RepoState::Failed { reason } => failure = Some(reason.as_str()),
    }
    let text = |path: &'q PathBuf| path_text("repo", path);
    let git_dir = paths.map(|p| text(&p.git_dir)).transpose()?;
    let common_dir = paths.map(|p| text(&p.common_dir)).transpose()?;
    let work_tree = paths.and_then(|p| p.work_tree.as_ref());
    Ok(query
        .bind(repo.default_branch.as_ref().map(BranchName::as_str))
        .bind(repo.state.as_str())
        .bind(failure)
        .bind(git_dir)
        .bind(common_dir)
        .bind(work_tree.map(text).transpose()?)
        .bind(paths.and_then(|p| p.alternates.as_deref()))
        .bind(repo.credential.map(CredentialSource::as_str)))
}

type Statement<'q> =
    sqlx::query::Query<'q, sqlx::Sqlite, <sqlx::Sqlite as sqlx::Database>::Arguments>;

pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, repo: &Repo) -> Result<()> {
    let (kind, source) = match &repo.source {
        RepoSource::Local { path } => (LOCAL, path_text("repo", path)?),
        RepoSource::Remote { url } => (REMOTE, url.as_str()),
    };
    let query = sqlx::query(
        "INSERT INTO repos (id, owner_user_id, owner_key_id, name, source_kind, source, created_at, tier, image, mcp_dialect,
             default_branch, state, failure, git_dir, common_dir, work_tree, alternates, credential)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(repo.id))
    .bind(uuid(repo.owner.user))
    .bind(uuid_opt(repo.owner.key))
    .bind(repo.name.as_str())
    .bind(kind)
    .bind(source)
    .bind(micros(repo.created_at))
    .bind(repo.tier.map(Tier::as_str))
    .bind(repo.image.as_ref().map(ImageRef::as_str))
    .bind(repo.mcp_dialect.map(McpDialect::as_str));
    bind_state(query, repo)?
        .execute(conn)
        .await
        .map(drop)
        .map_err(|e| insert_error(e, &[("repos_owner_name", "the repository's name")]))
}

pub(crate) async fn trust_in_txn(
    conn: &mut SqliteConnection,
    repo: RepoId,
    approve: &[TrustedConfig],
    revoke: &[ConfigDigest],
) -> Result<()> {
    for digest in revoke {
        sqlx::query("DELETE FROM trusted_configs WHERE repo_id = ? AND sha256 = ?")
            .bind(uuid(repo))
            .bind(digest.0.as_slice())
            .execute(&mut *conn)
            .await
            .map_err(store_error)?;
    }
    for config in approve {
        sqlx::query(
            "INSERT INTO trusted_configs (repo_id, name, sha256, user_id, created_at) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING",
        )
        .bind(uuid(config.repo))
        .bind(config.name.as_str())
        .bind(config.digest.0.as_slice())
        .bind(uuid(config.by))
        .bind(micros(config.at))
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
    }
    Ok(())
}

/// Records what became of a repository that was not ready.
pub(crate) async fn settle_in_txn(conn: &mut SqliteConnection, repo: &Repo) -> Result<()> {
    let query = sqlx::query(
        "UPDATE repos SET default_branch = ?, state = ?, failure = ?, git_dir = ?, common_dir = ?, work_tree = ?,
             alternates = ?, credential = ? WHERE id = ? AND state <> 'ready'",
    );
    let updated = bind_state(query, repo)?
        .bind(uuid(repo.id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(StoreError::Stale { what: "repo" });
    }
    Ok(())
}
