//! Checks of the change feed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use wh_domain::{
    Event, EventKind, EventSeq, KeyScope, NewEvent, Operation, Owner, PageLimit, Reach, Subject,
    SubjectKind,
};

use super::Outcome;
use super::fixture::{self, Made, commit, commit_with_event, done, event, owned_by};
use crate::{Commit, EventsSeen, Store};

/// Reads the feed to its end.
async fn follow(
    store: &Arc<dyn Store>,
    reach: Reach,
    mut after: EventSeq,
    size: u32,
) -> Made<Vec<Event>> {
    let limit = PageLimit::clamped(Some(size));
    let mut events = Vec::new();
    loop {
        let page = store.event_list(reach, after, limit).await?;
        assert!(page.events.len() <= size as usize);
        assert!(page.through > after || !page.more, "reading goes on");
        assert!(
            page.events
                .iter()
                .all(|e| e.seq > after && e.seq <= page.through)
        );
        after = page.through;
        events.extend(page.events);
        if !page.more {
            return Ok(events);
        }
    }
}

/// Numbers have no gaps, a later commit has a larger number, and a reader who follows sees each once and in order.
pub async fn are_in_order_and_without_gaps_under_64_writers(store: Arc<dyn Store>) -> Outcome {
    const WRITERS: usize = 64;
    const COMMITS: usize = 5;
    let user = fixture::user(&store).await?.id;
    let start = *store.event_watch().borrow();
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            let mut last = 0;
            for _ in 0..COMMITS {
                let board = fixture::board_value(owned_by(user))?;
                let mut commit = commit_with_event(user, Operation::BoardCreate, board.id);
                commit.events.push(event(
                    EventKind::StateChanged,
                    board.id.into(),
                    owned_by(user),
                ));
                let seq = done(store.board_insert(&board, commit).await?).ok_or("no number")?;
                assert!(seq > last + 1, "numbers grow");
                // What was answered can be read at once, and is announced.
                assert!(*store.event_watch().borrow() >= seq);
                let page = store
                    .event_list(Reach::All, seq - 2, PageLimit::clamped(Some(2)))
                    .await?;
                let subjects: Vec<_> = page.events.iter().map(|e| e.body.subject).collect();
                assert_eq!(subjects, [Subject::from(board.id); 2]);
                last = seq;
            }
            Made::Ok(())
        });
    }
    let expected = WRITERS * COMMITS * 2;
    let mut seen: Vec<Event> = Vec::new();
    let mut watch = store.event_watch();
    while seen.len() < expected {
        watch.borrow_and_update();
        let after = seen.last().map_or(start, |e| e.seq);
        let more = follow(&store, Reach::User(user), after, 200).await?;
        let none = more.is_empty();
        seen.extend(more);
        if none {
            tokio::time::timeout(Duration::from_secs(20), watch.changed()).await??;
        }
    }
    while let Some(ended) = writers.join_next().await {
        ended??;
    }
    assert_eq!(seen.len(), expected);
    assert!(seen.is_sorted_by_key(|e| e.seq));
    let numbers: HashSet<_> = seen.iter().map(|e| e.seq).collect();
    assert_eq!(numbers.len(), expected);
    let all = follow(&store, Reach::All, start, 200).await?;
    let first = all.first().map_or(0, |e| e.seq);
    let gapless = all.iter().zip(first..).all(|(e, n)| e.seq == n);
    assert!(gapless && first == start + 1);
    let recent = store.event_recent(Reach::All, start);
    let recent = recent.ok_or("so few events are still in memory")?;
    let from_memory = recent.events.iter().flat_map(EventsSeen::iter);
    assert!(from_memory.eq(&all), "memory has what the database has");
    let (oldest, newest) = store.event_bounds().await?;
    assert!(oldest <= first && newest >= first + expected as u64 - 1);
    Ok(())
}

