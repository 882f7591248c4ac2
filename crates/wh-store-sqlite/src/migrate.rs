//! Brings the schema up to date, one transaction per step. `migrations/README.md` says how to write a step.

use std::path::Path;

use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::OpenError;
use crate::error::{is_damage, is_full, is_read_only};
use crate::header::APPLICATION_ID;

/// One step of the schema.
#[derive(Clone, Copy)]
pub(crate) struct Migration {
    name: &'static str,
    sql: &'static str,
}

impl Migration {
    fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }
}

/// Every step, in order; the first is number 1.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "foundation",
        sql: include_str!("../migrations/0001_foundation.sql"),
    },
    Migration {
        name: "sessions",
        sql: include_str!("../migrations/0002_sessions.sql"),
    },
    Migration {
        name: "worktrees",
        sql: include_str!("../migrations/0003_worktrees.sql"),
    },
    Migration {
        name: "orchestration",
        sql: include_str!("../migrations/0004_orchestration.sql"),
    },
    Migration {
        name: "forks",
        sql: include_str!("../migrations/0005_forks.sql"),
    },
    Migration {
        name: "key_dialects",
        sql: include_str!("../migrations/0006_key_dialects.sql"),
    },
    Migration {
        name: "sharing",
        sql: include_str!("../migrations/0007_sharing.sql"),
    },
    Migration {
        name: "zone_agents",
        sql: include_str!("../migrations/0008_zone_agents.sql"),
    },
    Migration {
        name: "webhooks",
        sql: include_str!("../migrations/0009_webhooks.sql"),
    },
    Migration {
        name: "tasks",
        sql: include_str!("../migrations/0010_tasks.sql"),
    },
    Migration {
        name: "waits",
        sql: include_str!("../migrations/0011_waits.sql"),
    },
    Migration {
        name: "loops",
        sql: include_str!("../migrations/0012_loops.sql"),
    },
    Migration {
        name: "worktree_changes",
        sql: include_str!("../migrations/0013_worktree_changes.sql"),
    },
    Migration {
        name: "usage",
        sql: include_str!("../migrations/0014_usage.sql"),
    },
    Migration {
        name: "run_stderr",
        sql: include_str!("../migrations/0015_run_stderr.sql"),
    },
    Migration {
        name: "prompt_files",
        sql: include_str!("../migrations/0016_prompt_files.sql"),
    },
    Migration {
        name: "disabled_users",
        sql: include_str!("../migrations/0017_disabled_users.sql"),
    },
    Migration {
        name: "run_modes",
        sql: include_str!("../migrations/0018_run_modes.sql"),
    },
    Migration {
        name: "audit_refused",
        sql: include_str!("../migrations/0019_audit_refused.sql"),
    },
    Migration {
        name: "answers",
        sql: include_str!("../migrations/0020_answers.sql"),
    },
    Migration {
        name: "tiers",
        sql: include_str!("../migrations/0021_tiers.sql"),
    },
    Migration {
        name: "local_roots",
        sql: include_str!("../migrations/0022_local_roots.sql"),
    },
    Migration {
        name: "trusted_configs",
        sql: include_str!("../migrations/0023_trusted_configs.sql"),
    },
    Migration {
        name: "images_hosts",
        sql: include_str!("../migrations/0024_images_hosts.sql"),
    },
    Migration {
        name: "answer_delivery",
        sql: include_str!("../migrations/0025_answer_delivery.sql"),
    },
    Migration {
        name: "models",
        sql: include_str!("../migrations/0026_models.sql"),
    },
    Migration {
        name: "estimates",
        sql: include_str!("../migrations/0027_estimates.sql"),
    },
    Migration {
        name: "session_totals",
        sql: include_str!("../migrations/0028_session_totals.sql"),
    },
    Migration {
        name: "loop_starters",
        sql: include_str!("../migrations/0029_loop_starters.sql"),
    },
    Migration {
        name: "mcp_dialects",
        sql: include_str!("../migrations/0030_mcp_dialects.sql"),
    },
    Migration {
        name: "host_credentials",
        sql: include_str!("../migrations/0031_host_credentials.sql"),
    },
    Migration {
        name: "forks_and_audit_indexes",
        sql: include_str!("../migrations/0032_forks_and_audit_indexes.sql"),
    },
    Migration {
        name: "repo_deletion",
        sql: include_str!("../migrations/0033_repo_deletion.sql"),
    },
    Migration {
        name: "user_deletion",
        sql: include_str!("../migrations/0034_user_deletion.sql"),
    },
];

