//! Credentials for hosts that repositories are fetched from.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    CredentialId, CredentialUse, GitHost, HostCredential, Page, PageRequest, Reach,
    SealedCredential,
};
use wh_store::{Applied, Commit, HostCredentialStore, Result, StoreError};

use crate::SqliteStore;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Query, counted};
use crate::row::{self, Parsed, micros, uuid};
use crate::user::push_page;

#[async_trait]
impl HostCredentialStore for SqliteStore {
    async fn credential_set(&self, sealed: &SealedCredential, commit: Commit) -> Result<Applied> {
        let change = Change::CredentialSet(Box::new(sealed.clone()));
        self.commit(change, commit).await
    }

    async fn credential_delete(&self, id: CredentialId, commit: Commit) -> Result<Applied> {
        self.commit(Change::CredentialDelete(id), commit).await
    }

    async fn credential_list(
        &self,
        reach: Reach,
        page: PageRequest<Uuid>,
    ) -> Result<Page<HostCredential, Uuid>> {
        let Some(mut query) = within_reach(Query::new(CREDENTIALS), reach) else {
            return self.check_open().map(|()| Page::empty());
        };
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("credential", rows, page.limit, row::id_cursor, read)?;
        let total = || within_reach(counted("host_credentials t"), reach);
        let total = self.list_total(page, total).await?;
        Ok(Page { total, ..found })
    }

    async fn credential_for(&self, reach: Reach, host: &GitHost) -> Result<Vec<SealedCredential>> {
        let Some(mut query) = within_reach(Query::new(CREDENTIALS), reach) else {
            return self.check_open().map(|()| Vec::new());
        };
        query.push(" AND t.host = ").push_bind(host.as_str());
        query.push(" ORDER BY t.id DESC");
        let rows = self.rows(query).await?;
        Ok(row::listed("credential", &rows, read_sealed))
    }

    async fn credential_any(&self) -> Result<bool> {
        let query = Query::new("SELECT 1 FROM host_credentials LIMIT 1");
        Ok(!self.rows(query).await?.is_empty())
    }
}

/// Begins a query for credentials.
const CREDENTIALS: &str = "SELECT t.* FROM host_credentials t WHERE ";

/// Narrows a query to credentials within reach; nothing when none can be.
fn within_reach(mut query: Query, reach: Reach) -> Option<Query> {
    match reach {
        Reach::All => query.push("TRUE"),
        Reach::User(user) | Reach::UserAndGuest { user, .. } => {
            query.push("t.user_id = ").push_bind(uuid(user))
        }
        Reach::Guest { .. } | Reach::Key(_) | Reach::Tree(_) => return None,
    };
    Some(query)
}

fn read(row: &SqliteRow) -> Parsed<HostCredential> {
    Ok(HostCredential {
        id: row::id(row, "id")?,
        user: row::id(row, "user_id")?,
        host: row::parse(row, "host", GitHost::parse)?,
        username: row::get(row, "username")?,
        usable_by: row::parse_enum(row, "usable_by", CredentialUse::parse)?,
        created_at: row::time(row, "created_at")?,
    })
}

fn read_sealed(row: &SqliteRow) -> Parsed<SealedCredential> {
    Ok(SealedCredential {
        credential: read(row)?,
        sealed: row::get(row, "sealed")?,
    })
}

pub(crate) async fn set_in_txn(
    conn: &mut SqliteConnection,
    sealed: &SealedCredential,
) -> Result<()> {
    let SealedCredential { credential, sealed } = sealed;
    sqlx::query(
        "DELETE FROM host_credentials WHERE host = ?1
             AND CASE WHEN ?2 = 'own' THEN usable_by = 'own' AND user_id = ?3 ELSE usable_by <> 'own' END",
    )
    .bind(credential.host.as_str())
    .bind(credential.usable_by.as_str())
    .bind(uuid(credential.user))
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    sqlx::query(
        "INSERT INTO host_credentials (id, user_id, host, username, usable_by, sealed, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(credential.id))
    .bind(uuid(credential.user))
    .bind(credential.host.as_str())
    .bind(&credential.username)
    .bind(credential.usable_by.as_str())
    .bind(sealed.as_slice())
    .bind(micros(credential.created_at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[]))
}

pub(crate) async fn delete_in_txn(conn: &mut SqliteConnection, id: CredentialId) -> Result<()> {
    let deleted = sqlx::query("DELETE FROM host_credentials WHERE id = ?")
        .bind(uuid(id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    match deleted.rows_affected() {
        0 => Err(StoreError::NotFound { what: "credential" }),
        _ => Ok(()),
    }
}
