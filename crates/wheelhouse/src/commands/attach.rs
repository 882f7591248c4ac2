//! `wheelhouse attach`: a conversation in lines, at a terminal or through a pipe.

mod line;

use std::io::IsTerminal;

use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use wh_api::{ApprovalAnswerRequest, SessionPromptRequest, SessionView};
use wh_client::Client;

use self::line::Line;
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::follow::{AnswerBy, Detail, Following, Scope, Standing, pending};

/// How many of the last messages are shown first.
const SHOWN_FIRST: u64 = 10;

/// Talk with a session: see what it does as it happens, and type prompts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse attach 89abcdef
  echo 'and now the tests' | wheelhouse attach 89abcdef

A line is a prompt, which waits until the agent is free. When the agent has asked a question, a line is the answer. Lines
that begin with a slash are for this command:

  /approve, /always   allow what the agent asks for, once or for all of its kind
  /deny [REASON]      refuse it
  /steer TEXT         end the turn and send this instead
  /interrupt          end the turn; Ctrl-C does the same
  /detach             leave the session to itself; Ctrl-D does the same
  //TEXT              send a prompt that begins with a slash

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
    cx.ui.note(&format!(
        "{}: {} ({}); /help tells what can be typed",
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
    attached.talk().await
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
    Typed(Option<String>),
    News(Box<Standing>),
    Interrupted,
}

impl Attached<'_> {
    async fn talk(mut self) -> CliResult {
        let failed = |what: &str, error| CliError::failed(format!("cannot {what}: {error}"));
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut interrupts =
            signal(SignalKind::interrupt()).map_err(|error| failed("wait for signals", error))?;
        loop {
            let happened = tokio::select! {
                line = lines.next_line(), if !self.is_closed => {
                    Happened::Typed(line.map_err(|error| failed("read standard input", error))?)
                }
                standing = self.following.next() => Happened::News(Box::new(standing?.clone())),
                _ = interrupts.recv() => Happened::Interrupted,
            };
            let goes_on = match happened {
                Happened::Typed(Some(line)) => self.typed(&line).await?,
                Happened::Typed(None) => {
                    self.is_closed = true;
                    !self.is_person
                }
                Happened::News(standing) => {
                    self.news(*standing)?;
                    self.cx.ui.is_heard()
                }
                Happened::Interrupted => self.interrupted().await?,
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
            Line::Help => self.cx.ui.note(line::HELP),
            Line::Unknown(word) => self.cx.ui.note(&format!(
                "{word} is not known here; /help tells what is, //TEXT sends a slash"
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
