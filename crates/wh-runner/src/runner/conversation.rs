//! The conversation with the agent as a state machine: lines, commands and time go in; events and lines come out. It waits for
//! nothing and touches no file, so every order of things can be tried.

mod model;
mod updates;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use agent_client_protocol::v1::schema as acp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{open, requests::Requests};
use crate::{
    acp::{
        calls::ModelCalls,
        lines::Line,
        map,
        models::ModelChoice,
        prompt,
        text::Joiner,
        tools::{Close, Tools},
        wire::{self, Message, RpcError},
    },
    event::{AgentEvent, Capabilities, Notice, PermissionKind, TurnEnd},
    link::{PromptPart, Refusal},
    spec::{Begin, RunSpec},
};

/// Sorts of unknown things that are told; after so many, none is.
const UNKNOWN_MAX: usize = 32;
/// The most of a line that is no protocol which is shown.
const SAMPLE_BYTES: usize = 200;
/// A replay that never ends is given up after this.
const REPLAY_MAX: Duration = Duration::from_secs(30);

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Output {
    Event(AgentEvent),
    Send(Vec<u8>),
    /// The agent cannot be worked with: end it.
    GiveUp(String),
}

pub(crate) type CommandResult = Result<(), (Refusal, String)>;

#[derive(Debug)]
enum Phase {
    Starting,
    Opening,
    /// A loaded conversation is being replayed to us.
    Settling {
        quiet_at: Instant,
        give_up_at: Instant,
        ready: Box<AgentEvent>,
    },
    /// The model that was asked for is being chosen.
    Choosing {
        ready: Box<AgentEvent>,
    },
    Ready,
}

/// What an answer of the agent is to.
#[derive(Debug)]
enum Waiting {
    Initialize,
    Open,
    Mode(String),
    Model(String),
    Prompt(String),
}

#[derive(Debug)]
pub(crate) struct Conversation {
    spec: Arc<RunSpec>,
    mcp_url: Option<String>,
    phase: Phase,
    capabilities: Capabilities,
    agent_session: String,
    /// The way of working that was last told of.
    mode: Option<String>,
    models: Option<ModelChoice>,
    next_id: u64,
    waiting: HashMap<u64, Waiting>,
    turn: Option<String>,
    tools: Tools,
    calls: ModelCalls,
    joiner: Joiner,
    pub(super) requests: Requests,
    told: HashSet<String>,
    out: Vec<Output>,
}

impl Conversation {
    pub(crate) fn new(spec: Arc<RunSpec>, mcp_url: Option<String>) -> Self {
        let mut new = Self {
            tools: Tools::new(spec.limits.content_bytes_max),
            spec,
            mcp_url,
            phase: Phase::Starting,
            capabilities: Capabilities::default(),
            agent_session: String::new(),
            mode: None,
            models: None,
            next_id: 1,
            waiting: HashMap::new(),
            turn: None,
            calls: ModelCalls::default(),
            joiner: Joiner::default(),
            requests: Requests::default(),
            told: HashSet::new(),
            out: Vec::new(),
        };
        new.request("initialize", &open::initialize(), Waiting::Initialize);
        new
    }

