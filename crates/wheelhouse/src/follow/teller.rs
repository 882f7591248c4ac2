//! Tells a transcript as it grows: each word once, each tool call on a line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wh_api::{ApprovalView, MessageView};

use crate::exit::CliResult;
use crate::ui::{Tone, Ui, clean, clean_lines};

/// How many messages may still change. Older ones are taken for finished.
const RECENT_MAX: usize = 50;
/// How much of a tool call's title is shown.
const TITLE_CHARS_MAX: usize = 160;

/// Which parts of a transcript are told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detail {
    /// What was prompted, for whoever did not just type it.
    pub(crate) prompts: bool,
    /// Notes of the server.
    pub(crate) system: bool,
    /// Thoughts, and what tools were given and gave.
    pub(crate) full: bool,
    /// How what the agent asks for is answered.
    pub(crate) answer_by: AnswerBy,
}

/// How whoever reads this answers an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum AnswerBy {
    /// With another command.
    #[default]
    Command,
    /// By typing a letter or a text here.
    Letter,
    /// By typing a word with a slash or a text here.
    Slash,
}

impl AnswerBy {
    /// Says how to answer an approval.
    fn in_words(self, approval: &ApprovalView) -> String {
        let id = &approval.id;
        match (self, approval.kind.as_str()) {
            (Self::Command, "question") => {
                format!("wheelhouse answer {id} 'TEXT', or wheelhouse deny {id} to decline")
            }
            (Self::Command, _) => format!("wheelhouse approve {id}, or wheelhouse deny {id}"),
            (_, "question") => "type the answer, or /deny to decline".to_owned(),
            (Self::Letter, _) => {
                "y allows it, a allows all of its kind, n [REASON] denies it".to_owned()
            }
            (Self::Slash, _) => {
                "/approve allows it, /always all of its kind, /deny [REASON] denies it".to_owned()
            }
        }
    }
}

/// What was told of one message.
#[derive(Debug)]
struct Told {
    text: String,
    /// A tool call that has not ended.
    is_open: bool,
}

/// Tells messages and approvals, none of them twice.
pub(crate) struct Teller {
    ui: Ui,
    detail: Detail,
    recent: BTreeMap<u64, Told>,
    /// Messages up to this one are told and do not change.
    floor: u64,
    approvals: BTreeSet<String>,
    /// Approvals whose question is shown: each comes as part of the conversation and as what is waited for.
    asked: BTreeSet<String>,
    /// The approval of the question that was told last, until something is known to have become of it.
    question: Option<String>,
    /// The message whose words end in the middle of a line.
    mid_line: Option<u64>,
}

impl Teller {
    /// Begins after message number `after`.
    pub(crate) fn new(ui: Ui, detail: Detail, after: u64) -> Self {
        Self {
            ui,
            detail,
            recent: BTreeMap::new(),
            floor: after,
            approvals: BTreeSet::new(),
            asked: BTreeSet::new(),
            question: None,
            mid_line: None,
        }
    }

    /// Returns after which message to read: the latest words may have grown, and tool calls may have ended.
    pub(crate) fn after(&self) -> u64 {
        let open = self.recent.iter().find(|(_, told)| told.is_open);
        let first = open.or(self.recent.last_key_value());
        first.map_or(self.floor, |(seq, _)| seq - 1)
    }

    /// Tells what is new about a message.
    pub(crate) fn message(&mut self, message: &MessageView) -> CliResult {
        if message.seq <= self.floor {
            return Ok(());
        }
        let now = Told {
            text: message.text.clone(),
            is_open: is_under_way(message),
        };
        let before = self.recent.remove(&message.seq);
        let is_same = |told: &Told| told.text == now.text && told.is_open == now.is_open;
        match message.kind.as_str() {
            "question" if before.is_none() => self.question.clone_from(&message.approval),
            "question" => {}
            _ => drop(
                self.question
                    .take_if(|id| message.approval.as_ref() == Some(id)),
            ),
        }
        if self.is_wanted(&message.kind) && !before.as_ref().is_some_and(is_same) {
            self.say(message, before.as_ref())?;
        }
        self.recent.insert(message.seq, now);
        while self.recent.len() > RECENT_MAX
            && let Some((seq, _)) = self.recent.pop_first()
        {
            self.floor = self.floor.max(seq);
        }
        Ok(())
    }

