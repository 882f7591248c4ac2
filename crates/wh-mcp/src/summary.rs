//! The one line of text beside each structured answer.

use wh_api::{
    AgentListView, AgentView, ApprovalListView, ApprovalView, AuditListView, BoardListView,
    BoardView, ConfigView, CredentialListView, CredentialView, DeletedView, KeyCreatedView,
    KeyListView, KeyView, MessageListView, MessageView, NarrowedView, PromptedView, RepoCheckView,
    RepoListView, RepoTrustView, RepoView, SessionBriefListView, SessionSearchView,
    SessionTreeView, SessionView, SessionWaitView, SettingView, TurnDetailView, TurnListView,
    UserListView, UserView, WebhookCreatedView, WebhookListView, WebhookView, WorktreeDiffView,
    WorktreeListView, WorktreeMergedView, WorktreeRemovedView, WorktreeView,
};
use wh_api::{
    IterationView, LoopCompletedView, LoopListView, LoopLogView, LoopView, NoteListView,
    RunListView, TaskAddedView, TaskListView, TaskNextView, TaskView, UsageReportView,
};

/// Says in one line what an answer holds.
pub(crate) trait Summary {
    fn summary(&self) -> String;
}

fn listed(count: usize, what: &str, more: &Option<String>) -> String {
    let more = if more.is_some() {
        ", more with next_cursor"
    } else {
        ""
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}{more}")
}

/// Names the terms of a new session that are not as they were requested.
fn not_as_requested(narrowed: &[NarrowedView]) -> String {
    match narrowed {
        [] => String::new(),
        terms => {
            let terms: Vec<_> = terms.iter().map(NarrowedView::words).collect();
            format!("; not as requested: {}", terms.join(", "))
        }
    }
}

/// Says how much of a list a page holds.
fn page_of(count: usize, total: Option<u64>, what: &str, more: &Option<String>) -> String {
    match total {
        Some(total) if more.is_some() => {
            format!("{count} of {total} {what}s, more with next_cursor")
        }
        _ => listed(count, what, more),
    }
}

impl Summary for AgentView {
    fn summary(&self) -> String {
        match (&self.version, self.ready) {
            (Some(version), true) => format!("{} is ready, {version}", self.title),
            (None, true) => format!("{} is ready", self.title),
            (_, false) => format!("{} lacks {}", self.title, self.missing.join(", ")),
        }
    }
}

impl Summary for RepoCheckView {
    fn summary(&self) -> String {
        match &self.problem {
            Some(problem) => format!("{} cannot be read: {problem}", self.name),
            None => format!("{} can be read ({})", self.name, self.access),
        }
    }
}

impl Summary for DeletedView {
    fn summary(&self) -> String {
        let mut text = format!("{} is deleted", self.name);
        for it in &self.dependents {
            text.push_str(&format!(", {} {}", it.count, it.kind));
        }
        text
    }
}

impl Summary for CredentialView {
    fn summary(&self) -> String {
        format!("credential for {} ({})", self.host, self.usable_by)
    }
}

impl Summary for CredentialListView {
    fn summary(&self) -> String {
        page_of(
            self.credentials.len(),
            self.total,
            "credential",
            &self.next_cursor,
        )
    }
}

impl Summary for RepoTrustView {
    fn summary(&self) -> String {
        let approved = self.configs.iter().filter(|it| it.approved).count();
        format!(
            "{} in {}, {approved} approved",
            listed(self.configs.len(), "configuration path", &None),
            self.source
        )
    }
}

impl Summary for AgentListView {
    fn summary(&self) -> String {
        let ready = self.agents.iter().filter(|agent| agent.ready).count();
        format!(
            "{}, {ready} ready",
            listed(self.agents.len(), "agent", &None)
        )
    }
}

impl Summary for MessageListView {
    fn summary(&self) -> String {
        let more = if self.next_after.is_some() {
            ", more with next_after"
        } else {
            ""
        };
        let count = listed(self.messages.len(), "message", &None);
        format!(
            "{count} of {}, session is {}{more}",
            self.last_seq, self.state
        )
    }
}

impl Summary for MessageView {
    fn summary(&self) -> String {
        format!("message {}: {}", self.seq, self.kind)
    }
}

impl Summary for SessionSearchView {
    fn summary(&self) -> String {
        page_of(self.hits.len(), self.total, "message", &self.next_cursor)
    }
}

impl Summary for PromptedView {
    fn summary(&self) -> String {
        let asks = match self.approvals.len() {
            0 => String::new(),
            n => format!(", {n} to answer"),
        };
        let turn = &self.turn;
        let narrowed = self.terms.as_ref().map_or(&[][..], |it| &it.narrowed);
        format!(
            "turn {} is {}, session is {}{asks}{}",
            turn.number,
            turn.state,
            self.state,
            not_as_requested(narrowed)
        )
    }
}

