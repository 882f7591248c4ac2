//! Task lists: changes. Who is given a task, and what depends on what, is decided here in the transaction.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};
use uuid::Uuid;
use wh_domain::{
    Holder, IterationText, LIST_ITEMS_MAX, ListOf, NewNote, NewTask, SessionId, Task, TaskClaim,
    TaskId, TaskList, TaskListId, TaskPatch, TaskStatus, check_dependencies,
};
use wh_store::{Result, StoreError, TaskWish};

use crate::error::{insert_error, store_error};
use crate::reach::Query;
use crate::row::{self, int, micros, uuid, uuid_opt};
use crate::task::{Free, push_held, task_row};

/// A change of a list.
pub(crate) enum TaskChange {
    Add(TaskList, Vec<NewTask>),
    Update(TaskId, TaskPatch, Holder, Timestamp),
    Claim(TaskWish, Timestamp),
    Note(TaskList, Vec<NewNote>, Option<SessionId>, Timestamp),
    Summary(TaskList, Option<SessionId>, IterationText, Timestamp),
    Complete(TaskList, Timestamp),
}

impl TaskChange {
    pub(crate) async fn apply(&self, conn: &mut SqliteConnection) -> Result<()> {
        match self {
            Self::Add(list, tasks) => add(conn, list, tasks).await,
            Self::Update(id, patch, by, at) => update(conn, *id, patch, *by, *at).await,
            Self::Claim(wish, at) => claim(conn, wish, *at).await,
            Self::Note(list, notes, session, at) => {
                add_notes(conn, list, notes, *session, *at).await
            }
            Self::Summary(list, session, summary, at) => {
                summarize(conn, list, *session, summary, *at).await
            }
            Self::Complete(list, at) => complete(conn, list, *at).await,
        }
    }
}

/// Gives back what a session was at work on when its process is gone.
pub(crate) async fn release_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
    at: Option<Timestamp>,
) -> Result<()> {
    let sql = "UPDATE tasks SET claimed = 0, claim_session = NULL, claim_until = NULL,
             updated_at = coalesce(?, updated_at), status = CASE status WHEN 'in_progress' THEN 'remaining' ELSE status END
         WHERE claim_session = ?";
    let query = sqlx::query(sql).bind(at.map(micros)).bind(uuid(session));
    query.execute(conn).await.map(drop).map_err(store_error)
}

/// Makes a list unless it is there.
async fn ensure(conn: &mut SqliteConnection, list: &TaskList) -> Result<()> {
    let (mut session, mut board, mut of_loop, mut name) = (None, None, None, None);
    match &list.of {
        ListOf::Session(id) => session = Some(uuid(*id)),
        ListOf::Board(id) => board = Some(uuid(*id)),
        ListOf::Loop(id) => of_loop = Some(uuid(*id)),
        ListOf::Name(given) => name = Some(given.as_str()),
    }
    sqlx::query(
        "INSERT INTO task_lists (id, owner_user_id, owner_key_id, session_id, board_id, loop_id, name, completed_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?) ON CONFLICT DO NOTHING",
    )
    .bind(uuid(list.id))
    .bind(uuid(list.owner.user))
    .bind(uuid_opt(list.owner.key))
    .bind(session)
    .bind(board)
    .bind(of_loop)
    .bind(name)
    .bind(micros(list.created_at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[]))
}

/// Returns the number after the last one in a table of a list's things, if there is room for so many more.
async fn next_number(
    conn: &mut SqliteConnection,
    sql: &'static str,
    list: TaskListId,
    more: usize,
    what: &'static str,
) -> Result<i64> {
    let (count, last): (i64, i64) = sqlx::query_as(sql)
        .bind(uuid(list))
        .fetch_one(conn)
        .await
        .map_err(store_error)?;
    if int(count.unsigned_abs() + more as u64) > i64::from(LIST_ITEMS_MAX) {
        let max = LIST_ITEMS_MAX;
        let setting = None;
        return Err(StoreError::Limit { what, max, setting });
    }
    Ok(last + 1)
}

async fn add(conn: &mut SqliteConnection, list: &TaskList, tasks: &[NewTask]) -> Result<()> {
    ensure(conn, list).await?;
    let sql = "SELECT count(*), coalesce(max(number), 0) FROM tasks WHERE list_id = ?";
    let mut number = next_number(conn, sql, list.id, tasks.len(), "tasks of a list").await?;
    for task in tasks {
        sqlx::query(
            "INSERT INTO tasks (id, list_id, number, content, status, priority, created_at, updated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?7, ?7)",
        )
        .bind(uuid(task.id))
        .bind(uuid(list.id))
        .bind(number)
        .bind(task.content.as_str())
        .bind(task.status.as_str())
        .bind(i64::from(task.priority.get()))
        .bind(micros(list.created_at))
        .execute(&mut *conn)
        .await
        .map_err(|e| insert_error(e, &[]))?;
        number += 1;
    }
    // Afterwards, so that tasks of one call may depend on each other.
    for task in tasks.iter().filter(|task| !task.depends_on.is_empty()) {
        depend(conn, list.id, task.id, &task.depends_on).await?;
    }
    // Work was added, so it is not done.
    reopen(conn, list.id).await
}

