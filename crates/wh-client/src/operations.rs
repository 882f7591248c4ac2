//! One method per operation, named as everywhere else: noun, then verb.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wh_api::*;

use crate::{Client, ClientError, Method};

type Result<T> = std::result::Result<T, ClientError>;

impl Client {
    /// Returns who this client is to the server.
    pub async fn whoami(&self) -> Result<WhoAmIView> {
        self.get(&["whoami"], &Empty {}).await
    }

    /// Makes a link that signs a browser in, once.
    pub async fn login_link_create(
        &self,
        request: &LoginLinkCreateRequest,
    ) -> Result<LoginLinkView> {
        self.post(&["login-links"], request).await
    }

    pub async fn user_create(&self, request: &UserCreateRequest) -> Result<UserView> {
        self.post(&["users"], request).await
    }

    pub async fn user_list(&self, request: &UserListRequest) -> Result<UserListView> {
        self.get(&["users"], request).await
    }

    pub async fn user_get(&self, user: &str) -> Result<UserView> {
        self.get(&["users", user], &Empty {}).await
    }

    pub async fn user_update(&self, request: &UserUpdateRequest) -> Result<UserView> {
        let body = without("user", request)?;
        self.patch(&["users", &request.user], &body).await
    }

    pub async fn user_delete(&self, request: &UserDeleteRequest) -> Result<DeletedView> {
        let query = without("user", request)?;
        self.call(
            Method::DELETE,
            &["users", &request.user],
            &query,
            None::<&Empty>,
        )
        .await
    }

    pub async fn key_create(&self, request: &KeyCreateRequest) -> Result<KeyCreatedView> {
        self.post(&["keys"], request).await
    }

    pub async fn key_list(&self, request: &KeyListRequest) -> Result<KeyListView> {
        self.get(&["keys"], request).await
    }

    pub async fn key_revoke(&self, key: &str) -> Result<KeyView> {
        let none = None::<&Empty>;
        self.call(Method::DELETE, &["keys", key], &Empty {}, none)
            .await
    }

    pub async fn agent_list(&self) -> Result<AgentListView> {
        self.get(&["agents"], &Empty {}).await
    }

    pub async fn agent_get(&self, agent: &str) -> Result<AgentView> {
        self.get(&["agents", agent], &Empty {}).await
    }

    pub async fn repo_add(&self, request: &RepoAddRequest) -> Result<RepoView> {
        self.post(&["repos"], request).await
    }

    pub async fn repo_list(&self, request: &RepoListRequest) -> Result<RepoListView> {
        self.get(&["repos"], request).await
    }

    pub async fn repo_check(&self, repo: &str) -> Result<RepoCheckView> {
        self.get(&["repos", repo, "check"], &Empty {}).await
    }

    pub async fn repo_delete(&self, request: &RepoDeleteRequest) -> Result<DeletedView> {
        let query = without("repo", request)?;
        self.call(
            Method::DELETE,
            &["repos", &request.repo],
            &query,
            None::<&Empty>,
        )
        .await
    }

    pub async fn repo_trust(&self, request: &RepoTrustRequest) -> Result<RepoTrustView> {
        let body = without("repo", request)?;
        self.post(&["repos", &request.repo, "trust"], &body).await
    }

    pub async fn worktree_list(&self, request: &WorktreeListRequest) -> Result<WorktreeListView> {
        self.get(&["worktrees"], request).await
    }

    pub async fn worktree_get(&self, worktree: &str) -> Result<WorktreeView> {
        self.get(&["worktrees", worktree], &Empty {}).await
    }

    pub async fn worktree_create(&self, request: &WorktreeCreateRequest) -> Result<WorktreeView> {
        self.post(&["worktrees"], request).await
    }

    pub async fn worktree_diff(&self, request: &WorktreeDiffRequest) -> Result<WorktreeDiffView> {
        let query = without("worktree", request)?;
        self.get(&["worktrees", &request.worktree, "diff"], &query)
            .await
    }

