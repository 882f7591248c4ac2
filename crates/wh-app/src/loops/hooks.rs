//! Hooks of loops: the operator's commands, and what came of them in the loop's log.

use std::path::PathBuf;

use jiff::Timestamp;
use wh_domain::{HookPoint, Loop, LoopState, NewLoopLogEntry, ShortId, Task, redact};
use wh_runner::hook::{HookCommand, run_hook};

use crate::{App, Result};

/// The most characters of a task that a hook is told.
const TASK_CHARS_MAX: usize = 1_000;

/// What a hook is told beside the loop itself.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub(super) iteration: u32,
    pub(super) task: Option<&'a Task>,
    /// Why something has failed.
    pub(super) error: Option<&'a str>,
    /// What the loop becomes.
    pub(super) after: Option<&'a Loop>,
}

impl App {
    /// Runs the command of a point, if there is one. Returns why it has failed, if it has; the log has what it said.
    pub(super) async fn hook(
        &self,
        point: HookPoint,
        it: &Loop,
        about: About<'_>,
        log: &mut Vec<NewLoopLogEntry>,
    ) -> Result<Option<String>> {
        let hooks = &self.loops.hooks;
        let Some(command) = hooks.commands.get(&point) else {
            return Ok(None);
        };
        let mut environment = hooks.environment.clone();
        environment.extend(variables(point, it, about));
        let hook = HookCommand {
            command: command.clone(),
            environment,
            directory: self.hook_place(it).await?,
            time_limit: hooks.time_limit,
        };
        let outcome = run_hook(&hook).await;
        let mut text = redact(&outcome.output).into_owned();
        if let Some(failure) = &outcome.failure {
            let more = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{more}failed: {failure}"));
        }
        log.push(entry(
            self.clock.now(),
            about.iteration,
            point.as_str(),
            text,
        ));
        Ok(outcome.failure)
    }

    /// Returns where hooks run: in the worktree, or beside it when it is not there.
    async fn hook_place(&self, it: &Loop) -> Result<PathBuf> {
        let path = self.worktree_by_id(it.worktree).await?.path;
        Ok(match path.is_dir() {
            true => path,
            false => self.data_dir.clone(),
        })
    }
}

/// Returns what a hook is told, in its environment.
fn variables(point: HookPoint, it: &Loop, about: About<'_>) -> Vec<(String, String)> {
    let mut variables = vec![
        ("HOOK", point.as_str().to_owned()),
        ("LOOP", it.id.to_string()),
        ("LOOP_TITLE", it.title.to_string()),
        ("ITERATION", about.iteration.to_string()),
    ];
    if let Some(session) = it.state.session() {
        variables.push(("SESSION", session.to_string()));
    }
    if let Some(task) = about.task {
        let content = task.content.as_str().chars().take(TASK_CHARS_MAX);
        variables.push(("TASK", task.number.to_string()));
        variables.push(("TASK_ID", task.id.short_id()));
        // A variable cannot hold a zero byte, and a task does not.
        variables.push(("TASK_CONTENT", content.collect()));
    }
    if let Some(error) = about.error {
        variables.push(("ERROR", error.replace('\0', "")));
    }
    if let Some(LoopState::Ended { outcome, .. }) = about.after.map(|it| &it.state) {
        variables.push(("OUTCOME", outcome.as_str().to_owned()));
    }
    let named = |(name, value): (&str, String)| (format!("WHEELHOUSE_{name}"), value);
    variables.into_iter().map(named).collect()
}

/// Makes an entry of a loop's log.
pub(super) fn entry(
    at: Timestamp,
    iteration: u32,
    about: &str,
    text: impl Into<String>,
) -> NewLoopLogEntry {
    NewLoopLogEntry {
        at,
        iteration,
        about: about.to_owned(),
        text: text.into(),
    }
}
