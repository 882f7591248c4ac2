//! Deleting boards.

use std::sync::Arc;

use wh_domain::{
    Board, DeleteMode, Dependents, EventKind, Facts, NewEvent, Operation, Owner, Reference,
    ShareWith,
};

use crate::{
    App, AppError, BoardReason, OpContext, Resource, Result, board::board_event, context::facts,
};

impl App {
    /// Deletes a board. One that something depends on is refused, unless forced: then sessions, worktrees and loops stay without a
    /// board, and its tasks, notes and webhooks go with it.
    pub async fn board_delete(
        &self,
        cx: &OpContext,
        board: &Reference,
        mode: DeleteMode,
    ) -> Result<(Arc<Board>, Vec<Dependents>)> {
        let operation = Operation::BoardDelete;
        let mut audited = facts([("board", board.as_str()), ("mode", mode.as_str())]);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            let board = self.board_lookup(reach, board).await?;
            let dependents = self.store.board_dependents(board.id).await?;
            if mode == DeleteMode::IfUnused && !dependents.is_empty() {
                return Err(in_use(Resource::Board, dependents));
            }
            audited.extend(recorded(&dependents));
            let mut events = vec![board_event(cx, EventKind::Deleted, &board)];
            for share in &board.shares {
                if let ShareWith::User { id: user, .. } = share.with {
                    // Whoever it was shared with is told too, and nothing else of it.
                    events.push(NewEvent {
                        owner: Owner { user, key: None },
                        facts: Facts::new(),
                        ..board_event(cx, EventKind::Deleted, &board)
                    });
                }
            }
            let commit = cx.commit(operation, board.id.into(), audited, events);
            let _applied = self.store.board_delete(board.id, mode, commit).await?;
            Ok((board, dependents))
        })
        .await
    }
}

/// Returns the error for something that is not deleted because others depend on it.
pub(crate) fn in_use(resource: Resource, dependents: Vec<Dependents>) -> AppError {
    let refusal = BoardReason::InUse {
        resource,
        dependents,
    };
    refusal.into()
}

/// Returns what goes, for the audit entry.
pub(crate) fn recorded(dependents: &[Dependents]) -> Facts {
    let text = |it: &Dependents| (it.kind.as_str().to_owned(), it.count.to_string());
    dependents.iter().map(text).collect()
}
