//! Tells clients of changes: `subscriptions/listen` for modern ones, `resources/subscribe` for legacy ones.
//!
//! Both follow the same change feed, so a subscriber learns of a change only if it may see it, and its subscription
//! ends when its credential does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{RequestContext, SubscriptionContext},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use wh_app::{App, EventFeed, EventsSeen, FeedItem, OpContext};
use wh_domain::{Event, Subject};

use crate::{
    address::Address,
    resources::{changes_list, protocol_error},
    transport::caller,
};

/// Subscriptions open at once, over all callers.
const OPEN_MAX: usize = 1_024;
/// Addresses in one subscription.
const ADDRESSES_MAX: usize = 256;

/// Bounds how many subscriptions are open.
pub(crate) struct Gate {
    open: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open: Arc::new(Semaphore::new(OPEN_MAX)),
            tasks: TaskTracker::new(),
        }
    }
}

impl Gate {
    fn enter(&self) -> Result<OwnedSemaphorePermit, ErrorData> {
        let permit = Arc::clone(&self.open).try_acquire_owned();
        permit.map_err(|_| {
            ErrorData::internal_error(
                "too many subscriptions are open; close some and try again",
                None,
            )
        })
    }
}

/// What a legacy client subscribed to on one connection. Dropping it ends its subscriptions.
#[derive(Default)]
pub(crate) struct Connection {
    subscriptions: Mutex<HashMap<String, DropGuard>>,
}

impl Connection {
    fn add(&self, uri: String, guard: DropGuard) -> Result<(), ErrorData> {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(|e| e.into_inner());
        if subscriptions.len() >= ADDRESSES_MAX && !subscriptions.contains_key(&uri) {
            return Err(ErrorData::invalid_params(
                "too many subscriptions on this connection",
                None,
            ));
        }
        subscriptions.insert(uri, guard);
        Ok(())
    }

    /// Ends a subscription; one that does not exist is ended already.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(|e| e.into_inner());
        subscriptions.remove(uri);
    }
}

/// An address somebody watches, and what it means.
struct Watched {
    uri: String,
    subject: Subject,
}

impl Watched {
    fn concerns(&self, event: &Event) -> bool {
        event.body.subject == self.subject
    }
}

/// Resolves addresses. What the caller cannot see is left out in silence: the subscription was acknowledged already,
/// and a difference would tell what exists.
async fn watch(app: &App, cx: &OpContext, uris: &[String]) -> Vec<Watched> {
    let mut watched = Vec::new();
    for uri in uris.iter().take(ADDRESSES_MAX) {
        let Some(address) = Address::parse(uri) else {
            continue;
        };
        if let Some(subject) = subject(app, cx, &address).await {
            let uri = uri.clone();
            watched.push(Watched { uri, subject });
        }
    }
    watched
}

/// Returns whose changes concern an address, if the caller may see it.
async fn subject(app: &App, cx: &OpContext, address: &Address) -> Option<Subject> {
    Some(match address {
        Address::Board(id) => app.board_get(cx, id).await.ok()?.id.into(),
        Address::Session(id) | Address::SessionMessages(id) | Address::SessionDiff(id) => {
            app.session_get(cx, id).await.ok()?.session.id.into()
        }
        Address::Worktree(id) | Address::WorktreeFile { worktree: id, .. } => {
            app.worktree_get(cx, id).await.ok()?.worktree.id.into()
        }
        Address::Agents => return None,
    })
}

/// Serves one `subscriptions/listen` until the client, the credential or the server ends it.
pub(crate) async fn listen(
    app: &Arc<App>,
    gate: &Gate,
    cx: OpContext,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    let _permit = gate.enter()?;
    // The feed is opened first, so that a change made while addresses are looked up is not missed.
    let mut feed = app.event_follow(&cx, None).await.map_err(protocol_error)?;
    let accepted = subscription.accepted().clone();
    let uris = accepted.resource_subscriptions.unwrap_or_default();
    let watched = watch(app, &cx, &uris).await;
    let wants_list = accepted.resources_list_changed.unwrap_or(false);
    let sink = subscription.sink().clone();
    loop {
        let events = tokio::select! {
            () = subscription.cancelled() => return Ok(()),
            events = next_events(&mut feed) => events?,
        };
        let Some(events) = events else {
            return Ok(());
        };
        for event in events.iter().flat_map(EventsSeen::iter) {
            for one in watched.iter().filter(|one| one.concerns(event)) {
                if sink.notify_resource_updated(&one.uri).await.is_err() {
                    return Ok(());
                }
            }
            if wants_list
                && changes_list(event)
                && sink.notify_resource_list_changed().await.is_err()
            {
                return Ok(());
            }
        }
    }
}

/// Starts a legacy subscription on its connection.
pub(crate) async fn subscribe(
    app: &Arc<App>,
    gate: &Gate,
    connection: &Connection,
    cx: OpContext,
    uri: String,
    context: RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    if caller(&context).is_some_and(|caller| caller.stateless) {
        let message = "this credential has no session to notify; use subscriptions/listen";
        return Err(ErrorData::invalid_request(message, None));
    }
    let permit = gate.enter()?;
    let feed = app.event_follow(&cx, None).await.map_err(protocol_error)?;
    let Some(watched) = watch(app, &cx, std::slice::from_ref(&uri)).await.pop() else {
        return Err(ErrorData::resource_not_found("Resource not found", None));
    };
    let stop = CancellationToken::new();
    connection.add(uri, stop.clone().drop_guard())?;
    gate.tasks.spawn(async move {
        let _permit = permit;
        tokio::select! {
            () = stop.cancelled() => {}
            () = notify(feed, watched, context.peer) => {}
        }
    });
    Ok(())
}

async fn notify(mut feed: EventFeed, watched: Watched, peer: Peer<RoleServer>) {
    while let Ok(Some(events)) = next_events(&mut feed).await {
        let mut events = events.iter().flat_map(EventsSeen::iter);
        if events.any(|event| watched.concerns(event)) {
            let param = ResourceUpdatedNotificationParam::new(watched.uri.clone());
            if peer.notify_resource_updated(param).await.is_err() {
                return;
            }
        }
    }
}

/// Returns the next events, or nothing when the feed is over.
async fn next_events(feed: &mut EventFeed) -> Result<Option<Vec<EventsSeen>>, ErrorData> {
    let Some(items) = feed.next().await.map_err(protocol_error)? else {
        return Ok(None);
    };
    let events = |item| match item {
        FeedItem::Events(events) => Some(events),
        FeedItem::Resync { .. } | FeedItem::Idle { .. } => None,
    };
    Ok(Some(items.into_iter().filter_map(events).collect()))
}
