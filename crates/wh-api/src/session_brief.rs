//! Sessions as tools list them: a model pays for every word of a list, again with every turn of its conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{SessionBrief, ShortId};

/// The most characters of a title in a list.
const TITLE_CHARS_MAX: usize = 60;

/// A session in a list: enough to choose it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionBriefView {
    /// The last 8 digits of the session's id, accepted wherever an id is.
    pub id: String,
    /// Shortened.
    pub title: String,
    pub agent: String,
    pub state: String,
}

impl From<&SessionBrief> for SessionBriefView {
    fn from(session: &SessionBrief) -> Self {
        Self {
            id: session.id.short_id(),
            title: shortened(session.title.as_str()),
            agent: session.agent.to_string(),
            state: session.shown_state().as_str().to_owned(),
        }
    }
}

/// Some sessions, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionBriefListView {
    pub sessions: Vec<SessionBriefView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, if requested, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_cut_between_characters() {
        let fits = "é".repeat(TITLE_CHARS_MAX);
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&format!("{fits}é")), format!("{fits}…"));
    }
}
