//! What an agent asks: permissions, plans and questions, and what became of them.

use std::path::Path;

use jiff::SignedDuration;
use newtype_uuid::GenericUuid;
use serde_json::json;
use wh_domain::{
    Action, ActionKind, Approval, ApprovalId, ApprovalKind, ApprovalState, MessageKind, NewMessage,
    OptionKind, Settlement, Verdict, redact,
};
use wh_runner::event::{PermissionKind, PermissionRequest, Question, ToolCall, ToolKind};
use wh_store::RunFact;

use super::{Teller, paths::paths_of};
use crate::redacted_json::redacted_json;

impl Teller<'_> {
    pub(super) fn permission(&mut self, request: &PermissionRequest) {
        self.close_words();
        let call = &request.call;
        let policy = &self.about.session.policy;
        let server = self.about.session.mcp_dialect.server_name();
        let verdict = if call.tool_of(server).is_some() {
            // The rules of our own tools are the server's: asking a person twice helps nobody.
            Verdict::Allow
        } else {
            let home = self.about.home;
            let real = home.canonicalize().unwrap_or_else(|_| home.to_owned());
            policy.decide(&action_of(call, home), &real)
        };
        let kind = match call.kind {
            ToolKind::SwitchMode => ApprovalKind::Plan,
            _ => ApprovalKind::Permission,
        };
        let offered: Vec<OptionKind> = request.options.iter().map(|it| it.kind.into()).collect();
        let options: Vec<_> = request
            .options
            .iter()
            .map(|option| json!({ "name": option.name, "kind": option.kind }))
            .collect();
        let detail = json!({ "call": call, "options": options });
        let mut approval = self.approval(&request.id, kind, call.title.clone(), detail);
        let rule = match verdict {
            Verdict::Ask => None,
            // A rule allows once; whether that may become "always" is for a person to say.
            Verdict::Allow if !OptionKind::AllowOnce.can_be_sent(&offered) => None,
            Verdict::Allow => Some(ApprovalState::Allowed),
            Verdict::Deny => Some(ApprovalState::Denied),
        };
        if let Some(state) = rule {
            approval.state = state;
            approval.answer = Some("by the session's policy".to_owned());
            approval.settled_at = Some(self.at);
            approval.expires_at = None;
        }
        self.facts.push(RunFact::Asked(approval));
    }

    pub(super) fn question(&mut self, question: &Question) {
        self.close_words();
        let mut detail = json!({ "field": question.field });
        if let Some(call) = &question.tool_call {
            detail["tool_call"] = call.as_str().into();
        }
        let text = question.text.clone();
        let approval = self.approval(&question.id, ApprovalKind::Question, text.clone(), detail);
        let id = approval.id;
        self.facts.push(RunFact::Asked(approval));
        if let Some(mut message) = self.part_of_talk(MessageKind::Question, text) {
            message.approval = Some(id);
            let reference = None;
            self.facts.push(RunFact::Message { reference, message });
        }
    }

    /// A question is over: with an answer, or because nobody gave one.
    pub(super) fn answered(&mut self, request: &str, answer: Option<&str>) {
        let state = match answer {
            Some(_) => ApprovalState::Allowed,
            None => ApprovalState::Withdrawn,
        };
        let said = match answer {
            Some(answer) => self.part_of_talk(MessageKind::Answer, answer.to_owned()),
            None => Some(self.new_message(
                MessageKind::System,
                "the question was not answered".to_owned(),
            )),
        };
        self.settled(request, state, answer.map(str::to_owned), said);
    }

    /// What was asked and answered belongs to the conversation: whoever reads it later, also an agent that goes on with it, was
    /// not there.
    fn part_of_talk(&mut self, kind: MessageKind, text: String) -> Option<NewMessage> {
        self.close_words();
        let is_kept = self.may_keep(text.len());
        is_kept.then(|| self.new_message(kind, text))
    }

    fn approval(
        &self,
        request: &str,
        kind: ApprovalKind,
        text: String,
        detail: serde_json::Value,
    ) -> Approval {
        let wait = match self.about.session.policy.timeout_seconds {
            Some(seconds) => SignedDuration::from_secs(i64::from(seconds)),
            None => self.about.approval_wait,
        };
        Approval {
            id: ApprovalId::from_untyped_uuid(self.about.ids.next()),
            session: self.about.session.id,
            turn: self.story.turn,
            epoch: self.story.epoch,
            request: request.to_owned(),
            kind,
            state: ApprovalState::Pending,
            text: redact(&text).into_owned(),
            detail: Some(redacted_json(detail)),
            answer: None,
            always: false,
            answered_by: None,
            expires_at: self.at.checked_add(wait).ok(),
            created_at: self.at,
            settled_at: None,
            delivered_at: None,
        }
    }

    pub(super) fn settled(
        &mut self,
        request: &str,
        state: ApprovalState,
        answer: Option<String>,
        said: Option<NewMessage>,
    ) {
        self.facts.push(RunFact::Settled {
            request: request.to_owned(),
            settlement: Settlement {
                state,
                answer,
                always: false,
                by: None,
            },
            said,
        });
    }
}

/// Returns what the choice of an option comes to.
pub(super) fn state_of(chosen: PermissionKind) -> ApprovalState {
    match chosen {
        PermissionKind::AllowOnce | PermissionKind::AllowAlways => ApprovalState::Allowed,
        PermissionKind::RejectOnce | PermissionKind::RejectAlways => ApprovalState::Denied,
    }
}

/// Returns what a tool call of an agent that works in `home` wants to do.
pub(crate) fn action_of(call: &ToolCall, home: &Path) -> Action {
    let kind = match call.kind {
        ToolKind::Read => ActionKind::Read,
        ToolKind::Edit => ActionKind::Edit,
        ToolKind::Delete => ActionKind::Delete,
        ToolKind::Move => ActionKind::Move,
        ToolKind::Search => ActionKind::Search,
        ToolKind::Execute => ActionKind::Execute,
        ToolKind::Think => ActionKind::Think,
        ToolKind::Fetch => ActionKind::Fetch,
        ToolKind::SwitchMode => ActionKind::SwitchMode,
        ToolKind::Other => ActionKind::Other,
    };
    Action {
        kind,
        paths: paths_of(call, home),
    }
}
