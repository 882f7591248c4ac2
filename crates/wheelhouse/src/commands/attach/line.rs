//! What a typed line means.

use wh_api::ApprovalAnswerRequest;

/// Shown by `/help`.
pub(super) const HELP: &[(&str, &str)] = &[
    (
        "TEXT",
        "send a prompt; when the agent has asked a question, the answer",
    ),
    ("/approve", "allow what the agent asks for, once"),
    (
        "/always",
        "allow everything of its kind, if the agent offers that",
    ),
    ("/deny [REASON]", "deny it; the agent reads the reason"),
    ("/steer TEXT", "end the turn and send this instead"),
    ("/interrupt", "end the turn; Ctrl-C does the same"),
    (
        "/detach",
        "leave; the session continues. Ctrl-D does the same",
    ),
    ("//TEXT", "send a prompt that begins with a slash"),
    (
        "Alt-Enter",
        "add a line; a backslash at the end of a line does the same",
    ),
];

/// The words with a slash, as they are completed.
pub(super) const COMMANDS: [&str; 7] = [
    "/approve",
    "/always",
    "/deny",
    "/steer",
    "/interrupt",
    "/detach",
    "/help",
];

/// Returns whether a line ends the conversation here.
pub(super) fn leaves(line: &str) -> bool {
    matches!(Line::read(line, None), Line::Detach)
}

/// A line of a conversation.
#[derive(Debug)]
pub(super) enum Line {
    Nothing,
    Prompt(String),
    Steer(String),
    /// How an approval is to be settled: the one that is named, or else the oldest.
    Settle(ApprovalAnswerRequest),
    Interrupt,
    Detach,
    Help,
    /// A word with a slash that means nothing here.
    Unknown(String),
}

impl Line {
    /// Reads a line. While the question of an approval is open, plain text answers it.
    pub(super) fn read(line: &str, question: Option<&str>) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Nothing;
        }
        if let Some(prompt) = line.strip_prefix("//") {
            return Self::Prompt(format!("/{prompt}"));
        }
        if !line.starts_with('/') {
            return match question {
                Some(approval) => Self::Settle(ApprovalAnswerRequest {
                    approval: approval.to_owned(),
                    ..answer("allow", line, false)
                }),
                None => Self::Prompt(line.to_owned()),
            };
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "/approve" => Self::Settle(answer("allow", rest, false)),
            "/always" => Self::Settle(answer("allow", rest, true)),
            "/deny" => Self::Settle(answer("deny", rest, false)),
            "/steer" if !rest.is_empty() => Self::Steer(rest.to_owned()),
            "/interrupt" => Self::Interrupt,
            "/detach" | "/quit" | "/exit" => Self::Detach,
            "/help" => Self::Help,
            _ => Self::Unknown(word.to_owned()),
        }
    }
}

fn answer(decision: &str, text: &str, always: bool) -> ApprovalAnswerRequest {
    ApprovalAnswerRequest {
        decision: decision.to_owned(),
        always: always.then_some(true),
        text: (!text.is_empty()).then(|| text.to_owned()),
        ..ApprovalAnswerRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_prompts_unless_they_begin_with_a_slash() {
        assert!(matches!(Line::read("  ", None), Line::Nothing));
        assert!(matches!(Line::read(" do it ", None), Line::Prompt(text) if text == "do it"));
        assert!(matches!(Line::read("//compact", None), Line::Prompt(text) if text == "/compact"));
        assert!(matches!(Line::read("/steer left", None), Line::Steer(text) if text == "left"));
        for unknown in ["/steer", "/nonsense x", "/"] {
            assert!(
                matches!(Line::read(unknown, Some("1")), Line::Unknown(_)),
                "{unknown}"
            );
        }
    }

    #[test]
    fn every_command_that_is_completed_is_known_and_explained() {
        for command in COMMANDS {
            let line = Line::read(&format!("{command} x"), None);
            assert!(!matches!(line, Line::Unknown(_)), "{command}");
            let is_explained = HELP.iter().any(|(name, _)| name.starts_with(command));
            assert!(is_explained || command == "/help", "{command}");
        }
        assert!(leaves(" /quit ") && !leaves("/interrupt") && !leaves("//detach"));
    }

    #[test]
    fn a_question_is_answered_by_plain_text() {
        let Line::Settle(answer) = Line::read("blue", Some("1")) else {
            panic!("not an answer");
        };
        let said = (answer.approval.as_str(), answer.decision.as_str());
        assert_eq!(said, ("1", "allow"));
        assert_eq!(answer.text.as_deref(), Some("blue"));
        let Line::Settle(answer) = Line::read("/deny too late", None) else {
            panic!("not an answer");
        };
        assert_eq!(
            (answer.decision.as_str(), answer.text.as_deref()),
            ("deny", Some("too late"))
        );
    }
}
