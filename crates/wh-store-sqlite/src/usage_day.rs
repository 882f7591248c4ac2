//! What all sessions of a user use on a day.

use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{Usage, UserId, day_number};
use wh_store::Result;

use crate::error::store_error;
use crate::row::{self, int, uuid};
use crate::session_row::{USED, usage_columns};

/// Adds to what was used on the day of a time, up to the greatest number that the database holds.
pub(crate) async fn add_in_txn(
    conn: &mut SqliteConnection,
    user: UserId,
    at: Timestamp,
    used: Usage,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO user_days (user_id, day, used_input_tokens, used_cached_tokens, used_output_tokens, used_cost_micros,
             used_estimated_micros, used_wall_seconds, used_turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET used_input_tokens = min(used_input_tokens + excluded.used_input_tokens, 9223372036854775807),
             used_cached_tokens = min(used_cached_tokens + excluded.used_cached_tokens, 9223372036854775807),
             used_output_tokens = min(used_output_tokens + excluded.used_output_tokens, 9223372036854775807),
             used_cost_micros = min(used_cost_micros + excluded.used_cost_micros, 9223372036854775807),
             used_estimated_micros = min(used_estimated_micros + excluded.used_estimated_micros, 9223372036854775807),
             used_wall_seconds = min(used_wall_seconds + excluded.used_wall_seconds, 9223372036854775807),
             used_turns = min(used_turns + excluded.used_turns, 9223372036854775807)",
    )
    .bind(uuid(user))
    .bind(day_number(at))
    .bind(int(used.input_tokens))
    .bind(int(used.cached_tokens))
    .bind(int(used.output_tokens))
    .bind(int(used.cost_micros))
    .bind(int(used.estimated_micros))
    .bind(int(used.wall_seconds))
    .bind(int(used.turns))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}

/// Returns what was used on the day of a time.
pub(crate) async fn get_on_conn(
    conn: &mut SqliteConnection,
    user: UserId,
    at: Timestamp,
) -> Result<Usage> {
    let found = sqlx::query("SELECT * FROM user_days WHERE user_id = ? AND day = ?")
        .bind(uuid(user))
        .bind(day_number(at))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    let usage = |row: SqliteRow| usage_columns(&row, USED, row::count(&row, "used_turns")?);
    found.map_or(Ok(Usage::default()), |row| {
        row::direct("usage of a day", usage(row))
    })
}
