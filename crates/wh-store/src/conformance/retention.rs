//! Checks of what is kept for a while only.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use wh_domain::{AuditFilter, Operation, PageLimit, PageRequest, Reach};

use super::Outcome;
use super::fixture::{self, Made, commit_with_event, done, owned_by};
use crate::{Expired, Store};

/// How long reads may take to be written.
const SOON: Duration = Duration::from_secs(10);

async fn audited(store: &Arc<dyn Store>, user: wh_domain::UserId) -> Made<Vec<Operation>> {
    let page = PageRequest::first(PageLimit::MAX);
    let filter = AuditFilter {
        user: Some(user),
        ..AuditFilter::default()
    };
    let entries = store.audit_list(Reach::All, &filter, page).await?;
    Ok(entries.items.iter().map(|e| e.body.operation).collect())
}

/// Old events and reads go, changes stay in the log, and numbers go on where they were. Needs its own store.
pub async fn old_events_and_reads_are_forgotten_and_changes_are_not(
    store: Arc<dyn Store>,
) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let start = fixture::now() + SignedDuration::from_secs(10);
    for n in 0..5 {
        let board = fixture::board_value(owned_by(user))?;
        let mut commit = commit_with_event(user, Operation::BoardCreate, board.id);
        commit.audit.subject = Some(board.id.into());
        commit.audit.at = start + SignedDuration::from_secs(n);
        done(store.board_insert(&board, commit).await?);
    }
    let board = fixture::board_value(owned_by(user))?;
    let mut read = commit_with_event(user, Operation::BoardGet, board.id).audit;
    read.subject = None;
    let at = start + SignedDuration::from_secs(5);
    read.at = at;
    store.audit_note(read).await?;
    let waited = std::time::Instant::now();
    while !audited(&store, user).await?.contains(&Operation::BoardGet) {
        assert!(waited.elapsed() < SOON, "the read was not written");
        tokio::task::yield_now().await;
    }
    let (oldest, newest) = store.event_bounds().await?;
    let expired = |before: Timestamp, rows_max| Expired {
        events_before: before,
        reads_before: before,
        rows_max,
    };
    // What is young stays.
    let nothing = store.forget(expired(Timestamp::UNIX_EPOCH, 100)).await?;
    assert_eq!((nothing.events, nothing.reads), (0, 0));
    let third = start + SignedDuration::from_secs(2);
    let before_third = store.forget(expired(third, 100)).await?;
    assert_eq!(before_third.events, newest - 2 - oldest);
    let oldest = newest - 2;
    assert_eq!(store.event_bounds().await?, (oldest, newest));
    let later = at + SignedDuration::from_hours(1);
    let some = store.forget(expired(later, 2)).await?;
    assert_eq!(some.events, 2);
    assert!((1..=2).contains(&some.reads));
    assert_eq!(store.event_bounds().await?, (oldest + 2, newest));
    while store.forget(expired(later, 100)).await?.events > 0 {}
    assert_eq!(
        store.event_bounds().await?,
        (newest, newest),
        "the newest stays"
    );
    let kept = audited(&store, user).await?;
    assert!(kept.contains(&Operation::BoardCreate) && !kept.contains(&Operation::BoardGet));
    let board = fixture::board_value(owned_by(user))?;
    let commit = commit_with_event(user, Operation::BoardCreate, board.id);
    done(store.board_insert(&board, commit).await?);
    assert_eq!(store.event_bounds().await?.1, newest + 1);
    Ok(())
}
