//! Loops, their iterations and what happened in them.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AgentName, Budget, IdRef, IterationEnd, Loop, LoopId, LoopIteration, LoopLogEntry, LoopOutcome,
    LoopSpec, LoopState, LoopWish, ModelName, NewLoopLogEntry, Page, PageRequest, PromptTemplate,
    Reach, SessionId, Tier, Title,
};
use wh_store::{Applied, Commit, LoopSave, LoopStore, NewLoop, Result, StoreError};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::loops_row::{insert_query, update_query};
use crate::reach::{Query, counted};
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};
use crate::session_row::{USED, parse_hosts, usage_columns};
use crate::task_change::TaskChange;
use crate::user::{push_limit, push_page};
use crate::{session, worktree};

/// The most entries of one loop's log; older ones are forgotten.
const LOG_ENTRIES_MAX: u32 = 5_000;

/// A change of a loop.
pub(crate) enum LoopChange {
    Insert(Box<NewLoop>),
    Save(Box<LoopSave>),
}

impl LoopChange {
    pub(crate) async fn apply(&self, batch: &mut Batch<'_>) -> Result<()> {
        match self {
            Self::Insert(new) => insert(batch, new).await,
            Self::Save(save) => self::save(batch, save).await,
        }
    }
}

#[async_trait]
impl LoopStore for SqliteStore {
    async fn loop_insert(&self, new: &NewLoop, commit: Commit) -> Result<Applied> {
        let change = LoopChange::Insert(Box::new(new.clone()));
        self.commit(Change::Loops(change), commit).await
    }

    async fn loop_save(&self, save: &LoopSave, commit: Commit) -> Result<Applied> {
        let change = LoopChange::Save(Box::new(save.clone()));
        self.commit(Change::Loops(change), commit).await
    }

    async fn loop_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Loop>> {
        let query = within_reach(Query::new(LOOPS), reach);
        self.candidates(query, id, "loop", loop_row).await
    }

