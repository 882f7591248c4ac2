//! The models that an agent offers, and how one is chosen: as a configuration option, or by the method of older agents.

use agent_client_protocol::v1::schema as acp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::event::Model;

/// The most models that are kept of an agent.
const MODELS_MAX: usize = 200;

/// What an agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelChoice {
    method: ChoiceMethod,
    pub(crate) current: Option<String>,
    pub(crate) offered: Vec<Model>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ChoiceMethod {
    /// `session/set_config_option` with this option.
    Option(String),
    /// `session/set_model`.
    SetModel,
}

impl ModelChoice {
    /// Reads the choice from an agent's configuration options.
    pub(crate) fn from_options(options: &[acp::SessionConfigOption]) -> Option<Self> {
        let is_model = |it: &&acp::SessionConfigOption| {
            it.category == Some(acp::SessionConfigOptionCategory::Model)
        };
        let option = options.iter().find(is_model)?;
        let acp::SessionConfigKind::Select(select) = &option.kind else {
            return None;
        };
        let choices: Vec<_> = match &select.options {
            acp::SessionConfigSelectOptions::Ungrouped(choices) => choices.iter().collect(),
            acp::SessionConfigSelectOptions::Grouped(groups) => {
                groups.iter().flat_map(|group| &group.options).collect()
            }
            _ => Vec::new(),
        };
        let model = |choice: &acp::SessionConfigSelectOption| Model {
            id: choice.value.0.to_string(),
            name: choice.name.clone(),
        };
        Some(Self {
            method: ChoiceMethod::Option(option.id.0.to_string()),
            current: Some(select.current_value.0.to_string()),
            offered: choices.into_iter().map(model).take(MODELS_MAX).collect(),
        })
    }

    /// Reads the choice from the `models` with which older agents answer `session/new`.
    pub(crate) fn from_state(state: Value) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct State {
            current_model_id: Option<String>,
            #[serde(default)]
            available_models: Vec<Offered>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Offered {
            model_id: String,
            #[serde(default)]
            name: String,
        }
        let state: State = serde_json::from_value(state).ok()?;
        let model = |offered: Offered| Model {
            id: offered.model_id,
            name: offered.name,
        };
        let offered = state.available_models.into_iter().take(MODELS_MAX);
        Some(Self {
            method: ChoiceMethod::SetModel,
            current: state.current_model_id,
            offered: offered.map(model).collect(),
        })
    }

    /// Finds a model by its id or, if only one has it, by its name, in any case.
    pub(crate) fn find(&self, wanted: &str) -> Option<&str> {
        let exact = self.offered.iter().find(|model| model.id == wanted);
        let is_called = |model: &&Model| {
            model.id.eq_ignore_ascii_case(wanted) || model.name.eq_ignore_ascii_case(wanted)
        };
        let mut called = self.offered.iter().filter(is_called);
        let only = called.next().filter(|_| called.next().is_none());
        exact.or(only).map(|model| model.id.as_str())
    }

    /// Returns the method and parameters that choose a model.
    pub(crate) fn request(&self, agent_session: &str, model: &str) -> (&'static str, Value) {
        match &self.method {
            ChoiceMethod::Option(option) => (
                "session/set_config_option",
                json!({"sessionId": agent_session, "configId": option, "value": model}),
            ),
            ChoiceMethod::SetModel => (
                "session/set_model",
                json!({"sessionId": agent_session, "modelId": model}),
            ),
        }
    }

    /// Lists the ids of the models, for people.
    pub(crate) fn listed(&self) -> String {
        let ids: Vec<_> = self.offered.iter().map(|model| model.id.as_str()).collect();
        ids.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(models: &[(&str, &str)]) -> ModelChoice {
        let offered: Vec<_> = models
            .iter()
            .map(|(id, name)| json!({"modelId": id, "name": name}))
            .collect();
        let state = json!({"currentModelId": models[0].0, "availableModels": offered});
        ModelChoice::from_state(state).unwrap()
    }

    #[test]
    fn a_model_is_found_by_id_or_by_a_name_that_only_one_has() {
        let offered = choice(&[("opus", "Big"), ("Opus", "Fast"), ("haiku-1", "Fast")]);
        for (wanted, found) in [
            ("opus", Some("opus")),
            ("Opus", Some("Opus")),
            ("OPUS", None),
            ("HAIKU-1", Some("haiku-1")),
            ("big", Some("opus")),
            ("fast", None),
            ("", None),
        ] {
            assert_eq!(offered.find(wanted), found, "{wanted}");
        }
    }

    #[test]
    fn options_are_read_flat_and_grouped() {
        let flat = json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]);
        let grouped = json!([{"group": "g", "name": "G", "options": flat}]);
        for options in [flat, grouped] {
            let option = json!([{"id": "the-model", "name": "Model", "category": "model", "type": "select",
                "currentValue": "b", "options": options}]);
            let options: Vec<acp::SessionConfigOption> = serde_json::from_value(option).unwrap();
            let choice = ModelChoice::from_options(&options).unwrap();
            assert_eq!(choice.current.as_deref(), Some("b"));
            assert_eq!(choice.listed(), "a, b");
            let (method, params) = choice.request("s", "a");
            assert_eq!(method, "session/set_config_option");
            assert_eq!(
                params,
                json!({"sessionId": "s", "configId": "the-model", "value": "a"})
            );
        }
        assert_eq!(ModelChoice::from_options(&[]), None);
        assert_eq!(ModelChoice::from_state(json!(7)), None);
    }
}