    /// Shows what the agent waits for and how to answer, once.
    pub(crate) fn approval(&mut self, approval: &ApprovalView) -> CliResult {
        if !self.approvals.insert(approval.id.clone()) {
            return Ok(());
        }
        if approval.kind == "question" {
            self.question = Some(approval.id.clone());
        }
        if self.ui.is_json() {
            let line = json!({ "type": "approval", "approval": approval });
            return self.ui.json_line(&line);
        }
        self.end_line()?;
        let id = &approval.id;
        if self.asked.insert(id.clone()) {
            self.ask(&approval.kind, &approval.text)?;
        }
        let how = self.detail.answer_by.in_words(approval);
        self.ui.raw(&format!("  {how}\n"))
    }

    /// Returns the approval of a question that was told and may be open.
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// Forgets a question that is not among what the agent waits for by now.
    pub(crate) fn keep_question(&mut self, waiting: &[ApprovalView]) {
        self.question
            .take_if(|id| waiting.iter().all(|it| it.id != *id));
    }

    fn ask(&self, kind: &str, text: &str) -> CliResult {
        let mark = self.ui.paint(Tone::Doubtful, "?");
        let text = clean_lines(text);
        self.ui.raw(&format!("{mark} {kind}: {text}\n"))
    }

    /// Ends a line that words have left open.
    pub(crate) fn end_line(&mut self) -> CliResult {
        match self.mid_line.take() {
            Some(_) => self.ui.raw("\n"),
            None => Ok(()),
        }
    }

    fn is_wanted(&self, kind: &str) -> bool {
        match kind {
            "prompt" => self.detail.prompts,
            "system" => self.detail.system,
            "thought" => self.detail.full,
            _ => true,
        }
    }

    fn say(&mut self, message: &MessageView, before: Option<&Told>) -> CliResult {
        if self.ui.is_json() {
            let line = json!({ "type": "message", "message": message });
            return self.ui.json_line(&line);
        }
        if self.mid_line.is_some_and(|seq| seq != message.seq) {
            self.end_line()?;
        }
        match message.kind.as_str() {
            "agent" | "thought" => self.words(message, before),
            "tool_call" => self.tool_call(message, before),
            "prompt" => {
                let sender = clean(message.sender.as_deref().unwrap_or_default());
                self.block(&message.text, &format!("{sender}> "), Tone::Strong)
            }
            "question" => {
                self.asked.extend(message.approval.clone());
                self.ask("question", &message.text)
            }
            "answer" => {
                let sender = message.sender.as_deref().map(clean);
                let who = sender.map_or("answer".to_owned(), |name| format!("{name} answers"));
                self.block(&message.text, &format!("{who}> "), Tone::Strong)
            }
            "system" => self.block(&message.text, "# ", Tone::Dim),
            _ => self.block(&message.text, "  ", Tone::Dim),
        }
    }

    /// Goes on with words where they ended before.
    fn words(&mut self, message: &MessageView, before: Option<&Told>) -> CliResult {
        let told = before.map_or("", |told| told.text.as_str());
        let Some(new) = message.text.strip_prefix(told) else {
            // The agent took its words back; there is no way but to say the new ones whole.
            self.end_line()?;
            return self.words(message, None);
        };
        let text = clean_lines(new);
        let text = match message.kind.as_str() {
            "thought" => self.ui.paint(Tone::Dim, &text),
            _ => text,
        };
        self.ui.raw(&text)?;
        let is_mid_line = !message.text.is_empty() && !message.text.ends_with('\n');
        self.mid_line = is_mid_line.then_some(message.seq);
        Ok(())
    }

    fn tool_call(&self, message: &MessageView, before: Option<&Told>) -> CliResult {
        let title: String = message.text.chars().take(TITLE_CHARS_MAX).collect();
        let title = clean(&title);
        if before.is_none() {
            let line = self.ui.paint(Tone::Dim, &format!("• {title}"));
            self.ui.raw(&format!("{line}\n"))?;
        }
        if status(message) == Some("failed") {
            let mark = self.ui.paint(Tone::Bad, "✗");
            self.ui.raw(&format!("{mark} {title}: failed\n"))?;
        }
        match &message.detail {
            Some(detail) if self.detail.full && !is_under_way(message) => {
                let text = serde_json::to_string_pretty(detail).unwrap_or_default();
                self.block(&text, "    ", Tone::Dim)
            }
            _ => Ok(()),
        }
    }

    fn block(&self, text: &str, margin: &str, tone: Tone) -> CliResult {
        for line in text.lines() {
            let line = format!("{margin}{}", clean_lines(line));
            let line = self.ui.paint(tone, line.trim_end());
            self.ui.raw(&format!("{line}\n"))?;
        }
        Ok(())
    }
}

fn status(message: &MessageView) -> Option<&str> {
    message
        .detail
        .as_ref()?
        .get("status")
        .and_then(Value::as_str)
}

fn is_under_way(message: &MessageView) -> bool {
    matches!(status(message), Some("pending" | "in_progress"))
}
