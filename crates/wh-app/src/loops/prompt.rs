//! What an iteration is told: a template over the specification, the tasks, the notes and the last summaries.

use std::sync::LazyLock;

use wh_domain::{
    BranchName, Budget, Dialect, Holder, Loop, McpDialect, PageLimit, PageRequest, Prompt,
    PromptTemplate, ShortId, TaskStatus,
};

use super::list_id;
use crate::{
    App, AppError, BoardReason, Result, TemplateOf,
    template::{self, Names, TemplateRefusal, Values},
};

/// What a loop's template can name.
const NAMES: Names = &[
    (
        "loop",
        &[
            "branch",
            "id",
            "iteration",
            "iterations_max",
            "left",
            "spec",
            "title",
        ],
    ),
    ("next", &["content", "number"]),
    ("notes", &["latest"]),
    ("summaries", &["latest"]),
    ("tasks", &["open", "open_count", "settled_count"]),
    ("tools", &TOOLS),
];

/// The tools that an iteration uses, by what they are called here; `take` is what to call to take the next task.
const TOOLS: [&str; 8] = [
    "iteration_summary",
    "loop_complete",
    "note_add",
    "take",
    "task_add",
    "task_list",
    "task_next",
    "task_update",
];

/// How many open tasks, notes and summaries a prompt holds, and how much of each.
const TASKS_MAX: u32 = 50;
const TASK_CHARS_MAX: usize = 600;
const NOTES_MAX: u32 = 30;
const NOTE_CHARS_MAX: usize = 600;
const SUMMARIES_MAX: u32 = 5;
const SUMMARY_CHARS_MAX: usize = 2_000;

/// The built-in template.
static USUAL: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::parse(include_str!("default.txt")).expect("the built-in template is one")
});

/// Checks a template that is about to be saved.
pub(super) fn check(template: &PromptTemplate) -> Result<()> {
    template::check(template, NAMES).map_err(refused)
}

fn refused(refusal: TemplateRefusal) -> AppError {
    let of = TemplateOf::Loop;
    BoardReason::Template { of, refusal }.into()
}

impl App {
    /// Makes the prompt of an iteration.
    pub(super) async fn loop_prompt(&self, it: &Loop, iteration: u32) -> Result<Prompt> {
        let branch = self.worktree_by_id(it.worktree).await?.branch;
        let mut values = Values::from([("loop", of_loop(it, iteration, &branch))]);
        let (open, open_count, settled_count) = self.open_lines(it).await?;
        let tasks = [
            ("open", open),
            ("open_count", open_count.to_string()),
            ("settled_count", settled_count.to_string()),
        ];
        values.insert("tasks", tasks.into());
        let nobody = Holder::Caller(None);
        let next = self
            .store
            .task_peek(list_id(it), nobody, self.clock.now())
            .await?;
        if let Some(next) = next {
            let number = next.number.to_string();
            let next = [("content", next.content.to_string()), ("number", number)];
            values.insert("next", next.into());
        }
        values.insert("notes", [("latest", self.note_lines(it).await?)].into());
        let summaries = self.summary_lines(it).await?;
        values.insert("summaries", [("latest", summaries)].into());
        values.insert("tools", tools_of(it.mcp_dialect));
        let template = it.template.as_ref().unwrap_or(&USUAL);
        template::render(template, NAMES, &values).map_err(refused)
    }

    /// Returns the open tasks, a line each, and how many are open and how many are not.
    async fn open_lines(&self, it: &Loop) -> Result<(String, u64, u64)> {
        let list = list_id(it);
        let counts = self.store.task_counts(list).await?;
        let (mut lines, mut open, mut settled) = (Vec::new(), 0, 0);
        for (status, count) in TaskStatus::ALL.into_iter().zip(counts) {
            if status.is_settled() {
                settled += count;
                continue;
            }
            open += count;
            for task in self.store.task_list(list, status, None, TASKS_MAX).await? {
                let text = shortened(task.content.as_str(), TASK_CHARS_MAX);
                let waits = match task.depends_on.len() {
                    0 => String::new(),
                    _ => {
                        let on: Vec<_> = task.depends_on.iter().map(ShortId::short_id).collect();
                        format!(", after {}", on.join(", "))
                    }
                };
                let (number, id) = (task.number, task.id.short_id());
                let (status, priority) = (task.status.as_str(), task.priority.get());
                lines.push(format!(
                    "- #{number} ({id}) [{status}, priority {priority}{waits}] {text}"
                ));
            }
        }
        lines.truncate(TASKS_MAX as usize);
        if (lines.len() as u64) < open {
            let more = open - lines.len() as u64;
            lines.push(format!("- … and {more} more"));
        }
        Ok((lines.join("\n"), open, settled))
    }

