//! Task lists: reads. What changes them is in `task_change`.

use async_trait::async_trait;
use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    Holder, IdRef, Iteration, IterationText, ListOf, Name, NewNote, NewTask, Note, NoteKind,
    NoteText, Owner, Page, PageRequest, SessionId, Task, TaskClaim, TaskId, TaskList, TaskListId,
    TaskPatch, TaskPriority, TaskStatus, TaskText,
};
use wh_store::{Applied, Commit, Result, StoreError, TaskStore, TaskWish};

use crate::SqliteStore;
use crate::change::Change;
use crate::reach::{CANDIDATES_MAX, Query, counted, push_id};
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};
use crate::task_change::TaskChange;
use crate::user::push_limit;

/// What is read of a task.
const TASKS: &str = "SELECT t.*, (SELECT group_concat(hex(d.depends_on), ',' ORDER BY o.number)
         FROM task_dependencies d JOIN tasks o ON o.id = d.depends_on WHERE d.task_id = t.id) AS depends_on
     FROM tasks t WHERE ";

/// The condition that nothing is left to be done before `t`.
pub(crate) const UNBLOCKED: &str =
    " AND NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks o ON o.id = d.depends_on
         WHERE d.task_id = t.id AND o.status NOT IN ('completed', 'cancelled'))
     ORDER BY t.priority, t.number LIMIT 1";

/// What the mark of a list is made of. What is in progress and what remains are the same to it.
const MARKED: &[(&str, &[&str])] = &[
    (
        "SELECT hex(id) AS a, CASE status WHEN 'in_progress' THEN 'remaining' ELSE status END || priority AS b,
             content AS c FROM tasks WHERE list_id = ",
        &["a", "b", "c"],
    ),
    (
        "SELECT hex(d.task_id) AS a, hex(d.depends_on) AS b FROM task_dependencies d JOIN tasks t ON t.id = d.task_id
         WHERE t.list_id = ",
        &["a", "b"],
    ),
    (
        "SELECT hex(id) AS a, kind AS b FROM notes WHERE list_id = ",
        &["a", "b"],
    ),
    (
        "SELECT DISTINCT summary AS a, '' AS b FROM iterations WHERE list_id = ",
        &["a", "b"],
    ),
];

#[async_trait]
impl TaskStore for SqliteStore {
    async fn task_list_of(&self, owner: Owner, of: &ListOf) -> Result<Option<TaskList>> {
        let mut query = Query::new("SELECT t.* FROM task_lists t WHERE ");
        match of {
            ListOf::Session(id) => query.push("t.session_id = ").push_bind(uuid(*id)),
            ListOf::Board(id) => query.push("t.board_id = ").push_bind(uuid(*id)),
            ListOf::Loop(id) => query.push("t.loop_id = ").push_bind(uuid(*id)),
            ListOf::Name(name) => query
                .push("t.owner_user_id = ")
                .push_bind(uuid(owner.user))
                .push(" AND coalesce(t.owner_key_id, x'') = coalesce(")
                .push_bind(uuid_opt(owner.key))
                .push(", x'') AND t.name = ")
                .push_bind(name.as_str().to_owned()),
        };
        self.list_of_query(query).await
    }

    async fn task_list_by_id(&self, id: TaskListId) -> Result<Option<TaskList>> {
        let mut query = Query::new("SELECT t.* FROM task_lists t WHERE t.id = ");
        query.push_bind(uuid(id));
        self.list_of_query(query).await
    }

    async fn task_add(
        &self,
        list: &TaskList,
        tasks: &[NewTask],
        commit: Commit,
    ) -> Result<Applied> {
        let change = TaskChange::Add(list.clone(), tasks.to_vec());
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }

    async fn task_update(
        &self,
        id: TaskId,
        patch: &TaskPatch,
        by: Holder,
        commit: Commit,
    ) -> Result<Applied> {
        let change = TaskChange::Update(id, patch.clone(), by, commit.audit.at);
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }

    async fn task_claim(&self, wish: &TaskWish, commit: Commit) -> Result<Applied> {
        let change = TaskChange::Claim(*wish, commit.audit.at);
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }

    async fn task_wished(&self, wish: Uuid) -> Result<Option<Task>> {
        let mut query = Query::new(TASKS);
        query.push("t.wish_id = ").push_bind(wish);
        self.task_of_query(query).await
    }

    async fn task_peek(&self, list: TaskListId, by: Holder, at: Timestamp) -> Result<Option<Task>> {
        if let Holder::Session(session) = by {
            let mut query = Query::new(TASKS);
            push_held(&mut query, list, session);
            if let Some(held) = self.task_of_query(query).await? {
                return Ok(Some(held));
            }
        }
        let mut found = Vec::new();
        for free in Free::ALL {
            let mut query = Query::new(TASKS);
            free.push(&mut query, list, at);
            found.extend(self.task_of_query(query).await?);
        }
        let urgency = |task: &Task| (task.priority, task.number);
        Ok(found.into_iter().min_by_key(urgency))
    }

