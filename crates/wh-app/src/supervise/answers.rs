//! Answers to approval requests: resends them until the runner confirms them, and denies requests that time out.

use jiff::{SignedDuration, Timestamp};
use wh_domain::{Approval, ApprovalKind, ApprovalState, OptionKind, Settlement};
use wh_runner::link::{Action, Outcome, Refusal};
use wh_store::{RunFact, SessionWork};

use super::keeper::Keeper;
use crate::Result;

/// How long to wait before an answer is sent again to an agent that does not read its input.
const RESEND_AFTER: SignedDuration = SignedDuration::from_secs(2);

/// What came of sending an answer.
enum Sent {
    /// The agent has it, or does not wait for it any more.
    Confirmed,
    /// It has to be sent again: the link failed, or the agent does not read.
    NotConfirmed,
    /// The agent offers no option that expresses it.
    Unsupported(String),
}

impl Keeper {
    /// Sends the answers that the runner has not confirmed, and settles what nobody answered in time. Returns whether there is
    /// something else to do now.
    pub(super) async fn settle_approvals(
        &mut self,
        work: &SessionWork,
        now: Timestamp,
        until: &mut Timestamp,
    ) -> Result<bool> {
        let mut facts = Vec::new();
        for approval in &work.approvals {
            if approval.state == ApprovalState::Pending {
                self.settle_in_time(work, approval, now, until, &mut facts);
                continue;
            }
            match self.send_answer(approval).await {
                Sent::Confirmed => facts.push(RunFact::Delivered(approval.id)),
                Sent::NotConfirmed => *until = (*until).min(now + RESEND_AFTER),
                Sent::Unsupported(why) if approval.state == ApprovalState::Allowed => {
                    let text =
                        format!("the answer could not be sent, and is asked for again: {why}");
                    facts.push(self.note(work, text));
                    facts.push(RunFact::Reopened(approval.id));
                }
                // Runners of earlier versions send no denial without an option for it; cancelling the turn settles the request.
                Sent::Unsupported(why) => {
                    let id = format!("cancel-{}", approval.id);
                    if self.tell(id, Action::Cancel).await?.is_some() {
                        let text = format!("the turn was cancelled to deny a request: {why}");
                        facts.push(self.note(work, text));
                        facts.push(RunFact::Delivered(approval.id));
                    }
                }
            }
            if self.link.is_none() {
                // The rest is sent over the next link.
                break;
            }
        }
        let is_changed = !facts.is_empty() || self.link.is_none();
        if !facts.is_empty() {
            self.say(&work.session, facts).await?;
        }
        Ok(is_changed)
    }

    /// Settles an approval whose time is over; otherwise looks again when it is.
    fn settle_in_time(
        &self,
        work: &SessionWork,
        approval: &Approval,
        now: Timestamp,
        until: &mut Timestamp,
        facts: &mut Vec<RunFact>,
    ) {
        match approval.expires_at {
            Some(at) if at <= now => {
                let settlement = Settlement {
                    state: ApprovalState::TimedOut,
                    answer: Some("nobody answered in time".to_owned()),
                    always: false,
                    by: None,
                };
                let request = approval.request.clone();
                let text = format!("nobody answered in time, which denies: {}", approval.text);
                facts.push(self.note(work, text));
                facts.push(RunFact::Settled {
                    request,
                    settlement,
                    said: None,
                });
            }
            Some(at) => *until = (*until).min(at),
            None => {}
        }
    }

    /// Sends an answer. Each attempt has its own command id; the runner answers a request only once.
    async fn send_answer(&mut self, approval: &Approval) -> Sent {
        let Some(link) = &mut self.link else {
            return Sent::NotConfirmed;
        };
        let id = format!("answer-{}-{}", approval.id, self.app.ids.next());
        match link.command(&id, answer_of(approval)).await {
            Ok(Outcome::Done) => Sent::Confirmed,
            Ok(Outcome::Refused { code, message }) => match code {
                Refusal::Unknown => Sent::Confirmed,
                Refusal::Unsupported => Sent::Unsupported(message),
                Refusal::NotReady | Refusal::Busy | Refusal::Stuck => Sent::NotConfirmed,
            },
            Ok(Outcome::Status(_)) => Sent::NotConfirmed,
            Err(error) => {
                tracing::debug!(session = %self.session, %error, "an answer was not confirmed");
                self.link = None;
                Sent::NotConfirmed
            }
        }
    }
}

/// Returns the command that answers a request as it was settled.
fn answer_of(approval: &Approval) -> Action {
    let allowed = approval.state == ApprovalState::Allowed;
    if approval.kind == ApprovalKind::Question {
        return Action::AnswerQuestion {
            question: approval.request.clone(),
            answer: approval.answer.clone().filter(|_| allowed),
        };
    }
    Action::AnswerPermission {
        permission: approval.request.clone(),
        kind: OptionKind::of(allowed, approval.always).into(),
    }
}