    async fn note_lines(&self, it: &Loop) -> Result<String> {
        let page = PageRequest::first(PageLimit::clamped(Some(NOTES_MAX)));
        let notes = self.store.note_list(list_id(it), None, page).await?.items;
        let line = |note: &wh_domain::Note| {
            let text = shortened(note.content.as_str(), NOTE_CHARS_MAX);
            format!("- [{}] {text}", note.kind.as_str())
        };
        Ok(notes.iter().rev().map(line).collect::<Vec<_>>().join("\n"))
    }

    async fn summary_lines(&self, it: &Loop) -> Result<String> {
        let latest = self.store.iteration_list(list_id(it), SUMMARIES_MAX);
        let line = |iteration: &wh_domain::Iteration| {
            let text = shortened(iteration.summary.as_str(), SUMMARY_CHARS_MAX);
            format!("- {text}")
        };
        let latest = latest.await?;
        Ok(latest.iter().rev().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the names of the tools that an iteration uses.
fn tools_of(tools: McpDialect) -> std::collections::BTreeMap<&'static str, String> {
    let named = |name: &'static str| match (tools, name) {
        (McpDialect::Of(Dialect::Iteratr), "take") => {
            "task-next, then set it in_progress with task-update".to_owned()
        }
        (McpDialect::Of(Dialect::Iteratr), "loop_complete") => "session-complete".to_owned(),
        (McpDialect::Of(Dialect::Iteratr), name) => name.replace('_', "-"),
        (_, "take") => "task_next with claim".to_owned(),
        (_, name) => name.to_owned(),
    };
    TOOLS.into_iter().map(|name| (name, named(name))).collect()
}

fn of_loop(
    it: &Loop,
    iteration: u32,
    branch: &BranchName,
) -> std::collections::BTreeMap<&'static str, String> {
    [
        ("branch", branch.to_string()),
        ("id", it.id.short_id()),
        ("iteration", iteration.to_string()),
        ("iterations_max", it.iterations_max.to_string()),
        ("left", left(it.budget_left())),
        ("spec", it.spec.to_string()),
        ("title", it.title.to_string()),
    ]
    .into()
}

/// Says what is left of a budget; nothing when it is not limited.
fn left(budget: Budget) -> String {
    let parts = [
        budget.tokens.map(|it| format!("{it} tokens")),
        budget
            .cost_micros
            .map(|it| format!("${:.2}", it as f64 / 1e6)),
        budget
            .wall_seconds
            .map(|it| format!("{it} seconds at work")),
        budget.turns.map(|it| format!("{it} turns")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_template_can_be_used_and_keeps_the_rules() {
        check(&USUAL).unwrap();
        let spec = [("spec", "Build it.".to_owned())];
        let told = |tools: McpDialect| {
            let values = [("loop", spec.clone().into()), ("tools", tools_of(tools))];
            template::render(&USUAL, NAMES, &Values::from(values)).unwrap()
        };
        let prompt = told(McpDialect::Native);
        for rule in [
            "Build it.",
            "ONE task per iteration",
            "Test",
            "iteration_summary",
            "## Workflow",
            "## If stuck",
            "## Subagents",
            "loop_complete",
        ] {
            assert!(prompt.as_str().contains(rule), "{rule}");
        }
        // The agent finds its tools by itself; no table of commands is in the way.
        assert!(!prompt.as_str().contains("wheelhouse task"));
        let prompt = told(McpDialect::Of(Dialect::Iteratr));
        for theirs in [
            "task-add",
            "iteration-summary",
            "note-add",
            "session-complete",
        ] {
            assert!(prompt.as_str().contains(theirs), "{theirs}");
        }
        for ours in ["task_", "note_add", "iteration_summary", "loop_complete"] {
            assert!(!prompt.as_str().contains(ours), "{ours}");
        }
    }
}
