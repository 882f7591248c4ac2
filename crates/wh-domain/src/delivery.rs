//! Deliveries: a durable "tell X that Y happened".

use crate::{AgentName, ApprovalId, Dialect, McpDialect, SessionId, ShortId, Title};

/// The most characters of what a child said that its parent is told.
pub const NEWS_WORDS_MAX: usize = 4_000;

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryKind {
    /// A parent session, by a prompt.
    Callback,
    /// An address, by a signed request.
    Webhook,
}

impl DeliveryKind {
    /// Returns the kind as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Webhook => "webhook",
        }
    }
}

/// How a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    Pending,
    Delivered,
    /// Not worth telling any more.
    GivenUp,
}

impl DeliveryState {
    /// Returns the state as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::GivenUp => "given_up",
        }
    }
}

/// What happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NewsKind {
    /// Its turn is over, and well.
    Finished,
    /// Its turn or the session failed.
    Failed,
    /// Its turn was ended early.
    Cancelled,
    /// It waits for an answer.
    NeedsAnswer,
}

impl NewsKind {
    const ALL: [Self; 4] = [
        Self::Finished,
        Self::Failed,
        Self::Cancelled,
        Self::NeedsAnswer,
    ];

    /// Returns the kind as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NeedsAnswer => "needs_answer",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One thing that a parent is told about a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    pub kind: NewsKind,
    pub session: SessionId,
    pub title: Title,
    pub agent: AgentName,
    /// What it said, why it failed, or what it asks.
    pub words: String,
    pub approval: Option<ApprovalId>,
}

/// Returns the prompt by which a parent is told, about one child or several at once.
///
/// What children say is quoted, so that a parent can tell it from what the server says. What it can do next is said in the names of
/// the tools that it has.
pub fn callback_prompt(news: &[News], tools: McpDialect) -> String {
    let mut text = match news {
        [_] => "A session that you spawned has news.".to_owned(),
        _ => format!("Sessions that you spawned have news ({}).", news.len()),
    };
    for one in news {
        let (id, title, agent) = (one.session.short_id(), &one.title, &one.agent);
        let what = match one.kind {
            NewsKind::Finished => "has finished its turn",
            NewsKind::Failed => "has failed",
            NewsKind::Cancelled => "was interrupted",
            NewsKind::NeedsAnswer => "needs an answer",
        };
        text.push_str(&format!(
            "\n\nSession {id} ({agent}, {title:?}) {what}",
            title = title.as_str()
        ));
        text.push_str(if one.words.is_empty() { "." } else { ":" });
        for line in one.words.lines() {
            text.push_str("\n> ");
            text.push_str(line);
        }
        let next = match (one.kind, one.approval) {
            (NewsKind::NeedsAnswer, Some(approval)) => answer_with(tools, &approval.short_id()),
            _ => read_with(tools, &id),
        };
        if !next.is_empty() {
            text.push('\n');
            text.push_str(&next);
        }
    }
    text
}

/// Says how a parent with these tools answers a request for approval.
fn answer_with(tools: McpDialect, approval: &str) -> String {
    match tools {
        McpDialect::Native => format!(
            "Answer with approval_answer {{\"approval\": \"{approval}\", \"decision\": \"allow\" or \"deny\", \"text\": …}}."
        ),
        McpDialect::Of(_) => {
            "Your tools cannot answer it: tell the person whom you work for.".to_owned()
        }
    }
}

/// Says how a parent with these tools reads what a child said.
fn read_with(tools: McpDialect, id: &str) -> String {
    match tools {
        McpDialect::Native => format!(
            "Read more with message_list {{\"session\": \"{id}\"}}; go on with session_prompt."
        ),
        McpDialect::Of(Dialect::Agor) => format!(
            "Read more with agor_sessions_get {{\"sessionId\": \"{id}\", \"includeMessages\": true}}."
        ),
        McpDialect::Of(Dialect::ClawedAbode) => format!(
            "Read more with get_messages {{\"sessionId\": \"{id}\"}}; go on with send_prompt."
        ),
        McpDialect::Of(Dialect::Iteratr) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_parent_is_told_of_everything_at_once_and_in_quotes() {
        let id = |n: u128| Uuid::from_u128(n);
        let one = |kind, words: &str, approval| News {
            kind,
            session: SessionId::from_untyped_uuid(id(0x1234_5678)),
            title: Title::parse("write tests").unwrap(),
            agent: AgentName::parse("echo").unwrap(),
            words: words.to_owned(),
            approval,
        };
        let asked = ApprovalId::from_untyped_uuid(id(0xabcd_ef01));
        let told = callback_prompt(
            &[
                one(NewsKind::Finished, "done\nall green", None),
                one(NewsKind::NeedsAnswer, "run rm -rf target", Some(asked)),
                one(NewsKind::Failed, "", None),
            ],
            McpDialect::Native,
        );
        let expected = [
            "Sessions that you spawned have news (3).",
            "",
            "Session 12345678 (echo, \"write tests\") has finished its turn:",
            "> done",
            "> all green",
            "Read more with message_list {\"session\": \"12345678\"}; go on with session_prompt.",
            "",
            "Session 12345678 (echo, \"write tests\") needs an answer:",
            "> run rm -rf target",
            "Answer with approval_answer {\"approval\": \"abcdef01\", \"decision\": \"allow\" or \"deny\", \"text\": …}.",
            "",
            "Session 12345678 (echo, \"write tests\") has failed.",
            "Read more with message_list {\"session\": \"12345678\"}; go on with session_prompt.",
        ];
        assert_eq!(told.lines().collect::<Vec<_>>(), expected);
        let finished = [one(NewsKind::Finished, "done", None)];
        let told = callback_prompt(&finished, McpDialect::Of(Dialect::Agor));
        let last = "Read more with agor_sessions_get {\"sessionId\": \"12345678\", \"includeMessages\": true}.";
        assert_eq!(told.lines().last(), Some(last));
        let told = callback_prompt(&finished, McpDialect::Of(Dialect::Iteratr));
        assert_eq!(told.lines().last(), Some("> done"));
    }
}