async fn reopen(conn: &mut SqliteConnection, list: TaskListId) -> Result<()> {
    let sql = "UPDATE task_lists SET completed_at = NULL WHERE id = ? AND completed_at IS NOT NULL";
    let query = sqlx::query(sql).bind(uuid(list));
    query.execute(conn).await.map(drop).map_err(store_error)
}

/// Has a task depend on others of its list, and on nothing else.
async fn depend(
    conn: &mut SqliteConnection,
    list: TaskListId,
    task: TaskId,
    on: &[TaskId],
) -> Result<()> {
    let rows = sqlx::query(
        "SELECT d.task_id, d.depends_on FROM task_dependencies d JOIN tasks t ON t.id = d.task_id WHERE t.list_id = ?",
    )
    .bind(uuid(list))
    .fetch_all(&mut *conn)
    .await
    .map_err(store_error)?;
    let mut others: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for found in &rows {
        let from = row::direct("task", row::id(found, "task_id"))?;
        let to = row::direct("task", row::id(found, "depends_on"))?;
        others.entry(from).or_default().push(to);
    }
    check_dependencies(task, on, &others)?;
    sqlx::query("DELETE FROM task_dependencies WHERE task_id = ?")
        .bind(uuid(task))
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
    for other in on {
        // Twice the same is once.
        let added = sqlx::query(
            "INSERT INTO task_dependencies (task_id, depends_on) SELECT ?1, id FROM tasks WHERE id = ?2 AND list_id = ?3
             ON CONFLICT DO UPDATE SET depends_on = excluded.depends_on",
        )
        .bind(uuid(task))
        .bind(uuid(*other))
        .bind(uuid(list))
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
        if added.rows_affected() == 0 {
            return Err(StoreError::NotFound { what: "task" });
        }
    }
    Ok(())
}

async fn read(conn: &mut SqliteConnection, id: TaskId) -> Result<Task> {
    let row = sqlx::query("SELECT t.*, NULL AS depends_on FROM tasks t WHERE t.id = ?")
        .bind(uuid(id))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    let row = row.ok_or(StoreError::NotFound { what: "task" })?;
    row::direct("task", task_row(&row))
}

async fn update(
    conn: &mut SqliteConnection,
    id: TaskId,
    patch: &TaskPatch,
    by: Holder,
    at: Timestamp,
) -> Result<()> {
    let task = read(conn, id).await?;
    if !task.may_be_changed(by, at) {
        let by = task.claim.map_or(by, |claim| claim.holder);
        return Err(StoreError::Held { by });
    }
    let status = patch.status.unwrap_or(task.status);
    let claim = match (patch.status, by) {
        _ if status != TaskStatus::InProgress => None,
        (Some(_), Holder::Session(_)) => Some(TaskClaim {
            holder: by,
            until: None,
        }),
        _ => task.claim,
    };
    let mut query = Query::new("UPDATE tasks SET updated_at = ");
    query.push_bind(micros(at));
    query.push(", status = ").push_bind(status.as_str());
    push_claim(&mut query, claim);
    if let Some(content) = &patch.content {
        query
            .push(", content = ")
            .push_bind(content.as_str().to_owned());
    }
    if let Some(priority) = patch.priority {
        query
            .push(", priority = ")
            .push_bind(i64::from(priority.get()));
    }
    query.push(" WHERE id = ").push_bind(uuid(id));
    query
        .build()
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
    if let Some(on) = &patch.depends_on {
        depend(conn, task.list, id, on).await?;
    }
    if !status.is_settled() {
        reopen(conn, task.list).await?;
    }
    Ok(())
}

/// Adds who has a task to what is set.
fn push_claim(query: &mut Query, claim: Option<TaskClaim>) {
    let (session, key) = match claim.map(|claim| claim.holder) {
        Some(Holder::Session(session)) => (Some(uuid(session)), None),
        Some(Holder::Caller(key)) => (None, uuid_opt(key)),
        None => (None, None),
    };
    let until = claim.and_then(|claim| claim.until).map(micros);
    query.push(", claimed = ").push_bind(claim.is_some());
    query.push(", claim_session = ").push_bind(session);
    query.push(", claim_key = ").push_bind(key);
    query.push(", claim_until = ").push_bind(until);
}

