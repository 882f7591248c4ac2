//! Settings that change at run time.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{Budget, SettingKey, SettingValue};
use wh_store::{Applied, Commit, Result, SettingStore};

use crate::SqliteStore;
use crate::change::Change;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, Parsed, micros};

#[async_trait]
impl SettingStore for SqliteStore {
    async fn setting_list(&self) -> Result<Vec<(SettingKey, SettingValue)>> {
        let query = Query::new("SELECT name, value FROM settings ORDER BY name");
        let rows = self.rows(query).await?;
        // A setting that this version does not know, or refuses, is at its default here and stays for others.
        Ok(row::listed("setting", &rows, setting_row))
    }

    async fn setting_set(
        &self,
        key: SettingKey,
        value: Option<SettingValue>,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::SettingSet(key, value, commit.audit.at);
        self.commit(change, commit).await
    }
}

/// Returns what all sessions of a user together may use in a day.
pub(crate) async fn budget_of_day_on_conn(conn: &mut SqliteConnection) -> Result<Budget> {
    let rows = sqlx::query("SELECT name, value FROM settings WHERE name LIKE 'budget.user_day.%'")
        .fetch_all(conn)
        .await
        .map_err(store_error)?;
    let mut budget = Budget::default();
    for (key, SettingValue(value)) in row::listed("setting", &rows, setting_row) {
        let limit = match key {
            SettingKey::BudgetUserDayTokens => &mut budget.tokens,
            SettingKey::BudgetUserDayCostMicros => &mut budget.cost_micros,
            SettingKey::BudgetUserDayWallSeconds => &mut budget.wall_seconds,
            SettingKey::BudgetUserDayTurns => &mut budget.turns,
            _ => continue,
        };
        *limit = value.and_then(|value| u64::try_from(value).ok());
    }
    Ok(budget)
}

fn setting_row(row: &SqliteRow) -> Parsed<(SettingKey, SettingValue)> {
    let key = row::parse(row, "name", SettingKey::parse)?;
    let value = key.check(row::get(row, "value")?);
    let value = value.map_err(|e| row::BadRow::new("value", e))?;
    Ok((key, value))
}

pub(crate) async fn set_in_txn(
    conn: &mut SqliteConnection,
    key: SettingKey,
    value: Option<SettingValue>,
    at: Timestamp,
) -> Result<()> {
    let query = match value {
        Some(SettingValue(value)) => sqlx::query(
            "INSERT OR REPLACE INTO settings (name, value, updated_at) VALUES (?, ?, ?)",
        )
        .bind(key.name())
        .bind(value)
        .bind(micros(at)),
        None => sqlx::query("DELETE FROM settings WHERE name = ?").bind(key.name()),
    };
    query.execute(conn).await.map(drop).map_err(store_error)
}
