//! What a session has been doing, in a few lines that name the messages to read.
//!
//! [`SummaryMaterial`] is what a summary is made of and [`extract`] makes one without a model: it says nothing that is not in
//! the transcript. A model takes the same material (`message_model`); whatever goes wrong with it, the extract is the answer and
//! says so.

use std::fmt::Write;

use wh_domain::{
    Approval, Message, MessageId, MessageKind, PageLimit, Reach, Session, SessionState,
    SessionStateName,
};

use crate::{
    App, ModelFailure, Result,
    message_model::{self, Shown},
    model::Models,
};

/// The latest messages that are looked at; what lies before them is counted.
const LOOKED_AT_MAX: u64 = 5_000;

/// The most messages of each kind that are cited.
const CITED_MAX: usize = 3;

/// The most characters of a message that are quoted.
const QUOTED_CHARS: usize = 200;

/// What a session has been doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub text: String,
    /// waiting for input, working, errored or idle
    pub state: &'static str,
    /// The messages that the text cites, in the order of the transcript.
    pub cited: Vec<MessageId>,
    /// Who wrote it: the model's name, or `extract` when no model did.
    pub by: String,
    /// Why no model wrote it although there is one, and how many messages were left out.
    pub note: Option<String>,
}

/// Whether a summary is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summarize {
    #[default]
    No,
    /// One that is made without a model.
    Extract,
    /// The model's, if there is one.
    Yes,
}