async fn claim(conn: &mut SqliteConnection, wish: &TaskWish, at: Timestamp) -> Result<()> {
    let mut chosen = None;
    if let Holder::Session(session) = wish.claim.holder {
        check_alive(conn, session).await?;
        chosen = first(conn, |query| push_held(query, wish.list, session)).await?;
    }
    if chosen.is_none() {
        for free in Free::ALL {
            let found = first(conn, |query| free.push(query, wish.list, at)).await?;
            chosen = chosen.into_iter().chain(found).min();
        }
    }
    let (.., id) = chosen.ok_or(StoreError::NotFound { what: "task" })?;
    let mut query = Query::new("UPDATE tasks SET status = 'in_progress', updated_at = ");
    query.push_bind(micros(at));
    query.push(", wish_id = ").push_bind(wish.id);
    push_claim(&mut query, Some(wish.claim));
    query.push(" WHERE id = ").push_bind(id);
    let update = query.build().execute(conn).await;
    update.map(drop).map_err(store_error)
}

/// A task, after how urgent it is and when it was added.
type Chosen = (i64, i64, Uuid);

async fn first(
    conn: &mut SqliteConnection,
    conditions: impl FnOnce(&mut Query),
) -> Result<Option<Chosen>> {
    let mut query = Query::new("SELECT t.priority, t.number, t.id FROM tasks t WHERE ");
    conditions(&mut query);
    let row = query.build().fetch_optional(conn).await;
    let row = row.map_err(store_error)?;
    let columns = row.map(|row| -> sqlx::Result<Chosen> {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    });
    columns.transpose().map_err(store_error)
}

/// Refuses a session whose process is gone: nobody would give back what it is given now.
async fn check_alive(conn: &mut SqliteConnection, session: SessionId) -> Result<()> {
    let sql =
        "SELECT count(*), count(*) FILTER (WHERE ended_at IS NULL) FROM runs WHERE session_id = ?";
    let (runs, open): (i64, i64) = sqlx::query_as(sql)
        .bind(uuid(session))
        .fetch_one(conn)
        .await
        .map_err(store_error)?;
    match runs > 0 && open == 0 {
        true => Err(StoreError::Stale {
            what: "the session",
        }),
        false => Ok(()),
    }
}

async fn add_notes(
    conn: &mut SqliteConnection,
    list: &TaskList,
    notes: &[NewNote],
    session: Option<SessionId>,
    at: Timestamp,
) -> Result<()> {
    ensure(conn, list).await?;
    let sql = "SELECT count(*), 0 FROM notes WHERE list_id = ?";
    next_number(conn, sql, list.id, notes.len(), "notes of a list").await?;
    for note in notes {
        sqlx::query(
            "INSERT INTO notes (id, list_id, kind, content, session_id, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(uuid(note.id))
        .bind(uuid(list.id))
        .bind(note.kind.as_str())
        .bind(note.content.as_str())
        .bind(uuid_opt(session))
        .bind(micros(at))
        .execute(&mut *conn)
        .await
        .map_err(|e| insert_error(e, &[]))?;
    }
    Ok(())
}

async fn summarize(
    conn: &mut SqliteConnection,
    list: &TaskList,
    session: Option<SessionId>,
    summary: &IterationText,
    at: Timestamp,
) -> Result<()> {
    ensure(conn, list).await?;
    let sql =
        "UPDATE iterations SET summary = ?, updated_at = ? WHERE list_id = ? AND session_id = ?";
    let again = sqlx::query(sql)
        .bind(summary.as_str())
        .bind(micros(at))
        .bind(uuid(list.id))
        .bind(uuid_opt(session))
        .execute(&mut *conn)
        .await
        .map_err(store_error)?;
    if again.rows_affected() > 0 {
        return Ok(());
    }
    let sql = "SELECT count(*), coalesce(max(number), 0) FROM iterations WHERE list_id = ?";
    let number = next_number(conn, sql, list.id, 1, "iterations of a list").await?;
    sqlx::query(
        "INSERT INTO iterations (list_id, number, session_id, summary, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?5, ?5)",
    )
    .bind(uuid(list.id))
    .bind(number)
    .bind(uuid_opt(session))
    .bind(summary.as_str())
    .bind(micros(at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[]))
}

async fn complete(conn: &mut SqliteConnection, list: &TaskList, at: Timestamp) -> Result<()> {
    ensure(conn, list).await?;
    let sql = "UPDATE task_lists SET completed_at = ?1 WHERE id = ?2 AND NOT EXISTS
         (SELECT 1 FROM tasks WHERE list_id = ?2 AND status NOT IN ('completed', 'cancelled'))";
    let done = sqlx::query(sql)
        .bind(micros(at))
        .bind(uuid(list.id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    match done.rows_affected() {
        0 => Err(StoreError::InUse { what: "open tasks" }),
        _ => Ok(()),
    }
}
