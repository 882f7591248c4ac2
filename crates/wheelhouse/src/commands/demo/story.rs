//! The steps of the story, each told and then done.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use wh_api::{
    ApprovalAnswerRequest, RepoAddRequest, SessionCreateRequest, SessionView, WorktreeDiffRequest,
    WorktreeMergeRequest,
};
use wh_client::Client;
use wh_git::{Identity, RepoHandle};

use crate::commands::run::first_turn;
use crate::commands::worktree::patches;
use crate::exit::{CliError, CliResult};
use crate::follow::{Detail, Following, Scope};
use crate::ui::{Tone, Ui, clean, now};

const FILES: [(&str, &str); 2] = [
    ("README.md", "# Greeter\n\nSays hello.\n"),
    ("greeting.txt", "Hello\n"),
];

/// What the agent is told; each line is a command of the built-in agent.
const PROMPT: &str = "\
say I will make the greeting friendlier.
count 5 60
ask write greeting.txt
write greeting.txt Hello, everybody!
commit Greet everybody
say Done: it is committed on my branch.";

/// Tells the story.
pub(super) struct Story<'a> {
    ui: Ui,
    client: &'a Client,
    home: &'a Path,
    url: &'a str,
    step: Cell<u32>,
}

impl<'a> Story<'a> {
    pub(super) fn new(ui: Ui, client: &'a Client, home: &'a Path, url: &'a str) -> Self {
        Self {
            ui,
            client,
            home,
            url,
            step: Cell::new(0),
        }
    }

    pub(super) async fn tell(&self) -> CliResult {
        self.server()?;
        let repo = self.repository().await?;
        let session = self.session(&repo).await?;
        self.follow(&session).await?;
        let worktree = self.client.session_get(&session.id).await?.worktree_id;
        let worktree = worktree.ok_or_else(|| CliError::failed("the session has no worktree"))?;
        self.diff(&worktree).await?;
        self.merge(&worktree).await
    }

    fn server(&self) -> CliResult {
        let url = self.url;
        self.step(
            "A server",
            &format!("listens at {url}, and keeps everything in one directory"),
            "wheelhouse serve",
        )
    }

    async fn repository(&self) -> CliResult<String> {
        let path = self.home.join("greeter");
        self.step(
            "A repository",
            "with two files and one commit; the server is told of it",
            &format!("wheelhouse repo add {}", path.display()),
        )?;
        let who = Identity {
            name: "Wheelhouse demo".to_owned(),
            email: "demo@wheelhouse.invalid".to_owned(),
        };
        RepoHandle::init(&path, &FILES, "A greeter", &who, now())
            .await
            .map_err(anyhow::Error::from)?;
        let request = RepoAddRequest {
            source: path.display().to_string(),
            ..RepoAddRequest::default()
        };
        Ok(self.client.repo_add(&request).await?.id)
    }

    async fn session(&self, repo: &str) -> CliResult<SessionView> {
        self.step(
            "A session",
            "an agent works in a worktree and on a branch of its own; yours stay as they are",
            "wheelhouse run --agent echo --repo greeter '…'",
        )?;
        let request = SessionCreateRequest {
            agent: super::AGENT.to_owned(),
            prompt: Some(PROMPT.to_owned()),
            title: Some("Greet everybody".to_owned()),
            repo: Some(repo.to_owned()),
            ..SessionCreateRequest::default()
        };
        Ok(self.client.session_create(&request).await?)
    }

    /// Follows the turn to its end and allows what the agent asks for.
    async fn follow(&self, session: &SessionView) -> CliResult {
        let scope = Scope {
            session: session.id.clone(),
            only: Some(first_turn(self.client, session).await?),
            after: 0,
            repo: None,
        };
        let client = self.client.clone();
        let mut following = Following::begin(client, self.ui, scope, Detail::default()).await?;
        let mut answered = BTreeSet::new();
        loop {
            let standing = following.next().await?.clone();
            for approval in &standing.approvals {
                if answered.insert(approval.id.clone()) {
                    self.approve(&approval.id).await?;
                }
            }
            let Some(turn) = standing.turn.map(|turn| turn.turn) else {
                continue;
            };
            match turn.state.as_str() {
                "completed" => return following.end_line(),
                "cancelled" | "failed" => {
                    let why = turn.reason.unwrap_or_default();
                    return Err(CliError::failed(format!("the turn {}: {why}", turn.state)));
                }
                _ => {}
            }
        }
    }

    async fn approve(&self, approval: &str) -> CliResult {
        self.step(
            "An approval",
            "the agent waits until somebody answers, here or on any other surface; we allow it",
            &format!("wheelhouse approve {approval}"),
        )?;
        let request = ApprovalAnswerRequest {
            approval: approval.to_owned(),
            decision: "allow".to_owned(),
            ..ApprovalAnswerRequest::default()
        };
        self.client.approval_answer(&request).await?;
        Ok(())
    }

    async fn diff(&self, worktree: &str) -> CliResult {
        let short = &worktree[worktree.len().saturating_sub(8)..];
        self.step(
            "The change",
            "what the agent did, compared with where it began",
            &format!("wheelhouse diff {short}"),
        )?;
        let request = WorktreeDiffRequest {
            worktree: worktree.to_owned(),
            ..WorktreeDiffRequest::default()
        };
        let diff = self.client.worktree_diff(&request).await?;
        match self.ui.is_json() {
            true => self.ui.json_line(&json!({ "type": "diff", "diff": diff })),
            false => patches(&self.ui, &diff),
        }
    }

    async fn merge(&self, worktree: &str) -> CliResult {
        let short = &worktree[worktree.len().saturating_sub(8)..];
        self.step(
            "The merge",
            "the agent's branch into main; a conflict would change nothing",
            &format!("wheelhouse worktree merge {short}"),
        )?;
        let request = WorktreeMergeRequest {
            worktree: worktree.to_owned(),
            ..WorktreeMergeRequest::default()
        };
        let merged = self.client.worktree_merge(&request).await?;
        if self.ui.is_json() {
            let line = json!({ "type": "merge", "merge": merged });
            return self.ui.json_line(&line);
        }
        let text = std::fs::read_to_string(self.home.join("greeter/greeting.txt"));
        let text = text.map_err(|error| CliError::failed(format!("the file is gone: {error}")))?;
        let (branch, into) = (&merged.branch, &merged.into);
        self.ui.line(&format!(
            "{branch} is merged into {into}; greeting.txt now says: {}",
            text.trim()
        ))
    }

    /// Tells what comes next, and the command that would do it.
    fn step(&self, title: &str, about: &str, command: &str) -> CliResult {
        let number = self.step.get() + 1;
        self.step.set(number);
        if self.ui.is_json() {
            let line = json!({ "type": "step", "number": number, "title": title, "about": about, "command": command });
            return self.ui.json_line(&line);
        }
        let heading = self.ui.paint(Tone::Strong, &format!("{number}. {title}"));
        let command = self.ui.paint(Tone::Dim, &format!("$ {}", clean(command)));
        self.ui
            .raw(&format!("\n{heading}: {}\n{command}\n", clean(about)))
    }
}