impl From<bool> for Summarize {
    fn from(wanted: bool) -> Self {
        match wanted {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// What a summary is made of.
pub(crate) struct SummaryMaterial {
    session: Session,
    /// The first prompt.
    first: Option<Message>,
    /// The latest messages, oldest first.
    latest: Vec<Message>,
    /// What the agent waits for.
    pending: Vec<Approval>,
}

impl App {
    /// Summarizes a session that the caller may read, if that is wanted.
    pub(crate) async fn summary(
        &self,
        reach: Reach,
        session: &Session,
        wanted: Summarize,
    ) -> Result<Option<Summary>> {
        let models = match wanted {
            Summarize::No => return Ok(None),
            Summarize::Extract => None,
            Summarize::Yes => self.models.as_ref(),
        };
        let moment = (session.id, session.last_seq, session.updated_at);
        if let Some(kept) = models.and_then(|models| models.summaries.get(&moment)) {
            return Ok(Some(kept));
        }
        let material = self.summary_material(reach, session).await?;
        let extract = extract(&material);
        let Some(models) = models.filter(|_| !material.latest.is_empty()) else {
            return Ok(Some(extract));
        };
        match told(models, &material).await {
            Ok(summary) => {
                models.summaries.insert(moment, summary.clone());
                Ok(Some(summary))
            }
            Err(failure) => {
                tracing::warn!(session = %session.id, model = models.name(), "no summary: {failure}");
                let why = format!("{failure}, so this is an extract");
                let note = match &extract.note {
                    Some(left_out) => format!("{why}; {left_out}"),
                    None => why,
                };
                Ok(Some(Summary {
                    note: Some(note),
                    ..extract
                }))
            }
        }
    }

    async fn summary_material(&self, reach: Reach, session: &Session) -> Result<SummaryMaterial> {
        let first = self
            .store
            .message_list(reach, session.id, 0, PageLimit::clamped(Some(5)))
            .await?
            .into_iter()
            .find(|message| message.kind == MessageKind::Prompt);
        let mut after = session.last_seq.saturating_sub(LOOKED_AT_MAX);
        let mut latest = Vec::new();
        loop {
            let read = self
                .store
                .message_list(reach, session.id, after, PageLimit::MAX)
                .await?;
            let Some(last) = read.last() else { break };
            after = last.seq;
            latest.extend(read);
        }
        let work = self.store.work_get(session.id).await?;
        let pending = work.map(|work| work.approvals).unwrap_or_default();
        let pending = pending.into_iter().filter(|it| it.settled_at.is_none());
        Ok(SummaryMaterial {
            session: session.clone(),
            first,
            latest,
            pending: pending.collect(),
        })
    }
}

/// Has the model tell what a session has been doing. State and latest words are put around it: those are facts.
async fn told(
    models: &Models,
    material: &SummaryMaterial,
) -> std::result::Result<Summary, ModelFailure> {
    let (state, why) = state_of(material);
    let all = material.session.last_seq;
    let shown = Shown::new(material.first.as_ref(), &material.latest, all);
    let mut notes = Vec::new();
    for part in shown.earlier() {
        notes.push(models.ask(message_model::PART_SYSTEM, &part).await?);
    }
    let question = shown.question(&format!("{state}{why}"), &notes);
    let reply = models.ask(message_model::SYSTEM, &question).await?;
    let (said, mut cited) = shown.cited(&reply)?;
    let mut text = format!("State: {state}{why}.\n{said}\n");
    for message in material.latest_of(is_words, 1) {
        cite(&mut text, &mut cited, "Latest words", message);
    }
    let note = left_out(shown.left(), all);
    Ok(summary(text, state, cited, models.name(), note))
}

/// Tells a reader that a summary is not of the whole transcript.
fn left_out(left: u64, all: u64) -> Option<String> {
    (left > 0).then(|| format!("{left} of {all} messages were left out"))
}

/// Quotes a message, with its id.
fn cite(text: &mut String, cited: &mut Vec<(u64, MessageId)>, label: &str, message: &Message) {
    if !cited.contains(&(message.seq, message.id)) {
        cited.push((message.seq, message.id));
    }
    let (id, words) = (message.id, quote(&message.text));
    let _ = writeln!(text, "{label} (message {id}): {words}");
}

fn summary(
    text: String,
    state: &'static str,
    mut cited: Vec<(u64, MessageId)>,
    by: String,
    note: Option<String>,
) -> Summary {
    cited.sort_by_key(|(seq, _)| *seq);
    Summary {
        text,
        state,
        cited: cited.into_iter().map(|(_, id)| id).collect(),
        by,
        note,
    }
}

/// Makes a summary of what stands out, in the same words every time.
fn extract(material: &SummaryMaterial) -> Summary {
    let mut cited = Vec::new();
    let mut text = String::new();
    let (state, why) = state_of(material);
    let _ = writeln!(text, "State: {state}{why}.");
    let mut cite = |text: &mut String, label: &str, message: &Message| {
        cite(text, &mut cited, label, message);
    };
    let last_prompt = material.latest_of(is_prompt, 1);
    if let Some(first) = &material.first {
        cite(&mut text, "First asked", first);
    }
    for message in last_prompt {
        if material.first.as_ref().is_none_or(|it| it.id != message.id) {
            cite(&mut text, "Last asked", message);
        }
    }
    for (label, stands_out) in MOMENTS {
        for message in material.latest_of(*stands_out, CITED_MAX) {
            cite(&mut text, label, message);
        }
    }
    let _ = writeln!(text, "{}", material.counts());
    for message in material.latest_of(is_words, 1) {
        cite(&mut text, "Latest words", message);
    }
    let note = left_out(material.left(), material.session.last_seq);
    summary(text, state, cited, "extract".to_owned(), note)
}

/// Tells a message from the rest.
type Mark = fn(&Message) -> bool;

/// What a reader should look at, and how it is told from the rest.
const MOMENTS: &[(&str, Mark)] = &[
    ("Plan", |message| message.kind == MessageKind::Plan),
    ("Question", |message| {
        let asks_in_words = is_words(message) && message.text.trim_end().ends_with('?');
        asks_in_words || message.kind == MessageKind::Question
    }),
    ("Pull request", |message| {
        let places = ["/pull/", "/merge_requests/"];
        let text = &message.text;
        is_words(message) && places.iter().any(|place| text.contains(place))
    }),
    ("Error", is_error),
];

fn is_prompt(message: &Message) -> bool {
    message.kind == MessageKind::Prompt
}

fn is_words(message: &Message) -> bool {
    message.kind == MessageKind::Agent
}

/// A tool that failed, or a note of ours that something did.
fn is_error(message: &Message) -> bool {
    match message.kind {
        MessageKind::ToolCall => message.detail.as_deref().is_some_and(|detail| {
            let call = serde_json::from_str::<serde_json::Value>(detail);
            call.is_ok_and(|call| call["status"] == "failed")
        }),
        MessageKind::System => ["failed", "killed", "ended with code"]
            .iter()
            .any(|word| message.text.contains(word)),
        _ => false,
    }
}

impl SummaryMaterial {
    /// Returns the latest messages that stand out like this, oldest first.
    fn latest_of(&self, stands_out: Mark, most: usize) -> Vec<&Message> {
        let found = self.latest.iter().rev().filter(|it| stands_out(it));
        let mut found: Vec<_> = found.take(most).collect();
        found.reverse();
        found
    }

    /// Returns how many messages were not looked at.
    fn left(&self) -> u64 {
        let is_first = |it: &Message| Some(it.id) == self.first.as_ref().map(|first| first.id);
        let has_other = self.first.is_some() && !self.latest.iter().any(is_first);
        let looked = self.latest.len() as u64 + u64::from(has_other);
        self.session.last_seq.saturating_sub(looked)
    }

    fn counts(&self) -> String {
        let of = |kind| self.latest.iter().filter(|it| it.kind == kind).count();
        let (prompts, tools) = (of(MessageKind::Prompt), of(MessageKind::ToolCall));
        let all = self.session.last_seq;
        let among = match u64::try_from(self.latest.len()) {
            Ok(looked) if looked < all => format!(", of which the latest {looked} were looked at"),
            _ => String::new(),
        };
        format!("{all} messages{among}: {prompts} prompts, {tools} tool calls.")
    }
}

/// Says what a session is doing, and why.
fn state_of(material: &SummaryMaterial) -> (&'static str, String) {
    let because = |text: &str| format!(" ({text})");
    match &material.session.state {
        SessionState::Waiting { .. } => {
            let ask = |it: &Approval| format!("{}: {}", it.kind.as_str(), quote(&it.text));
            let asked: Vec<_> = material.pending.iter().map(ask).collect();
            ("waiting for input", because(&asked.join("; ")))
        }
        SessionState::Failed { reason } => ("errored", because(&quote(reason))),
        SessionState::Interrupted => ("errored", because("its process went away")),
        state => match state.name() {
            SessionStateName::Idle => ("idle", String::new()),
            name @ (SessionStateName::Creating
            | SessionStateName::Running
            | SessionStateName::Reviewing
            | SessionStateName::Stopping) => ("working", because(name.as_str())),
            name => ("idle", because(name.as_str())),
        },
    }
}

/// Returns the beginning of a text on one line.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;
    use wh_domain::SessionId;

    use super::*;

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(quote(" a\n  b "), "a b");
        let long = quote(&"é ".repeat(QUOTED_CHARS));
        assert_eq!(long.chars().count(), QUOTED_CHARS + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_failed_tool_and_a_failed_run_are_errors_and_words_about_failure_are_not() {
        let message = |kind, text: &str, detail: Option<&str>| Message {
            id: MessageId::from_untyped_uuid(Uuid::from_u128(1)),
            session: SessionId::from_untyped_uuid(Uuid::from_u128(2)),
            seq: 1,
            turn: None,
            kind,
            text: text.to_owned(),
            detail: detail.map(str::to_owned),
            author: None,
            approval: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let failed = Some(r#"{"status":"failed"}"#);
        assert!(is_error(&message(MessageKind::ToolCall, "Write", failed)));
        let system = message(
            MessageKind::System,
            "the agent was killed by signal 6",
            None,
        );
        assert!(is_error(&system));
        for fine in [
            message(
                MessageKind::ToolCall,
                "failed",
                Some(r#"{"status":"completed"}"#),
            ),
            message(MessageKind::ToolCall, "Write", Some("not JSON")),
            message(MessageKind::Agent, "it failed", None),
            message(MessageKind::System, "started", None),
        ] {
            assert!(!is_error(&fine), "{fine:?}");
        }
    }
}
