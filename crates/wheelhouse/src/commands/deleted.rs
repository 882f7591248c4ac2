//! What `rm` of a board, a repository or a user shows.

use wh_api::DeletedView;

use crate::context::Context;
use crate::exit::CliResult;

/// Prints what was deleted, including dependent resources.
pub(super) fn show(cx: &Context, what: &str, deleted: &DeletedView) -> CliResult {
    cx.ui.answer(deleted, |ui| {
        ui.line(&format!("deleted the {what} {}", deleted.name))?;
        for it in &deleted.dependents {
            let first = it.first.join(", ");
            ui.note(&format!("{} {}: {first}", it.count, it.kind))?;
        }
        if let Some(kept) = &deleted.kept {
            ui.note(&format!("its branches and saved work are kept in {kept}"))?;
        }
        Ok(())
    })
}
