//! Turns: what was asked, and what came of it.

use wh_domain::{Operation, Page, PageRequest, PromptFile, Reach, Reference, SessionId, Turn};

use crate::{
    App, AppError, OpContext, Result,
    context::facts,
    lookup::{id_of, only_one},
};

impl App {
    /// Lists the turns of a session, latest first; a page begins before a turn named by its number or its id.
    pub async fn turn_list(
        &self,
        cx: &OpContext,
        session: &Reference,
        page: PageRequest<Reference>,
    ) -> Result<Page<Turn, u64>> {
        let operation = Operation::TurnList;
        let facts = facts([("session", session.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let found = self.session_lookup(reach, session).await?;
            let after = match &page.after {
                Some(turn) => Some(self.turn_number(reach, found.id, turn).await?),
                None => None,
            };
            let page = page.after(after);
            Ok(self.store.turn_list(reach, found.id, page).await?)
        })
        .await
    }

    /// Returns the number of a turn that is named by its number or its id.
    async fn turn_number(&self, reach: Reach, session: SessionId, turn: &Reference) -> Result<u64> {
        let number = turn.as_str().parse().ok();
        // An abbreviated id may happen to consist of decimal digits.
        let found = match (number, id_of(turn)) {
            (Some(number), Err(_)) => return Ok(number),
            (_, id) => self.store.turn_find(reach, &id?).await?,
        };
        let mut of_session = found.into_iter().filter(|it| it.session == session);
        match (of_session.next(), number) {
            (Some(turn), _) => Ok(turn.number),
            (None, Some(number)) => Ok(number),
            (None, None) => Err(AppError::not_found("turn")),
        }
    }

    /// Returns one turn.
    pub async fn turn_get(&self, cx: &OpContext, turn: &Reference) -> Result<Turn> {
        let operation = Operation::TurnGet;
        self.read(cx, operation, facts([("turn", turn.as_str())]), async {
            let reach = cx.authorize(operation)?;
            let found = self.store.turn_find(reach, &id_of(turn)?).await?;
            only_one("turn", found, |turn| turn.id.to_string())
        })
        .await
    }

    /// Returns a file that came with a turn's prompt, by its number from 1.
    pub async fn turn_file(
        &self,
        cx: &OpContext,
        turn: &Reference,
        number: u32,
    ) -> Result<PromptFile> {
        let operation = Operation::TurnFile;
        self.read(cx, operation, facts([("turn", turn.as_str())]), async {
            let reach = cx.authorize(operation)?;
            let found = self.store.turn_find(reach, &id_of(turn)?).await?;
            let turn = only_one("turn", found, |turn| turn.id.to_string())?;
            let file = self.store.turn_file(turn.id, number).await?;
            file.ok_or_else(|| AppError::not_found("file"))
        })
        .await
    }
}
