//! The change feed, a page at a time. Following it is [`crate::events`].

use wh_api::{EventListRequest, EventListView};
use wh_app::EventStretch;
use wh_domain::{Operation, PageLimit};

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/events",
            Operation::EventList,
            "Reads the change feed, or follows it by SSE or WebSocket",
            |server, cx, request: EventListRequest| async move {
                let limit = PageLimit::clamped(request.limit);
                let after = request.after()?;
                let stretch = server.app.event_list(&cx, after, limit).await?;
                Ok(match stretch {
                    EventStretch::Page(page) => EventListView {
                        events: page.events.into_iter().map(Into::into).collect(),
                        through: page.through,
                        more: page.more,
                        resync: false,
                    },
                    EventStretch::Resync { through } => EventListView {
                        events: vec![],
                        through,
                        more: false,
                        resync: true,
                    },
                })
            },
        )
        .streams(),
    ]
}
