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
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use wh_app::{App, EventFeed, EventsSeen, FeedItem, OpContext};
use wh_domain::{Event, KeyId, Principal, UserId};

use crate::{
    address::Address,
    error::{error_view, protocol_error},
    resources::changes_list,
    task_news::TaskNews,
    transport::{TaskIds, caller, caller_extensions},
    watched::Watched,
};

/// Subscriptions open at once, over all callers.
const OPEN_MAX: usize = 2_048;
/// Subscriptions that one credential has open at once.
const OPEN_PER_CALLER_MAX: usize = 512;
/// Addresses in one subscription, and subscriptions of one legacy connection.
const ADDRESSES_MAX: usize = 256;

/// Whom a subscription counts for: one credential, or the local socket's user.
type Holder = (UserId, Option<KeyId>);

/// Bounds how many subscriptions are open.
#[derive(Default)]
pub(crate) struct Gate {
    open: Arc<Mutex<HashMap<Holder, usize>>>,
    tasks: TaskTracker,
}

/// A place among the open subscriptions, given back when dropped.
struct Permit {
    open: Arc<Mutex<HashMap<Holder, usize>>>,
    holder: Holder,
}

impl Gate {
    fn enter(&self, principal: &Principal) -> Result<Permit, ErrorData> {
        let holder = (principal.user, principal.credential.key());
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        let own = open.get(&holder).copied().unwrap_or(0);
        if own >= OPEN_PER_CALLER_MAX || open.values().sum::<usize>() >= OPEN_MAX {
            return Err(ErrorData::internal_error(
                "too many subscriptions are open; close some and try again",
                None,
            ));
        }
        open.insert(holder, own + 1);
        Ok(Permit {
            open: Arc::clone(&self.open),
            holder,
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(own) = open.get_mut(&self.holder) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.holder);
            }
        }
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

/// Returns what of a filter is served: what has the form of an address, up to a limit. Whether the caller may see it is not
/// told: that would tell what exists.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| Address::parse(uri).is_some());
        uris.truncate(ADDRESSES_MAX);
    }
    accepted
}

/// Serves one `subscriptions/listen` until the client, the credential or the server ends it.
pub(crate) async fn listen(
    app: &Arc<App>,
    gate: &Gate,
    cx: OpContext,
    subscription: SubscriptionContext,
) -> Result<(), ErrorData> {
    let _permit = gate.enter(&cx.principal)?;
    // The feed is opened first, so that a change made while addresses are looked up is not missed.
    let feed = app
        .event_follow(&cx, None)
        .await
        .map_err(|error| protocol_error(error_view(&error)))?;
    let filter = subscription.accepted();
    let mut watched = Watched::default();
    for uri in filter.resource_subscriptions.iter().flatten() {
        // What the caller cannot see is left out in silence: the subscription was acknowledged already.
        watched.add(app, &cx, uri).await;
    }
    let wants_list = filter.resources_list_changed.unwrap_or(false);
    let tasks = task_news(app, &cx, &subscription).await;
    let told = Told::Sink(subscription.sink().clone());
    // The client was told that it listens before anything was looked at first: what changed in between is told without looking.
    let unsure = watched.looked_at().map(str::to_owned).collect();
    let telling = Telling {
        app: Arc::clone(app),
        cx,
        feed,
        watched,
        unsure,
        wants_list,
        tasks,
    };
    tokio::select! {
        () = subscription.cancelled() => Ok(()),
        ended = telling.run(&told) => ended,
    }
}

