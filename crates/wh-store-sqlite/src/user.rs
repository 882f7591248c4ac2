//! Users.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{IdRef, Page, PageRequest, Reach, User, UserId, UserName, UserPatch, UserRole};
use wh_store::{Applied, Commit, LeftRunning, Result, StoreError, UserStore};

use crate::SqliteStore;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Query, counted};
use crate::row::{self, Parsed, micros, path_text, uuid};

const COLUMNS: &str = "SELECT t.id, t.name, t.role, t.email, t.avatar_url, t.created_at, t.disabled_at, t.local_roots FROM users t WHERE ";

/// Those who may change users, and are let in.
const ACTIVE_ADMIN: &str = "t.role = 'admin' AND t.disabled_at IS NULL";

#[async_trait]
impl UserStore for SqliteStore {
    async fn user_insert(&self, user: &User, commit: Commit) -> Result<Applied> {
        self.commit(Change::UserInsert(user.clone()), commit).await
    }

    async fn user_update(
        &self,
        id: UserId,
        patch: &UserPatch,
        at: Timestamp,
        commit: Commit,
    ) -> Result<Applied> {
        self.commit(Change::UserUpdate(id, patch.clone(), at), commit)
            .await
    }

    async fn user_first_admin(&self) -> Result<Option<User>> {
        let mut query = Query::new(COLUMNS);
        query.push(ACTIVE_ADMIN).push(" ORDER BY t.id LIMIT 1");
        let rows = self.rows(query).await?;
        one(&rows)
    }

    async fn user_left_running(&self) -> Result<LeftRunning> {
        let sessions = Query::new(
            "SELECT s.id FROM users u JOIN sessions s ON s.owner_user_id = u.id
             WHERE u.disabled_at IS NOT NULL AND s.state IN ('creating', 'idle', 'running', 'waiting')",
        );
        let loops = Query::new(
            "SELECT l.id FROM users u JOIN loops l ON l.owner_user_id = u.id
             WHERE u.disabled_at IS NOT NULL AND l.state IN ('beginning', 'running') AND l.wish = 'run'",
        );
        let (sessions, loops) = (self.rows(sessions).await?, self.rows(loops).await?);
        Ok(LeftRunning {
            loops: row::listed("loop", &loops, |row| row::id(row, "id")),
            sessions: row::listed("session", &sessions, |row| row::id(row, "id")),
        })
    }

    async fn user_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<User>> {
        self.candidates(
            within_reach(Query::new(COLUMNS), reach),
            id,
            "user",
            user_row,
        )
        .await
    }

    async fn user_by_id(&self, id: UserId) -> Result<Option<User>> {
        let mut query = Query::new(COLUMNS);
        query.push("t.deleted_at IS NULL AND t.id = ");
        query.push_bind(uuid(id));
        let rows = self.rows(query).await?;
        one(&rows)
    }

    async fn user_by_name(&self, reach: Reach, name: &UserName) -> Result<Option<User>> {
        let Some(mut query) = within_reach(Query::new(COLUMNS), reach) else {
            return self.check_open().map(|()| None);
        };
        query.push(" AND t.name = ").push_bind(name.as_str());
        let rows = self.rows(query).await?;
        one(&rows)
    }

    async fn user_list(&self, reach: Reach, page: PageRequest<Uuid>) -> Result<Page<User, Uuid>> {
        let Some(mut query) = within_reach(Query::new(COLUMNS), reach) else {
            return self.check_open().map(|()| Page::empty());
        };
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("user", rows, page.limit, row::id_cursor, user_row)?;
        let total = || within_reach(counted("users t"), reach);
        let total = self.list_total(page, total).await?;
        Ok(Page { total, ..found })
    }
}

fn one(rows: &[SqliteRow]) -> Result<Option<User>> {
    let found = rows.first().map(|row| row::direct("user", user_row(row)));
    found.transpose()
}

/// Narrows a query to users within reach; nothing when no user can be.
fn within_reach(mut query: Query, reach: Reach) -> Option<Query> {
    match reach {
        Reach::All => query.push("t.deleted_at IS NULL"),
        Reach::User(user) | Reach::UserAndGuest { user, .. } => {
            let query = query.push("t.deleted_at IS NULL AND t.id = ");
            query.push_bind(uuid(user))
        }
        Reach::Guest { .. } | Reach::Key(_) | Reach::Tree(_) => return None,
    };
    Some(query)
}

