//! Approvals: listed and answered.

use serde::Deserialize;
use uuid::Uuid;
use wh_domain::{
    Approval, ApprovalFilter, ApprovalKind, ApprovalState, EventKind, NewEvent, Operation,
    OptionKind, Page, PageRequest, Reference, Settlement,
};

use crate::{
    App, OpContext, Resource, Result, SessionReason,
    context::facts,
    lookup::{id_of, only_one},
};

/// The most bytes of an answer or a reason.
const ANSWER_BYTES_MAX: usize = 32_000;

/// Which approvals a list holds.
#[derive(Clone, Debug, Default)]
pub struct ApprovalQuery {
    pub session: Option<Reference>,
    pub include_settled: bool,
}

/// How an approval is to be settled.
#[derive(Clone, Debug)]
pub struct ApprovalAnswer {
    pub allow: bool,
    /// The same for everything of this kind from now on, if the agent offers that.
    pub always: bool,
    /// The answer to a question, or the reason of a denial, which the agent reads in its next prompt.
    pub text: Option<String>,
}

impl App {
    /// Lists what waits for a decision, newest first.
    pub async fn approval_list(
        &self,
        cx: &OpContext,
        query: ApprovalQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Approval, Uuid>> {
        let operation = Operation::ApprovalList;
        let asked = query.session.as_ref().map_or("", Reference::as_str);
        self.read(cx, operation, facts([("session", asked)]), async {
            let reach = cx.authorize(operation)?;
            let session = match &query.session {
                Some(session) => Some(self.session_lookup(reach, session).await?.id),
                None => None,
            };
            let filter = ApprovalFilter {
                session,
                include_settled: query.include_settled,
            };
            Ok(self.store.approval_list(reach, &filter, page).await?)
        })
        .await
    }

    /// Settles an approval. Of several answers the first counts.
    pub async fn approval_answer(
        &self,
        cx: &OpContext,
        approval: &Reference,
        answer: ApprovalAnswer,
    ) -> Result<Approval> {
        let operation = Operation::ApprovalAnswer;
        let verdict = if answer.allow { "allow" } else { "deny" };
        let facts = facts([("approval", approval.as_str()), ("answer", verdict)]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let id = id_of(approval)?;
            let found = self.store.approval_find(reach, &id).await?;
            let found = only_one(Resource::Approval, found, |it| it.id.to_string())?;
            let session = Reference::from(found.session);
            let session = self.session_lookup(reach, &session).await?;
            self.check_directs(cx, &session).await?;
            if answer.allow {
                self.check_allows(cx, &session, &found).await?;
            }
            check_offered(&found, &answer)?;
            let settlement = Settlement {
                state: if answer.allow {
                    ApprovalState::Allowed
                } else {
                    ApprovalState::Denied
                },
                answer: checked_text(&found, &answer)?,
                always: answer.always,
                by: Some(cx.sender()),
            };
            let events = vec![NewEvent {
                kind: EventKind::StateChanged,
                subject: found.id.into(),
                owner: session.owner,
                session: Some(session.id),
                actor: Some(cx.principal.user),
                facts: crate::context::facts([("state", settlement.state.as_str())]),
            }];
            let commit = cx.commit(operation, found.id.into(), facts, events);
            let settle = self.store.approval_settle(found.id, &settlement, commit);
            let _applied = settle.await?;
            self.wake(session.id);
            let found = self.store.approval_find(reach, &id).await?;
            only_one(Resource::Approval, found, |it| it.id.to_string())
        })
        .await
    }
}

/// An option of a request for permission, as an approval's detail holds it.
#[derive(Deserialize)]
struct Offered {
    name: String,
    kind: String,
}

#[derive(Deserialize)]
struct Detail {
    options: Vec<Offered>,
}

/// Checks that the agent offers an option that expresses the answer.
fn check_offered(approval: &Approval, answer: &ApprovalAnswer) -> Result<()> {
    let detail = approval.detail.as_deref();
    let detail = detail.and_then(|text| serde_json::from_str::<Detail>(text).ok());
    // A question has no options.
    let (Some(detail), ApprovalState::Pending) = (detail, approval.state) else {
        return Ok(());
    };
    let kinds = detail.options.iter();
    let kinds: Vec<_> = kinds.filter_map(|it| OptionKind::parse(&it.kind)).collect();
    let wanted = OptionKind::of(answer.allow, answer.always);
    if wanted.can_be_sent(&kinds) {
        return Ok(());
    }
    let options = detail.options.iter();
    let options: Vec<_> = options
        .map(|it| format!("{:?} ({})", it.name, it.kind))
        .collect();
    let options = match options.is_empty() {
        true => "none".to_owned(),
        false => options.join(", "),
    };
    let refusal = SessionReason::OptionNotOffered {
        wanted: wanted.as_str(),
        offered: options,
        can_allow_always: kinds.contains(&OptionKind::AllowAlways),
    };
    Err(refusal.into())
}

/// Checks that the words fit what is asked.
fn checked_text(approval: &Approval, answer: &ApprovalAnswer) -> Result<Option<String>> {
    let text = answer.text.as_ref().map(|text| text.trim().to_owned());
    let text = text.filter(|text| !text.is_empty());
    if text
        .as_ref()
        .is_some_and(|text| text.len() > ANSWER_BYTES_MAX)
    {
        let bytes_max = ANSWER_BYTES_MAX;
        return Err(SessionReason::AnswerTooLong { bytes_max }.into());
    }
    if approval.kind == ApprovalKind::Question && answer.allow && text.is_none() {
        return Err(SessionReason::AnswerWithoutText.into());
    }
    Ok(text)
}
