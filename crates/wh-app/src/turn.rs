//! Turns: what was asked, and what came of it.

use wh_domain::{
    ErrorCode, InputRefusal, Operation, Page, PageLimit, PageRequest, PromptFile, Reach, Reference,
    SessionId, Turn,
};

use crate::{
    App, AppError, OpContext, Resource, Result,
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
        let found = found.into_iter().filter(|it| it.session == session);
        match (only_turn(found.collect()), number) {
            (Ok(turn), _) => Ok(turn.number),
            (Err(error), Some(number)) if error.code() == ErrorCode::NotFound => Ok(number),
            (Err(error), _) => Err(error),
        }
    }

    /// Finds a turn of a session by its number or its id.
    pub(crate) async fn turn_of(
        &self,
        reach: Reach,
        session: SessionId,
        turn: &Reference,
    ) -> Result<Turn> {
        let number = self.turn_number(reach, session, turn).await?;
        let page = PageRequest {
            after: number.checked_add(1),
            ..PageRequest::first(PageLimit::clamped(Some(1)))
        };
        let found = self.store.turn_list(reach, session, page).await?.items;
        let mut found = found.into_iter().filter(|turn| turn.number == number);
        found
            .next()
            .ok_or_else(|| AppError::not_found(Resource::Turn))
    }

    /// Finds a turn by its id or, with the session that it is of, by its number.
    async fn turn_lookup(
        &self,
        cx: &OpContext,
        reach: Reach,
        session: Option<&Reference>,
        turn: &Reference,
    ) -> Result<Turn> {
        match self.numbered_in(cx, reach, session, turn).await? {
            Some(session) => self.turn_of(reach, session, turn).await,
            None => only_turn(self.store.turn_find(reach, &id_of(turn)?).await?),
        }
    }

    /// Returns the session that something is looked for in: the one that is named, and for a number the caller's own.
    pub(crate) async fn numbered_in(
        &self,
        cx: &OpContext,
        reach: Reach,
        session: Option<&Reference>,
        entry: &Reference,
    ) -> Result<Option<SessionId>> {
        if let Some(session) = session {
            return Ok(Some(self.session_lookup(reach, session).await?.id));
        }
        if id_of(entry).is_ok() || entry.as_str().parse::<u64>().is_err() {
            return Ok(None);
        }
        let own = cx.principal.credential.session();
        let missing = || InputRefusal::new("session", "is needed with a number; ids need none");
        Ok(Some(own.ok_or_else(missing)?))
    }

    /// Returns one turn.
    pub async fn turn_get(
        &self,
        cx: &OpContext,
        session: Option<&Reference>,
        turn: &Reference,
    ) -> Result<Turn> {
        let operation = Operation::TurnGet;
        self.read(cx, operation, facts([("turn", turn.as_str())]), async {
            let reach = cx.authorize(operation)?;
            self.turn_lookup(cx, reach, session, turn).await
        })
        .await
    }

    /// Returns a file that came with a turn's prompt, by its number from 1.
    pub async fn turn_file(
        &self,
        cx: &OpContext,
        session: Option<&Reference>,
        turn: &Reference,
        number: u32,
    ) -> Result<PromptFile> {
        let operation = Operation::TurnFile;
        self.read(cx, operation, facts([("turn", turn.as_str())]), async {
            let reach = cx.authorize(operation)?;
            let turn = self.turn_lookup(cx, reach, session, turn).await?;
            let file = self.store.turn_file(turn.id, number).await?;
            file.ok_or_else(|| AppError::not_found(Resource::File))
        })
        .await
    }
}

fn only_turn(found: Vec<Turn>) -> Result<Turn> {
    only_one(Resource::Turn, found, |turn| turn.id.to_string())
}
