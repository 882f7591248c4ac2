//! Files that come with prompts.

use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{FileAbout, FileName, NewTurn, PromptFile};
use wh_store::Result;

use crate::error::store_error;
use crate::row::{self, Parsed, uuid};

/// Returns what is kept with the turn.
pub(super) fn about_text(files: &[PromptFile]) -> Option<String> {
    let about: Vec<FileAbout> = files.iter().map(PromptFile::about).collect();
    let text = || serde_json::to_string(&about).unwrap_or_default();
    (!about.is_empty()).then(text)
}

pub(super) fn about_column(row: &SqliteRow) -> Parsed<Vec<FileAbout>> {
    let about = row::parse_opt(row, "files", |text| serde_json::from_str(text))?;
    Ok(about.unwrap_or_default())
}

pub(super) fn file_row(row: &SqliteRow) -> Parsed<PromptFile> {
    Ok(PromptFile {
        name: row::parse(row, "name", FileName::parse)?,
        data: row::get(row, "data")?,
    })
}

pub(super) async fn insert_in_txn(conn: &mut SqliteConnection, turn: &NewTurn) -> Result<()> {
    for (number, file) in (1_i64..).zip(&turn.files) {
        let sql = "INSERT INTO turn_files (turn_id, number, name, data) VALUES (?, ?, ?, ?)";
        sqlx::query(sql)
            .bind(uuid(turn.id))
            .bind(number)
            .bind(file.name.as_str())
            .bind(&file.data)
            .execute(&mut *conn)
            .await
            .map_err(store_error)?;
    }
    Ok(())
}