/// Adds what makes a list of `t` by id, newest first, one row too many.
pub(crate) fn push_page(query: &mut Query, page: PageRequest<Uuid>) {
    if let Some(after) = page.after {
        query.push(" AND t.id < ").push_bind(after);
    }
    query.push(" ORDER BY t.id DESC");
    push_limit(query, page);
}

/// Adds the part of a list that is read: one row more than a page has tells that there is more.
pub(crate) fn push_limit<C>(query: &mut Query, page: PageRequest<C>) {
    let (rows, skip) = (page.limit.get() + 1, page.skip);
    query.push(format_args!(" LIMIT {rows}"));
    if skip > 0 {
        query.push(format_args!(" OFFSET {skip}"));
    }
}

fn user_row(row: &SqliteRow) -> Parsed<User> {
    Ok(User {
        id: row::id(row, "id")?,
        name: row::parse(row, "name", UserName::parse)?,
        role: row::parse_enum(row, "role", UserRole::parse)?,
        email: row::get(row, "email")?,
        avatar_url: row::get(row, "avatar_url")?,
        created_at: row::time(row, "created_at")?,
        disabled_at: row::time_opt(row, "disabled_at")?,
        local_roots: row::parse_opt(row, "local_roots", |text| serde_json::from_str(text))?
            .unwrap_or_default(),
    })
}

/// Returns what is stored of the directories that a user may open.
fn roots_text(user: &User) -> Result<Option<String>> {
    let texts = user.local_roots.iter();
    let texts: Vec<_> = texts
        .map(|root| path_text("user", root))
        .collect::<Result<_>>()?;
    Ok((!texts.is_empty()).then(|| serde_json::to_string(&texts).unwrap_or_default()))
}

pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, user: &User) -> Result<()> {
    sqlx::query(
        "INSERT INTO users (id, name, role, email, avatar_url, created_at, disabled_at, local_roots)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(user.id))
    .bind(user.name.as_str())
    .bind(user.role.as_str())
    .bind(user.email.as_deref())
    .bind(user.avatar_url.as_deref())
    .bind(micros(user.created_at))
    .bind(user.disabled_at.map(micros))
    .bind(roots_text(user)?)
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[("users.name", "the user name")]))
}

/// Changes a user, and sees to it that somebody is left who can undo it.
pub(crate) async fn update_in_txn(
    conn: &mut SqliteConnection,
    id: UserId,
    patch: &UserPatch,
    at: Timestamp,
) -> Result<()> {
    let found = Query::new(COLUMNS)
        .push("t.deleted_at IS NULL AND t.id = ")
        .push_bind(uuid(id))
        .build()
        .fetch_optional(&mut *conn)
        .await
        .map_err(store_error)?;
    let found = found.ok_or(StoreError::NotFound { what: "user" })?;
    let after = patch.apply(row::direct("user", user_row(&found))?, at);
    if after.local_roots.len() > User::LOCAL_ROOTS_MAX {
        return Err(StoreError::Limit {
            what: "directories allowed for a user",
            max: User::LOCAL_ROOTS_MAX as u32,
            setting: None,
        });
    }
    sqlx::query(
        "UPDATE users SET role = ?, email = ?, disabled_at = ?, local_roots = ? WHERE id = ?",
    )
    .bind(after.role.as_str())
    .bind(after.email.as_deref())
    .bind(after.disabled_at.map(micros))
    .bind(roots_text(&after)?)
    .bind(uuid(id))
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    refuse_without_admin(conn).await
}

/// Refuses a change after which no administrator would be left who is let in.
pub(crate) async fn refuse_without_admin(conn: &mut SqliteConnection) -> Result<()> {
    let mut admins = Query::new("SELECT EXISTS (SELECT 1 FROM users t WHERE ");
    let is_one_left: bool = admins
        .push(ACTIVE_ADMIN)
        .push(")")
        .build_query_scalar()
        .fetch_one(conn)
        .await
        .map_err(store_error)?;
    match is_one_left {
        true => Ok(()),
        false => Err(StoreError::LastAdmin),
    }
}
