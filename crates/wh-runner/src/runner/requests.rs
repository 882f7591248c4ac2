//! What the agent waits for: permissions and answers, kept until they are settled and told again to whoever follows.

mod form;

use std::collections::BTreeMap;

use serde_json::{Value, json, value::RawValue};
use wh_domain::OptionKind;

use self::form::Form;
use super::conversation::Output;
use crate::{
    acp::wire,
    event::{AgentEvent, PermissionKind, PermissionOption, PermissionRequest, Question, ToolCall},
    link::Refusal,
};

type Settled = Result<[Output; 2], (Refusal, String)>;

#[derive(Debug, Default)]
pub(crate) struct Requests {
    asked: u64,
    permissions: BTreeMap<u64, (Box<RawValue>, PermissionRequest)>,
    questions: BTreeMap<u64, (Box<RawValue>, Question, Form)>,
}

impl Requests {
    /// Returns everything that waits.
    pub(crate) fn pending(&self) -> (Vec<PermissionRequest>, Vec<Question>) {
        let permissions = self.permissions.values().map(|(_, it)| it.clone());
        let questions = self.questions.values().map(|(_, it, _)| it.clone());
        (permissions.collect(), questions.collect())
    }

    pub(super) fn ask_permission(
        &mut self,
        rpc: &RawValue,
        call: ToolCall,
        options: Vec<PermissionOption>,
    ) -> AgentEvent {
        self.asked += 1;
        let request = PermissionRequest {
            id: self.asked.to_string(),
            call,
            options,
        };
        let kept = (rpc.to_owned(), request.clone());
        self.permissions.insert(self.asked, kept);
        AgentEvent::PermissionRequested { request }
    }

    /// Keeps a question in words; `None` when it is not one that words can answer.
    pub(super) fn ask_question(&mut self, rpc: &RawValue, params: &str) -> Option<AgentEvent> {
        let params = serde_json::from_str(params).ok()?;
        let form = Form::read(&params)?;
        self.asked += 1;
        let question = Question {
            id: self.asked.to_string(),
            text: form.text.clone(),
            field: form.field().to_owned(),
            options: form.options(),
            tool_call: params["toolCallId"].as_str().map(str::to_owned),
        };
        let kept = (rpc.to_owned(), question.clone(), form);
        self.questions.insert(self.asked, kept);
        Some(AgentEvent::QuestionAsked { question })
    }

    pub(super) fn answer_permission(&mut self, id: &str, kind: PermissionKind) -> Settled {
        let number = id.parse().unwrap_or(0);
        let Some((rpc, request)) = self.permissions.get(&number) else {
            return Err(unknown("permission"));
        };
        let option = choose(&request.options, kind);
        if option.is_none() && OptionKind::from(kind).allows() {
            let why = format!("the agent offers no option that means {kind:?}");
            return Err((Refusal::Unsupported, why));
        }
        let outcome = match option {
            Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option.id}}),
            None => cancelled(),
        };
        let (id, chosen) = (id.to_owned(), option.map(|option| option.kind));
        let done = [
            Output::Send(wire::result(rpc, &outcome)),
            Output::Event(AgentEvent::PermissionSettled { id, chosen }),
        ];
        self.permissions.remove(&number);
        Ok(done)
    }

    pub(super) fn answer_question(&mut self, id: &str, answer: Option<String>) -> Settled {
        let Some((rpc, _, form)) = self.questions.remove(&id.parse().unwrap_or(0)) else {
            return Err(unknown("question"));
        };
        let reply = match &answer {
            Some(answer) => json!({"action": "accept", "content": form.fill(answer)}),
            None => json!({"action": "decline"}),
        };
        let id = id.to_owned();
        Ok([
            Output::Send(wire::result(&rpc, &reply)),
            Output::Event(AgentEvent::QuestionSettled { id, answer }),
        ])
    }

    /// Settles everything as cancelled.
    pub(super) fn cancel_all(&mut self) -> Vec<Output> {
        let mut out = Vec::new();
        for (_, (rpc, request)) in std::mem::take(&mut self.permissions) {
            out.push(Output::Send(wire::result(&rpc, &cancelled())));
            let (id, chosen) = (request.id, None);
            out.push(Output::Event(AgentEvent::PermissionSettled { id, chosen }));
        }
        for (_, (rpc, question, _)) in std::mem::take(&mut self.questions) {
            out.push(Output::Send(wire::result(
                &rpc,
                &json!({"action": "cancel"}),
            )));
            let (id, answer) = (question.id, None);
            out.push(Output::Event(AgentEvent::QuestionSettled { id, answer }));
        }
        out
    }
}

/// Returns the option that expresses `kind` best.
fn choose(options: &[PermissionOption], kind: PermissionKind) -> Option<&PermissionOption> {
    let expressed_by = OptionKind::from(kind).expressed_by();
    let with = |kind: &OptionKind| options.iter().find(|it| OptionKind::from(it.kind) == *kind);
    expressed_by.iter().find_map(with)
}

/// Returns the outcome of a request that is withdrawn, or denied where no option says so.
fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn unknown(what: &str) -> (Refusal, String) {
    let why = format!("there is no such {what}, or it is settled");
    (Refusal::Unknown, why)
}
