//! Tool calls of the current turn, kept whole: an update names only what changed, and some agents send one without ever having
//! announced the call.

use std::collections::HashMap;

use agent_client_protocol::v1::schema as acp;

use super::map;
use crate::event::{AgentEvent, Notice, ToolCall};

/// Calls that are remembered; when more are open, the oldest forgotten one is created anew by its next update.
const CALLS_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct Tools {
    calls: HashMap<String, ToolCall>,
    order: Vec<String>,
    content_bytes_max: usize,
}

impl Tools {
    pub(crate) fn new(content_bytes_max: usize) -> Self {
        Self {
            calls: HashMap::new(),
            order: Vec::new(),
            content_bytes_max,
        }
    }

    /// Takes an announced call.
    pub(crate) fn announce(&mut self, call: acp::ToolCall) -> Vec<AgentEvent> {
        let call = map::tool_call(call);
        let known = self.calls.contains_key(&call.id);
        self.keep(call, known)
    }

    /// Takes a change of a call, known or not.
    pub(crate) fn update(&mut self, update: acp::ToolCallUpdate) -> Vec<AgentEvent> {
        let id = update.tool_call_id.0.to_string();
        let known = self.calls.get(&id).cloned();
        let is_known = known.is_some();
        let mut call = known.unwrap_or(ToolCall {
            id,
            ..ToolCall::default()
        });
        map::apply_tool_call(&mut call, update.fields);
        self.keep(call, is_known)
    }

    /// Returns the call that a permission request is about, with what the request adds, and what to report of it.
    pub(crate) fn asked(&mut self, update: acp::ToolCallUpdate) -> (ToolCall, Vec<AgentEvent>) {
        let id = update.tool_call_id.0.to_string();
        let events = match self.calls.contains_key(&id) && update.fields == Default::default() {
            true => Vec::new(),
            false => self.update(update),
        };
        (self.calls.get(&id).cloned().unwrap_or_default(), events)
    }

    /// Forgets everything; called when a turn ends.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.order.clear();
    }

    fn keep(&mut self, mut call: ToolCall, known: bool) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if map::cut_tool_call(&mut call, self.content_bytes_max) {
            let call = call.id.clone();
            let notice = Notice::ContentCut { call };
            events.push(AgentEvent::Notice { notice });
        }
        if !known {
            self.order.push(call.id.clone());
            if self.order.len() > CALLS_MAX {
                self.calls.remove(&self.order.remove(0));
            }
        }
        self.calls.insert(call.id.clone(), call.clone());
        events.push(match known {
            true => AgentEvent::ToolCallUpdate { call },
            false => AgentEvent::ToolCall { call },
        });
        events
    }
}
