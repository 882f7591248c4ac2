//! Copies of the database, made while it is in use.

use std::path::{Path, PathBuf};

use uuid::Uuid;
use wh_domain::{EventSeq, Operation, Subject, SubjectKind};

use crate::{App, AppError, OpContext, Result, context::facts};

impl App {
    /// Copies the database into `file`, which must not exist. Returns the number of the last event in the copy.
    pub async fn backup_create(&self, cx: &OpContext, file: PathBuf) -> Result<EventSeq> {
        let operation = Operation::BackupCreate;
        let facts = facts([("file", &file.display().to_string())]);
        self.change(cx, operation, facts.clone(), async {
            cx.authorize(operation)?;
            check_target(&file)?;
            let subject = Subject {
                kind: SubjectKind::Server,
                id: Uuid::nil(),
            };
            let commit = cx.commit(operation, subject, facts, vec![]);
            Ok(self.store.backup(&file, commit).await?)
        })
        .await
    }
}

fn check_target(file: &Path) -> Result<()> {
    if !file.is_absolute() {
        return Err(AppError::invalid(
            "the backup file must be named by an absolute path",
        ));
    }
    if file.exists() {
        let message = format!("{} exists already", file.display());
        return Err(AppError::invalid(message).hint("choose another name; backups never overwrite"));
    }
    match file.parent() {
        Some(dir) if dir.is_dir() => Ok(()),
        _ => Err(AppError::invalid(
            "the directory of the backup file does not exist",
        )),
    }
}