/// The number of the last step.
pub(crate) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Compares the steps that were applied with ours, and returns how many there are. Changes nothing.
pub(crate) async fn check(
    conn: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<usize, OpenError> {
    let fail = |e: sqlx::Error| open_error(path, &e);
    let exists: bool =
        sqlx::query_scalar("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'migrations'")
            .fetch_one(&mut *conn)
            .await
            .map_err(fail)?;
    if !exists {
        return Ok(0);
    }
    let rows = sqlx::query("SELECT number, checksum FROM migrations ORDER BY number")
        .fetch_all(conn)
        .await
        .map_err(fail)?;
    for (index, row) in rows.iter().enumerate() {
        let number: u32 = row.try_get("number").map_err(fail)?;
        let checksum: Vec<u8> = row.try_get("checksum").map_err(fail)?;
        let path = path.to_owned();
        match migrations.get(index) {
            None => {
                let found = rows.len() as u32;
                let known = migrations.len() as u32;
                return Err(OpenError::Newer { path, found, known });
            }
            Some(ours) if number as usize != index + 1 || ours.checksum() != checksum => {
                return Err(OpenError::ChangedMigration { path, number });
            }
            Some(_) => {}
        }
    }
    Ok(rows.len())
}

/// Applies the steps that are missing, on a connection that does not enforce foreign keys.
pub(crate) async fn run(
    conn: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), OpenError> {
    let applied = check(conn, path, migrations).await?;
    for (index, migration) in migrations.iter().enumerate().skip(applied) {
        let number = index + 1;
        let name = migration.name;
        match applied {
            0 => tracing::debug!(number, name, "making the database"),
            _ => tracing::info!(number, name, "migrating the database"),
        }
        if let Err(error) = apply(conn, number, migration).await {
            // What the step did so far is undone; a failure of that is the end of the connection and undoes it too.
            let undone = sqlx::query("ROLLBACK").execute(&mut *conn).await;
            tracing::debug!(?undone, "rolled the migration back");
            return Err(open_error(path, &error));
        }
    }
    Ok(())
}

async fn apply(
    conn: &mut SqliteConnection,
    number: usize,
    migration: &Migration,
) -> sqlx::Result<()> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await?;
    if number == 1 {
        sqlx::raw_sql(AssertSqlSafe(format!(
            "PRAGMA application_id = {APPLICATION_ID};
             CREATE TABLE migrations (
                 number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL
             ) STRICT;"
        )))
        .execute(&mut *conn)
        .await?;
    }
    sqlx::raw_sql(migration.sql).execute(&mut *conn).await?;
    let dangling = sqlx::query("PRAGMA foreign_key_check")
        .fetch_all(&mut *conn)
        .await?;
    if !dangling.is_empty() {
        let rows = dangling.len();
        return Err(sqlx::Error::Protocol(format!(
            "migration {number} leaves {rows} rows that refer to nothing"
        )));
    }
    sqlx::query("INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)")
        .bind(number as i64)
        .bind(migration.name)
        .bind(migration.checksum())
        .execute(&mut *conn)
        .await?;
    sqlx::raw_sql(AssertSqlSafe(format!(
        "PRAGMA user_version = {number}; COMMIT;"
    )))
    .execute(conn)
    .await?;
    Ok(())
}

/// Says in one line why the database cannot be used.
pub(crate) fn open_error(path: &Path, error: &sqlx::Error) -> OpenError {
    let path = path.to_owned();
    let what = match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    };
    if is_damage(error) {
        OpenError::Damaged { path, what }
    } else if is_read_only(error) {
        OpenError::ReadOnly { path, what }
    } else if is_full(error) {
        OpenError::Full { path }
    } else {
        OpenError::Other { path, what }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions, Connection};

    use super::*;

    const FIRST: Migration = Migration {
        name: "first",
        sql: "CREATE TABLE a (x INTEGER);",
    };
    const SECOND: Migration = Migration {
        name: "second",
        sql: "CREATE TABLE b (x INTEGER); INSERT INTO a VALUES (1);",
    };
    const FAILING: Migration = Migration {
        name: "failing",
        sql: "CREATE TABLE b (x INTEGER); INSERT INTO a VALUES (1); INSERT INTO nowhere VALUES (1);",
    };

    async fn connect(path: &Path) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(path);
        let options = options.create_if_missing(true).foreign_keys(false);
        options.connect().await.unwrap()
    }

    async fn tables(conn: &mut SqliteConnection) -> Vec<String> {
        let sql = "SELECT name FROM sqlite_schema ORDER BY name";
        sqlx::query_scalar(sql).fetch_all(conn).await.unwrap()
    }

    #[tokio::test]
    async fn a_failing_step_leaves_the_old_schema_and_a_later_run_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let mut conn = connect(&path).await;
        run(&mut conn, &path, &[FIRST]).await.unwrap();
        let error = run(&mut conn, &path, &[FIRST, FAILING]).await.unwrap_err();
        assert!(error.to_string().contains("no such table"), "{error}");
        assert_eq!(tables(&mut conn).await, ["a", "migrations"]);
        run(&mut conn, &path, &[FIRST, SECOND]).await.unwrap();
        assert_eq!(tables(&mut conn).await, ["a", "b", "migrations"]);
        let version: u32 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(&mut conn)
            .await
            .unwrap();
        assert_eq!(version, 2);
    }

    #[tokio::test]
    async fn a_connection_that_dies_in_a_step_leaves_the_old_schema() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let mut conn = connect(&path).await;
        run(&mut conn, &path, &[FIRST]).await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE; CREATE TABLE b (x INTEGER);")
            .execute(&mut conn)
            .await
            .unwrap();
        conn.close().await.unwrap();
        let mut conn = connect(&path).await;
        assert_eq!(tables(&mut conn).await, ["a", "migrations"]);
        run(&mut conn, &path, &[FIRST, SECOND]).await.unwrap();
    }

    #[tokio::test]
    async fn a_changed_or_unknown_step_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let mut conn = connect(&path).await;
        run(&mut conn, &path, &[FIRST, SECOND]).await.unwrap();
        let error = run(&mut conn, &path, &[FIRST]).await.unwrap_err();
        assert!(matches!(error, OpenError::Newer { found: 2, .. }));
        let error = run(&mut conn, &path, &[FIRST, FAILING]).await.unwrap_err();
        assert!(matches!(
            error,
            OpenError::ChangedMigration { number: 2, .. }
        ));
    }
}
