//! Answers that are typed while a turn is followed.

use std::io::{IsTerminal, stdin};

use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use wh_api::{ApprovalAnswerRequest, ApprovalView, SessionView};
use wh_client::Client;

use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::follow::Standing;

/// What can be typed when the agent asks for permission.
const LETTERS: &str = "type y to allow it, a to allow all of its kind, n to deny it; text after n is the reason, which the agent reads";

/// The terminal of a user who follows a turn.
pub(super) struct Keyboard<'a> {
    cx: &'a Context,
    client: &'a Client,
    session: &'a SessionView,
    /// Absent when nobody types.
    lines: Option<Lines<BufReader<Stdin>>>,
    gave_reason: bool,
}

impl<'a> Keyboard<'a> {
    /// Listens, if somebody sits at the terminal and this command is in its foreground.
    pub(super) fn open(cx: &'a Context, client: &'a Client, session: &'a SessionView) -> Self {
        let is_attended = !cx.ui.is_json() && stdin().is_terminal() && is_in_foreground();
        let lines = is_attended.then(|| BufReader::new(tokio::io::stdin()).lines());
        Self {
            cx,
            client,
            session,
            lines,
            gave_reason: false,
        }
    }

    /// Returns whether somebody can answer here.
    pub(super) fn is_attended(&self) -> bool {
        self.lines.is_some()
    }

    /// Returns whether a reason was typed, which the agent reads when the turn is over.
    pub(super) fn gave_reason(&self) -> bool {
        self.gave_reason
    }

    /// Waits for a line; waits forever when nobody types.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was typed of a line is kept.
    pub(super) async fn line(&mut self) -> Option<String> {
        match &mut self.lines {
            Some(lines) => lines.next_line().await.ok().flatten(),
            None => std::future::pending().await,
        }
    }

    /// Answers what the agent has asked for longest with a line; the end of input means that nobody answers any more.
    pub(super) async fn answer(
        &mut self,
        line: Option<String>,
        standing: &mut Standing,
    ) -> CliResult {
        let Some(line) = line else {
            self.lines = None;
            return Ok(());
        };
        let line = line.trim();
        let Some(approval) = standing.approvals.first().filter(|_| !line.is_empty()) else {
            return match line {
                "" => Ok(()),
                _ => self.cx.ui.note(&format!(
                    "the agent asks for nothing; `wheelhouse send {} 'PROMPT'` sends a prompt",
                    self.session.short_id
                )),
            };
        };
        let Some(request) = read(line, approval) else {
            return self.cx.ui.note(LETTERS);
        };
        match self.client.approval_answer(&request).await {
            Ok(settled) => {
                standing.approvals.remove(0);
                self.gave_reason |= request.decision == "deny" && request.text.is_some();
                let note = format!("{}: {}", settled.state, settled.text);
                self.cx.ui.note(&note)
            }
            // Somebody else may have answered; the turn goes on and is followed.
            Err(error) => {
                self.cx.ui.error(&CliError::from(error));
                Ok(())
            }
        }
    }
}

/// Returns whether this command is the one that the terminal's keys go to.
fn is_in_foreground() -> bool {
    rustix::termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Returns the answer that a line means, if it means one.
fn read(line: &str, approval: &ApprovalView) -> Option<ApprovalAnswerRequest> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim_end_matches([',', '.', ':', ';']).to_lowercase();
    let (decision, always, text) = match (approval.kind.as_str(), word.as_str()) {
        (_, "/deny") => ("deny", false, rest),
        ("question", _) => ("allow", false, line),
        (_, "y" | "yes" | "/approve") => ("allow", false, ""),
        (_, "a" | "always" | "/always") => ("allow", true, ""),
        (_, "n" | "no") => ("deny", false, rest),
        _ => return None,
    };
    Some(ApprovalAnswerRequest {
        approval: approval.id.clone(),
        decision: decision.to_owned(),
        always: always.then_some(true),
        text: Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        ..ApprovalAnswerRequest::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(kind: &str) -> ApprovalView {
        ApprovalView {
            id: "89abcdef".to_owned(),
            session: String::new(),
            kind: kind.to_owned(),
            state: "pending".to_owned(),
            text: String::new(),
            detail: None,
            answer: None,
            answered_by: None,
            answered_by_session_id: None,
            expires_at: None,
            created_at: String::new(),
        }
    }

    #[test]
    fn letters_answer_a_permission() {
        for (line, expected) in [
            ("y", Some(("allow", None, None))),
            ("Yes", Some(("allow", None, None))),
            ("a", Some(("allow", Some(true), None))),
            ("n", Some(("deny", None, None))),
            ("no, use staging", Some(("deny", None, Some("use staging")))),
            ("/deny not now", Some(("deny", None, Some("not now")))),
            ("yellow", None),
            ("do it", None),
        ] {
            for kind in ["permission", "plan"] {
                let read = read(line, &approval(kind));
                let read = read.as_ref();
                let said = read.map(|it| (it.decision.as_str(), it.always, it.text.as_deref()));
                assert_eq!(said, expected, "{line}");
            }
        }
    }

    #[test]
    fn any_text_answers_a_question() {
        for (line, decision, text) in [
            ("y", "allow", Some("y")),
            ("no, the blue one", "allow", Some("no, the blue one")),
            ("/deny too late", "deny", Some("too late")),
            ("/deny", "deny", None),
        ] {
            let read = read(line, &approval("question")).unwrap();
            assert_eq!(
                (read.decision.as_str(), read.text.as_deref()),
                (decision, text)
            );
        }
    }
}
