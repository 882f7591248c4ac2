//! Reasons of denials, which agents read in a prompt: their protocol answers a permission with an option and nothing else.

use crate::{ApprovalKind, ApprovalState, Sender, Settlement, TurnState};

/// The reason of a denial that the agent has not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenialReason {
    pub kind: ApprovalKind,
    /// What was asked, in the agent's words.
    pub asked: String,
    pub reason: String,
    pub by: Sender,
}

impl Settlement {
    /// Returns whether this is a denial with a reason that the agent has to read. A rule or a timeout gives none.
    pub fn has_reason(&self) -> bool {
        let has_words = self.answer.as_ref().is_some_and(|text| !text.is_empty());
        self.state == ApprovalState::Denied && self.by.is_some() && has_words
    }
}

/// Returns whether reasons are sent in a prompt of their own once the turn that asked has ended like this.
///
/// The agent of a turn that somebody interrupted, or that failed, is left alone: its reasons go with the next prompt.
pub fn reasons_need_turn(ended: TurnState, was_interrupted: bool) -> bool {
    matches!(ended, TurnState::Completed | TurnState::Cancelled) && !was_interrupted
}

/// Returns the reasons that a prompt does not already quote: a turn that is queued for reasons alone does.
pub fn reasons_not_quoted(reasons: Vec<DenialReason>, prompt: &str) -> Vec<DenialReason> {
    let is_quoted = |it: &DenialReason| prompt.contains(&reasons_prompt(std::slice::from_ref(it)));
    reasons.into_iter().filter(|it| !is_quoted(it)).collect()
}

/// Returns the prompt by which an agent reads the reasons of denials. What people wrote is quoted.
pub fn reasons_prompt(reasons: &[DenialReason]) -> String {
    let mut text = String::new();
    for denial in reasons {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let (what, how) = match denial.kind {
            ApprovalKind::Permission => ("request", "denied"),
            ApprovalKind::Plan => ("plan", "rejected"),
            ApprovalKind::Question => ("question", "declined"),
        };
        text.push_str(&format!("Your {what} was {how}:"));
        push_quoted(&mut text, &denial.asked);
        text.push_str("\nReason:");
        push_quoted(&mut text, &denial.reason);
    }
    text
}

fn push_quoted(text: &mut String, words: &str) {
    for line in words.lines() {
        text.push_str("\n> ");
        text.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::UserId;

    fn sender() -> Sender {
        Sender {
            user: UserId::from_untyped_uuid(Uuid::nil()),
            session: None,
        }
    }

    #[test]
    fn every_reason_is_quoted_with_what_was_asked() {
        let reason = |kind, asked: &str, reason: &str| DenialReason {
            kind,
            asked: asked.to_owned(),
            reason: reason.to_owned(),
            by: sender(),
        };
        let prompt = reasons_prompt(&[
            reason(ApprovalKind::Permission, "drop it", "use staging\nalways"),
            reason(ApprovalKind::Question, "which?", "ask Mia"),
        ]);
        let expected = "Your request was denied:\n> drop it\nReason:\n> use staging\n> always\n\n\
                        Your question was declined:\n> which?\nReason:\n> ask Mia";
        assert_eq!(prompt, expected);
    }

    #[test]
    fn a_prompt_of_reasons_is_not_given_them_again() {
        let reason = |asked: &str| DenialReason {
            kind: ApprovalKind::Permission,
            asked: asked.to_owned(),
            reason: "use staging".to_owned(),
            by: sender(),
        };
        let [one, other] = ["drop it", "drop all"].map(reason);
        let both = vec![one.clone(), other.clone()];
        assert_eq!(reasons_not_quoted(both.clone(), &reasons_prompt(&both)), []);
        let prompt = reasons_prompt(&[one]);
        assert_eq!(reasons_not_quoted(both.clone(), &prompt), [other]);
        assert_eq!(reasons_not_quoted(both.clone(), "use staging"), both);
    }

    #[test]
    fn only_somebodys_denial_in_words_has_a_reason() {
        let settlement = |state, answer: Option<&str>, by| Settlement {
            state,
            answer: answer.map(str::to_owned),
            always: false,
            by,
        };
        let somebody = Some(sender());
        assert!(settlement(ApprovalState::Denied, Some("no"), somebody).has_reason());
        assert!(!settlement(ApprovalState::Denied, None, somebody).has_reason());
        assert!(!settlement(ApprovalState::Denied, Some("by a rule"), None).has_reason());
        assert!(!settlement(ApprovalState::Allowed, Some("blue"), somebody).has_reason());
        assert!(!settlement(ApprovalState::TimedOut, Some("late"), None).has_reason());
    }

    #[test]
    fn an_interrupted_or_failed_turn_is_not_followed_by_another() {
        assert!(reasons_need_turn(TurnState::Completed, false));
        // Some agents end their turn when a permission is rejected.
        assert!(reasons_need_turn(TurnState::Cancelled, false));
        assert!(!reasons_need_turn(TurnState::Cancelled, true));
        assert!(!reasons_need_turn(TurnState::Completed, true));
        assert!(!reasons_need_turn(TurnState::Failed, false));
    }
}
