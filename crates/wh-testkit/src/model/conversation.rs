//! What a request tells about the conversation, the same for every protocol, and what the model makes of it.
//!
//! Nothing is remembered between requests: which turn it is follows from the transcript, so retries, kills, resumed sessions and
//! several agents at once need no care.

use serde_json::{Value, json};

use super::script::{Call, Script, Turn, Words};

/// A request, read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Conversation {
    /// What a human wrote last.
    pub(super) human: String,
    /// How often the model has answered since.
    pub(super) turns: usize,
    /// Whether it has searched for tools since.
    pub(super) searched: bool,
    pub(super) tools: Vec<Tool>,
    /// The tool that finds deferred ones, if there is one.
    pub(super) search: Option<String>,
    /// The answer must be JSON of this shape.
    pub(super) schema: Option<Value>,
}

/// A tool that the agent declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The group it is declared in, which some protocols send beside its name.
    pub(super) namespace: Option<String>,
    /// It takes free text instead of JSON.
    pub(super) is_free: bool,
}

/// What the model answers.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    Words(Words),
    Call { tool: Tool, args: Value },
    Search { with: String, query: String },
}

impl Reply {
    /// Names the answer for the record of requests.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Words(words) => words.whole().chars().take(60).collect(),
            Self::Call { tool, .. } => format!("call {}", tool.name),
            Self::Search { query, .. } => format!("search {query}"),
        }
    }
}

impl Conversation {
    /// Adds an entry of the human's side: its text parts, in order. The last one with words in it counts, because agents put
    /// their own remarks into the same message, in tags or before it.
    pub(super) fn human<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        let words = parts
            .map(without_tags)
            .filter(|text| !text.is_empty())
            .last();
        if let Some(words) = words {
            self.human = words;
            self.turns = 0;
            self.searched = false;
        }
    }

    /// Adds an answer of the model; `tool` is the one it called.
    pub(super) fn answered(&mut self, tool: Option<&str>) {
        if tool.is_some() && tool == self.search.as_deref() {
            self.searched = true;
        } else {
            self.turns += 1;
        }
    }

    /// Decides what the model says.
    pub(super) fn reply(&self, script: &Script) -> Reply {
        if let Some(schema) = &self.schema {
            return Reply::Words(Words::once(instance(schema).to_string()));
        }
        let Call { tool, args } = match script.turn(&self.human, self.turns) {
            Turn::Words(words) => return Reply::Words(words),
            Turn::Call(call) => call,
        };
        let declared = self.tools.iter().find(|declared| declared.is_named(&tool));
        match (declared, &self.search) {
            (Some(declared), _) => Reply::Call {
                tool: declared.clone(),
                args,
            },
            (None, Some(search)) if !self.searched => Reply::Search {
                with: search.clone(),
                query: tool,
            },
            (None, _) => Reply::Words(Words::once(format!("there is no tool {tool}"))),
        }
    }
}

impl Tool {
    /// A script names a tool of a group by both names.
    fn is_named(&self, name: &str) -> bool {
        match &self.namespace {
            None => self.name == name,
            Some(namespace) => name
                .strip_prefix(namespace.as_str())
                .map(|rest| rest.trim_start_matches(['_', '.']))
                .is_some_and(|rest| rest == self.name),
        }
    }
}

/// Removes every `<tag>…</tag>`, which agents put around what they add themselves.
fn without_tags(text: &str) -> String {
    let mut text = text.to_owned();
    let mut from = 0;
    while let Some(open) = text[from..].find('<').map(|at| at + from) {
        let name: String = text[open + 1..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
            .collect();
        let close = format!("</{name}>");
        match text[open..].find(&close).filter(|_| !name.is_empty()) {
            Some(end) => text.replace_range(open..open + end + close.len(), ""),
            None => from = open + 1,
        }
    }
    text.trim().to_owned()
}

/// Returns the least that satisfies a schema, as far as agents' schemas go.
fn instance(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0).or_else(|| schema.get("const")) {
        return first.clone();
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|word| schema[*word].get(0))
    {
        return instance(first);
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind.map(str::to_lowercase).as_deref() {
        Some("string") => json!("scripted"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ => schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), instance(schema)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> Script {
        Script::from_json(
            r#"[{"match": "^GO$", "turns": [{"tool": "hub__whoami"}, {"text": "went"}]}]"#,
        )
        .unwrap()
    }

    #[test]
    fn the_last_words_of_a_message_are_the_humans() {
        let mut conversation = Conversation::default();
        let parts = [
            "[Request interrupted]",
            "GO",
            "<system-reminder>a <b>\nc</system-reminder> ",
        ];
        conversation.human(parts.into_iter());
        assert_eq!(conversation.human, "GO");
        conversation.answered(Some("x"));
        conversation.human(["<env>only a remark</env>"].into_iter());
        assert_eq!((conversation.human.as_str(), conversation.turns), ("GO", 1));
        assert_eq!(without_tags("1 < 2 and <br> stays"), "1 < 2 and <br> stays");
    }

    #[test]
    fn a_deferred_tool_is_searched_for_once() {
        let mut conversation = Conversation {
            search: Some("find".to_owned()),
            ..Conversation::default()
        };
        conversation.human(["GO"].into_iter());
        let Reply::Search { query, .. } = conversation.reply(&script()) else {
            panic!("it searches");
        };
        assert_eq!(query, "hub__whoami");
        conversation.answered(Some("find"));
        let Reply::Words(words) = conversation.reply(&script()) else {
            panic!("it does not search again");
        };
        assert_eq!(words.whole(), "there is no tool hub__whoami");
        let tool = Tool {
            name: "whoami".to_owned(),
            namespace: Some("hub".to_owned()),
            is_free: false,
        };
        conversation.tools.push(tool.clone());
        let args = json!({});
        assert_eq!(conversation.reply(&script()), Reply::Call { tool, args });
    }

    #[test]
    fn a_schema_gets_its_least_instance() {
        let schema = json!({"type": "object", "properties": {
            "title": {"type": "string"}, "risk": {"enum": ["low", "high"]}, "score": {"type": ["number", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}}, "inner": {"anyOf": [{"type": "boolean"}]}}});
        let expected =
            json!({"title": "scripted", "risk": "low", "score": 1, "tags": [], "inner": false});
        assert_eq!(instance(&schema), expected);
    }
}