impl Summary for SessionWaitView {
    fn summary(&self) -> String {
        let done = self.sessions.iter().filter(|session| session.done).count();
        let late = if self.done { "" } else { ", time is up" };
        format!("{done} of {} done{late}", self.sessions.len())
    }
}

impl Summary for TurnListView {
    fn summary(&self) -> String {
        page_of(self.turns.len(), self.total, "turn", &self.next_cursor)
    }
}

impl Summary for TurnDetailView {
    fn summary(&self) -> String {
        format!("turn {} is {}", self.turn.number, self.turn.state)
    }
}

impl Summary for ApprovalView {
    fn summary(&self) -> String {
        format!("{} {} is {}: {}", self.kind, self.id, self.state, self.text)
    }
}

impl Summary for ApprovalListView {
    fn summary(&self) -> String {
        page_of(
            self.approvals.len(),
            self.total,
            "approval",
            &self.next_cursor,
        )
    }
}

impl Summary for BoardView {
    fn summary(&self) -> String {
        let (zones, items) = (self.zones.len(), self.items.len());
        format!(
            "board {:?} ({}): {zones} zones, {items} items",
            self.name, self.short_id
        )
    }
}

impl Summary for BoardListView {
    fn summary(&self) -> String {
        page_of(self.boards.len(), self.total, "board", &self.next_cursor)
    }
}

impl Summary for RepoView {
    fn summary(&self) -> String {
        format!(
            "repo {:?} ({}) at {}",
            self.name, self.short_id, self.source
        )
    }
}

impl Summary for RepoListView {
    fn summary(&self) -> String {
        page_of(self.repos.len(), self.total, "repo", &self.next_cursor)
    }
}

impl Summary for SessionView {
    fn summary(&self) -> String {
        let broken = match self.tools_link.as_deref() {
            Some("broken") => "; its agent has not connected to Wheelhouse's tools",
            _ => "",
        };
        format!(
            "session {:?} ({}) of {} is {}{broken}{}",
            self.title,
            self.short_id,
            self.agent,
            self.state,
            not_as_requested(&self.narrowed)
        )
    }
}

impl Summary for SessionBriefListView {
    fn summary(&self) -> String {
        page_of(
            self.sessions.len(),
            self.total,
            "session",
            &self.next_cursor,
        )
    }
}

impl Summary for SessionTreeView {
    fn summary(&self) -> String {
        listed(self.tree.len(), "session", &None) + " in the tree"
    }
}

impl Summary for UserView {
    fn summary(&self) -> String {
        format!("user {:?} ({}), {}", self.name, self.short_id, self.role)
    }
}

impl Summary for UserListView {
    fn summary(&self) -> String {
        page_of(self.users.len(), self.total, "user", &self.next_cursor)
    }
}

impl Summary for KeyView {
    fn summary(&self) -> String {
        format!("key {:?} ({}…) is {}", self.name, self.prefix, self.status)
    }
}

impl Summary for KeyCreatedView {
    fn summary(&self) -> String {
        let shown = if self.key.is_some() {
            "its secret is shown only now"
        } else {
            "made before"
        };
        format!(
            "key {:?} ({}…): {shown}",
            self.about.name, self.about.prefix
        )
    }
}

impl Summary for KeyListView {
    fn summary(&self) -> String {
        page_of(self.keys.len(), self.total, "key", &self.next_cursor)
    }
}

impl Summary for SettingView {
    fn summary(&self) -> String {
        let value = self.value.map_or("unlimited".to_owned(), |v| v.to_string());
        format!("{} = {value} ({})", self.key, self.source)
    }
}

impl Summary for ConfigView {
    fn summary(&self) -> String {
        match self.settings.as_slice() {
            [one] => one.summary(),
            all => listed(all.len(), "setting", &None),
        }
    }
}

impl Summary for AuditListView {
    fn summary(&self) -> String {
        listed(self.entries.len(), "call", &self.next_cursor)
    }
}

impl Summary for WorktreeView {
    fn summary(&self) -> String {
        format!(
            "worktree {:?} ({}) on {} is {}",
            self.name, self.short_id, self.branch, self.state
        )
    }
}

impl Summary for WorktreeListView {
    fn summary(&self) -> String {
        page_of(
            self.worktrees.len(),
            self.total,
            "worktree",
            &self.next_cursor,
        )
    }
}