    async fn loop_list(
        &self,
        reach: Reach,
        open_only: bool,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Loop, Uuid>> {
        let listed = |select| {
            let mut query = within_reach(select, reach)?;
            if open_only {
                query.push(" AND t.state <> 'ended'");
            }
            Some(query)
        };
        let Some(mut query) = listed(Query::new(LOOPS)) else {
            return self.check_open().map(|()| Page::empty());
        };
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("loop", rows, page.limit, row::id_cursor, loop_row)?;
        let total = self.list_total(page, || listed(counted("loops t"))).await?;
        Ok(Page { total, ..found })
    }

    async fn loop_of_session(&self, session: SessionId) -> Result<Option<Loop>> {
        let mut query = Query::new(
            "SELECT t.* FROM loop_iterations i CROSS JOIN loops t ON t.id = i.loop_id WHERE i.session_id = ",
        );
        query.push_bind(uuid(session));
        let rows = self.rows(query).await?;
        let first = rows.first().map(|r| row::direct("loop", loop_row(r)));
        first.transpose()
    }

    async fn loop_due(&self) -> Result<Vec<Loop>> {
        // A session that is at work needs nothing of its loop, however much it says.
        let query = Query::new(
            "SELECT t.* FROM loops t LEFT JOIN sessions s ON s.id = t.session_id
             WHERE t.state <> 'ended' AND CASE t.state
                 WHEN 'paused' THEN t.wish = 'stop'
                 WHEN 'running' THEN s.id IS NULL OR s.state NOT IN ('creating', 'running', 'waiting', 'stopping')
                     OR (t.wish = 'stop' AND s.state <> 'stopping')
                 ELSE TRUE END",
        );
        let rows = self.rows(query).await?;
        Ok(row::listed("loop", &rows, loop_row))
    }

    async fn loop_iterations(&self, id: LoopId, limit: u32) -> Result<Vec<LoopIteration>> {
        let mut query = Query::new("SELECT t.* FROM loop_iterations t WHERE t.loop_id = ");
        query.push_bind(uuid(id));
        query.push(format_args!(" ORDER BY t.number DESC LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("iteration", &rows, iteration_row))
    }

    async fn loop_log(
        &self,
        id: LoopId,
        page: PageRequest<u64>,
    ) -> Result<Page<LoopLogEntry, u64>> {
        let mut query = Query::new("SELECT t.* FROM loop_log t WHERE t.loop_id = ");
        query.push_bind(uuid(id));
        if let Some(after) = page.after {
            query.push(" AND t.seq > ").push_bind(int(after));
        }
        query.push(" ORDER BY t.seq");
        push_limit(&mut query, page);
        let rows = self.rows(query).await?;
        let cursor = |row: &SqliteRow| row::count(row, "seq");
        let found = row::page("log entry", rows, page.limit, cursor, log_row)?;
        let of_loop = || {
            let mut query = counted("loop_log t");
            query.push("t.loop_id = ").push_bind(uuid(id));
            Some(query)
        };
        let total = self.list_total(page, of_loop).await?;
        Ok(Page { total, ..found })
    }
}

/// Begins a query for loops.
const LOOPS: &str = "SELECT t.* FROM loops t WHERE ";

/// Narrows a query to loops within reach; nothing when none can be.
fn within_reach(mut query: Query, reach: Reach) -> Option<Query> {
    match reach {
        Reach::All => query.push("TRUE"),
        Reach::User(user) | Reach::UserAndGuest { user, .. } => {
            query.push("t.owner_user_id = ").push_bind(uuid(user))
        }
        Reach::Key(key) => query.push("t.owner_key_id = ").push_bind(uuid(key)),
        Reach::Tree(session) => query
            .push("t.id IN (SELECT i.loop_id FROM loop_iterations i WHERE i.session_id = ")
            .push_bind(uuid(session))
            .push(")"),
        Reach::Guest { .. } => return None,
    };
    Some(query)
}

async fn insert(batch: &mut Batch<'_>, new: &NewLoop) -> Result<()> {
    worktree::insert_in_txn(batch.conn, &new.worktree).await?;
    let mut insert = insert_query(&new.of);
    let inserted = insert.build().execute(&mut *batch.conn).await;
    inserted.map_err(|e| insert_error(e, &[]))?;
    let tasks = TaskChange::Add(new.list.clone(), new.tasks.clone());
    tasks.apply(batch.conn).await
}

async fn save(batch: &mut Batch<'_>, save: &LoopSave) -> Result<()> {
    let mut update = update_query(&save.after);
    let updated = update.build().execute(&mut *batch.conn).await;
    if updated.map_err(store_error)?.rows_affected() == 0 {
        return Err(StoreError::Stale { what: "the loop" });
    }
    if let Some(new) = &save.session {
        session::begin_in_txn(batch, new).await?;
    }
    if let Some(iteration) = &save.iteration {
        put_iteration(batch.conn, iteration).await?;
    }
    add_log(batch.conn, save.after.id, &save.log).await
}

async fn put_iteration(conn: &mut SqliteConnection, it: &LoopIteration) -> Result<()> {
    let reason = match &it.end {
        Some(IterationEnd::Failed { reason }) => Some(reason.as_str()),
        _ => None,
    };
    let usage = it.usage;
    sqlx::query(
        "INSERT INTO loop_iterations (loop_id, number, session_id, mark, ending, reason, changed, used_input_tokens,
             used_cached_tokens, used_output_tokens, used_cost_micros, used_estimated_micros, used_wall_seconds, used_turns,
             began_at, ended_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ending = excluded.ending, reason = excluded.reason, changed = excluded.changed,
             used_input_tokens = excluded.used_input_tokens, used_cached_tokens = excluded.used_cached_tokens,
             used_output_tokens = excluded.used_output_tokens, used_cost_micros = excluded.used_cost_micros,
             used_estimated_micros = excluded.used_estimated_micros,
             used_wall_seconds = excluded.used_wall_seconds, used_turns = excluded.used_turns, ended_at = excluded.ended_at",
    )
    .bind(uuid(it.loop_id))
    .bind(i64::from(it.number))
    .bind(uuid_opt(it.session))
    .bind(&it.mark)
    .bind(it.end.as_ref().map(IterationEnd::as_str))
    .bind(reason)
    .bind(it.changed)
    .bind(int(usage.input_tokens))
    .bind(int(usage.cached_tokens))
    .bind(int(usage.output_tokens))
    .bind(int(usage.cost_micros))
    .bind(int(usage.estimated_micros))
    .bind(int(usage.wall_seconds))
    .bind(int(usage.turns))
    .bind(micros(it.began_at))
    .bind(it.ended_at.map(micros))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[]))
}

async fn add_log(
    conn: &mut SqliteConnection,
    id: LoopId,
    entries: &[NewLoopLogEntry],
) -> Result<()> {
    for entry in entries {
        sqlx::query(
            "INSERT INTO loop_log (loop_id, seq, at, iteration, about, text)
             SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5 FROM loop_log WHERE loop_id = ?1",
        )
        .bind(uuid(id))
        .bind(micros(entry.at))
        .bind(i64::from(entry.iteration))
        .bind(&entry.about)
        .bind(&entry.text)
        .execute(&mut *conn)
        .await
        .map_err(|e| insert_error(e, &[]))?;
    }
    let sql = "DELETE FROM loop_log WHERE loop_id = ?1 AND seq <= (SELECT max(seq) FROM loop_log WHERE loop_id = ?1) - ?2";
    let query = sqlx::query(sql).bind(uuid(id)).bind(LOG_ENTRIES_MAX);
    query.execute(conn).await.map(drop).map_err(store_error)
}

fn loop_row(row: &SqliteRow) -> Parsed<Loop> {
    Ok(Loop {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        title: row::parse(row, "title", Title::parse)?,
        repo: row::id(row, "repo_id")?,
        worktree: row::id(row, "worktree_id")?,
        board: row::id_opt(row, "board_id")?,
        agent: row::parse(row, "agent", AgentName::parse)?,
        mode: row::get(row, "mode")?,
        model: row::parse_opt(row, "model", ModelName::parse)?,
        mcp_dialect: crate::session_row::dialect(row)?.unwrap_or_default(),
        policy: row::parse_opt(row, "policy", |text| serde_json::from_str(text))?
            .unwrap_or_default(),
        spec: row::parse(row, "spec", LoopSpec::parse)?,
        template: row::parse_opt(row, "template", PromptTemplate::parse)?,
        iterations_max: small(row, "iterations_max")?,
        budget: Budget {
            tokens: row::count_opt(row, "budget_tokens")?,
            cost_micros: row::count_opt(row, "budget_cost_micros")?,
            wall_seconds: row::count_opt(row, "budget_wall_seconds")?,
            turns: row::count_opt(row, "budget_turns")?,
        },
        started_by: row::id_opt(row, "started_by")?,
        tier: row::parse_opt(row, "tier", Tier::parse)?,
        hosts: row::parse_opt(row, "hosts", parse_hosts)?,
        usage: usage_columns(row, USED, row::count(row, "used_turns")?)?,
        state: state_columns(row)?,
        wish: row::parse_enum(row, "wish", LoopWish::parse)?,
        idle: small(row, "idle")?,
        revision: row::count(row, "revision")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

/// Puts the state together again; columns that do not fit the name are an error.
fn state_columns(row: &SqliteRow) -> Parsed<LoopState> {
    let iteration = small(row, "iteration")?;
    Ok(match row::get::<&str>(row, "state")? {
        "beginning" => LoopState::Beginning { iteration },
        "running" => LoopState::Running {
            iteration,
            session: row::id(row, "session_id")?,
        },
        "paused" => LoopState::Paused { after: iteration },
        "ended" => {
            let detail = row::get::<Option<&str>>(row, "outcome_detail")?;
            let read = |text: &str| LoopOutcome::parse(text, detail.unwrap_or_default());
            LoopState::Ended {
                after: iteration,
                outcome: row::parse_enum(row, "outcome", read)?,
            }
        }
        other => return Err(BadRow::new("state", format!("{other:?} is not known"))),
    })
}

fn small(row: &SqliteRow, column: &str) -> Parsed<u32> {
    u32::try_from(row::count(row, column)?).map_err(|e| BadRow::new(column, e))
}

fn iteration_row(row: &SqliteRow) -> Parsed<LoopIteration> {
    let reason = row::get::<Option<&str>>(row, "reason")?;
    let end = |text: &str| IterationEnd::parse(text, reason);
    Ok(LoopIteration {
        loop_id: row::id(row, "loop_id")?,
        number: small(row, "number")?,
        session: row::id_opt(row, "session_id")?,
        mark: row::get(row, "mark")?,
        end: row::parse_enum_opt(row, "ending", end)?,
        changed: row::get(row, "changed")?,
        usage: usage_columns(row, USED, row::count(row, "used_turns")?)?,
        began_at: row::time(row, "began_at")?,
        ended_at: row::time_opt(row, "ended_at")?,
    })
}

fn log_row(row: &SqliteRow) -> Parsed<LoopLogEntry> {
    Ok(LoopLogEntry {
        seq: row::count(row, "seq")?,
        body: NewLoopLogEntry {
            at: row::time(row, "at")?,
            iteration: small(row, "iteration")?,
            about: row::get(row, "about")?,
            text: row::get(row, "text")?,
        },
    })
}
