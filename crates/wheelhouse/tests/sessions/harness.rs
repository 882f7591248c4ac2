//! A server with the built-in agent, and short words for what tests do with it.

use std::time::Duration;

use wh_api::{
    ApprovalAnswerRequest, ApprovalListRequest, ApprovalView, MessageListRequest, MessageView,
    PromptedView, RunListRequest, RunView, SessionCreateRequest, SessionManageRequest,
    SessionPromptRequest, SessionView, SessionWaitRequest, TurnDetailView, TurnListRequest,
};
use wh_client::Client;
use wh_testkit::server::{TestServer, built};

/// Seconds that anything may take; far more than it does.
pub(crate) const LONG: u32 = 60;

/// A server and its administrator.
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) client: Client,
    /// Seconds that anything may take.
    pub(crate) patience: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(TestServer::start())
    }

    /// Takes a server that runs already.
    pub(crate) fn on(server: TestServer) -> Self {
        let client = server.client();
        let patience = LONG;
        Self {
            server,
            client,
            patience,
        }
    }

    /// Kills the server, and starts it again after a while.
    pub(crate) async fn crash(&mut self, away: Duration) {
        self.server.kill9();
        tokio::time::sleep(away).await;
        self.server.restart();
        self.client = self.server.client();
    }

    /// Starts a server that also knows the scripted agent, which misbehaves as it is told.
    pub(crate) fn with_scripted() -> Self {
        let mut server = TestServer::stopped();
        let agent = built("scripted-agent");
        server.configure(&format!("[agents.scripted]\ncommand = [{agent:?}]\n"));
        server.restart();
        Self::on(server)
    }

    /// Begins a session of the scripted agent.
    pub(crate) async fn scripted(&self) -> String {
        let request = SessionCreateRequest {
            agent: "scripted".to_owned(),
            ..SessionCreateRequest::default()
        };
        self.client.session_create(&request).await.unwrap().id
    }

    /// Begins a session of the built-in agent without a prompt.
    pub(crate) async fn session(&self) -> String {
        self.session_with(SessionCreateRequest::default()).await
    }

    /// Begins a session of the built-in agent as asked for.
    pub(crate) async fn session_with(&self, mut request: SessionCreateRequest) -> String {
        request.agent = "echo".to_owned();
        self.client.session_create(&request).await.unwrap().id
    }

    /// Sends a prompt and waits for what comes of it.
    pub(crate) async fn prompt(&self, session: &str, prompt: &str) -> PromptedView {
        let request = SessionPromptRequest {
            wait: Some(self.patience),
            ..prompt_of(session, prompt)
        };
        self.client.session_prompt(&request).await.unwrap()
    }

    /// Returns all turns of a session, oldest first, with their prompts.
    pub(crate) async fn turns(&self, session: &str) -> Vec<TurnDetailView> {
        let mut request = TurnListRequest {
            session: session.to_owned(),
            limit: Some(200),
            ..TurnListRequest::default()
        };
        let mut turns = Vec::new();
        loop {
            let page = self.client.turn_list(&request).await.unwrap();
            for turn in &page.turns {
                turns.push(self.client.turn_get(&turn.id).await.unwrap());
            }
            match page.next_cursor {
                Some(cursor) => request.cursor = Some(cursor.into()),
                None => break,
            }
        }
        turns.reverse();
        turns
    }

    /// Sends a prompt and does not wait.
    pub(crate) async fn send(&self, session: &str, prompt: &str) -> PromptedView {
        let request = prompt_of(session, prompt);
        self.client.session_prompt(&request).await.unwrap()
    }

    pub(crate) async fn get(&self, session: &str) -> SessionView {
        self.client.session_get(session).await.unwrap()
    }

    /// Waits until the session is at rest, ended or in need of an answer, and returns it.
    pub(crate) async fn rest(&self, session: &str) -> SessionView {
        let request = SessionWaitRequest {
            sessions: vec![session.to_owned()],
            timeout: Some(self.patience),
            ..SessionWaitRequest::default()
        };
        let waited = self.client.session_wait(&request).await.unwrap();
        assert!(waited.done, "{waited:?}");
        self.get(session).await
    }

    /// Waits until something holds, looking often.
    pub(crate) async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        for _ in 0..(self.patience * 20) {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it never came to hold: {what}");
    }

    /// Waits until a session is in a state.
    pub(crate) async fn until_state(&self, session: &str, state: &str) {
        self.until(state, async || self.get(session).await.state == state)
            .await;
    }

    pub(crate) async fn manage(&self, session: &str, action: &str) -> SessionView {
        self.client
            .session_manage(&manage_of(session, action))
            .await
            .unwrap()
    }

    /// Returns the whole transcript.
    pub(crate) async fn transcript(&self, session: &str) -> Vec<MessageView> {
        let mut messages: Vec<MessageView> = Vec::new();
        let mut after = 0;
        loop {
            let request = MessageListRequest {
                session: session.to_owned(),
                after: Some(after.into()),
                view: Some("full".to_owned()),
                include_system: Some(true),
                ..MessageListRequest::default()
            };
            let page = self.client.message_list(&request).await.unwrap();
            messages.extend(page.messages);
            match page.next_after {
                Some(next) => after = next,
                None => return messages,
            }
        }
    }

    /// Returns everything the agent said, joined.
    pub(crate) async fn said(&self, session: &str) -> String {
        let transcript = self.transcript(session).await;
        let said = transcript.iter().filter(|it| it.kind == "agent");
        said.map(|it| it.text.as_str()).collect()
    }

    /// Returns the lives of a session's process, latest first.
    pub(crate) async fn runs(&self, session: &str) -> Vec<RunView> {
        let request = RunListRequest {
            session: session.to_owned(),
            ..RunListRequest::default()
        };
        self.client.run_list(&request).await.unwrap().runs
    }

    /// Returns what the server itself noted.
    pub(crate) async fn notes(&self, session: &str) -> String {
        let transcript = self.transcript(session).await;
        let notes = transcript.iter().filter(|it| it.kind == "system");
        notes
            .map(|it| it.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns everything a session ever asked for, oldest first.
    pub(crate) async fn asked(&self, session: &str) -> Vec<ApprovalView> {
        let request = ApprovalListRequest {
            session: Some(session.to_owned()),
            include_settled: Some(true),
            ..ApprovalListRequest::default()
        };
        let mut all = self.client.approval_list(&request).await.unwrap().approvals;
        all.reverse();
        all
    }

    /// Returns what a session waits for.
    pub(crate) async fn pending(&self, session: &str) -> Vec<ApprovalView> {
        let request = ApprovalListRequest {
            session: Some(session.to_owned()),
            ..ApprovalListRequest::default()
        };
        self.client.approval_list(&request).await.unwrap().approvals
    }

    pub(crate) async fn answer(&self, approval: &str, decision: &str, text: Option<&str>) {
        let request = ApprovalAnswerRequest {
            approval: approval.to_owned(),
            decision: decision.to_owned(),
            text: text.map(str::to_owned),
            ..ApprovalAnswerRequest::default()
        };
        self.client.approval_answer(&request).await.unwrap();
    }

    /// Returns how many runners of this server live.
    pub(crate) fn live_runners(&self) -> usize {
        let runs = self.server.runs();
        runs.iter().filter(|run| run.alive.is_some()).count()
    }
}

pub(crate) fn prompt_of(session: &str, prompt: &str) -> SessionPromptRequest {
    SessionPromptRequest {
        session: session.to_owned(),
        prompt: prompt.to_owned(),
        ..SessionPromptRequest::default()
    }
}

pub(crate) fn manage_of(session: &str, action: &str) -> SessionManageRequest {
    SessionManageRequest {
        session: session.to_owned(),
        action: action.to_owned(),
        ..SessionManageRequest::default()
    }
}
