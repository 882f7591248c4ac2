//! How often an agent called its model within a turn, for agents that report the tokens of the last call alone.

use crate::event::{AgentEvent, ToolStatus, TurnUsage};

/// Counts the calls of a turn from what the agent reported: it calls its model again each time that it goes on after a tool call ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelCalls {
    earlier: u64,
    is_tool_done: bool,
}

impl ModelCalls {
    /// Takes the agent's words, of which any number make a call.
    pub(crate) fn words(&mut self) {
        self.earlier += u64::from(std::mem::take(&mut self.is_tool_done));
    }

    /// Takes what the agent reported.
    pub(crate) fn event(&mut self, event: &AgentEvent) {
        let call = match event {
            AgentEvent::ToolCall { call } => {
                self.words();
                call
            }
            AgentEvent::ToolCallUpdate { call } => call,
            _ => return,
        };
        self.is_tool_done |= matches!(call.status, ToolStatus::Completed | ToolStatus::Failed);
    }

    /// Ends the turn, and returns what it used when its last call used `last`.
    ///
    /// Each earlier call is counted like the last one. The conversation grows from call to call, so that is rather too much than too
    /// little, and a budget holds.
    pub(crate) fn turn_usage(&mut self, last: TurnUsage) -> TurnUsage {
        // It is told what came of its last tool call even when it has nothing to say about it.
        self.words();
        let calls = std::mem::take(self).earlier + 1;
        let times = |tokens: u64| tokens.saturating_mul(calls);
        TurnUsage {
            input: times(last.input),
            output: times(last.output),
            cached_read: times(last.cached_read),
            cached_write: times(last.cached_write),
            thought: times(last.thought),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ToolCall;

    fn call(id: &str, status: ToolStatus) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            status,
            ..ToolCall::default()
        }
    }

    /// Plays a turn: `w` words, `a` a tool call is announced, `d` it is done.
    fn input(turn: &str) -> u64 {
        let mut calls = ModelCalls::default();
        for step in turn.chars() {
            match step {
                'w' => calls.words(),
                'a' => calls.event(&AgentEvent::ToolCall {
                    call: call("1", ToolStatus::Pending),
                }),
                _ => calls.event(&AgentEvent::ToolCallUpdate {
                    call: call("1", ToolStatus::Completed),
                }),
            }
        }
        let last = TurnUsage {
            input: 10,
            ..TurnUsage::default()
        };
        let used = calls.turn_usage(last).input;
        assert_eq!(
            calls.turn_usage(last).input,
            10,
            "the next turn begins anew"
        );
        used
    }

    #[test]
    fn each_time_it_goes_on_after_a_tool_it_called_its_model() {
        for (turn, used) in [
            ("", 10),
            ("ww", 10),
            ("wad", 20),
            ("wadw", 20),
            ("aadd", 20),
            ("wadwwadw", 30),
            ("adad", 30),
        ] {
            assert_eq!(input(turn), used, "{turn}");
        }
    }
}
