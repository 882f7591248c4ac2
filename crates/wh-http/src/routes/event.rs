//! The change feed, a page at a time. Following it is [`crate::events`].

use wh_api::{EventListRequest, EventListView};
use wh_domain::{Operation, PageLimit};

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/events",
            Operation::EventList,
            "Reads the change feed, or follows it by SSE or WebSocket",
            |server, cx, request: EventListRequest| async move {
                let (after, limit) = (
                    request.after.unwrap_or(0),
                    PageLimit::clamped(request.limit),
                );
                let page = server.app.event_list(&cx, after, limit).await?;
                Ok(EventListView {
                    events: page.events.into_iter().map(Into::into).collect(),
                    through: page.through,
                    more: page.more,
                })
            },
        )
        .streams(),
    ]
}
