//! Credentials.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    Dialect, IdRef, Key, KeyBinding, KeyHash, KeyId, KeyPrefix, KeyScope, Name, Page, PageRequest,
    Reach, UserId,
};
use wh_store::{Applied, Commit, KeyStore, Result, StoreError};

use crate::SqliteStore;
use crate::batch::{ROWS_MAX, is_common};
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Query, counted};
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};
use crate::user::push_page;

const COLUMNS: &str =
    "SELECT t.id, t.user_id, t.name, t.scope, t.prefix, t.hash, t.session_id, t.session_epoch,
    t.bound_session_id, t.dialect, t.created_at, t.expires_at, t.last_used_at, t.revoked_at FROM keys t WHERE ";

#[async_trait]
impl KeyStore for SqliteStore {
    async fn key_insert(&self, key: &Key, commit: Commit) -> Result<Applied> {
        let change = Change::KeyInsert(Box::new(key.clone()));
        self.commit(change, commit).await
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<Key>> {
        let mut query = Query::new(COLUMNS);
        query.push("t.hash = ").push_bind(hash.0.to_vec());
        let rows = self.rows(query).await?;
        rows.first()
            .map(|r| row::direct("key", key_row(r)))
            .transpose()
    }

    async fn key_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Key>> {
        self.candidates(within_reach(Query::new(COLUMNS), reach), id, "key", key_row)
            .await
    }

    async fn key_list(
        &self,
        reach: Reach,
        user: Option<UserId>,
        include_automatic: bool,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Key, Uuid>> {
        let listed = |select| {
            let mut query = within_reach(select, reach)?;
            if let Some(user) = user {
                query.push(" AND t.user_id = ").push_bind(uuid(user));
            }
            if !include_automatic {
                query.push(" AND t.scope NOT IN ('session', 'browser')");
            }
            Some(query)
        };
        let Some(mut query) = listed(Query::new(COLUMNS)) else {
            return self.check_open().map(|()| Page::empty());
        };
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("key", rows, page.limit, row::id_cursor, key_row)?;
        let total = self.list_total(page, || listed(counted("keys t"))).await?;
        Ok(Page { total, ..found })
    }

    async fn key_revoke(&self, id: KeyId, at: Timestamp, commit: Commit) -> Result<Applied> {
        self.commit(Change::KeyRevoke(id, at), commit).await
    }

    async fn key_touch(&self, used: &[(KeyId, Timestamp)]) -> Result<()> {
        self.shared.notes.touch(used)
    }
}

/// Narrows a query to keys within reach; nothing when no key can be.
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

fn key_row(row: &SqliteRow) -> Parsed<Key> {
    let hash: &[u8] = row::get(row, "hash")?;
    let session = row::id_opt(row, "session_id")?;
    let epoch = row::count_opt(row, "session_epoch")?;
    let run = session.zip(epoch);
    let run = run.map(|(session, epoch)| KeyBinding::Run { session, epoch });
    let bound = row::id_opt(row, "bound_session_id")?.map(KeyBinding::Session);
    Ok(Key {
        id: row::id(row, "id")?,
        user: row::id(row, "user_id")?,
        name: row::parse(row, "name", Name::parse)?,
        scope: row::parse_enum(row, "scope", KeyScope::parse)?,
        prefix: KeyPrefix::from_stored(row::get(row, "prefix")?),
        hash: KeyHash(hash.try_into().map_err(|e| BadRow::new("hash", e))?),
        session: run.or(bound),
        dialect: row::parse_enum_opt(row, "dialect", Dialect::parse)?,
        created_at: row::time(row, "created_at")?,
        expires_at: row::time_opt(row, "expires_at")?,
        last_used_at: row::time_opt(row, "last_used_at")?,
        revoked_at: row::time_opt(row, "revoked_at")?,
    })
}

pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, key: &Key) -> Result<()> {
    let (run, bound) = match key.session {
        Some(KeyBinding::Run { session, epoch }) => (Some((session, epoch)), None),
        Some(KeyBinding::Session(session)) => (None, Some(session)),
        None => (None, None),
    };
    let (session, epoch) = run.unzip();
    sqlx::query(
        "INSERT INTO keys (id, user_id, name, scope, prefix, hash, session_id, session_epoch,
             bound_session_id, dialect, created_at, expires_at, last_used_at, revoked_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(key.id))
    .bind(uuid(key.user))
    .bind(key.name.as_str())
    .bind(key.scope.as_str())
    .bind(key.prefix.as_str())
    .bind(key.hash.0.as_slice())
    .bind(uuid_opt(session))
    .bind(epoch.map(int))
    .bind(uuid_opt(bound))
    .bind(key.dialect.map(Dialect::as_str))
    .bind(micros(key.created_at))
    .bind(key.expires_at.map(micros))
    .bind(key.last_used_at.map(micros))
    .bind(key.revoked_at.map(micros))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| {
        let unique = [
            ("keys.prefix", "the key's prefix"),
            ("keys.hash", "the key"),
        ];
        insert_error(e, &unique)
    })
}

/// Refuses a key when there are as many as there may be.
pub(crate) async fn check_count_in_txn(conn: &mut SqliteConnection, key: &Key) -> Result<()> {
    let sql = "SELECT count(*) FILTER (WHERE user_id = ?1) AS of_user, count(*) AS of_all FROM keys
         WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2) AND scope NOT IN ('session', 'browser')";
    let counted: (u32, u32) = sqlx::query_as(sql)
        .bind(uuid(key.user))
        .bind(micros(key.created_at))
        .fetch_one(conn)
        .await
        .map_err(store_error)?;
    match key.limit_reached(counted.0, counted.1) {
        Some((what, max)) => Err(StoreError::Limit {
            what,
            max,
            setting: None,
        }),
        None => Ok(()),
    }
}

pub(crate) async fn revoke_in_txn(
    conn: &mut SqliteConnection,
    id: KeyId,
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?";
    let updated = sqlx::query(sql)
        .bind(micros(at))
        .bind(uuid(id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(StoreError::NotFound { what: "key" });
    }
    Ok(())
}

/// Remembers when keys were last used; a time never goes back.
pub(crate) async fn touch_in_txn(
    conn: &mut SqliteConnection,
    touched: &HashMap<KeyId, Timestamp>,
) -> sqlx::Result<()> {
    let touched: Vec<_> = touched.iter().collect();
    for chunk in touched.chunks(ROWS_MAX) {
        let mut query = Query::new("WITH used (id, at) AS (");
        query.push_values(chunk, |mut row, (id, at)| {
            row.push_bind(uuid(**id)).push_bind(micros(**at));
        });
        query.push(
            ") UPDATE keys SET last_used_at = used.at FROM used
             WHERE keys.id = used.id AND (keys.last_used_at IS NULL OR keys.last_used_at < used.at)",
        );
        let update = query.build().persistent(is_common(chunk.len()));
        update.execute(&mut *conn).await?;
    }
    Ok(())
}