    pub async fn worktree_merge(
        &self,
        request: &WorktreeMergeRequest,
    ) -> Result<WorktreeMergedView> {
        let body = without("worktree", request)?;
        self.post(&["worktrees", &request.worktree, "merge"], &body)
            .await
    }

    pub async fn worktree_remove(
        &self,
        request: &WorktreeRemoveRequest,
    ) -> Result<WorktreeRemovedView> {
        let (path, query) = (
            ["worktrees", &request.worktree],
            without("worktree", request)?,
        );
        self.call(Method::DELETE, &path, &query, None::<&Empty>)
            .await
    }

    pub async fn loop_start(&self, request: &LoopStartRequest) -> Result<LoopView> {
        self.post(&["loops"], request).await
    }

    pub async fn loop_list(&self, request: &LoopListRequest) -> Result<LoopListView> {
        self.get(&["loops"], request).await
    }

    pub async fn loop_get(&self, of: &str) -> Result<LoopView> {
        self.get(&["loops", of], &Empty {}).await
    }

    pub async fn loop_log(&self, request: &LoopLogRequest) -> Result<LoopLogView> {
        let query = without("loop", request)?;
        self.get(&["loops", &request.r#loop, "log"], &query).await
    }

    pub async fn loop_pause(&self, of: &str) -> Result<LoopView> {
        self.post(&["loops", of, "pause"], &Empty {}).await
    }

    pub async fn loop_resume(&self, request: &LoopResumeRequest) -> Result<LoopView> {
        let body = without("loop", request)?;
        self.post(&["loops", &request.r#loop, "resume"], &body)
            .await
    }

    pub async fn loop_stop(&self, of: &str) -> Result<LoopView> {
        self.post(&["loops", of, "stop"], &Empty {}).await
    }

    pub async fn webhook_create(
        &self,
        request: &WebhookCreateRequest,
    ) -> Result<WebhookCreatedView> {
        self.post(&["webhooks"], request).await
    }

    pub async fn webhook_list(&self, request: &WebhookListRequest) -> Result<WebhookListView> {
        self.get(&["webhooks"], request).await
    }

    pub async fn webhook_update(&self, request: &WebhookUpdateRequest) -> Result<WebhookView> {
        let body = without("webhook", request)?;
        self.patch(&["webhooks", &request.webhook], &body).await
    }

    pub async fn webhook_delete(&self, webhook: &str) -> Result<WebhookView> {
        let none = None::<&Empty>;
        self.call(Method::DELETE, &["webhooks", webhook], &Empty {}, none)
            .await
    }

    pub async fn credential_set(&self, request: &CredentialSetRequest) -> Result<CredentialView> {
        self.post(&["credentials"], request).await
    }

    pub async fn credential_list(
        &self,
        request: &CredentialListRequest,
    ) -> Result<CredentialListView> {
        self.get(&["credentials"], request).await
    }

    pub async fn credential_delete(&self, credential: &str) -> Result<CredentialView> {
        let none = None::<&Empty>;
        self.call(
            Method::DELETE,
            &["credentials", credential],
            &Empty {},
            none,
        )
        .await
    }

    pub async fn board_delete(&self, request: &BoardDeleteRequest) -> Result<DeletedView> {
        let query = without("board", request)?;
        self.call(
            Method::DELETE,
            &["boards", &request.board],
            &query,
            None::<&Empty>,
        )
        .await
    }

    pub async fn board_create(&self, request: &BoardCreateRequest) -> Result<BoardView> {
        self.post(&["boards"], request).await
    }

    pub async fn board_list(&self, request: &BoardListRequest) -> Result<BoardListView> {
        self.get(&["boards"], request).await
    }

    pub async fn board_get(&self, board: &str) -> Result<BoardView> {
        self.get(&["boards", board], &Empty {}).await
    }

    pub async fn board_share(&self, request: &BoardShareRequest) -> Result<BoardView> {
        let (path, body) = (
            ["boards", &request.board, "shares"],
            without("board", request)?,
        );
        self.call(Method::PUT, &path, &Empty {}, Some(&body)).await
    }

    pub async fn board_update(&self, request: &BoardUpdateRequest) -> Result<BoardView> {
        let body = without("board", request)?;
        self.patch(&["boards", &request.board], &body).await
    }

    pub async fn board_duplicate(&self, request: &BoardDuplicateRequest) -> Result<BoardView> {
        let body = without("board", request)?;
        self.post(&["boards", &request.board, "duplicate"], &body)
            .await
    }

    pub async fn task_add(&self, request: &TaskAddRequest) -> Result<TaskAddedView> {
        self.post(&["tasks"], request).await
    }

    pub async fn task_update(&self, request: &TaskUpdateRequest) -> Result<TaskView> {
        let body = without("task", request)?;
        self.patch(&["tasks", request.task.as_str()], &body).await
    }

    pub async fn task_list(&self, request: &TaskListRequest) -> Result<TaskListView> {
        self.get(&["tasks"], request).await
    }

    pub async fn task_next(&self, request: &TaskNextRequest) -> Result<TaskNextView> {
        self.post(&["tasks", "next"], request).await
    }

    pub async fn note_add(&self, request: &NoteAddRequest) -> Result<NoteListView> {
        self.post(&["notes"], request).await
    }

    pub async fn note_list(&self, request: &NoteListRequest) -> Result<NoteListView> {
        self.get(&["notes"], request).await
    }

    pub async fn iteration_summary(
        &self,
        request: &IterationSummaryRequest,
    ) -> Result<IterationView> {
        self.post(&["iterations"], request).await
    }

    pub async fn loop_complete(&self, request: &LoopCompleteRequest) -> Result<LoopCompletedView> {
        self.post(&["loops", "complete"], request).await
    }

    pub async fn config_list(&self) -> Result<ConfigView> {
        self.get(&["config"], &Empty {}).await
    }

    /// Returns one setting, as a list of one.
    pub async fn config_get(&self, key: &str) -> Result<ConfigView> {
        self.get(&["config", key], &Empty {}).await
    }

    pub async fn config_set(&self, request: &ConfigSetRequest) -> Result<SettingView> {
        let (path, body) = (["config", &request.key], without("key", request)?);
        self.call(Method::PUT, &path, &Empty {}, Some(&body)).await
    }

    pub async fn audit_list(&self, request: &AuditListRequest) -> Result<AuditListView> {
        self.get(&["audit"], request).await
    }

    pub async fn run_list(&self, request: &RunListRequest) -> Result<RunListView> {
        let path = ["sessions", &request.session, "runs"];
        self.get(&path, &without("session", request)?).await
    }

    pub async fn usage_report(&self, request: &UsageReportRequest) -> Result<UsageReportView> {
        self.get(&["usage"], request).await
    }

    pub async fn session_list(&self, request: &SessionListRequest) -> Result<SessionListView> {
        self.get(&["sessions"], request).await
    }

    pub async fn session_get(&self, session: &str) -> Result<SessionView> {
        self.get(&["sessions", session], &Empty {}).await
    }

    /// Changes a session; the request must name it.
    pub async fn session_update(&self, request: &SessionUpdateRequest) -> Result<SessionView> {
        let session = request.session.as_deref().unwrap_or("current");
        let body = without("session", request)?;
        self.patch(&["sessions", session], &body).await
    }

    pub async fn session_tree(&self, session: &str) -> Result<SessionTreeView> {
        self.get(&["sessions", session, "tree"], &Empty {}).await
    }

    pub async fn session_create(&self, request: &SessionCreateRequest) -> Result<SessionView> {
        self.post(&["sessions"], request).await
    }

    /// Begins a session under another; the request must name it.
    pub async fn session_spawn(&self, request: &SessionSpawnRequest) -> Result<PromptedView> {
        let parent = request.parent.as_deref().unwrap_or("current");
        let body = without("parent", request)?;
        self.post(&["sessions", parent, "children"], &body).await
    }

    pub async fn session_fork(&self, request: &SessionForkRequest) -> Result<SessionView> {
        let body = without("session", request)?;
        self.post(&["sessions", &request.session, "forks"], &body)
            .await
    }

    pub async fn session_prompt(&self, request: &SessionPromptRequest) -> Result<PromptedView> {
        let body = without("session", request)?;
        self.post(&["sessions", &request.session, "prompts"], &body)
            .await
    }

    pub async fn session_wait(&self, request: &SessionWaitRequest) -> Result<SessionWaitView> {
        self.get(&["sessions", "wait"], request).await
    }

    pub async fn session_interrupt(&self, session: &str) -> Result<SessionView> {
        self.post(&["sessions", session, "interrupt"], &Empty {})
            .await
    }

    /// Cancels one turn of a session, such as a queued prompt.
    pub async fn session_turn_cancel(&self, session: &str, turn: &str) -> Result<SessionView> {
        let body = serde_json::json!({ "turn": turn });
        self.post(&["sessions", session, "interrupt"], &body).await
    }

    pub async fn session_manage(&self, request: &SessionManageRequest) -> Result<SessionView> {
        let body = without("session", request)?;
        self.post(&["sessions", &request.session, "manage"], &body)
            .await
    }

    pub async fn message_list(&self, request: &MessageListRequest) -> Result<MessageListView> {
        let query = without("session", request)?;
        self.get(&["sessions", &request.session, "messages"], &query)
            .await
    }

    pub async fn session_search(
        &self,
        request: &SessionSearchRequest,
    ) -> Result<SessionSearchView> {
        self.get(&["search"], request).await
    }

    pub async fn turn_list(&self, request: &TurnListRequest) -> Result<TurnListView> {
        let query = without("session", request)?;
        self.get(&["sessions", &request.session, "turns"], &query)
            .await
    }

    pub async fn turn_get(&self, turn: &str) -> Result<TurnDetailView> {
        self.get(&["turns", turn], &Empty {}).await
    }

    /// Returns a file that came with a turn's prompt, by its number from 1.
    pub async fn turn_file(&self, turn: &str, number: u32) -> Result<TurnFileView> {
        let query = [("number", number)];
        self.get(&["turns", turn, "file"], &BTreeMap::from(query))
            .await
    }

    pub async fn approval_list(&self, request: &ApprovalListRequest) -> Result<ApprovalListView> {
        self.get(&["approvals"], request).await
    }

    pub async fn approval_answer(&self, request: &ApprovalAnswerRequest) -> Result<ApprovalView> {
        let body = without("approval", request)?;
        self.post(&["approvals", &request.approval], &body).await
    }

    /// Returns a stretch of the change feed.
    pub async fn event_list(&self, request: &EventListRequest) -> Result<EventListView> {
        self.get(&["events"], request).await
    }

    pub async fn server_config_get(&self) -> Result<ServerConfigView> {
        self.get(&["server", "config"], &Empty {}).await
    }

    pub async fn backup_create(&self, request: &BackupCreateRequest) -> Result<BackupCreatedView> {
        self.post(&["backups"], request).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &impl Serialize) -> Result<T> {
        self.call(Method::GET, path, query, None::<&Empty>).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.call(Method::POST, path, &Empty {}, Some(body)).await
    }

    async fn patch<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.call(Method::PATCH, path, &Empty {}, Some(body)).await
    }
}

/// Returns the body of a request without the field that its path holds: the server refuses what is given twice.
fn without(field: &str, request: &impl Serialize) -> Result<Value> {
    let mut body = serde_json::to_value(request)
        .map_err(|error| ClientError::transport("failed to write the request", error))?;
    if let Some(fields) = body.as_object_mut() {
        fields.remove(field);
    }
    Ok(body)
}
