//! What agents offer: models and commands, stored as JSON arrays of pairs.

use jiff::Timestamp;
use sqlx::SqliteConnection;
use wh_domain::{AgentCommand, AgentName, OfferedModel, SessionId};
use wh_store::Result;

use crate::error::store_error;
use crate::row::{int, micros, uuid};

/// Keeps the models that an agent offers, for everybody who starts its next session.
pub(crate) async fn keep_models(
    conn: &mut SqliteConnection,
    agent: &AgentName,
    models: &[OfferedModel],
    at: Timestamp,
) -> Result<()> {
    let pairs = models.iter().map(|model| (&model.id, &model.name));
    sqlx::query(
        "INSERT INTO agent_models (agent, models, seen_at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET models = ?2, seen_at = ?3 WHERE models <> ?2",
    )
    .bind(agent.as_str())
    .bind(pairs_text(pairs))
    .bind(micros(at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}

pub(crate) async fn models_on_conn(
    conn: &mut SqliteConnection,
    agent: &AgentName,
) -> Result<Vec<OfferedModel>> {
    let found = sqlx::query_scalar("SELECT models FROM agent_models WHERE agent = ?")
        .bind(agent.as_str())
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    let model = |(id, name)| OfferedModel { id, name };
    Ok(pairs(found).into_iter().map(model).collect())
}

pub(crate) fn commands_text(commands: &[AgentCommand]) -> String {
    pairs_text(commands.iter().map(|it| (&it.name, &it.about)))
}

pub(crate) async fn commands_on_conn(
    conn: &mut SqliteConnection,
    session: SessionId,
    epoch: u64,
) -> Result<Vec<AgentCommand>> {
    let sql = "SELECT commands FROM runs WHERE session_id = ? AND epoch = ?";
    let found = sqlx::query_scalar::<_, Option<String>>(sql)
        .bind(uuid(session))
        .bind(int(epoch))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    let command = |(name, about)| AgentCommand { name, about };
    Ok(pairs(found.flatten()).into_iter().map(command).collect())
}

fn pairs_text<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    serde_json::to_string(&pairs.collect::<Vec<_>>()).unwrap_or_default()
}

fn pairs(text: Option<String>) -> Vec<(String, String)> {
    let read = |text: String| serde_json::from_str(&text).ok();
    text.and_then(read).unwrap_or_default()
}