/// Looks up the tasks that a subscription names, if it does.
async fn task_news(
    app: &App,
    cx: &OpContext,
    subscription: &SubscriptionContext,
) -> Option<TaskNews> {
    let context = subscription.request_context();
    let TaskIds(ids) = caller_extensions(context)?.get::<TaskIds>()?;
    let capabilities = context.client_capabilities();
    let elicits = capabilities.is_some_and(|it| it.elicitation.is_some());
    Some(TaskNews::new(app, cx, subscription, ids, elicits).await)
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
    let permit = gate.enter(&cx.principal)?;
    let feed = app
        .event_follow(&cx, None)
        .await
        .map_err(|error| protocol_error(error_view(&error)))?;
    let mut watched = Watched::default();
    if !watched.add(app, &cx, &uri).await {
        return Err(ErrorData::resource_not_found("Resource not found", None));
    }
    let stop = CancellationToken::new();
    connection.add(uri, stop.clone().drop_guard())?;
    let telling = Telling {
        app: Arc::clone(app),
        cx,
        feed,
        watched,
        unsure: Vec::new(),
        wants_list: false,
        tasks: None,
    };
    gate.tasks.spawn(async move {
        let _permit = permit;
        let told = Told::Peer(context.peer);
        tokio::select! {
            () = stop.cancelled() => {}
            ended = telling.run(&told) => if let Err(error) = ended {
                tracing::warn!(%error, "a subscription ended early");
            }
        }
    });
    Ok(())
}

/// Who is told.
enum Told {
    Sink(SubscriptionSink),
    Peer(Peer<RoleServer>),
}

impl Told {
    /// Says that a resource changed; nothing when nobody listens any more.
    async fn updated(&self, uri: String) -> Option<()> {
        match self {
            Self::Sink(sink) => sink.notify_resource_updated(&uri).await.ok(),
            Self::Peer(peer) => {
                let param = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(param).await.ok()
            }
        }
    }

    /// Says that there are other resources.
    async fn list_changed(&self) -> Option<()> {
        match self {
            Self::Sink(sink) => sink.notify_resource_list_changed().await.ok(),
            Self::Peer(peer) => peer.notify_resource_list_changed().await.ok(),
        }
    }
}

/// A subscription at work.
struct Telling {
    app: Arc<App>,
    cx: OpContext,
    feed: EventFeed,
    watched: Watched,
    /// Addresses that may have changed before they were looked at first.
    unsure: Vec<String>,
    wants_list: bool,
    tasks: Option<TaskNews>,
}

impl Telling {
    /// Tells until the feed is over or nobody listens. Many changes at once are one piece of news.
    async fn run(mut self, told: &Told) -> Result<(), ErrorData> {
        if let Some(tasks) = &mut self.tasks
            && tasks.tell_all(&self.app, &self.cx).await.is_none()
        {
            return Ok(());
        }
        for uri in std::mem::take(&mut self.unsure) {
            if told.updated(uri).await.is_none() {
                return Ok(());
            }
        }
        // The feed says something at least every second, which is when things are looked at.
        while let Some(items) = self
            .feed
            .next()
            .await
            .map_err(|error| protocol_error(error_view(&error)))?
        {
            let events = items.iter().filter_map(|item| match item {
                FeedItem::Events(events) => Some(events),
                FeedItem::Resync { .. } | FeedItem::Idle { .. } => None,
            });
            let events: Vec<&Event> = events.flat_map(EventsSeen::iter).collect();
            let (app, cx) = (&self.app, &self.cx);
            let mut news = self
                .watched
                .concerned(app, cx, events.iter().copied())
                .await;
            let seen = self.watched.looked(app, cx).await;
            news.extend(
                seen.into_iter()
                    .filter(|uri| !news.contains(uri))
                    .collect::<Vec<_>>(),
            );
            for uri in news {
                if told.updated(uri).await.is_none() {
                    return Ok(());
                }
            }
            let is_list_news = self.wants_list && events.iter().any(|event| changes_list(event));
            if is_list_news && told.list_changed().await.is_none() {
                return Ok(());
            }
            if let Some(tasks) = &mut self.tasks
                && tasks.tell_of(&self.app, &self.cx, &events).await.is_none()
            {
                return Ok(());
            }
        }
        Ok(())
    }
}
