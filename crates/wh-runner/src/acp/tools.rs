//! Tool calls of the current turn, kept whole: an update names only what changed, and some agents send one without ever having
//! announced the call.

use std::collections::HashMap;

use agent_client_protocol::v1::schema as acp;

use super::map;
use crate::event::{AgentEvent, Notice, ToolCall, ToolStatus};

/// Calls that are remembered; when more are open, the oldest forgotten one is created anew by its next update.
const CALLS_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct Tools {
    calls: HashMap<String, Kept>,
    order: Vec<String>,
    content_bytes_max: usize,
}

/// A call, and whether it was told as it is now.
#[derive(Clone, Debug, Default)]
struct Kept {
    call: ToolCall,
    is_told: bool,
}

/// How a turn ended, as far as its calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// What runs may go on in the background.
    Finished,
    /// Nothing runs any more.
    Broken,
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
        self.keep(map::tool_call(call))
    }

    /// Takes a change of a call, known or not. What a command prints meanwhile is told with the next change: a call is told whole, and
    /// telling it for every line would fill the journal with the same lines over and over.
    pub(crate) fn update(&mut self, update: acp::ToolCallUpdate) -> Vec<AgentEvent> {
        let id = update.tool_call_id.0.to_string();
        let mut call = match self.calls.get(&id) {
            Some(kept) => kept.call.clone(),
            None => ToolCall {
                id: id.clone(),
                ..ToolCall::default()
            },
        };
        if let Some(output) = map::terminal_output(update.meta.as_ref()) {
            map::append_output(&mut call, output, self.content_bytes_max);
            if let Some(kept) = self.calls.get_mut(&id)
                && update.fields == Default::default()
            {
                (kept.call, kept.is_told) = (call, false);
                return Vec::new();
            }
        }
        map::apply_tool_call(&mut call, update.fields);
        self.keep(call)
    }

    /// Returns the call that a permission request is about, with what the request adds, and what to report of it.
    pub(crate) fn asked(&mut self, update: acp::ToolCallUpdate) -> (ToolCall, Vec<AgentEvent>) {
        let id = update.tool_call_id.0.to_string();
        let events = self.update(update);
        let kept = self.calls.get(&id).cloned().unwrap_or_default();
        (kept.call, events)
    }

    /// Ends the calls of a turn that is over and forgets all of them. Some agents never say what became of a call that was denied or
    /// cancelled.
    pub(crate) fn close(&mut self, how: Close) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for id in std::mem::take(&mut self.order) {
            let Some(Kept { mut call, is_told }) = self.calls.remove(&id) else {
                continue;
            };
            let never_ran = call.status == ToolStatus::Pending;
            let was_stopped = call.status == ToolStatus::InProgress && how == Close::Broken;
            if never_ran || was_stopped {
                call.status = ToolStatus::Failed;
            } else if is_told {
                continue;
            }
            map::cut_tool_call(&mut call, self.content_bytes_max);
            events.push(AgentEvent::ToolCallUpdate { call });
        }
        events
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.order.clear();
    }

    /// Keeps a call as it is now. One that did not change is not told again.
    fn keep(&mut self, mut call: ToolCall) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if map::cut_tool_call(&mut call, self.content_bytes_max) {
            let call = call.id.clone();
            let notice = Notice::ContentCut { call };
            events.push(AgentEvent::Notice { notice });
        }
        let told = Kept {
            call: call.clone(),
            is_told: true,
        };
        let known = self.calls.insert(call.id.clone(), told);
        match known {
            Some(known) if known.is_told && known.call == call => events.clear(),
            Some(_) => events.push(AgentEvent::ToolCallUpdate { call }),
            None => {
                self.order.push(call.id.clone());
                if self.order.len() > CALLS_MAX {
                    self.calls.remove(&self.order.remove(0));
                }
                events.push(AgentEvent::ToolCall { call });
            }
        }
        events
    }
}
