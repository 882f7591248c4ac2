//! What the agent tells of its own accord: words, tool calls, plans, costs.

use std::time::Instant;

use agent_client_protocol::v1::schema as acp;
use serde_json::Value;

use super::{Conversation, Output, Phase};
use crate::{
    acp::{map, models::ModelChoice, text::Voice},
    event::{AgentEvent, Cost, Notice},
    spec::Begin,
};

impl Conversation {
    pub(super) fn update(&mut self, params: &str, now: Instant) {
        let settle = self.settle_time();
        match &mut self.phase {
            // The replay of what was said before: it is in the transcript.
            Phase::Settling { quiet_at, .. } => return *quiet_at = now + settle,
            Phase::Starting | Phase::Opening if self.spec.begin != Begin::New => return,
            _ => {}
        }
        let Ok(notification) = serde_json::from_str::<acp::SessionNotification>(params) else {
            let kind = serde_json::from_str::<Value>(params).ok();
            let kind =
                kind.and_then(|value| value["update"]["sessionUpdate"].as_str().map(str::to_owned));
            return self.unknown(kind.unwrap_or_else(|| "session/update".to_owned()));
        };
        use acp::SessionUpdate as Update;
        match notification.update {
            Update::AgentMessageChunk(chunk) => self.words(Voice::Text, chunk, now),
            Update::AgentThoughtChunk(chunk) => self.words(Voice::Thought, chunk, now),
            Update::ToolCall(call) => {
                let events = self.tools.announce(call);
                self.events(events);
            }
            Update::ToolCallUpdate(update) => {
                let events = self.tools.update(update);
                self.events(events);
            }
            Update::Plan(plan) => self.event(AgentEvent::Plan {
                entries: plan.entries.into_iter().map(map::plan_entry).collect(),
            }),
            Update::UsageUpdate(usage) => self.event(AgentEvent::Usage {
                used: usage.used,
                size: usage.size,
                cost: usage.cost.map(|cost| Cost {
                    amount: cost.amount,
                    currency: cost.currency,
                }),
            }),
            Update::CurrentModeUpdate(update) => self.mode_is(update.current_mode_id.0.to_string()),
            Update::ConfigOptionUpdate(update) => {
                if let Some(mode) = map::mode_option(&update.config_options) {
                    self.mode_is(mode);
                }
                let models = ModelChoice::from_options(&update.config_options);
                if let Some(model) = models.and_then(|choice| choice.current) {
                    self.model_is(model);
                }
            }
            Update::SessionInfoUpdate(info) => {
                if let Some(title) = info.title.value() {
                    let title = title.clone();
                    self.event(AgentEvent::Titled { title });
                }
            }
            Update::Notice(notice) => self.notice(Notice::FromAgent { text: notice.title }),
            Update::AvailableCommandsUpdate(update) => self.event(AgentEvent::Commands {
                commands: map::commands(update.available_commands),
            }),
            // Known, and nothing anyone has to see: our own words back.
            Update::UserMessageChunk(_) => {}
            _ => self.unknown("an update of a newer protocol".to_owned()),
        }
    }

    fn words(&mut self, voice: Voice, chunk: acp::ContentChunk, now: Instant) {
        self.calls.words();
        let text = map::block_text(chunk.content);
        let ready = self.joiner.push(voice, &text, now);
        self.out.extend(ready.into_iter().map(Output::Event));
    }
}
