//! A form that an agent wants filled in, as one question in words: people answer in a line, not in fields.

use serde_json::{Map, Value, json};

/// What stands at the end of the name of a field for an answer that is not on offer.
const OWN_WORDS: &str = "_custom";

/// A form, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    /// What is asked, with every field's own question and what may be chosen.
    pub(super) text: String,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    /// Where an answer goes that is not on offer.
    own_words: Option<String>,
    options: Vec<String>,
    is_list: bool,
}

impl Form {
    /// Reads the parameters of `elicitation/create`; `None` when words cannot answer it.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let mut text = params["message"].as_str()?.to_owned();
        let properties = params["requestedSchema"]["properties"].as_object()?;
        let mut fields = Vec::new();
        for (name, schema) in properties {
            let belongs = name.strip_suffix(OWN_WORDS);
            if belongs.is_some_and(|to| properties.contains_key(to)) {
                continue;
            }
            let is_list = schema["type"] == "array";
            if !is_list && schema["type"] != "string" {
                continue;
            }
            let own_words = format!("{name}{OWN_WORDS}");
            let offered = offered(if is_list { &schema["items"] } else { schema });
            describe(&mut text, schema, &offered);
            fields.push(Field {
                name: name.clone(),
                own_words: Some(own_words).filter(|it| properties.contains_key(it)),
                options: offered.into_iter().map(|(value, _)| value).collect(),
                is_list,
            });
        }
        (!fields.is_empty()).then_some(Self { text, fields })
    }

    /// Returns the name of the first field.
    pub(super) fn field(&self) -> &str {
        self.fields.first().map_or("", |field| &field.name)
    }

    /// Returns what may be chosen, if only one thing is asked.
    pub(super) fn options(&self) -> Vec<String> {
        match self.fields.as_slice() {
            [field] => field.options.clone(),
            _ => Vec::new(),
        }
    }

    /// Fills the form in. When several things are asked, the answer stands in every field: whoever reads it knows which part is meant.
    pub(super) fn fill(&self, answer: &str) -> Value {
        let mut content = Map::new();
        for field in &self.fields {
            let offered = field.options.iter().any(|option| option == answer);
            let (name, is_list) = match &field.own_words {
                Some(own_words) if !offered => (own_words, false),
                _ => (&field.name, field.is_list),
            };
            let value = if is_list {
                json!([answer])
            } else {
                json!(answer)
            };
            content.insert(name.clone(), value);
        }
        Value::Object(content)
    }
}

/// Returns the answers on offer, each with what the agent says about it.
fn offered(schema: &Value) -> Vec<(String, Option<String>)> {
    let plain = schema["enum"].as_array().into_iter().flatten();
    let titled = [&schema["oneOf"], &schema["anyOf"]];
    let titled = titled.into_iter().filter_map(Value::as_array).flatten();
    let plain = plain.filter_map(|value| Some((value.as_str()?.to_owned(), None)));
    let titled = titled.filter_map(|option| {
        let about = option["description"].as_str().map(str::to_owned);
        Some((option["const"].as_str()?.to_owned(), about))
    });
    plain.chain(titled).collect()
}

fn describe(text: &mut String, schema: &Value, offered: &[(String, Option<String>)]) {
    if let Some(description) = schema["description"].as_str() {
        text.push('\n');
        text.push_str(description);
    }
    for (value, about) in offered {
        text.push_str("\n- ");
        text.push_str(value);
        if let Some(about) = about {
            text.push_str(": ");
            text.push_str(about);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_told_with_its_options_and_own_words_have_a_field() {
        let params = json!({"message": "Which colour?", "requestedSchema": {"properties": {
            "question_0": {"type": "string", "oneOf": [{"const": "red", "description": "warm"}, {"const": "blue"}]},
            "question_0_custom": {"type": "string", "title": "Other"}}}});
        let form = Form::read(&params).unwrap();
        assert_eq!(form.text, "Which colour?\n- red: warm\n- blue");
        assert_eq!(form.options(), ["red", "blue"]);
        assert_eq!(form.fill("red"), json!({"question_0": "red"}));
        assert_eq!(form.fill("green"), json!({"question_0_custom": "green"}));
    }

    #[test]
    fn several_questions_are_asked_at_once_and_lists_are_filled() {
        let params = json!({"message": "Please answer.", "requestedSchema": {"properties": {
            "a": {"type": "string", "description": "Where?"},
            "b": {"type": "array", "description": "What?", "items": {"enum": ["x", "y"]}},
            "c": {"type": "boolean"}}}});
        let form = Form::read(&params).unwrap();
        assert_eq!(form.text, "Please answer.\nWhere?\nWhat?\n- x\n- y");
        assert_eq!((form.field(), form.options().len()), ("a", 0));
        assert_eq!(form.fill("x"), json!({"a": "x", "b": ["x"]}));
    }

    #[test]
    fn what_words_cannot_answer_is_no_question() {
        let schema = json!({"properties": {"c": {"type": "boolean"}}});
        let params = json!({"message": "Sure?", "requestedSchema": schema});
        assert_eq!(Form::read(&params), None);
        assert_eq!(Form::read(&json!({"message": "See", "url": "x"})), None);
    }
}
