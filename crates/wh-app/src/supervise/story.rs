//! Turns what an agent reports into what is stored: messages, approvals, turns. It decides nothing about processes.

mod asked;
mod paths;
mod repeats;

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use wh_agents::CostCount;
use wh_domain::{
    Abilities, AgentCommand, ApprovalState, MessageId, MessageKind, ModelName, NewMessage,
    OfferedModel, PriceList, RedactedText, RunEntry, Session, Turn, TurnId, TurnState, Usage,
    redact,
};
use wh_runner::{
    AgentEvent,
    event::{self, Cost, Exit, Model, Notice, PlanEntry, ToolCall, TurnEnd, TurnUsage},
    journal::Record,
};
use wh_store::RunFact;

pub(crate) use self::asked::action_of;
use self::repeats::{REPEATS_MAX, Repeats};
use super::stderr;
use crate::{IdSource, redacted_json::redacted_json};

/// How a run ended that was asked to.
pub(super) const STOPPED: &str = "stopped";

/// Words are joined into one message up to this size.
const MESSAGE_BYTES_MAX: usize = 32 << 10;

/// What one turn may add to a transcript; the rest is counted and not kept.
const TURN_BYTES_MAX: usize = 8 << 20;

/// What the story is about.
pub(super) struct Telling<'a> {
    pub(super) session: &'a Session,
    pub(super) home: &'a Path,
    pub(super) ids: &'a dyn IdSource,
    /// How long an approval waits, unless the session's policy says otherwise.
    pub(super) approval_wait: SignedDuration,
    /// The turn that begins.
    pub(super) turn: Option<&'a Turn>,
    /// Whether the agent ever opened a conversation; one that never did cannot go on.
    pub(super) has_conversation: bool,
    pub(super) prices: &'a PriceList,
    /// Whether some budget limits money.
    pub(super) is_money_limited: bool,
}

/// The place in one run's story.
#[derive(Debug)]
pub(super) struct Story {
    epoch: u64,
    turn: Option<TurnId>,
    /// The message that grows.
    open: Option<Open>,
    kept_bytes: usize,
    dropped_bytes: usize,
    repeats: Repeats,
    /// The model that the agent said it uses, since this run is followed.
    model: Option<String>,
}

#[derive(Debug)]
struct Open {
    kind: MessageKind,
    reference: String,
    text: RedactedText,
}

impl Story {
    /// Goes on with a run that may be at work on a turn.
    pub(super) fn new(epoch: u64, turn: Option<TurnId>) -> Self {
        Self {
            epoch,
            turn,
            open: None,
            kept_bytes: 0,
            dropped_bytes: 0,
            repeats: Repeats::default(),
            model: None,
        }
    }

    /// A prompt was handed over.
    fn begin_turn(&mut self, turn: TurnId) {
        self.turn = Some(turn);
        self.open = None;
        self.kept_bytes = 0;
        self.dropped_bytes = 0;
    }

    /// Returns what a record makes true.
    pub(super) fn tell(&mut self, record: &Record, about: &Telling<'_>, facts: &mut Vec<RunFact>) {
        let at = i64::try_from(record.at).ok();
        let at = at.and_then(|at| Timestamp::from_microsecond(at).ok());
        let mut teller = Teller {
            story: self,
            about,
            at: at.unwrap_or(Timestamp::UNIX_EPOCH),
            seq: record.seq,
            facts,
        };
        teller.event(&record.event);
    }
}

struct Teller<'a> {
    story: &'a mut Story,
    about: &'a Telling<'a>,
    at: Timestamp,
    seq: u64,
    facts: &'a mut Vec<RunFact>,
}

