//! What a typed line means.

use wh_api::ApprovalAnswerRequest;

/// Shown by `/help`.
pub(super) const HELP: &str =
    "a line is a prompt; /approve /always /deny [REASON] /steer TEXT /interrupt /detach";

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
