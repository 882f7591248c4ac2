//! What the scripted model says: a list of entries, each with what the human must have written and the turns that follow.
//!
//! ```json
//! [{"match": "^EDIT (\\S+)$", "turns": [{"tool": "Write", "args": {"file_path": "$1", "content": "x"}}, {"text": "edited"}]},
//!  {"match": "^COUNT$", "turns": [{"text": "tick", "repeat": 500, "delay_ms": 50}]}]
//! ```

use std::time::Duration;

use anyhow::{Context, Result};
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

/// Said when no entry matches: a test that sees it has written a wrong script.
const UNSCRIPTED: &str = "nothing is scripted for this";
/// Said when an entry has no turn left.
const FINISHED: &str = "done";

/// Everything a model will say; the first entry that matches counts.
#[derive(Clone, Debug, Default)]
pub struct Script {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    human: Regex,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    r#match: String,
    turns: Vec<Turn>,
}

/// One answer of the model. `$1` and so on stand for what the entry's pattern captured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Turn {
    Call(Call),
    Words(Words),
}

/// Has the agent use one of its tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    #[serde(default = "no_arguments")]
    pub(super) args: Value,
}

/// Says something, perhaps over and over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    text: String,
    #[serde(default = "once")]
    repeat: u32,
    #[serde(default)]
    delay_ms: u64,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn once() -> u32 {
    1
}

impl Script {
    /// Reads a script; an unknown field or an impossible pattern is an error.
    pub fn from_json(json: &str) -> Result<Self> {
        let written: Vec<Written> = serde_json::from_str(json).context("reading the script")?;
        let entry = |entry: Written| {
            let human = Regex::new(&entry.r#match).context("reading a pattern of the script")?;
            let turns = entry.turns;
            Ok(Entry { human, turns })
        };
        let entries = written.into_iter().map(entry).collect::<Result<_>>()?;
        Ok(Self { entries })
    }

    /// Returns what the model says in its turn number `index` after `human` was written.
    pub(super) fn turn(&self, human: &str, index: usize) -> Turn {
        let matching = self
            .entries
            .iter()
            .find_map(|entry| Some((entry, entry.human.captures(human)?)));
        match matching {
            None => Turn::Words(Words::once(UNSCRIPTED)),
            Some((entry, captures)) => match entry.turns.get(index) {
                None => Turn::Words(Words::once(FINISHED)),
                Some(turn) => turn.filled_in(&captures),
            },
        }
    }
}

impl Turn {
    fn filled_in(&self, captures: &Captures<'_>) -> Self {
        match self {
            Self::Call(call) => Self::Call(Call {
                tool: fill(&call.tool, captures),
                args: fill_value(&call.args, captures),
            }),
            Self::Words(words) => Self::Words(Words {
                text: fill(&words.text, captures),
                ..words.clone()
            }),
        }
    }
}

impl Words {
    pub(super) fn once(text: impl Into<String>) -> Self {
        let (repeat, delay_ms) = (1, 0);
        Self {
            text: text.into(),
            repeat,
            delay_ms,
        }
    }

    /// Returns the pieces to send, each with how long to wait before it. Repeated ones are numbered: some agents take
    /// the same piece twice for a model that has lost its way.
    pub(super) fn pieces(&self) -> Vec<(Duration, String)> {
        if self.repeat == 1 {
            return vec![(Duration::from_millis(self.delay_ms), self.text.clone())];
        }
        let piece = |number| {
            let wait = Duration::from_millis(self.delay_ms);
            (wait, format!("{} {number}\n", self.text))
        };
        (1..=self.repeat).map(piece).collect()
    }

    pub(super) fn whole(&self) -> String {
        self.pieces().into_iter().map(|(_, text)| text).collect()
    }
}

fn fill(text: &str, captures: &Captures<'_>) -> String {
    let mut filled = String::new();
    captures.expand(text, &mut filled);
    filled
}

fn fill_value(value: &Value, captures: &Captures<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, captures)),
        Value::Array(items) => items
            .iter()
            .map(|item| fill_value(item, captures))
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), fill_value(value, captures)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn captures_go_into_arguments_and_words() {
        let script = r#"[{"match": "^EDIT (\\S+)$", "turns": [{"tool": "Write", "args": {"to": ["$1"]}}, {"text": "wrote $1"}]}]"#;
        let script = Script::from_json(script).unwrap();
        let Turn::Call(call) = script.turn("EDIT /a/b", 0) else {
            panic!("the first turn is a call");
        };
        assert_eq!(call.args, json!({"to": ["/a/b"]}));
        assert_eq!(
            script.turn("EDIT /a/b", 1),
            Turn::Words(Words::once("wrote /a/b"))
        );
        assert_eq!(
            script.turn("EDIT /a/b", 2),
            Turn::Words(Words::once(FINISHED))
        );
        assert_eq!(script.turn("else", 0), Turn::Words(Words::once(UNSCRIPTED)));
    }

    #[test]
    fn what_a_script_does_not_know_is_an_error() {
        for json in [
            r#"[{"match": "a", "turns": [{"text": "x", "dely": 1}]}]"#,
            r#"[{"match": "(", "turns": []}]"#,
            r#"[{"matches": "a", "turns": []}]"#,
        ] {
            assert!(Script::from_json(json).is_err(), "{json}");
        }
    }
}
