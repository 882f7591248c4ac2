//! From ACP's types to ours: one small function for each kind of message, and no decision in any of them.

use agent_client_protocol::v1::schema as acp;
use serde_json::Value;

use crate::event::{
    AgentCommand, AgentInfo, Capabilities, Location, Mode, PermissionKind, PermissionOption,
    PlanEntry, ToolCall, ToolContent, ToolKind, ToolStatus, TurnEnd, TurnUsage,
};

pub(crate) fn agent_info(info: Option<acp::Implementation>) -> AgentInfo {
    info.map_or_else(AgentInfo::default, |info| AgentInfo {
        name: info.name,
        version: info.version,
    })
}

pub(crate) fn capabilities(from: &acp::AgentCapabilities) -> Capabilities {
    Capabilities {
        load: from.load_session,
        resume: from.session_capabilities.resume.is_some(),
        mcp_http: from.mcp_capabilities.http,
        images: from.prompt_capabilities.image,
        embedded: from.prompt_capabilities.embedded_context,
    }
}

pub(crate) fn modes(from: Option<acp::SessionModeState>) -> (Vec<Mode>, Option<String>) {
    let Some(state) = from else {
        return (Vec::new(), None);
    };
    let mode = |mode: acp::SessionMode| Mode {
        id: mode.id.0.to_string(),
        name: mode.name,
    };
    let modes = state.available_modes.into_iter().map(mode).collect();
    (modes, Some(state.current_mode_id.0.to_string()))
}

/// Returns an agent's configuration options, without those that cannot be read.
pub(crate) fn config_options(options: Option<Vec<Value>>) -> Vec<acp::SessionConfigOption> {
    let options = options.into_iter().flatten();
    let options = options.filter_map(|option| serde_json::from_value(option).ok());
    options.collect()
}

/// Returns the commands that an agent announces, as many and as long as are kept.
pub(crate) fn commands(from: Vec<acp::AvailableCommand>) -> Vec<AgentCommand> {
    let command = |command: acp::AvailableCommand| {
        let (mut name, mut about) = (command.name, command.description);
        truncate(&mut name, AgentCommand::NAME_BYTES_MAX);
        truncate(&mut about, AgentCommand::ABOUT_BYTES_MAX);
        AgentCommand { name, about }
    };
    let kept = from.into_iter().take(AgentCommand::COUNT_MAX);
    kept.map(command).collect()
}

/// Returns the mode that is chosen among an agent's options; newer agents have it there.
pub(crate) fn mode_option(options: &[acp::SessionConfigOption]) -> Option<String> {
    let is_mode = |it: &&acp::SessionConfigOption| {
        it.category == Some(acp::SessionConfigOptionCategory::Mode)
    };
    match &options.iter().find(is_mode)?.kind {
        acp::SessionConfigKind::Select(select) => Some(select.current_value.0.to_string()),
        _ => None,
    }
}

/// Returns the words of a block; what is not text is named.
pub(crate) fn block_text(block: acp::ContentBlock) -> String {
    match block {
        acp::ContentBlock::Text(text) => text.text,
        acp::ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        acp::ContentBlock::Image(_) => "[image]".to_owned(),
        acp::ContentBlock::Audio(_) => "[audio]".to_owned(),
        _ => "[resource]".to_owned(),
    }
}

pub(crate) fn tool_call(from: acp::ToolCall) -> ToolCall {
    ToolCall {
        id: from.tool_call_id.0.to_string(),
        title: from.title,
        name: from.name,
        kind: tool_kind(from.kind),
        status: tool_status(from.status),
        content: from.content.into_iter().map(tool_content).collect(),
        locations: from.locations.into_iter().map(location).collect(),
        input: from.raw_input,
        input_cut: false,
    }
}

/// Puts what an update names into a call.
pub(crate) fn apply_tool_call(call: &mut ToolCall, fields: acp::ToolCallUpdateFields) {
    if let Some(title) = fields.title {
        call.title = title;
    }
    if let Some(name) = fields.name {
        if call.title.is_empty() {
            call.title.clone_from(&name);
        }
        call.name = Some(name);
    }
    if let Some(kind) = fields.kind {
        call.kind = tool_kind(kind);
    }
    if let Some(status) = fields.status {
        call.status = tool_status(status);
    }
    if let Some(content) = fields.content {
        call.content = content.into_iter().map(tool_content).collect();
    }
    if let Some(locations) = fields.locations {
        call.locations = locations.into_iter().map(location).collect();
    }
    if let Some(input) = fields.raw_input {
        call.input = Some(input);
    }
}

