//! Checks of finding words in transcripts.

use std::sync::Arc;

use wh_domain::{MessageKind, PageLimit, PageRequest, Reach};

use super::Outcome;
use super::fixture::{self, Made, message, owned_by, word};
use super::message::append;
use crate::Store;

const MANY: PageRequest<u64> = PageRequest {
    limit: PageLimit::MAX,
    after: None,
    skip: 0,
    is_counted: true,
};

/// A search finds the messages that hold all of the words, within reach, with a few words around the match.
pub async fn finds_messages_by_all_their_words(store: Arc<dyn Store>) -> Outcome {
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
        let hits = store.message_search(reach, &words, MANY).await?.items;
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
            .message_search(
                reach,
                &rare,
                PageRequest::first(PageLimit::clamped(Some(1)))
            )
            .await?
            .items
            .len(),
        1
    );
    Ok(())
}

/// Whatever a caller writes into a search is text: it fails nothing and finds nothing it should not.
pub async fn takes_hostile_text(store: Arc<dyn Store>) -> Outcome {
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
        assert!(hits.items.len() <= 1);
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
            store.message_search(reach, &text, MANY).await?.items.len(),
            expected,
            "{text:?}"
        );
    }
    Ok(())
}