    pub(crate) fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready)
    }

    pub(crate) fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// Returns when to call [`Self::tick`].
    pub(crate) fn due(&self) -> Option<Instant> {
        let settle = match &self.phase {
            Phase::Settling {
                quiet_at,
                give_up_at,
                ..
            } => Some(*quiet_at.min(give_up_at)),
            _ => None,
        };
        [self.joiner.due(), settle].into_iter().flatten().min()
    }

    pub(crate) fn tick(&mut self, now: Instant) {
        if self.joiner.due().is_some_and(|due| due <= now) {
            self.flush_words();
        }
        let settled = match &self.phase {
            Phase::Settling {
                quiet_at,
                give_up_at,
                ready,
            } if *quiet_at.min(give_up_at) <= now => Some(ready.as_ref().clone()),
            _ => None,
        };
        if let Some(ready) = settled {
            self.choose_model(ready);
        }
    }

    /// Takes a line of the agent.
    pub(crate) fn line(&mut self, line: Line, now: Instant) {
        let line = match line {
            Line::Whole(line) => line,
            Line::Oversized { bytes } => return self.notice(Notice::LineSkipped { bytes }),
        };
        let text = String::from_utf8_lossy(&line);
        match wire::read(&text) {
            Some(Message::Notification { method, params }) if method == "session/update" => {
                self.update(params, now);
            }
            // Extensions between an agent and clients that know it; the protocol lets everyone else ignore them.
            Some(Message::Notification { method, .. }) if method.starts_with('_') => {}
            Some(Message::Notification { method, .. }) => self.unknown(method),
            Some(Message::Request { id, method, params }) => match method.as_str() {
                "session/request_permission" => self.permission(id, params),
                "elicitation/create" => self.question(id, params),
                _ => {
                    let why = "this client offers no files and no terminals; use your own tools";
                    self.send(wire::error(id, wire::METHOD_NOT_FOUND, why));
                }
            },
            Some(Message::Response { id, result }) => self.response(id, result, now),
            None if text.trim().is_empty() => {}
            None => {
                let mut sample = text.into_owned();
                map::truncate(&mut sample, SAMPLE_BYTES);
                // One sample tells; a flood of them would only fill the journal.
                if self.told.insert("garbage".to_owned()) {
                    self.notice(Notice::NotProtocol { sample });
                }
            }
        }
    }

    pub(crate) fn prompt(
        &mut self,
        command: &str,
        text: &str,
        files: &[PromptPart],
    ) -> CommandResult {
        self.must_be_ready()?;
        if self.turn.is_some() {
            let why = "a turn is running; wait for its end or cancel it";
            return Err((Refusal::Busy, why.to_owned()));
        }
        self.turn = Some(command.to_owned());
        self.calls = ModelCalls::default();
        self.event(AgentEvent::TurnStarted {
            command: command.to_owned(),
        });
        let images_alone = self.spec.quirks.images_alone;
        let prompt = prompt::blocks(text, files, self.capabilities, images_alone);
        let params = json!({"sessionId": self.agent_session, "prompt": prompt});
        self.request(
            "session/prompt",
            &params,
            Waiting::Prompt(command.to_owned()),
        );
        Ok(())
    }

    /// Cancels the turn, if there is one. The agent is told that its open requests will not be answered.
    pub(crate) fn cancel(&mut self) {
        if self.turn.is_none() {
            return;
        }
        let params = json!({"sessionId": self.agent_session});
        self.send(wire::notification("session/cancel", &params));
        let settled = self.requests.cancel_all();
        self.out.extend(settled);
    }

    pub(crate) fn answer_permission(&mut self, id: &str, kind: PermissionKind) -> CommandResult {
        let done = self.requests.answer_permission(id, kind)?;
        self.out.extend(done);
        Ok(())
    }

    pub(crate) fn answer_question(&mut self, id: &str, answer: Option<String>) -> CommandResult {
        let done = self.requests.answer_question(id, answer)?;
        self.out.extend(done);
        Ok(())
    }

    pub(crate) fn set_mode(&mut self, mode: &str) -> CommandResult {
        self.must_be_ready()?;
        self.request_mode(mode);
        Ok(())
    }

    /// The agent is gone: what was open ends.
    pub(crate) fn end(&mut self, why: &str) {
        self.flush_words();
        let settled = self.requests.cancel_all();
        let events = |output: &Output| matches!(output, Output::Event(_));
        self.out.extend(settled.into_iter().filter(events));
        self.phase = Phase::Starting;
        let closed = self.tools.close(Close::Broken);
        self.events(closed);
        if let Some(command) = self.turn.take() {
            let reason = TurnEnd::Lost(why.to_owned());
            let usage = None;
            self.event(AgentEvent::TurnEnded {
                command,
                reason,
                usage,
            });
        }
    }

    fn must_be_ready(&self) -> CommandResult {
        match self.is_ready() {
            true => Ok(()),
            false => Err((Refusal::NotReady, "the conversation is not open".to_owned())),
        }
    }

    fn response(&mut self, id: u64, result: Result<&str, RpcError>, now: Instant) {
        let Some(waiting) = self.waiting.remove(&id) else {
            return self.unknown("an answer to nothing".to_owned());
        };
        match (waiting, result) {
            (Waiting::Initialize, Ok(result)) => self.initialized(result),
            (Waiting::Open, Ok(result)) => self.opened(result, now),
            (Waiting::Mode(mode), Ok(_)) => self.mode_is(mode),
            (Waiting::Model(model), Ok(result)) => self.model_chosen(model, result),
            (Waiting::Prompt(command), Ok(result)) => self.turn_ended(command, result),
            (Waiting::Initialize | Waiting::Open, Err(error)) => {
                let why = format!("the agent did not open a conversation: {}", error.message);
                self.out.push(Output::GiveUp(why));
            }
            (Waiting::Mode(mode), Err(error)) => self.notice(Notice::FromAgent {
                text: format!("the mode {mode} was refused: {}", error.message),
            }),
            (Waiting::Model(model), Err(error)) => self.model_refused(&model, &error.message),
            (Waiting::Prompt(command), Err(error)) => {
                self.finish(command, TurnEnd::Failed(error.message), None);
            }
        }
    }

    fn initialized(&mut self, result: &str) {
        let Some(answer) = self.parse::<acp::InitializeResponse>(result) else {
            return;
        };
        let capabilities = map::capabilities(&answer.agent_capabilities);
        self.capabilities = capabilities;
        let agent = map::agent_info(answer.agent_info);
        self.event(AgentEvent::Started {
            agent,
            capabilities,
        });
        self.phase = Phase::Opening;
        let (method, params) = open::session(&self.spec, self.mcp_url.as_deref());
        self.request(method, &params, Waiting::Open);
    }

    fn opened(&mut self, result: &str, now: Instant) {
        let opened = open::Opened::read(result);
        let asked_for = match &self.spec.begin {
            Begin::New => None,
            Begin::Load { agent_session } | Begin::Resume { agent_session } => {
                Some(agent_session.clone())
            }
        };
        let Some(agent_session) = opened.agent_session.or(asked_for) else {
            let why = "the agent opened a conversation without a name".to_owned();
            return self.out.push(Output::GiveUp(why));
        };
        self.agent_session.clone_from(&agent_session);
        self.mode.clone_from(&opened.current_mode);
        self.models = opened.models;
        let ready = AgentEvent::SessionReady {
            agent_session,
            modes: opened.modes,
            current_mode: opened.current_mode,
            models: Vec::new(),
            current_model: None,
        };
        match self.spec.begin {
            Begin::Load { .. } => {
                self.phase = Phase::Settling {
                    quiet_at: now + self.settle_time(),
                    give_up_at: now + REPLAY_MAX,
                    ready: Box::new(ready),
                };
            }
            Begin::New | Begin::Resume { .. } => self.choose_model(ready),
        }
    }

    fn ready(&mut self, mut ready: AgentEvent) {
        self.phase = Phase::Ready;
        self.tools.clear();
        if let (
            AgentEvent::SessionReady {
                models,
                current_model,
                ..
            },
            Some(choice),
        ) = (&mut ready, &self.models)
        {
            models.clone_from(&choice.offered);
            current_model.clone_from(&choice.current);
        }
        self.event(ready);
        if let Some(mode) = self.spec.quirks.initial_mode.clone() {
            self.request_mode(&mode);
        }
    }

    fn request_mode(&mut self, mode: &str) {
        let params = json!({"sessionId": self.agent_session, "modeId": mode});
        self.request("session/set_mode", &params, Waiting::Mode(mode.to_owned()));
    }

    /// The agent works in this way now. Agents that have modes and options say it twice.
    fn mode_is(&mut self, mode: String) {
        if self.mode.as_ref() != Some(&mode) {
            self.mode = Some(mode.clone());
            self.event(AgentEvent::ModeChanged { mode });
        }
    }

    fn settle_time(&self) -> Duration {
        Duration::from_millis(self.spec.quirks.replay_settle_ms)
    }

    fn turn_ended(&mut self, command: String, result: &str) {
        match serde_json::from_str::<acp::PromptResponse>(result) {
            Ok(answer) => {
                let quirks = &self.spec.quirks;
                let mut usage = map::turn_usage(&answer, quirks.input_includes_cached);
                if quirks.last_call_tokens_only {
                    usage = usage.map(|last| self.calls.turn_usage(last));
                }
                self.finish(command, map::turn_end(answer.stop_reason), usage);
            }
            Err(_) => {
                let why = "the agent ended the turn with an answer that cannot be read".to_owned();
                self.finish(command, TurnEnd::Failed(why), None);
            }
        }
    }

    fn finish(&mut self, command: String, reason: TurnEnd, usage: Option<crate::event::TurnUsage>) {
        self.flush_words();
        // An agent that ends its turn does not wait for answers any more.
        let settled = self.requests.cancel_all();
        self.out.extend(settled);
        self.turn = None;
        let closed = self.tools.close(match reason {
            TurnEnd::Cancelled => Close::Broken,
            _ => Close::Finished,
        });
        self.events(closed);
        self.event(AgentEvent::TurnEnded {
            command,
            reason,
            usage,
        });
    }

    fn permission(&mut self, id: &serde_json::value::RawValue, params: &str) {
        let Ok(asked) = serde_json::from_str::<acp::RequestPermissionRequest>(params) else {
            let why = "this request for permission cannot be read";
            return self.send(wire::error(id, wire::INVALID_PARAMS, why));
        };
        let (call, events) = self.tools.asked(asked.tool_call);
        self.events(events);
        let options = asked
            .options
            .into_iter()
            .map(map::permission_option)
            .collect();
        let event = self.requests.ask_permission(id, call, options);
        self.event(event);
    }

    fn question(&mut self, id: &serde_json::value::RawValue, params: &str) {
        match self.requests.ask_question(id, params) {
            Some(event) => self.event(event),
            None => self.send(wire::result(id, &json!({"action": "decline"}))),
        }
    }

    fn unknown(&mut self, what: String) {
        if self.told.len() < UNKNOWN_MAX && self.told.insert(what.clone()) {
            self.notice(Notice::Unknown { what });
        }
    }

    fn parse<T: DeserializeOwned>(&mut self, result: &str) -> Option<T> {
        let parsed = serde_json::from_str(result);
        if let Err(error) = &parsed {
            let why = format!("the agent's answer cannot be read: {error}");
            self.out.push(Output::GiveUp(why));
        }
        parsed.ok()
    }

    fn request(&mut self, method: &'static str, params: &Value, waiting: Waiting) {
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.insert(id, waiting);
        self.send(wire::request(id, method, params));
    }

    fn send(&mut self, line: Vec<u8>) {
        self.out.push(Output::Send(line));
    }

    fn notice(&mut self, notice: Notice) {
        self.event(AgentEvent::Notice { notice });
    }

    fn events(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            self.event(event);
        }
    }

    /// Passes an event on, behind the words that were said before it.
    fn event(&mut self, event: AgentEvent) {
        self.flush_words();
        self.calls.event(&event);
        self.out.push(Output::Event(event));
    }

    fn flush_words(&mut self) {
        self.out.extend(self.joiner.flush().map(Output::Event));
    }
}
