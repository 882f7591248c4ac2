//! Copies of the database, made while it is in use.

use std::path::{Path, PathBuf};

use uuid::Uuid;
use wh_domain::{EventSeq, Operation, Subject, SubjectKind};

use crate::{App, OpContext, Result, ServerReason, context::facts};

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
        return Err(ServerReason::BackupPath.into());
    }
    if file.exists() {
        let path = file.to_owned();
        return Err(ServerReason::BackupExists { path }.into());
    }
    match file.parent() {
        Some(dir) if dir.is_dir() => Ok(()),
        _ => Err(ServerReason::BackupDirectory.into()),
    }
}