impl Teller<'_> {
    fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Started { capabilities, .. } => {
                let abilities = Abilities {
                    load: capabilities.load,
                    resume: capabilities.resume,
                };
                self.facts.push(RunFact::Introduced(abilities));
            }
            AgentEvent::SessionReady {
                agent_session,
                current_mode,
                models,
                current_model,
                ..
            } => {
                let conversation = agent_session.clone();
                self.facts.push(RunFact::Ready { conversation });
                if let Some(mode) = current_mode {
                    self.mode(mode);
                }
                self.models(models);
                if let Some(model) = current_model {
                    self.model(model);
                }
            }
            AgentEvent::Text { text } => self.words(MessageKind::Agent, text),
            AgentEvent::Thought { text } => self.words(MessageKind::Thought, text),
            AgentEvent::ToolCall { call } | AgentEvent::ToolCallUpdate { call } => {
                self.tool_call(call);
            }
            AgentEvent::Plan { entries } => self.plan(entries),
            AgentEvent::Usage { cost, .. } => self.cost(cost.as_ref()),
            AgentEvent::PermissionRequested { request } => self.permission(request),
            AgentEvent::PermissionSettled { id, chosen } => {
                let state = chosen.map_or(ApprovalState::Withdrawn, asked::state_of);
                self.settled(id, state, None, None);
            }
            AgentEvent::QuestionAsked { question } => self.question(question),
            AgentEvent::QuestionSettled { id, answer } => self.answered(id, answer.as_deref()),
            AgentEvent::TurnEnded { reason, usage, .. } => self.turn_ended(reason, *usage),
            AgentEvent::Notice { notice } => self.notice(notice),
            AgentEvent::Exited { how, stderr } => self.exited(how, stderr),
            AgentEvent::TurnStarted { command } => self.turn_started(command),
            AgentEvent::ModeChanged { mode } => self.mode(mode),
            AgentEvent::ModelChanged { model } => self.model(model),
            AgentEvent::Commands { commands } => self.commands(commands),
            AgentEvent::Titled { .. } => {}
        }
    }

    fn mode(&mut self, mode: &str) {
        let mode = printable(mode, RunEntry::MODE_BYTES_MAX);
        self.facts.push(RunFact::Mode { mode });
    }

    fn model(&mut self, model: &str) {
        let model = printable(model, ModelName::BYTES_MAX);
        self.story.model = Some(model.clone());
        self.facts.push(RunFact::Model { model });
    }

    fn models(&mut self, models: &[Model]) {
        if models.is_empty() {
            return;
        }
        let max = ModelName::BYTES_MAX;
        // A name that was cut would choose nothing.
        let models = models.iter().filter(|model| model.id.len() <= max);
        let offered = |model: &Model| OfferedModel {
            id: printable(&model.id, max),
            name: printable(&model.name, max),
        };
        let models = models.map(offered).collect();
        self.facts.push(RunFact::Models { models });
    }

    fn commands(&mut self, commands: &[event::AgentCommand]) {
        let command = |command: &event::AgentCommand| AgentCommand {
            name: printable(&command.name, event::AgentCommand::NAME_BYTES_MAX),
            about: printable(&command.about, event::AgentCommand::ABOUT_BYTES_MAX),
        };
        let commands = commands.iter().map(command).collect();
        self.facts.push(RunFact::Commands { commands });
    }

    /// The agent has a prompt: the one that was next.
    fn turn_started(&mut self, command: &str) {
        let known = self
            .about
            .turn
            .filter(|turn| turn.id.to_string() == command);
        let Some(turn) = known else { return };
        self.story.begin_turn(turn.id);
        self.facts.push(RunFact::TurnStarted {
            turn: turn.id,
            commit_before: None,
        });
        let reference = format!("turn-{}", turn.id);
        let detail =
            (!turn.files.is_empty()).then(|| serde_json::json!({"files": turn.files}).to_string());
        self.message(
            Some(reference),
            MessageKind::Prompt,
            turn.prompt.clone(),
            detail,
        );
    }

    /// Adds words to the message that grows, or begins one.
    fn words(&mut self, kind: MessageKind, text: &str) {
        if !self.may_keep(text.len()) {
            return;
        }
        let fits =
            |open: &Open| open.kind == kind && open.text.len() + text.len() <= MESSAGE_BYTES_MAX;
        if !self.story.open.as_ref().is_some_and(fits) {
            let reference = format!("w{}-{}", self.story.epoch, self.seq);
            let text = self.end_words(kind);
            self.story.open = Some(Open {
                kind,
                reference,
                text,
            });
        }
        let Some(open) = &mut self.story.open else {
            return;
        };
        open.text.push(text);
        let (reference, whole) = (open.reference.clone(), open.text.text());
        // What is replaced a moment later need not be stored first.
        if let Some(RunFact::Message {
            reference: Some(last),
            message,
        }) = self.facts.last_mut()
            && *last == reference
        {
            message.text = without_nul(whole);
            return;
        }
        self.message(Some(reference), kind, whole, None);
    }

    /// Ends the message that grows. What the next one of its kind begins with is returned: a secret that has begun must not be
    /// spread over two messages, where neither looks like one.
    fn end_words(&mut self, kind: MessageKind) -> RedactedText {
        if self
            .story
            .open
            .as_ref()
            .is_none_or(|open| open.kind != kind)
        {
            self.close_words();
            return RedactedText::default();
        }
        let Some(mut full) = self.story.open.take() else {
            return RedactedText::default();
        };
        let open = full.text.take_open();
        if !open.is_empty() && !full.text.is_empty() {
            self.message(Some(full.reference), kind, full.text.text(), None);
        }
        open
    }

    /// Ends the message that grows, and warns of an agent that says the same again and again.
    fn close_words(&mut self) {
        let Some(open) = self.story.open.take() else {
            return;
        };
        if open.kind == MessageKind::Agent && self.story.repeats.add(&open.text.text()) {
            let session = self.about.session.id;
            tracing::warn!(%session, times = REPEATS_MAX, "an agent says the same again and again");
            self.system(format!(
                "the agent has said the same {REPEATS_MAX} times in a row and may be going in circles: interrupt it, or tell it how to go on"
            ));
        }
    }

    fn tool_call(&mut self, call: &ToolCall) {
        self.close_words();
        let detail = serde_json::to_value(call).map(redacted_json);
        let detail = detail.unwrap_or_default();
        if self.may_keep(detail.len()) {
            let reference = format!("t{}-{}", self.story.epoch, call.id);
            self.message(
                Some(reference),
                MessageKind::ToolCall,
                call.title.clone(),
                Some(detail),
            );
        }
    }

    fn plan(&mut self, entries: &[PlanEntry]) {
        self.close_words();
        let line = |entry: &PlanEntry| {
            let mark = match entry.status.as_str() {
                "completed" => "x",
                "in_progress" => "~",
                _ => " ",
            };
            format!("[{mark}] {}", entry.text)
        };
        let text: Vec<_> = entries.iter().map(line).collect();
        let turn = self
            .story
            .turn
            .map_or_else(String::new, |id| id.to_string());
        let reference = format!("p{}-{turn}", self.story.epoch);
        let detail = serde_json::to_value(entries).map(redacted_json).ok();
        self.message(Some(reference), MessageKind::Plan, text.join("\n"), detail);
    }

    fn cost(&mut self, cost: Option<&Cost>) {
        if let Some(cost) = cost
            && cost.currency.eq_ignore_ascii_case("usd")
            && cost.amount.is_finite()
            && cost.amount > 0.0
        {
            let micros = (cost.amount * 1e6).min(1e15) as u64;
            self.facts
                .push(match CostCount::of(&self.about.session.agent) {
                    CostCount::Conversation => RunFact::Cost { micros },
                    CostCount::Process => RunFact::RunCost { micros },
                });
        }
    }

    fn turn_ended(&mut self, reason: &TurnEnd, usage: Option<TurnUsage>) {
        // The end of the process follows, and takes the turn with it.
        if matches!(reason, TurnEnd::Lost(_)) {
            return;
        }
        let Some(turn) = self.story.turn.take() else {
            return;
        };
        self.close_words();
        if self.story.dropped_bytes > 0 {
            let dropped = self.story.dropped_bytes;
            self.system(format!("{dropped} more bytes of this turn were not kept"));
        }
        let (state, words) = match reason {
            TurnEnd::Finished => (TurnState::Completed, None),
            TurnEnd::Cancelled => (TurnState::Cancelled, None),
            TurnEnd::Refused => (TurnState::Failed, Some("the agent refused".to_owned())),
            TurnEnd::TokenLimit => (
                TurnState::Failed,
                Some("the model's token limit was reached".to_owned()),
            ),
            TurnEnd::RequestLimit => (
                TurnState::Failed,
                Some("the agent's limit of model calls in one turn was reached".to_owned()),
            ),
            TurnEnd::Failed(why) | TurnEnd::Lost(why) => {
                (TurnState::Failed, Some(redact(why).into_owned()))
            }
        };
        if let Some(words) = &words {
            self.system(format!("the turn failed: {words}"));
        }
        let usage = usage.map(usage_of).unwrap_or_default();
        self.facts.push(RunFact::TurnEnded {
            turn,
            state,
            reason: words,
            commit_after: None,
            estimate_micros: self.estimate(usage),
            usage,
        });
    }

    /// Returns what a turn cost by the price list.
    fn estimate(&self, usage: Usage) -> u64 {
        let session = self.about.session;
        let said = self
            .story
            .model
            .as_deref()
            .or(session.current_model.as_deref());
        let model = said.or(session.model.as_ref().map(ModelName::as_str));
        let is_limited = self.about.is_money_limited;
        self.about.prices.estimate(model, usage, is_limited)
    }

    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::LineSkipped { bytes } => {
                self.system(format!(
                    "a line of {bytes} bytes was too long and was left out"
                ));
            }
            Notice::JournalFull => {
                self.system("the agent had to wait until what it said was stored".to_owned());
            }
            Notice::FromAgent { text } => self.system(text.clone()),
            Notice::HostRefused { host, port } => self.system(format!(
                "network: connection to {host}:{port} refused; an administrator can allow it with `hosts` in [containment]"
            )),
            Notice::NetworkLimit => self.system(
                "network: the limit `limits.network_mib` is reached; further connections are refused".to_owned(),
            ),
            Notice::NotProtocol { sample } => {
                self.system(format!(
                    "the agent printed what is not its protocol: {sample}"
                ));
            }
            Notice::ContentCut { .. } | Notice::Unknown { .. } | Notice::Stopping { .. } => {}
        }
    }

    fn exited(&mut self, how: &Exit, stderr: &[String]) {
        self.close_words();
        let (ending, was_asked) = match how {
            Exit::Code(0) => ("the agent ended by itself".to_owned(), false),
            Exit::Code(code) => (format!("the agent ended with code {code}"), false),
            Exit::Signal(signal) => (format!("the agent was killed by signal {signal}"), false),
            Exit::NotStarted(why) => {
                let why = redact(why);
                (format!("the agent could not be started: {why}"), false)
            }
            Exit::LimitReached(which) => (format!("the agent was ended: {which}"), false),
            Exit::Stopped { .. } => (STOPPED.to_owned(), true),
        };
        if !was_asked {
            let mut text = ending.clone();
            for line in stderr.iter().rev().take(5).rev() {
                text.push_str("\n  ");
                text.push_str(line);
            }
            self.system(text);
        }
        if let Some(text) = stderr::text(stderr) {
            self.facts.push(RunFact::Stderr { text });
        }
        let failed = (!was_asked && !self.about.has_conversation).then(|| ending.clone());
        self.facts.push(RunFact::Gone { ending, failed });
    }

    fn system(&mut self, text: String) {
        self.message(None, MessageKind::System, text, None);
    }

    fn message(
        &mut self,
        reference: Option<String>,
        kind: MessageKind,
        text: String,
        detail: Option<String>,
    ) {
        let message = NewMessage {
            detail,
            ..self.new_message(kind, text)
        };
        self.facts.push(RunFact::Message { reference, message });
    }

    fn new_message(&self, kind: MessageKind, text: String) -> NewMessage {
        new_message(self.about.ids, self.story.turn, kind, text, self.at)
    }

    /// Tells whether there is room for so much more of this turn, and says so once when there is not.
    fn may_keep(&mut self, bytes: usize) -> bool {
        let story = &mut *self.story;
        if story.kept_bytes + bytes <= TURN_BYTES_MAX {
            story.kept_bytes += bytes;
            return true;
        }
        let first = story.dropped_bytes == 0;
        story.dropped_bytes += bytes;
        if first {
            story.open = None;
            self.system(format!(
                "this turn said more than {TURN_BYTES_MAX} bytes; what follows is not kept"
            ));
        }
        false
    }
}

/// Makes a message.
pub(super) fn new_message(
    ids: &dyn IdSource,
    turn: Option<TurnId>,
    kind: MessageKind,
    text: String,
    at: Timestamp,
) -> NewMessage {
    NewMessage {
        id: MessageId::from_untyped_uuid(ids.next()),
        turn,
        kind,
        // Words that arrive in pieces are redacted already, which changes nothing here.
        text: without_nul(redact(&text).into_owned()),
        detail: None,
        approval: None,
        created_at: at,
    }
}

/// Returns a name that an agent gave, without secrets and control characters, and not too long.
fn printable(name: &str, bytes_max: usize) -> String {
    let mut name = redact(name).replace(char::is_control, " ");
    name.truncate(name.floor_char_boundary(bytes_max));
    name
}

/// Text columns hold no NUL.
fn without_nul(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}

fn usage_of(usage: TurnUsage) -> Usage {
    Usage {
        input_tokens: usage.input.saturating_add(usage.cached_write),
        cached_tokens: usage.cached_read,
        output_tokens: usage.output.saturating_add(usage.thought),
        ..Usage::default()
    }
}