    async fn task_find(&self, id: &IdRef) -> Result<Vec<Task>> {
        let mut query = Query::new(TASKS);
        push_id(&mut query, id);
        query.push(format_args!(" ORDER BY t.id DESC LIMIT {CANDIDATES_MAX}"));
        let rows = self.rows(query).await?;
        let direct = |r: &SqliteRow| row::direct("task", task_row(r));
        rows.iter().map(direct).collect()
    }

    async fn task_by_number(&self, list: TaskListId, number: u64) -> Result<Option<Task>> {
        let mut query = Query::new(TASKS);
        query.push("t.list_id = ").push_bind(uuid(list));
        query.push(" AND t.number = ").push_bind(int(number));
        self.task_of_query(query).await
    }

    async fn task_list(
        &self,
        list: TaskListId,
        status: TaskStatus,
        after: Option<(TaskPriority, u64)>,
        limit: u32,
    ) -> Result<Vec<Task>> {
        let mut query = Query::new(TASKS);
        query.push("t.list_id = ").push_bind(uuid(list));
        query.push(" AND t.status = ").push_bind(status.as_str());
        if let Some((priority, number)) = after {
            query.push(" AND (t.priority, t.number) > (");
            query.push_bind(i64::from(priority.get())).push(", ");
            query.push_bind(int(number)).push(")");
        }
        query.push(format_args!(" ORDER BY t.priority, t.number LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("task", &rows, task_row))
    }

    async fn task_counts(&self, list: TaskListId) -> Result<[u64; 5]> {
        let mut query = Query::new("SELECT status, count(*) AS number FROM tasks WHERE list_id = ");
        query.push_bind(uuid(list)).push(" GROUP BY status");
        let mut counts = [0; 5];
        for found in self.rows(query).await? {
            let status = row::parse_enum(&found, "status", TaskStatus::parse);
            let status = row::direct("task", status)?;
            let place = TaskStatus::ALL.iter().position(|it| *it == status);
            let number = row::direct("task", row::count(&found, "number"))?;
            if let Some(place) = place {
                counts[place] = number;
            }
        }
        Ok(counts)
    }

    async fn task_list_mark(&self, list: TaskListId) -> Result<String> {
        let mut mark = Sha256::new();
        for (sql, columns) in MARKED {
            let mut query = Query::new(*sql);
            query.push_bind(uuid(list)).push(" ORDER BY 1, 2");
            for found in self.rows(query).await? {
                for column in *columns {
                    let text = row::direct("task", row::get::<&str>(&found, column))?;
                    mark.update(text.len().to_be_bytes());
                    mark.update(text);
                }
            }
            mark.update([0]);
        }
        let digits = mark.finalize();
        Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    async fn note_add(
        &self,
        list: &TaskList,
        notes: &[NewNote],
        session: Option<SessionId>,
        commit: Commit,
    ) -> Result<Applied> {
        let at = commit.audit.at;
        let change = TaskChange::Note(list.clone(), notes.to_vec(), session, at);
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }

    async fn note_list(
        &self,
        list: TaskListId,
        kind: Option<NoteKind>,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Note, Uuid>> {
        let listed = |mut query: Query| {
            query.push("t.list_id = ").push_bind(uuid(list));
            if let Some(kind) = kind {
                query.push(" AND t.kind = ").push_bind(kind.as_str());
            }
            query
        };
        let mut query = listed(Query::new("SELECT t.* FROM notes t WHERE "));
        if let Some(after) = page.after {
            // Notes of one call have no order by id.
            let row = self.note_row_number(list, after).await?;
            query.push(" AND t.rowid < ").push_bind(row);
        }
        query.push(" ORDER BY t.rowid DESC");
        push_limit(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("note", rows, page.limit, row::id_cursor, note_row)?;
        let all = || Some(listed(counted("notes t")));
        let total = self.list_total(page, all).await?;
        Ok(Page { total, ..found })
    }

    async fn iteration_summary(
        &self,
        list: &TaskList,
        session: Option<SessionId>,
        summary: &IterationText,
        commit: Commit,
    ) -> Result<Applied> {
        let at = commit.audit.at;
        let change = TaskChange::Summary(list.clone(), session, summary.clone(), at);
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }

    async fn iteration_list(&self, list: TaskListId, limit: u32) -> Result<Vec<Iteration>> {
        let mut query = Query::new("SELECT t.* FROM iterations t WHERE t.list_id = ");
        query.push_bind(uuid(list));
        query.push(format_args!(" ORDER BY t.number DESC LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("iteration", &rows, iteration_row))
    }

    async fn task_list_complete(&self, list: &TaskList, commit: Commit) -> Result<Applied> {
        let change = TaskChange::Complete(list.clone(), commit.audit.at);
        self.commit(Change::Tasks(Box::new(change)), commit).await
    }
}

impl SqliteStore {
    async fn list_of_query(&self, query: Query) -> Result<Option<TaskList>> {
        let rows = self.rows(query).await?;
        let first = rows.first();
        first
            .map(|r| row::direct("task list", list_row(r)))
            .transpose()
    }

    /// Returns the number of the row in which a note of a list is kept.
    async fn note_row_number(&self, list: TaskListId, note: Uuid) -> Result<i64> {
        let mut query = Query::new("SELECT t.rowid AS number FROM notes t WHERE t.id = ");
        query.push_bind(note);
        query.push(" AND t.list_id = ").push_bind(uuid(list));
        let rows = self.rows(query).await?;
        let number = rows.first().map(|row| row::get(row, "number"));
        let number = number.ok_or(StoreError::NotFound { what: "note" })?;
        row::direct("note", number)
    }

    async fn task_of_query(&self, query: Query) -> Result<Option<Task>> {
        let rows = self.rows(query).await?;
        let first = rows.first();
        first.map(|r| row::direct("task", task_row(r))).transpose()
    }
}

/// The ways in which a task is there for the taking. Each finds its own by an index.
#[derive(Clone, Copy)]
pub(crate) enum Free {
    Remaining,
    /// Somebody had it for a time that is over.
    Expired,
}

impl Free {
    pub(crate) const ALL: [Self; 2] = [Self::Remaining, Self::Expired];

    /// Adds the conditions on `t` that find the most urgent one.
    pub(crate) fn push(self, query: &mut Query, list: TaskListId, at: Timestamp) {
        query.push("t.list_id = ").push_bind(uuid(list));
        match self {
            Self::Remaining => query.push(" AND t.status = 'remaining'"),
            Self::Expired => query
                .push(" AND t.status = 'in_progress' AND t.claim_until <= ")
                .push_bind(micros(at)),
        };
        query.push(UNBLOCKED);
    }
}

/// Adds the conditions on `t` that find what a session is at work on.
pub(crate) fn push_held(query: &mut Query, list: TaskListId, session: SessionId) {
    query.push("t.list_id = ").push_bind(uuid(list));
    query.push(" AND t.status = 'in_progress' AND t.claim_session = ");
    query.push_bind(uuid(session));
    query.push(" ORDER BY t.priority, t.number LIMIT 1");
}

fn list_row(row: &SqliteRow) -> Parsed<TaskList> {
    let session = row::id_opt(row, "session_id")?.map(ListOf::Session);
    let board = row::id_opt(row, "board_id")?.map(ListOf::Board);
    let of_loop = row::id_opt(row, "loop_id")?.map(ListOf::Loop);
    let name = row::parse_opt(row, "name", Name::parse)?.map(ListOf::Name);
    let of = session.or(board).or(of_loop).or(name);
    Ok(TaskList {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        of: of.ok_or_else(|| BadRow::new("name", "it belongs to nothing"))?,
        completed_at: row::time_opt(row, "completed_at")?,
        created_at: row::time(row, "created_at")?,
    })
}

pub(crate) fn task_row(row: &SqliteRow) -> Parsed<Task> {
    let priority = row::get::<i64>(row, "priority")?;
    let priority = u8::try_from(priority).ok().and_then(TaskPriority::new);
    let session = row::id_opt(row, "claim_session")?;
    let key = row::id_opt(row, "claim_key")?;
    let claim = TaskClaim {
        holder: session.map_or(Holder::Caller(key), Holder::Session),
        until: row::time_opt(row, "claim_until")?,
    };
    let depends_on = row::get::<Option<&str>>(row, "depends_on")?;
    let depends_on = depends_on.into_iter().flat_map(|text| text.split(','));
    let depends_on = depends_on.map(|text| Uuid::parse_str(text).map(TaskId::from_untyped_uuid));
    Ok(Task {
        id: row::id(row, "id")?,
        list: row::id(row, "list_id")?,
        number: row::count(row, "number")?,
        content: row::parse(row, "content", TaskText::parse)?,
        status: row::parse_enum(row, "status", TaskStatus::parse)?,
        priority: priority.ok_or_else(|| BadRow::new("priority", "it is out of range"))?,
        depends_on: depends_on
            .collect::<Result<_, _>>()
            .map_err(|e| BadRow::new("depends_on", e))?,
        claim: row::get::<bool>(row, "claimed")?.then_some(claim),
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

fn note_row(row: &SqliteRow) -> Parsed<Note> {
    Ok(Note {
        id: row::id(row, "id")?,
        list: row::id(row, "list_id")?,
        kind: row::parse_enum(row, "kind", NoteKind::parse)?,
        content: row::parse(row, "content", NoteText::parse)?,
        session: row::id_opt(row, "session_id")?,
        created_at: row::time(row, "created_at")?,
    })
}

fn iteration_row(row: &SqliteRow) -> Parsed<Iteration> {
    Ok(Iteration {
        list: row::id(row, "list_id")?,
        number: row::count(row, "number")?,
        session: row::id_opt(row, "session_id")?,
        summary: row::parse(row, "summary", IterationText::parse)?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}
