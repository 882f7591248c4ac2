//! The client, as the echo agent sees it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    sync::{mpsc, oneshot},
};
use tokio_util::task::TaskTracker;

use super::stdio;
use crate::acp::wire;

/// Lines that may wait to be written; then the agent waits.
const LINES_MAX: usize = 16;

pub(super) struct Peer {
    lines: mpsc::Sender<Vec<u8>>,
    asked: Mutex<(u64, HashMap<u64, oneshot::Sender<Value>>)>,
}

impl Peer {
    pub(super) fn stdout(tasks: &TaskTracker) -> Self {
        let (lines, mut queue) = mpsc::channel::<Vec<u8>>(LINES_MAX);
        tasks.spawn(async move {
            let mut stdout = stdio::output();
            while let Some(line) = queue.recv().await {
                let written = stdout.write_all(&line).await.is_ok();
                if !written || (queue.is_empty() && stdout.flush().await.is_err()) {
                    return;
                }
            }
        });
        Self {
            lines,
            asked: Mutex::default(),
        }
    }

    pub(super) async fn send(&self, line: Vec<u8>) {
        // Nobody listens any more: the end of stdin follows.
        self.lines.send(line).await.ok();
    }

    pub(super) async fn update(&self, session: &str, update: &Value) {
        let params = json!({"sessionId": session, "update": update});
        self.send(wire::notification("session/update", &params))
            .await;
    }

    pub(super) async fn say(&self, session: &str, text: &str) {
        let content = json!({"type": "text", "text": text});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        self.update(session, &update).await;
    }

    /// Asks the client something and waits for its answer; null when it cannot.
    pub(super) async fn ask(&self, method: &'static str, params: &Value) -> Value {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.0 += 1;
            let id = asked.0;
            asked.1.insert(id, answer);
            id
        };
        self.send(wire::request(id, method, params)).await;
        answered.await.unwrap_or_default()
    }

    pub(super) fn answered(&self, id: u64, result: Option<&str>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = asked.1.remove(&id) {
            let result = result.and_then(|result| serde_json::from_str(result).ok());
            waiting.send(result.unwrap_or_default()).ok();
        }
    }
}
