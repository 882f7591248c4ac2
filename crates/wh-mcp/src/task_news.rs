//! Tells of tasks by subscription: `notifications/tasks`, whenever `tasks/get` would say something else than before.

use std::collections::HashSet;

use rmcp::{
    Peer, RoleServer,
    model::{
        NotificationMetaObject, RequestId, ServerNotification, TaskStatusNotification,
        TaskStatusNotificationParams,
    },
    service::SubscriptionContext,
};
use serde_json::Value;
use wh_app::{App, OpContext};
use wh_domain::{Event, SessionId};

use crate::tasks::{self, Standing};

/// The tasks of one subscription.
pub(crate) struct TaskNews {
    peer: Peer<RoleServer>,
    subscription: RequestId,
    /// Whether the client can be asked something.
    elicits: bool,
    tasks: Vec<Watched>,
}

/// A task that is not over.
struct Watched {
    id: String,
    sessions: Vec<SessionId>,
    /// What was told last.
    told: Value,
}

impl TaskNews {
    /// Looks tasks up. What the caller cannot see is left out in silence.
    pub(crate) async fn new(
        app: &App,
        cx: &OpContext,
        subscription: &SubscriptionContext,
        ids: &[String],
        elicits: bool,
    ) -> Self {
        let mut tasks = Vec::new();
        for id in ids {
            if let Ok(standing) = tasks::standing(app, cx, id, elicits).await {
                tasks.push(Watched {
                    id: id.clone(),
                    sessions: standing.sessions,
                    told: Value::Null,
                });
            }
        }
        Self {
            peer: subscription.request_context().peer.clone(),
            subscription: subscription.sink().id().clone(),
            elicits,
            tasks,
        }
    }

    /// Tells how each task stands; one that is over is not told of again. Nothing when nobody listens any more.
    pub(crate) async fn tell_all(&mut self, app: &App, cx: &OpContext) -> Option<()> {
        self.tell(app, cx, |_| true).await
    }

    /// Tells of tasks that events are about.
    pub(crate) async fn tell_of(
        &mut self,
        app: &App,
        cx: &OpContext,
        events: &[&Event],
    ) -> Option<()> {
        if self.tasks.is_empty() {
            return Some(());
        }
        // What an agent says does not move its task.
        let moves = |event: &&Event| !event.body.kind.is_words();
        let moved = events.iter().copied().filter(moves);
        let sessions: HashSet<_> = moved.filter_map(|event| event.body.session).collect();
        let is_about = |session| sessions.contains(&session);
        self.tell(app, cx, is_about).await
    }

    async fn tell(
        &mut self,
        app: &App,
        cx: &OpContext,
        is_wanted: impl Fn(SessionId) -> bool,
    ) -> Option<()> {
        for task in std::mem::take(&mut self.tasks) {
            if !task.sessions.iter().any(|session| is_wanted(*session)) {
                self.tasks.push(task);
                continue;
            }
            // One that cannot be seen any more is not told of.
            let now = app.context(cx.principal.clone(), cx.surface);
            if let Ok(standing) = tasks::standing(app, &now, &task.id, self.elicits).await {
                self.tell_one(task, standing).await?;
            }
        }
        Some(())
    }

    async fn tell_one(&mut self, mut task: Watched, standing: Standing) -> Option<()> {
        let is_over = standing.is_over;
        let now = comparable(&standing);
        if now != task.told {
            let mut meta = NotificationMetaObject::new();
            meta.set_subscription_id(self.subscription.clone());
            let params = TaskStatusNotificationParams::new(standing.task);
            let mut notification = TaskStatusNotification::new(params);
            notification.extensions.insert(meta);
            let notification = ServerNotification::TaskStatusNotification(notification);
            self.peer.send_notification(notification).await.ok()?;
            task.told = now;
        }
        if !is_over {
            self.tasks.push(task);
        }
        Some(())
    }
}

/// Returns what of a task is worth telling: not the time of its last change alone.
fn comparable(standing: &Standing) -> Value {
    let mut value = serde_json::to_value(&standing.task).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("lastUpdatedAt");
    }
    value
}
