//! Checks of transcripts and of finding words in them.

use std::sync::Arc;

use tokio::task::JoinSet;
use wh_domain::{EventKind, MessageKind, NewMessage, PageLimit, Reach, SessionId, Subject};

use super::Outcome;
use super::fixture::{self, Made, message, owned_by, whole, word};
use crate::{MessageAppend, Store, StoreError};

const MANY: PageLimit = PageLimit::MAX;

async fn append(
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

/// A search finds the messages that hold all of the words, within reach, with a few words around the match.
pub async fn are_found_by_all_their_words(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?;
    let child = fixture::session(&store, owner, Some(&session)).await?;
    let (rare, other) = (word("rare"), word("other"));
    let far = "filler ".repeat(500);
    append(
        &store,
        session.id,
        vec![
            message(
                MessageKind::Agent,
                &format!("{far} the {rare} fish swims {far}"),
            ),
            message(MessageKind::Agent, &format!("only {other} here")),
        ],
    )
    .await?;
    append(
        &store,
        child.id,
        vec![message(
            MessageKind::Prompt,
            &format!("{other} {rare} Çedilla"),
        )],
    )
    .await?;
    let search = async |reach, words: String| {
        let hits = store.message_search(reach, &words, MANY).await?;
        let mut found: Vec<_> = hits
            .iter()
            .map(|h| (h.message.session, h.message.seq))
            .collect();
        found.sort_unstable();
        Made::Ok((found, hits))
    };
    let reach = Reach::User(owner.user);
    let (found, hits) = search(reach, rare.clone()).await?;
    assert_eq!(found, [(session.id, 1), (child.id, 1)]);
    assert!(
        hits.iter()
            .all(|h| h.snippet.contains(&rare) && h.snippet.len() < 1_000)
    );
    assert_eq!(
        search(reach, format!("{rare} {other}")).await?.0,
        [(child.id, 1)]
    );
    assert_eq!(
        search(reach, format!("  FISH\n{}", rare.to_uppercase()))
            .await?
            .0,
        [(session.id, 1)]
    );
    assert_eq!(
        search(reach, format!("cedilla {rare}")).await?.0,
        [(child.id, 1)]
    );
    assert_eq!(
        search(Reach::Tree(child.id), rare.clone()).await?.0,
        [(child.id, 1)]
    );
    assert_eq!(
        search(Reach::Tree(session.id), rare.clone()).await?.0.len(),
        2
    );
    let stranger = fixture::user(&store).await?.id;
    for reach in [
        Reach::User(stranger),
        Reach::Key(fixture::id()),
        Reach::Tree(fixture::id()),
    ] {
        assert_eq!(search(reach, rare.clone()).await?.0, []);
    }
    assert_eq!(
        store
            .message_search(reach, &rare, PageLimit::clamped(Some(1)))
            .await?
            .len(),
        1
    );
    Ok(())
}

/// Whatever a caller writes into a search is text: it fails nothing and finds nothing it should not.
pub async fn searches_take_hostile_text(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let session = fixture::session(&store, owner, None).await?.id;
    let secret = word("needle");
    append(
        &store,
        session,
        vec![message(
            MessageKind::Agent,
            &format!("hay {secret} \u{1f980} hay"),
        )],
    )
    .await?;
    let reach = Reach::User(owner.user);
    let long = "x".repeat(10_000);
    let many = "word ".repeat(2_000);
    for text in [
        "",
        " ",
        "\0",
        "\"",
        "\"\"",
        "'",
        "'; DROP TABLE messages; --",
        "*",
        "hay*",
        "text:hay",
        "text : hay",
        "hay OR nothing",
        "NOT nothing",
        "hay NOT x",
        "NEAR(hay hay, 5)",
        "^hay^",
        "{text}: hay",
        "- hay",
        "-hay zzz",
        "hay + zzz",
        "(",
        ")",
        "hay)",
        "\u{1f980}",
        "a\"b OR \"c",
        "\\",
        "%",
        "_",
        "\u{202e}",
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "\u{301}",
        "ﷺ",
        &long,
        &many,
    ] {
        let hits = store.message_search(reach, text, MANY).await;
        let hits = hits.map_err(|e| format!("{:?}: {e}", &text[..text.len().min(40)]))?;
        assert!(hits.len() <= 1);
    }
    for (text, expected) in [
        (secret.clone(), 1),
        (format!("\"{secret}\""), 1),
        (format!("{secret}\0hay"), 1),
        (format!("\u{1f980} {secret}"), 1),
        (format!("- {secret}"), 1),
        (format!("{secret} OR zzz"), 0),
        (format!("{secret} NOT zzz"), 0),
        (format!("{}*", &secret[..10]), 0),
    ] {
        assert_eq!(
            store.message_search(reach, &text, MANY).await?.len(),
            expected,
            "{text:?}"
        );
    }
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
