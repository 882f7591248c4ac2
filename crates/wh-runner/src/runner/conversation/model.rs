//! Choosing the model that the session asked for, before the first prompt.

use serde::Deserialize;
use serde_json::Value;

use super::{Conversation, Output, Phase, Waiting};
use crate::{
    acp::{map, models::ModelChoice},
    event::AgentEvent,
    spec::Begin,
};

impl Conversation {
    /// Reports the conversation ready, after choosing the model that was asked for. A prompt is never given to another model than
    /// that: what it costs and what it may see depends on it.
    pub(super) fn choose_model(&mut self, ready: AgentEvent) {
        let Some(wanted) = self.spec.quirks.initial_model.clone() else {
            return self.ready(ready);
        };
        let Some(choice) = &self.models else {
            // A resumed conversation keeps its model, even if the agent does not report it.
            if self.spec.begin != Begin::New || self.spec.quirks.model_by_flag {
                return self.ready(ready);
            }
            let why = format!(
                "the model {wanted} cannot be chosen: the agent offers no choice of models"
            );
            return self.out.push(Output::GiveUp(why));
        };
        let Some(model) = choice.find(&wanted).map(str::to_owned) else {
            let why = format!(
                "the agent does not offer the model {wanted}; it offers {}",
                choice.listed()
            );
            return self.out.push(Output::GiveUp(why));
        };
        if choice.current.as_ref() == Some(&model) {
            return self.ready(ready);
        }
        let (method, params) = choice.request(&self.agent_session, &model);
        self.phase = Phase::Choosing {
            ready: Box::new(ready),
        };
        self.request(method, &params, Waiting::Model(model));
    }

    pub(super) fn model_chosen(&mut self, model: String, result: &str) {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            config_options: Option<Vec<Value>>,
        }
        let answer: Answer = serde_json::from_str(result).unwrap_or_default();
        let options = map::config_options(answer.config_options);
        let told = ModelChoice::from_options(&options).and_then(|choice| choice.current);
        if let Some(choice) = &mut self.models {
            choice.current = Some(told.unwrap_or(model));
        }
        if let Phase::Choosing { ready } = &self.phase {
            let ready = ready.as_ref().clone();
            self.ready(ready);
        }
    }

    pub(super) fn model_refused(&mut self, model: &str, why: &str) {
        let why = format!("the agent refused the model {model}: {why}");
        self.out.push(Output::GiveUp(why));
    }

    /// The agent says which model it uses.
    pub(super) fn model_is(&mut self, model: String) {
        let Some(choice) = &mut self.models else {
            return;
        };
        if choice.current.as_ref() != Some(&model) {
            choice.current = Some(model.clone());
            // Until the conversation is open, the report that it is ready says it.
            if self.is_ready() {
                self.event(AgentEvent::ModelChanged { model });
            }
        }
    }
}