impl Summary for WorktreeDiffView {
    fn summary(&self) -> String {
        let files = listed(self.files.len(), "changed file", &self.next_cursor);
        format!("{files}; in all +{} -{}", self.added, self.deleted)
    }
}

impl Summary for WorktreeMergedView {
    fn summary(&self) -> String {
        match self.outcome.as_str() {
            "up_to_date" => format!("{} has all of {} already", self.into, self.branch),
            "repeated" => format!("{} was merged into {} before", self.branch, self.into),
            how => format!("{} into {}: {how}", self.branch, self.into),
        }
    }
}

impl Summary for WorktreeRemovedView {
    fn summary(&self) -> String {
        match &self.rescue {
            Some(rescue) => format!("the worktree is removed; its work is saved in {rescue}"),
            None => format!("the worktree is removed; branch {} stays", self.branch),
        }
    }
}

impl Summary for WebhookView {
    fn summary(&self) -> String {
        let (pending, dead) = (self.pending, self.dead);
        format!(
            "webhook {} is {}: {pending} waiting, {dead} given up",
            self.short_id, self.state
        )
    }
}

impl Summary for WebhookCreatedView {
    fn summary(&self) -> String {
        self.webhook.summary()
    }
}

impl Summary for WebhookListView {
    fn summary(&self) -> String {
        page_of(
            self.webhooks.len(),
            self.total,
            "webhook",
            &self.next_cursor,
        )
    }
}

impl Summary for TaskView {
    fn summary(&self) -> String {
        format!("task {} is {}", self.number, self.status)
    }
}

impl Summary for TaskAddedView {
    fn summary(&self) -> String {
        let added = listed(self.tasks.len(), "task", &None);
        format!("added {added} to the list of {}", self.list)
    }
}

impl Summary for TaskListView {
    fn summary(&self) -> String {
        let count = |group: &wh_api::TaskGroupView| format!("{} {}", group.total, group.status);
        if self.groups.is_empty() {
            return "no tasks".to_owned();
        }
        let counts = self.groups.iter().map(count).collect::<Vec<_>>().join(", ");
        let shown = self.groups.iter().map(|group| group.tasks.len()).sum();
        match &self.next_cursor {
            None => counts,
            more => format!(
                "{}: {counts}",
                page_of(shown, Some(self.total), "task", more)
            ),
        }
    }
}

impl Summary for TaskNextView {
    fn summary(&self) -> String {
        let open = self.remaining + self.in_progress + self.blocked;
        match &self.task {
            Some(task) => format!("task {}, {open} open", task.number),
            None if open == 0 => "nothing is left to do".to_owned(),
            None => format!("nothing can be begun now; {open} open"),
        }
    }
}

impl Summary for NoteListView {
    fn summary(&self) -> String {
        page_of(self.notes.len(), self.total, "note", &self.next_cursor)
    }
}

impl Summary for IterationView {
    fn summary(&self) -> String {
        format!("iteration {} is recorded", self.number)
    }
}

impl Summary for LoopCompletedView {
    fn summary(&self) -> String {
        format!("the work of {} is done", self.list)
    }
}

impl Summary for LoopView {
    fn summary(&self) -> String {
        let (iteration, most) = (self.iteration, self.iterations_max);
        match (&self.outcome, &self.reason) {
            (Some(outcome), Some(reason)) => {
                format!("loop {} has ended, {outcome}: {reason}", self.short_id)
            }
            _ => format!(
                "loop {} is {}, iteration {iteration} of at most {most}",
                self.short_id, self.state
            ),
        }
    }
}

impl Summary for LoopListView {
    fn summary(&self) -> String {
        page_of(self.loops.len(), self.total, "loop", &self.next_cursor)
    }
}

impl Summary for LoopLogView {
    fn summary(&self) -> String {
        let last = self.entries.last();
        let last = last.map_or(String::new(), |entry| format!(", up to {}", entry.seq));
        let more = match (self.next_after, self.total) {
            (Some(_), Some(total)) => format!(" of {total}, more with next_after"),
            _ => String::new(),
        };
        format!("{} entries{last}{more}", self.entries.len())
    }
}

impl Summary for UsageReportView {
    fn summary(&self) -> String {
        let total = &self.total;
        let tokens = total.input_tokens + total.cached_tokens + total.output_tokens;
        let dollars = total.cost_micros as f64 / 1e6;
        let turns = listed(total.turns as usize, "turn", &None);
        format!(
            "${dollars:.2} and {tokens} tokens in {turns} since {}",
            self.since
        )
    }
}

impl Summary for RunListView {
    fn summary(&self) -> String {
        page_of(self.runs.len(), self.total, "run", &self.next_cursor)
    }
}
