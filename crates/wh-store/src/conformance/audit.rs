//! Checks of the audit log.

use std::sync::Arc;

use wh_domain::{
    AuditFilter, CredentialKind, ErrorCode, Facts, KeyScope, NewAuditEntry, Operation,
    Outcome as Ended, PageLimit, PageRequest, Reach, Surface,
};

use super::Outcome;
use super::fixture::{self, Made, audit, audit_of, commit, done, eventually, owned_by, pages};
use crate::{Commit, Store};

/// The entry of a change can be read as soon as the change is answered, exactly as it was given.
pub async fn of_changes_is_there_at_once(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let board = fixture::board_value(owned_by(user))?;
    let entry = NewAuditEntry {
        credential: CredentialKind::Client,
        key: Some(fixture::id()),
        session: Some(fixture::id()),
        surface: Surface::Mcp,
        subject: Some(board.id.into()),
        facts: Facts::from([("name".to_owned(), "\u{0}\n\"".to_owned())]),
        ..audit(user, Operation::BoardCreate)
    };
    let commit = Commit {
        audit: entry.clone(),
        ..commit(user, Operation::BoardCreate)
    };
    done(store.board_insert(&board, commit).await?);
    let page = PageRequest::first(PageLimit::DEFAULT);
    let listed = store
        .audit_list(Reach::User(user), &AuditFilter::default(), page)
        .await?;
    assert_eq!(listed.items.first().map(|e| &e.body), Some(&entry));
    Ok(())
}

/// The entry of a read comes a moment later, and also without any change.
pub async fn of_reads_is_there_soon(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let entry = NewAuditEntry {
        outcome: Ended::Refused(ErrorCode::NotFound),
        ..audit(user, Operation::BoardGet)
    };
    store.audit_note(entry.clone()).await?;
    eventually(|| async {
        let page = PageRequest::first(PageLimit::DEFAULT);
        let filter = audit_of(Operation::BoardGet);
        let listed = store.audit_list(Reach::User(user), &filter, page).await?;
        Ok(listed.items.iter().any(|e| e.body == entry))
    })
    .await
}

/// However many entries wait together, and however alike they are, each comes back as it was given and in its order.
pub async fn of_many_reads_is_complete_and_in_order(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let key = fixture::id();
    let entry = |n: usize| NewAuditEntry {
        request: uuid::Uuid::from_u128(n as u128),
        // First many alike, then others among them.
        key: (n > 200 && n.is_multiple_of(3)).then_some(key),
        facts: match n % 2 {
            0 => Facts::new(),
            _ => Facts::from([("board".to_owned(), n.to_string())]),
        },
        ..audit(user, Operation::BoardGet)
    };
    let noted: Vec<_> = (0..330).map(entry).collect();
    for entry in &noted {
        store.audit_note(entry.clone()).await?;
    }
    let by = audit_of(Operation::BoardGet);
    let read = || pages(100, |page| store.audit_list(Reach::User(user), &by, page));
    eventually(|| async { Ok(read().await?.len() == noted.len()) }).await?;
    let mut listed: Vec<_> = read().await?.into_iter().map(|e| e.body).collect();
    listed.reverse();
    assert_eq!(listed, noted);
    Ok(())
}

/// Filters hold, and paging finds every entry once, newest first.
pub async fn is_filtered_and_paged_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    );
    for n in 0..40 {
        let operation = if n % 4 == 0 {
            Operation::BoardList
        } else {
            Operation::SessionList
        };
        store
            .audit_note(audit(if n % 2 == 0 { user } else { other }, operation))
            .await?;
    }
    let read = |reach, user, operation| {
        let store = Arc::clone(&store);
        let filter = AuditFilter {
            user,
            operation,
            ..AuditFilter::default()
        };
        async move {
            let listed = pages(7, |page| store.audit_list(reach, &filter, page)).await?;
            assert!(listed.is_sorted_by(|a, b| a.seq > b.seq));
            Made::Ok(listed)
        }
    };
    // Twenty reads, and the making of the user.
    eventually(|| async { Ok(read(Reach::User(user), None, None).await?.len() == 21) }).await?;
    let lists = Some(Operation::BoardList);
    assert_eq!(read(Reach::User(user), None, lists).await?.len(), 10);
    assert_eq!(read(Reach::All, Some(user), lists).await?.len(), 10);
    assert_eq!(read(Reach::User(other), None, lists).await?.len(), 0);
    assert_eq!(read(Reach::User(user), Some(other), None).await?.len(), 0);
    Ok(())
}

/// A user sees its own calls, a key those made with it, a session those of its tokens.
pub async fn is_seen_by_those_it_is_about(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let (session, by) = (fixture::id(), Operation::SessionGet);
    store.audit_note(audit(user, by)).await?;
    store
        .audit_note(NewAuditEntry {
            key: Some(key),
            ..audit(user, by)
        })
        .await?;
    store
        .audit_note(NewAuditEntry {
            session: Some(session),
            ..audit(user, by)
        })
        .await?;
    let count = |reach| {
        let store = Arc::clone(&store);
        async move {
            let page = PageRequest::first(PageLimit::DEFAULT);
            let listed = store.audit_list(reach, &audit_of(by), page).await?;
            Made::Ok(listed.items.len())
        }
    };
    eventually(|| async { Ok(count(Reach::User(user)).await? == 3) }).await?;
    assert_eq!(count(Reach::Key(key)).await?, 1);
    assert_eq!(count(Reach::Tree(session)).await?, 1);
    assert_eq!(count(Reach::Key(fixture::id())).await?, 0);
    assert_eq!(count(Reach::Tree(fixture::id())).await?, 0);
    Ok(())
}
