//! How a run ends: the ladder of a stop, and the agent's last words.

use std::{
    io,
    time::{Duration, Instant},
};

use super::{Actor, Stopping};
use crate::{
    event::{AgentEvent, Exit, Notice, StopStep},
    process::{self, Tree},
    runner::pipes::read_line,
};

/// How long a killed tree may take to be gone before that is reported as it is.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// How long the last words in the pipe may take.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

impl Actor {
    /// Ends a run that cannot go on, without waiting for manners.
    pub(super) fn fail(&mut self, why: String) {
        if self.give_up.is_none() {
            self.give_up = Some(why);
            self.stopping = None;
            self.climb(StopStep::Cancel);
        }
    }

    /// Kills the tree at once when it uses more than it may: it would use the time of a polite end too.
    pub(super) fn check_resources(&mut self, now: Instant) {
        let Some(root) = self.tree.as_mut().and_then(|tree| tree.child().id()) else {
            return;
        };
        let is_working = self.conversation.turn().is_some() || self.start_by.is_some();
        let cgroup = self.tree.as_ref().and_then(Tree::cgroup);
        if let Some(reached) = self.resources.check(root, cgroup, is_working, now)
            && self.limit_reached.is_none()
        {
            tracing::warn!(%reached, "the agent is ended");
            self.limit_reached = Some(reached.to_string());
            self.climb(StopStep::Terminate);
        }
    }

    /// Takes the first rung: cancel, and wait for the turn to end.
    pub(super) fn stop(&mut self) {
        if self.stopping.is_some() || self.exited_at.is_some() {
            return;
        }
        self.conversation.cancel();
        self.take(StopStep::Cancel, self.spec.limits.cancel_grace());
    }

    /// Takes the rung after `step`.
    pub(super) fn climb(&mut self, step: StopStep) {
        let Some(tree) = &self.tree else { return };
        match step {
            StopStep::Cancel => {
                // Well-behaved agents end when their stdin does.
                self.stdin = None;
                tree.terminate();
                self.take(StopStep::Terminate, self.spec.limits.term_grace());
            }
            StopStep::Terminate | StopStep::Kill => {
                tree.kill();
                self.take(StopStep::Kill, GONE_LIMIT);
            }
        }
    }

    fn take(&mut self, step: StopStep, grace: Duration) {
        let next_at = Instant::now() + grace;
        self.stopping = Some(Stopping { step, next_at });
        let notice = Notice::Stopping { step };
        if let Err(error) = self.record(&AgentEvent::Notice { notice }) {
            tracing::error!(%error, "the journal cannot be written");
        }
    }

    /// The agent's process is gone: hears its last words, makes sure that nothing it started is left, and says so.
    pub(super) async fn agent_ended(
        &mut self,
        status: io::Result<std::process::ExitStatus>,
    ) -> io::Result<()> {
        // The kernel may have ended the agent at its limit before anybody looked.
        let cgroup = self.tree.as_ref().and_then(Tree::cgroup);
        if self.limit_reached.is_none()
            && let Some(reached) = self.resources.enforced(cgroup)
        {
            tracing::warn!(%reached, "the agent was ended");
            self.limit_reached = Some(reached.to_string());
        }
        let how = match (status, &self.give_up, self.stopping) {
            _ if self.limit_reached.is_some() => {
                Exit::LimitReached(self.limit_reached.clone().unwrap_or_default())
            }
            (_, Some(why), _) => Exit::NotStarted(why.clone()),
            (_, None, Some(stopping)) => Exit::Stopped {
                step: stopping.step,
            },
            (Ok(status), None, None) => process::exit_of(status),
            (Err(error), None, None) => Exit::NotStarted(error.to_string()),
        };
        if let Some(tree) = self.tree.take()
            && !tree.wait_gone(GONE_LIMIT).await
        {
            tracing::error!("some of the agent's processes cannot be killed");
        }
        let until = tokio::time::Instant::now() + DRAIN_LIMIT;
        while !self.is_full() && self.stdout.is_some() {
            match tokio::time::timeout_at(until, read_line(&mut self.stdout)).await {
                Ok(Ok(Some(line))) => {
                    self.hear(line);
                    self.put_out()?;
                }
                _ => self.stdout = None,
            }
        }
        self.exited(how)
    }

    pub(super) fn exited(&mut self, how: Exit) -> io::Result<()> {
        self.stdin = None;
        self.stdout = None;
        self.start_by = None;
        self.stopping = None;
        self.conversation.end("the agent went away");
        self.exited_at = Some(Instant::now());
        self.put_out()?;
        let stderr = self.stderr.get();
        self.record(&AgentEvent::Exited { how, stderr })
    }
}
