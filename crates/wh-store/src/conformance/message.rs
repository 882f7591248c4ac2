//! Checks of transcripts.

use std::sync::Arc;

use tokio::task::JoinSet;
use wh_domain::{EventKind, MessageKind, NewMessage, PageLimit, Reach, SessionId, Subject};

use super::Outcome;
use super::fixture::{self, Made, message, owned_by, whole};
use crate::{MessageAppend, Store, StoreError};

const MANY: PageLimit = PageLimit::MAX;

/// Adds messages to a session in its first run.
pub(super) async fn append(
    store: &Arc<dyn Store>,
    session: SessionId,
    messages: Vec<NewMessage>,
) -> crate::Result<u64> {
    let epoch = 1;
    store
        .message_append(MessageAppend {
            session,
            epoch,
            messages,
        })
        .await
}

/// Messages are numbered from 1, kept as they are, and the session's row and the feed follow.
pub async fn are_numbered_without_gaps(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?.id;
    let before = *store.event_watch().borrow();
    let long = "ß🦀".repeat(400);
    let mut call = message(MessageKind::ToolCall, "");
    call.detail = Some("{\"a\": [1, null]}".to_owned());
    call.turn = Some(fixture::id());
    let batches = [
        vec![
            message(MessageKind::Prompt, "hello"),
            message(MessageKind::Agent, &long),
            call,
        ],
        vec![message(MessageKind::Thought, "nul \0 inside")],
    ];
    assert_eq!(append(&store, session, batches[0].clone()).await?, 3);
    assert_eq!(append(&store, session, Vec::new()).await?, 3);
    assert_eq!(append(&store, session, batches[1].clone()).await?, 4);
    let stored = store.message_list(Reach::All, session, 0, MANY).await?;
    for (n, (stored, new)) in stored.iter().zip(batches.iter().flatten()).enumerate() {
        assert_eq!((stored.session, stored.seq), (session, n as u64 + 1));
        let same = (
            stored.id,
            stored.turn,
            stored.kind,
            &stored.text,
            &stored.detail,
            stored.created_at,
        );
        assert_eq!(
            same,
            (
                new.id,
                new.turn,
                new.kind,
                &new.text,
                &new.detail,
                new.created_at
            )
        );
    }
    assert_eq!(stored.len(), 4);
    let row = store
        .session_find(Reach::All, &whole(session))
        .await?
        .remove(0);
    assert_eq!(row.last_seq, 4);
    assert_eq!(row.updated_at, batches[1][0].created_at);
    let words = row.last_words.unwrap_or_default();
    assert!(
        long.starts_with(&words) && words.chars().count() >= 200,
        "{words}"
    );
    let events = store
        .event_list(Reach::Tree(session), before, MANY)
        .await?
        .events;
    let added = |e: &&wh_domain::Event| e.body.kind == EventKind::MessageAdded;
    let added: Vec<_> = events.iter().filter(added).collect();
    assert_eq!(
        added.len(),
        2,
        "one event for each append that added something"
    );
    assert_eq!(
        (added[0].body.subject, added[0].body.owner),
        (Subject::from(session), owner)
    );
    Ok(())
}

/// A write from another run than the current one is refused as a whole, and so is one to no session.
pub async fn of_an_older_run_are_refused(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut session = fixture::session_value(owner, None)?;
    session.epoch = 5;
    fixture::insert_session(&store, &session).await?;
    let before = *store.event_watch().borrow();
    for epoch in [0, 4, 6] {
        let messages = vec![message(MessageKind::Agent, "late")];
        let append = MessageAppend {
            session: session.id,
            epoch,
            messages,
        };
        let refused = store.message_append(append).await;
        assert!(
            matches!(refused, Err(StoreError::Fenced { current: 5, .. })),
            "{refused:?}"
        );
    }
    assert_eq!(
        store.message_list(Reach::All, session.id, 0, MANY).await?,
        []
    );
    assert_eq!(
        store
            .event_list(Reach::Tree(session.id), before, MANY)
            .await?
            .events,
        []
    );
    let messages = vec![message(MessageKind::Agent, "now")];
    let now = MessageAppend {
        session: session.id,
        epoch: 5,
        messages,
    };
    assert_eq!(store.message_append(now).await?, 1);
    let absent = append(
        &store,
        fixture::id(),
        vec![message(MessageKind::Agent, "x")],
    )
    .await;
    assert!(
        matches!(absent, Err(StoreError::NotFound { .. })),
        "{absent:?}"
    );
    // The same message twice is refused, and so is what came with it.
    let twice = message(MessageKind::Agent, "twice");
    let messages = vec![twice.clone(), twice];
    let twice = MessageAppend {
        session: session.id,
        epoch: 5,
        messages,
    };
    let refused = store.message_append(twice).await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    assert_eq!(
        store
            .message_list(Reach::All, session.id, 0, MANY)
            .await?
            .len(),
        1
    );
    Ok(())
}

