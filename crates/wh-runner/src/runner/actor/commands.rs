//! What the server asks of a run. A command is carried out once, however often it is told.

use std::io;

use super::Actor;
use crate::{
    link::{
        Action, Outcome, Refusal, RunStatus,
        server::{Ask, Reply},
    },
    runner::{
        conversation::CommandResult,
        pipes::{ToAgent, not_written},
    },
};

/// Commands whose outcomes are remembered for repeats.
const OUTCOMES_MAX: usize = 1_024;

impl Actor {
    pub(super) fn ask(&mut self, ask: Ask) -> io::Result<()> {
        match ask {
            Ask::Ack(seq) => {
                self.journal.ack(seq)?;
                let acked = self.journal.acked();
                // Who waits for records has nothing to do.
                self.numbers.send_if_modified(|numbers| {
                    numbers.1 = acked;
                    false
                });
            }
            Ask::Pending(reply) => {
                reply.send(self.conversation.requests.pending()).ok();
            }
            Ask::Command { id, action, reply } => {
                let is_answer = matches!(
                    action,
                    Action::AnswerPermission { .. } | Action::AnswerQuestion { .. }
                );
                let outcome = self.once(id, action);
                match is_answer {
                    true => self.confirm(reply, outcome)?,
                    false => reply.send(outcome),
                }
            }
        }
        Ok(())
    }

    /// Replies to an answer once everything that it comes to is written to the agent.
    fn confirm(&mut self, reply: Reply, outcome: Outcome) -> io::Result<()> {
        self.put_out()?;
        let Some(stdin) = &self.stdin else {
            reply.send(not_written());
            return Ok(());
        };
        let queued = stdin.try_send(ToAgent::Confirm(reply, outcome));
        if let Err(error) = queued
            && let ToAgent::Confirm(reply, _) = error.into_inner()
        {
            reply.send(not_written());
        }
        Ok(())
    }

    /// Carries a command out, or tells again what came of it.
    fn once(&mut self, id: String, action: Action) -> Outcome {
        if let Some((_, outcome)) = self.outcomes.iter().find(|(known, _)| *known == id) {
            return outcome.clone();
        }
        let outcome = match self.command(&id, action) {
            Ok(outcome) => outcome,
            // It may be tried again.
            Err((code @ Refusal::Stuck, message)) => return Outcome::Refused { code, message },
            Err((code, message)) => Outcome::Refused { code, message },
        };
        if self.outcomes.len() == OUTCOMES_MAX {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((id, outcome.clone()));
        outcome
    }

    fn command(&mut self, id: &str, action: Action) -> Result<Outcome, (Refusal, String)> {
        let stuck = self
            .stdin
            .as_ref()
            .is_some_and(|stdin| stdin.capacity() == 0);
        if stuck && !matches!(action, Action::Stop | Action::Status) {
            let why = "the agent does not read what it is told; stop it".to_owned();
            return Err((Refusal::Stuck, why));
        }
        let conversation = &mut self.conversation;
        let done: CommandResult = match action {
            Action::Prompt { .. } if self.stopping.is_some() => {
                Err((Refusal::NotReady, "the agent is being stopped".to_owned()))
            }
            Action::Prompt { text, files } => conversation.prompt(id, &text, &files),
            Action::Cancel => {
                conversation.cancel();
                Ok(())
            }
            Action::AnswerPermission { permission, kind } => {
                conversation.answer_permission(&permission, kind)
            }
            Action::AnswerQuestion { question, answer } => {
                conversation.answer_question(&question, answer)
            }
            Action::SetMode { mode } => conversation.set_mode(&mode),
            Action::Stop => {
                self.stop();
                Ok(())
            }
            Action::Status => return Ok(Outcome::Status(self.status())),
        };
        done.map(|()| Outcome::Done)
    }

    fn status(&self) -> RunStatus {
        RunStatus {
            ready: self.conversation.is_ready(),
            turn: self.conversation.turn().map(str::to_owned),
            stopping: self.stopping.is_some(),
            exited: self.exited_at.is_some(),
            newest: self.journal.newest(),
            acked: self.journal.acked(),
            silent_ms: u64::try_from(self.heard_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