/// Each reader sees exactly the events whose subject lies within its reach.
pub async fn are_seen_by_those_who_reach_their_subject(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    );
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let of_key = Owner {
        user,
        key: Some(key),
    };
    let mut parent = fixture::session_value(owned_by(user), None)?;
    let board = fixture::board(&store, owned_by(user)).await?;
    parent.board = Some(board.id);
    fixture::insert_session(&store, &parent).await?;
    let child = fixture::session(&store, owned_by(user), Some(&parent)).await?;
    let start = *store.event_watch().borrow();
    let of_session = |session: &wh_domain::Session| NewEvent {
        session: Some(session.id),
        ..event(EventKind::StateChanged, session.id.into(), session.owner)
    };
    let setting = Subject {
        kind: SubjectKind::Setting,
        id: uuid::Uuid::now_v7(),
    };
    let minted = NewEvent {
        session: Some(child.id),
        ..event(
            EventKind::Created,
            fixture::id::<wh_domain::KeyKind>().into(),
            owned_by(user),
        )
    };
    let events = vec![
        event(EventKind::Created, user.into(), owned_by(user)), // 0
        event(EventKind::Updated, setting, owned_by(other)),    // 1
        event(EventKind::Updated, board.id.into(), owned_by(user)), // 2
        event(
            EventKind::Created,
            fixture::id::<wh_domain::BoardKind>().into(),
            of_key,
        ), // 3
        of_session(&parent),                                    // 4
        of_session(&child),                                     // 5
        event(
            EventKind::Created,
            fixture::id::<wh_domain::BoardKind>().into(),
            owned_by(other),
        ), // 6
        minted,                                                 // 7
        event(
            EventKind::Created,
            fixture::id::<wh_domain::WebhookKind>().into(),
            of_key,
        ), // 8
    ];
    let commit = Commit {
        events: events.clone(),
        ..commit(user, Operation::BoardUpdate)
    };
    done(
        store
            .setting_set(wh_domain::SettingKey::SpawnDepthMax, None, commit)
            .await?,
    );
    for (reach, expected) in [
        (Reach::All, vec![0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (Reach::User(user), vec![0, 2, 3, 4, 5, 7, 8]),
        (Reach::User(other), vec![1, 6]),
        (Reach::Key(key), vec![3]),
        (Reach::Tree(parent.id), vec![2, 4, 5]),
        (Reach::Tree(child.id), vec![5]),
        (Reach::Key(fixture::id()), vec![]),
        (Reach::Tree(fixture::id()), vec![]),
    ] {
        let seen: Vec<_> = follow(&store, reach, start, 3)
            .await?
            .into_iter()
            .map(|e| e.body)
            .collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|n: usize| events[n].clone())
            .collect();
        assert_eq!(seen, expected, "{reach:?}");
        // Memory says the same, or that it cannot tell.
        if let Some(recent) = store.event_recent(reach, start) {
            let from_memory = recent.events.iter().flat_map(EventsSeen::iter);
            let from_memory: Vec<_> = from_memory.map(|e| e.body.clone()).collect();
            assert_eq!(from_memory, expected, "{reach:?}");
            assert_eq!(recent.through, *store.event_watch().borrow());
        }
    }
    Ok(())
}

/// Pages of any size lead to the end, and reading past it finds nothing.
pub async fn are_paged_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let start = *store.event_watch().borrow();
    for _ in 0..9 {
        let board = fixture::board_value(owned_by(user))?;
        done(
            store
                .board_insert(
                    &board,
                    commit_with_event(user, Operation::BoardCreate, board.id),
                )
                .await?,
        );
    }
    for size in [1, 2, 9, 200] {
        assert_eq!(
            follow(&store, Reach::User(user), start, size).await?.len(),
            9
        );
    }
    let end = *store.event_watch().borrow();
    let past = store
        .event_list(Reach::User(user), end, PageLimit::MAX)
        .await?;
    assert!(past.events.is_empty() && past.through >= end);
    let far = store
        .event_list(Reach::All, end + 1_000_000, PageLimit::MAX)
        .await?;
    assert!(far.events.is_empty() && !far.more && far.through >= end);
    Ok(())
}

/// The watch changes only when the event can be read.
pub async fn wake_the_watch_when_they_can_be_read(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mut watch = store.event_watch();
    let start = *watch.borrow_and_update();
    let board = fixture::board_value(owned_by(user))?;
    let commit = commit_with_event(user, Operation::BoardCreate, board.id);
    let (inserted, woken) = tokio::join!(store.board_insert(&board, commit), async {
        tokio::time::timeout(Duration::from_secs(10), watch.changed()).await??;
        let after = *watch.borrow_and_update();
        Made::Ok((
            after,
            store
                .event_list(Reach::User(user), start, PageLimit::MAX)
                .await?,
        ))
    });
    let (announced, page) = woken?;
    assert_eq!(done(inserted?), Some(announced));
    assert_eq!(page.events.last().map(|e| e.seq), Some(announced));
    Ok(())
}

/// An event without a change is numbered among the others and leaves no audit entry.
pub async fn can_be_announced_alone(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let repo = fixture::repo(&store, owner).await?;
    let (_, before) = store.event_bounds().await?;
    let event = fixture::event(EventKind::Updated, repo.id.into(), owner);
    let seq = store.event_announce(fixture::now(), event.clone()).await?;
    assert!(seq > before);
    let reach = Reach::User(owner.user);
    let page = store.event_list(reach, seq - 1, PageLimit::DEFAULT).await?;
    assert_eq!(page.events.first().map(|e| &e.body), Some(&event));
    let commit = fixture::commit_with_event(owner.user, Operation::RepoAdd, repo.id);
    assert!(fixture::done(store.record(commit).await?) > Some(seq));
    Ok(())
}