/// Reading goes on after any number, in order, and only for those who reach the session.
pub async fn are_read_from_anywhere(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?.id;
    let messages = (0..300).map(|n| message(MessageKind::Agent, &n.to_string()));
    assert_eq!(append(&store, session, messages.collect()).await?, 300);
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let limit = PageLimit::clamped(Some(70));
        let page = store
            .message_list(Reach::User(owner.user), session, after, limit)
            .await?;
        assert!(page.len() <= 70);
        let Some(last) = page.last() else { break };
        after = last.seq;
        seen.extend(page.iter().map(|m| m.seq));
    }
    assert_eq!(seen, (1..=300).collect::<Vec<_>>());
    let child = fixture::session(&store, owner, None).await?.id;
    let other = fixture::user(&store).await?.id;
    for reach in [
        Reach::User(other),
        Reach::Key(fixture::id()),
        Reach::Tree(child),
    ] {
        assert_eq!(store.message_list(reach, session, 0, MANY).await?, []);
    }
    assert_eq!(
        store
            .message_list(Reach::Tree(session), session, 299, MANY)
            .await?
            .len(),
        1
    );
    Ok(())
}

/// Messages that many tasks add to one session are all there, once, numbered without gaps.
pub async fn of_concurrent_writers_are_all_there(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?.id;
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            for n in 0..10 {
                let text = format!("{writer} {n}");
                append(&store, session, vec![message(MessageKind::Agent, &text)]).await?;
            }
            Made::Ok(())
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended??;
    }
    let all = store.message_list(Reach::All, session, 0, MANY).await?;
    let numbers: Vec<_> = all.iter().map(|m| m.seq).collect();
    assert_eq!(numbers, (1..=160).collect::<Vec<_>>());
    for writer in 0..16 {
        let of_writer =
            |m: &&wh_domain::Message| m.text.split(' ').next() == Some(&writer.to_string());
        let texts: Vec<_> = all
            .iter()
            .filter(of_writer)
            .map(|m| m.text.clone())
            .collect();
        assert_eq!(
            texts,
            (0..10).map(|n| format!("{writer} {n}")).collect::<Vec<_>>()
        );
    }
    Ok(())
}

/// The latest of a kind and the one of an id are found by those who reach the session, and by nobody else.
pub async fn are_found_by_id_and_kind_within_reach(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let stranger = fixture::user(&store).await?.id;
    let session = fixture::session(&store, owned_by(user), None).await?.id;
    let messages = vec![
        message(MessageKind::Agent, "first"),
        message(MessageKind::Agent, "second"),
        message(MessageKind::System, "note"),
    ];
    let id = messages[1].id;
    append(&store, session, messages).await?;
    for reach in [Reach::All, Reach::User(user), Reach::Tree(session)] {
        let latest = store
            .message_latest(reach, session, MessageKind::Agent)
            .await?;
        assert_eq!(
            latest.map(|m| (m.seq, m.text)),
            Some((2, "second".to_owned()))
        );
        let found = store.message_by_id(reach, id).await?;
        assert_eq!(found.map(|m| m.seq), Some(2));
        assert_eq!(
            store
                .message_latest(reach, session, MessageKind::Plan)
                .await?,
            None
        );
    }
    let reach = Reach::User(stranger);
    assert_eq!(
        store
            .message_latest(reach, session, MessageKind::Agent)
            .await?,
        None
    );
    assert_eq!(store.message_by_id(reach, id).await?, None);
    Ok(())
}
