//! Sessions that lead: what they direct, and how whatever they create is narrowed to what they may do themselves.
//!
//! The rules are in `wh-domain` (`lead`); here the calling session is looked up, so that they compare what holds now.

use wh_domain::{
    Approval, Board, BoardId, Budget, LeadRefusal, Reach, Reference, Session, Verdict,
};
use wh_runner::event::ToolCall;

use crate::{App, AppError, OpContext, Resource, Result, SessionReason, supervise::action_of};

/// A calling session that leads.
pub(crate) struct Lead {
    pub(crate) session: Session,
    /// Its remaining budget.
    left: Budget,
}

impl Lead {
    /// Returns the budget available to something it creates; an error when the budget is used up.
    pub(crate) fn budget_left(&self) -> Result<Budget> {
        match self.left.used_up() {
            None => Ok(self.left),
            Some(part) => Err(SessionReason::LeadBudgetSpent { part }.into()),
        }
    }
}

impl App {
    /// Returns the calling session if it leads.
    pub(crate) async fn lead(&self, cx: &OpContext) -> Result<Option<Lead>> {
        let Some(own) = cx.principal.credential.session() else {
            return Ok(None);
        };
        if !cx.principal.leads() {
            return Ok(None);
        }
        let work = self.store.work_get(own).await?;
        let work = work.ok_or_else(|| AppError::not_found(Resource::Session))?;
        Ok(Some(Lead {
            session: work.session,
            left: work.budget_left,
        }))
    }

    /// Refuses to let a session direct itself, because it would wait for its own end, and to let one that leads direct what may do
    /// more than itself.
    pub(crate) async fn check_directs(&self, cx: &OpContext, session: &Session) -> Result<()> {
        let Some(own) = cx.principal.credential.session() else {
            return Ok(());
        };
        if own == session.id {
            let leads = cx.principal.leads();
            return Err(SessionReason::Itself { leads }.into());
        }
        if let Some(lead) = self.lead(cx).await? {
            lead.session.check_leads(session)?;
        }
        Ok(())
    }

    /// Refuses to let a session that leads allow what its own policy denies.
    pub(crate) async fn check_allows(
        &self,
        cx: &OpContext,
        session: &Session,
        approval: &Approval,
    ) -> Result<()> {
        let Some(lead) = self.lead(cx).await? else {
            return Ok(());
        };
        let detail = approval.detail.as_deref();
        let detail = detail.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let call = detail.and_then(|detail| {
            let call = detail.get("call")?.clone();
            serde_json::from_value::<ToolCall>(call).ok()
        });
        let Some(call) = call else { return Ok(()) };
        let home = self.session_place(session).await?;
        let home = home.canonicalize().unwrap_or(home);
        match lead.session.policy.decide(&action_of(&call, &home), &home) {
            Verdict::Ask | Verdict::Allow => Ok(()),
            Verdict::Deny => Err(LeadRefusal::DeniedToItself.into()),
        }
    }

    /// Refuses to let a session that leads create something on a board that others can see.
    pub(crate) async fn check_creates_on(
        &self,
        lead: Option<&Lead>,
        board: Option<BoardId>,
    ) -> Result<()> {
        let (Some(lead), Some(board)) = (lead, board) else {
            return Ok(());
        };
        let board = self
            .board_lookup(Reach::All, &Reference::from(board))
            .await?;
        Ok(lead.session.check_creates_on(&board)?)
    }

    /// Refuses to let a session that leads place something on a board that others can see.
    pub(crate) fn check_places(cx: &OpContext, before: &Board, after: &Board) -> Result<()> {
        match cx.principal.leads() {
            true => Ok(after.check_lead_places(before)?),
            false => Ok(()),
        }
    }
}
