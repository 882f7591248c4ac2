//! The change feed.

use std::collections::VecDeque;

use futures::StreamExt;
use wh_app::{EventFeed, FeedItem, OpContext};
use wh_domain::{Event, KeyScope};

use crate::harness::{TestApp, board, reference};

/// A feed read one event at a time.
struct Follower {
    feed: EventFeed,
    waiting: VecDeque<Event>,
}

impl Follower {
    async fn new(test: &TestApp, cx: &OpContext, after: Option<u64>) -> Self {
        Self {
            feed: test.app.event_follow(cx, after).await.unwrap(),
            waiting: VecDeque::new(),
        }
    }

    async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return event;
            }
            let items = self.feed.next().await.unwrap();
            for item in items.expect("the feed goes on") {
                if let FeedItem::Events(events) = item {
                    self.waiting.extend(events.iter().cloned());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_follower_sees_what_is_within_reach_and_no_more() {
    let test = TestApp::new().await;
    let (alice, bob) = (test.member("alice").await, test.member("bob").await);
    let mut feed = Follower::new(&test, &bob, None).await;
    test.app
        .board_create(&alice, board("alice's"))
        .await
        .unwrap();
    let mine = test.app.board_create(&bob, board("bob's")).await.unwrap();
    let event = feed.next().await;
    assert_eq!(event.body.subject, mine.id.into());
}

#[tokio::test]
async fn the_past_is_read_first_then_the_present() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let before = test.app.board_create(&cx, board("before")).await.unwrap();
    let mut feed = Follower::new(&test, &cx, Some(0)).await;
    let mut seqs = vec![];
    loop {
        let event = feed.next().await;
        seqs.push(event.seq);
        if event.body.subject == before.id.into() {
            break;
        }
    }
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    let after = test.app.board_create(&cx, board("after")).await.unwrap();
    assert_eq!(feed.next().await.body.subject, after.id.into());
}

#[tokio::test]
async fn a_number_from_the_future_is_told_to_start_over_once() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let mut feed = Follower::new(&test, &cx, Some(1_000_000)).await;
    let first = feed.feed.next().await.unwrap().unwrap();
    assert!(matches!(first.as_slice(), [FeedItem::Resync { .. }]));
    let made = test.app.board_create(&cx, board("next")).await.unwrap();
    assert_eq!(feed.next().await.body.subject, made.id.into());
}

#[tokio::test]
async fn a_feed_ends_with_its_credential_and_with_the_server() {
    let test = TestApp::new().await;
    test.member("dave").await;
    let (_, cx) = test.key_of("dave", KeyScope::Full).await;
    let mut feed = test.app.event_follow(&cx, None).await.unwrap();
    let key = cx.principal.credential.key().unwrap();
    test.app
        .key_revoke(&test.local().await, reference(key))
        .await
        .unwrap();
    while feed.next().await.unwrap().is_some() {}

    let mut feed = test
        .app
        .event_follow(&test.local().await, None)
        .await
        .unwrap();
    test.shutdown.cancel();
    while feed.next().await.unwrap().is_some() {}
}

#[tokio::test]
async fn who_keeps_up_does_not_read_the_database() {
    let test = TestApp::new().await;
    let cx = test.local().await;
    let mut feed = Follower::new(&test, &cx, None).await;
    let mut made = vec![];
    for n in 0..30 {
        let board = board(&format!("board {n}"));
        made.push(test.app.board_create(&cx, board).await.unwrap().id.into());
    }
    // Nothing can be read any more.
    test.store.close().await;
    for subject in made {
        assert_eq!(feed.next().await.body.subject, subject);
    }
}

#[tokio::test]
async fn who_falls_behind_catches_up_without_gaps() {
    const EVENTS: u64 = 20_000;
    let test = TestApp::new().await;
    let cx = test.local().await;
    let mut feed = Follower::new(&test, &cx, None).await;
    let subject = test.app.board_create(&cx, board("busy")).await.unwrap().id;
    let first = feed.next().await;
    let announce = |_| {
        let event = first.body.clone();
        test.store.event_announce(first.at, event)
    };
    let announced = futures::stream::iter(0..EVENTS).map(announce);
    let announced = announced.buffer_unordered(2_000);
    let all = announced.for_each(async |seq| assert!(seq.unwrap() > first.seq));
    let early = async {
        // This one reads while the others are written, and is overtaken.
        for n in 1..=EVENTS {
            assert_eq!(feed.next().await.seq, first.seq + n);
        }
    };
    tokio::join!(all, early);
    // This one begins when most are no longer in memory.
    let mut late = Follower::new(&test, &cx, Some(first.seq)).await;
    for n in 1..=EVENTS {
        let event = late.next().await;
        assert_eq!(event.seq, first.seq + n);
        assert_eq!(event.body.subject, subject.into());
    }
}
