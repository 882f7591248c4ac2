//! Tells an agent that reads a file of its worktree which session it is.
//!
//! The file is one that nobody commits, and git is told to ignore it. Each session has a block of its own in it, which is there
//! while its agent runs: two sessions in one worktree both find theirs, and a worktree at rest holds nothing of ours.

use wh_domain::{Dialect, McpDialect, Session, ShortId};
use wh_git::WorktreeHandle;

use crate::{App, Result};

/// What begins each block. Clients of the Agor contract look for it.
const HEADING: &str = "## Agor Session Context";

impl App {
    /// Writes the session's block, if its agent reads such a file. An agent without it still learns who it is from its tools.
    pub(super) async fn context_write(&self, session: &Session) {
        let text = context_text(session, self.server_url().await.as_deref());
        let written = self.in_context_file(session, async |handle, file| {
            let key = session.id.to_string();
            handle.local_block_set(&file, &key, &text).await.map(drop)
        });
        if let Err(error) = written.await {
            tracing::warn!(session = %session.id, %error, "the agent could not be told its session in a file");
        }
    }

    /// Takes the session's block away.
    pub(super) async fn context_remove(&self, session: &Session) {
        let removed = self.in_context_file(session, async |handle, file| {
            let key = session.id.to_string();
            handle.local_block_remove(&file, &key).await
        });
        if let Err(error) = removed.await {
            // Most often the worktree itself is gone.
            tracing::debug!(session = %session.id, %error, "what an agent was told in a file was not taken away");
        }
    }

    async fn in_context_file(
        &self,
        session: &Session,
        work: impl AsyncFnOnce(WorktreeHandle, String) -> Result<(), wh_git::WorktreeError>,
    ) -> Result<()> {
        let (Some(file), Some(worktree)) =
            (self.agents.context_file(&session.agent), session.worktree)
        else {
            return Ok(());
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        let _alone = self.repo_locks.take(repo.id).await;
        let handle = self.worktree_handle(&repo, &worktree)?;
        Ok(work(handle, file.to_owned()).await?)
    }

    /// Returns the address of this server, once it is known.
    async fn server_url(&self) -> Option<String> {
        let text = tokio::fs::read(&self.runs.server_file).await.ok()?;
        let about: serde_json::Value = serde_json::from_slice(&text).ok()?;
        about["url"].as_str().map(str::to_owned)
    }
}

fn context_text(session: &Session, url: Option<&str>) -> String {
    let (id, short) = (session.id, session.id.short_id());
    let at = url.map(|url| format!(" ({url})")).unwrap_or_default();
    format!(
        "{HEADING}\n\n\
         You are running within Wheelhouse{at}, which directs coding agents.\n\n\
         **Your current session ID is: `{id}`** (short: `{short}`)\n\n\
         When you see this ID in prompts or tool calls, it means the session you are in. If more than one session is described \
         here, {} tells which is yours.\n",
        who_tells(session.mcp_dialect)
    )
}

/// Returns what tells an agent with these tools which session it is.
fn who_tells(tools: McpDialect) -> String {
    let tool = match tools {
        McpDialect::Native => "session_current",
        McpDialect::Of(Dialect::Agor) => "agor_sessions_get_current",
        McpDialect::Of(Dialect::ClawedAbode | Dialect::Iteratr) => {
            return "the variable `WHEELHOUSE_SESSION_ID`".to_owned();
        }
    };
    format!("`{tool}` of the MCP server `{}`", tools.server_name())
}