fn tool_kind(kind: acp::ToolKind) -> ToolKind {
    match kind {
        acp::ToolKind::Read => ToolKind::Read,
        acp::ToolKind::Edit => ToolKind::Edit,
        acp::ToolKind::Delete => ToolKind::Delete,
        acp::ToolKind::Move => ToolKind::Move,
        acp::ToolKind::Search => ToolKind::Search,
        acp::ToolKind::Execute => ToolKind::Execute,
        acp::ToolKind::Think => ToolKind::Think,
        acp::ToolKind::Fetch => ToolKind::Fetch,
        acp::ToolKind::SwitchMode => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

fn tool_status(status: acp::ToolCallStatus) -> ToolStatus {
    match status {
        acp::ToolCallStatus::InProgress => ToolStatus::InProgress,
        acp::ToolCallStatus::Completed => ToolStatus::Completed,
        acp::ToolCallStatus::Failed => ToolStatus::Failed,
        _ => ToolStatus::Pending,
    }
}

fn tool_content(content: acp::ToolCallContent) -> ToolContent {
    match content {
        acp::ToolCallContent::Content(content) => ToolContent::Text {
            text: block_text(content.content),
        },
        acp::ToolCallContent::Diff(diff) => ToolContent::Diff {
            path: diff.path.to_string_lossy().into_owned(),
            old: diff.old_text,
            new: diff.new_text,
        },
        acp::ToolCallContent::Terminal(_) => ToolContent::Other {
            what: "terminal".to_owned(),
        },
        _ => ToolContent::Other {
            what: "unknown".to_owned(),
        },
    }
}

/// Returns what a command printed since the last update, where an agent sends it beside the call (Codex).
pub(crate) fn terminal_output(meta: Option<&acp::Meta>) -> Option<&str> {
    let meta = meta?;
    let output = meta
        .get("terminal_output_delta")
        .or_else(|| meta.get("terminal_output"))?;
    output.get("data")?.as_str().filter(|data| !data.is_empty())
}

/// Adds what a command printed, in place of the terminal that we do not show.
pub(crate) fn append_output(call: &mut ToolCall, output: &str, max: usize) {
    call.content
        .retain(|content| !matches!(content, ToolContent::Other { .. }));
    if !matches!(call.content.last(), Some(ToolContent::Text { .. })) {
        let text = String::new();
        call.content.push(ToolContent::Text { text });
    }
    if let Some(ToolContent::Text { text }) = call.content.last_mut() {
        // One byte more than is kept, so that it is seen to be cut.
        let room = (max + 1).saturating_sub(text.len());
        text.push_str(&output[..output.floor_char_boundary(room)]);
    }
}

fn location(from: acp::ToolCallLocation) -> Location {
    Location {
        path: from.path.to_string_lossy().into_owned(),
        line: from.line,
    }
}

/// Shortens every text of a call to `max` bytes and drops an input that is larger. Returns whether it did.
pub(crate) fn cut_tool_call(call: &mut ToolCall, max: usize) -> bool {
    let mut cut = truncate(&mut call.title, max);
    for content in &mut call.content {
        cut |= match content {
            ToolContent::Text { text } => truncate(text, max),
            ToolContent::Diff { old, new, .. } => {
                let old = old.as_mut().is_some_and(|old| truncate(old, max));
                truncate(new, max) || old
            }
            ToolContent::Other { .. } => false,
        };
    }
    let input = call
        .input
        .as_ref()
        .map_or(0, |input| input.to_string().len());
    if input > max {
        (call.input, call.input_cut) = (None, true);
        cut = true;
    }
    cut
}

pub(crate) fn truncate(text: &mut String, max: usize) -> bool {
    let long = text.len() > max;
    text.truncate(text.floor_char_boundary(max));
    long
}

pub(crate) fn plan_entry(entry: acp::PlanEntry) -> PlanEntry {
    let word = |value: Result<Value, _>| match value {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    };
    PlanEntry {
        status: word(serde_json::to_value(&entry.status)),
        priority: word(serde_json::to_value(&entry.priority)),
        text: entry.content,
    }
}

pub(crate) fn permission_option(option: acp::PermissionOption) -> PermissionOption {
    PermissionOption {
        id: option.option_id.0.to_string(),
        name: option.name,
        kind: match option.kind {
            acp::PermissionOptionKind::AllowOnce => PermissionKind::AllowOnce,
            acp::PermissionOptionKind::AllowAlways => PermissionKind::AllowAlways,
            acp::PermissionOptionKind::RejectAlways => PermissionKind::RejectAlways,
            // What we do not know must not allow anything.
            _ => PermissionKind::RejectOnce,
        },
    }
}

pub(crate) fn turn_end(reason: acp::StopReason) -> TurnEnd {
    match reason {
        acp::StopReason::EndTurn => TurnEnd::Finished,
        acp::StopReason::Cancelled => TurnEnd::Cancelled,
        acp::StopReason::Refusal => TurnEnd::Refused,
        acp::StopReason::MaxTokens => TurnEnd::TokenLimit,
        acp::StopReason::MaxTurnRequests => TurnEnd::RequestLimit,
        other => TurnEnd::Failed(format!(
            "the agent stopped for a reason we do not know: {other:?}"
        )),
    }
}

/// Returns a turn's tokens: from the answer, or where gemini puts them.
pub(crate) fn turn_usage(
    answer: &acp::PromptResponse,
    input_includes_cached: bool,
) -> Option<TurnUsage> {
    let mut usage = match &answer.usage {
        Some(usage) => TurnUsage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached_read: usage.cached_read_tokens.unwrap_or(0),
            cached_write: usage.cached_write_tokens.unwrap_or(0),
            thought: usage.thought_tokens.unwrap_or(0),
        },
        None => {
            let count = answer.meta.as_ref()?.get("quota")?.get("token_count")?;
            let number = |name| count.get(name).and_then(Value::as_u64);
            TurnUsage {
                input: number("input_tokens")?,
                output: number("output_tokens")?,
                ..TurnUsage::default()
            }
        }
    };
    if input_includes_cached {
        usage.input = usage.input.saturating_sub(usage.cached_read);
    }
    Some(usage)
}
