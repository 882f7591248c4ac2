//! `wheelhouse attach`: a conversation in lines, at a terminal or through a pipe.

mod editor;
mod line;

use std::io::IsTerminal;

use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::signal::unix::{SignalKind, signal};
use wh_api::{ApprovalAnswerRequest, SessionPromptRequest, SessionView};
use wh_client::Client;

use self::editor::{LineEditor, Typed};
use self::line::Line;
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::follow::{AnswerBy, Detail, Following, Scope, Standing, pending, read_page};

/// How many of the last messages are shown first.
const SHOWN_FIRST: u64 = 10;
/// How many of the last messages are searched for prompts to recall.
const RECALLED_FROM: u64 = 200;

/// Talk with a session: see what it does as it happens, and type prompts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse attach 89abcdef
  echo 'and now the tests' | wheelhouse attach 89abcdef

A line is a prompt, which waits until the agent is free. When the agent has asked a question, a line is the answer. At a terminal
lines are edited with the arrow keys, Up and Down recall earlier prompts of the session, Tab completes commands, and output appears
above what is typed. Lines that begin with a slash are commands:

  /approve, /always   allow what the agent asks for, once or for all of its kind
  /deny [REASON]      deny it; the agent reads the reason
  /steer TEXT         end the turn and send this instead
  /interrupt          end the turn; Ctrl-C does the same
  /detach             leave, and let the session continue; Ctrl-D does the same
  /help               list these commands
  //TEXT              send a prompt that begins with a slash
  Alt-Enter           add a line; a backslash at the end of a line does the same

At the end of a pipe the command waits for the turns it sent. Leaving never stops the agent.")]
pub(crate) struct AttachArgs {
    /// The session's id or its last 8 digits
    #[arg(value_name = "ID")]
    session: String,
}

pub(crate) async fn run(cx: &Context, args: AttachArgs) -> CliResult {
    let client = cx.client()?;
    let session = client.session_get(&args.session).await?;
    let scope = Scope {
        session: session.id.clone(),
        only: None,
        after: session.last_seq.saturating_sub(SHOWN_FIRST),
        repo: None,
    };
    let detail = Detail {
        prompts: true,
        answer_by: AnswerBy::Slash,
        ..Detail::default()
    };
    let following = Following::begin(client.clone(), cx.ui, scope, detail).await?;
    let keyboard = match LineEditor::start(&cx.ui, earlier(&client, &session).await)? {
        Some(editor) => Keyboard::Editor(editor),
        None => Keyboard::Lines(BufReader::new(tokio::io::stdin()).lines()),
    };
    cx.ui.note(&format!(
        "{}: {} ({}); /help lists commands",
        session.short_id, session.title, session.state
    ))?;
    let attached = Attached {
        cx,
        client,
        standing: Standing {
            state: session.state.clone(),
            ..Standing::default()
        },
        session,
        following,
        sent: None,
        is_closed: false,
        is_person: std::io::stdin().is_terminal(),
    };
    attached.talk(keyboard).await
}

/// Returns what the session was prompted with lately; it is only a courtesy, so what cannot be read is left out.
async fn earlier(client: &Client, session: &SessionView) -> Vec<String> {
    let after = session.last_seq.saturating_sub(RECALLED_FROM);
    let page = read_page(client, &session.id, after).await;
    let messages = page.map_or(Vec::new(), |page| page.messages);
    let prompts = messages.into_iter().filter(|it| it.kind == "prompt");
    prompts.map(|it| it.text).collect()
}

/// What is typed, or comes through a pipe.
enum Keyboard {
    Editor(LineEditor),
    Lines(Lines<BufReader<Stdin>>),
}

impl Keyboard {
    /// Waits for the next line.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not returned is returned by the next call.
    async fn next(&mut self) -> CliResult<Typed> {
        match self {
            Self::Editor(editor) => Ok(editor.next().await),
            Self::Lines(lines) => {
                let line = lines.next_line().await.map_err(|error| {
                    CliError::failed(format!("cannot read standard input: {error}"))
                })?;
                Ok(line.map_or(Typed::Closed, Typed::Line))
            }
        }
    }
}

/// A conversation.
struct Attached<'a> {
    cx: &'a Context,
    client: Client,
    session: SessionView,
    following: Following,
    standing: Standing,
    /// The last turn that was sent from here.
    sent: Option<String>,
    /// There will be no more lines.
    is_closed: bool,
    is_person: bool,
}

enum Happened {
    Typed(Typed),
    News(Box<Standing>),
}

impl Attached<'_> {
    async fn talk(mut self, mut keyboard: Keyboard) -> CliResult {
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|error| CliError::failed(format!("cannot wait for signals: {error}")))?;
        loop {
            let happened = tokio::select! {
                typed = keyboard.next(), if !self.is_closed => Happened::Typed(typed?),
                standing = self.following.next() => Happened::News(Box::new(standing?.clone())),
                _ = interrupts.recv() => Happened::Typed(Typed::Interrupted),
            };
            let goes_on = match happened {
                Happened::Typed(Typed::Line(line)) => self.typed(&line).await?,
                Happened::Typed(Typed::Closed) => {
                    self.is_closed = true;
                    !self.is_person
                }
                Happened::Typed(Typed::Interrupted) => self.interrupted().await?,
                Happened::News(standing) => {
                    self.news(*standing)?;
                    self.cx.ui.is_heard()
                }
            };
            if !goes_on || self.is_finished()? {
                self.following.end_line()?;
                return Ok(());
            }
        }
    }

    /// Does what a line says; false when it says to leave.
    async fn typed(&mut self, line: &str) -> CliResult<bool> {
        let line = Line::read(line, self.following.question());
        let done = match line {
            Line::Nothing => Ok(()),
            Line::Detach => return Ok(false),
            Line::Help => self.help(),
            Line::Unknown(word) => self.cx.ui.note(&format!(
                "{word} is not a command; /help lists commands, //TEXT sends a prompt that begins with a slash"
            )),
            Line::Prompt(text) => self.prompt(text, None).await,
            Line::Steer(text) => self.prompt(text, Some("steer")).await,
            Line::Interrupt => self.interrupt().await,
            Line::Settle(answer) => self.settle(answer).await,
        };
        // One line that failed does not end a conversation; a pipe is a script and does.
        match done {
            Err(error) if self.is_person => {
                self.cx.ui.error(&error);
                Ok(true)
            }
            done => done.map(|()| true),
        }
    }

    fn help(&self) -> CliResult {
        for (words, meaning) in line::HELP {
            self.cx.ui.note(&format!("  {words:<15} {meaning}"))?;
        }
        Ok(())
    }

    async fn prompt(&mut self, prompt: String, when_busy: Option<&str>) -> CliResult {
        let request = SessionPromptRequest {
            session: self.session.id.clone(),
            prompt,
            when_busy: when_busy.map(str::to_owned),
            ..SessionPromptRequest::default()
        };
        let turn = self.client.session_prompt(&request).await?.turn;
        self.following.watch(turn.id.clone());
        self.sent = Some(turn.id);
        Ok(())
    }

    async fn settle(&self, answer: ApprovalAnswerRequest) -> CliResult {
        let request = match answer.approval.as_str() {
            "" => ApprovalAnswerRequest {
                approval: self.oldest().await?,
                ..answer
            },
            _ => answer,
        };
        let settled = self.client.approval_answer(&request).await?;
        let note = format!("{}: {}", settled.state, settled.text);
        self.cx.ui.note(&note)
    }

    /// Returns what the agent has asked for longest.
    async fn oldest(&self) -> CliResult<String> {
        let asked = pending(&self.client, &self.session.id).await?;
        let first = asked.into_iter().next();
        let nothing = || CliError::usage("the agent asks for nothing");
        Ok(first.ok_or_else(nothing)?.id)
    }

    async fn interrupt(&self) -> CliResult {
        self.client.session_interrupt(&self.session.id).await?;
        Ok(())
    }

    /// Ctrl-C ends the turn; when there is none it leaves.
    async fn interrupted(&self) -> CliResult<bool> {
        let is_busy = self.is_busy().await?;
        if is_busy {
            self.cx
                .ui
                .note("ending the turn; Ctrl-D leaves it to itself")?;
            self.interrupt().await?;
        }
        Ok(is_busy)
    }

    /// Looks whether there is a turn to end: what was heard last may be older than what was typed.
    async fn is_busy(&self) -> CliResult<bool> {
        if let Some(sent) = &self.sent {
            let state = self.client.turn_get(sent).await?.turn.state;
            if matches!(state.as_str(), "queued" | "running") {
                return Ok(true);
            }
        }
        let state = self.client.session_get(&self.session.id).await?.state;
        Ok(matches!(state.as_str(), "running" | "waiting" | "creating"))
    }

    fn news(&mut self, standing: Standing) -> CliResult {
        let (before, now) = (&self.standing.state, &standing.state);
        let is_passing = matches!(now.as_str(), "running" | "creating" | "");
        if before != now && !is_passing {
            self.following.end_line()?;
            self.cx.ui.note(&format!("[{now}]"))?;
        }
        self.standing = standing;
        Ok(())
    }

    /// Tells whether a pipe has ended and what it sent is done.
    fn is_finished(&self) -> CliResult<bool> {
        if !self.is_closed {
            return Ok(false);
        }
        let Some(sent) = &self.sent else {
            return Ok(true);
        };
        let ours = self.standing.turn.as_ref();
        let Some(turn) = ours.filter(|turn| turn.turn.id == *sent) else {
            return Ok(false);
        };
        match turn.turn.state.as_str() {
            "completed" => Ok(true),
            "cancelled" => Err(CliError::ended(Exit::Cancelled, "the turn was cancelled")),
            "failed" => {
                let why = turn.turn.reason.clone().unwrap_or_default();
                Err(CliError::ended(
                    Exit::Failed,
                    format!("the turn failed: {why}"),
                ))
            }
            _ if !self.standing.approvals.is_empty() => {
                let error = CliError::ended(Exit::NeedsAnswer, "the agent needs an answer");
                Err(error.hint("`wheelhouse approvals` lists what is asked"))
            }
            _ => Ok(false),
        }
    }
}
