//! Checks of waits.

use std::sync::Arc;

use jiff::SignedDuration;
use wh_domain::{
    Owner, SessionStateName, UserId, Wait, WaitEnd, WaitEnding, WaitFor, WaitedSession,
};

use super::Outcome;
use super::fixture::{self, now};
use crate::{Store, StoreError};

fn wait(user: UserId) -> Wait {
    Wait {
        id: fixture::id(),
        owner: Owner { user, key: None },
        by: None,
        sessions: vec![fixture::id(), fixture::id()],
        wait_for: WaitFor::Any,
        until: now() + SignedDuration::from_secs(60),
        created_at: now(),
        end: None,
    }
}

fn end(wait: &Wait, how: WaitEnding) -> WaitEnd {
    WaitEnd {
        at: now(),
        how,
        sessions: vec![WaitedSession {
            id: wait.sessions[1],
            title: "a \"title\"".to_owned(),
            state: SessionStateName::Idle,
            done: true,
            last_words: Some("done\n".to_owned()),
        }],
    }
}

/// A wait is open until it ends, which followers hear of, and then stays as it ended.
pub async fn is_kept_as_it_ended(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let made = wait(user.id);
    store.wait_begin(&made, 5).await?;
    assert_eq!(store.wait_get(made.id).await?, Some(made.clone()));
    assert!(store.wait_open().await?.contains(&made));
    let before = *store.event_watch().borrow();
    let done = end(&made, WaitEnding::Done);
    assert!(store.wait_end(made.id, &done).await?);
    assert!(*store.event_watch().borrow() > before);
    let again = end(&made, WaitEnding::Cancelled);
    assert!(!store.wait_end(made.id, &again).await?);
    let ended = Wait {
        end: Some(done),
        ..made
    };
    assert_eq!(store.wait_get(ended.id).await?, Some(ended.clone()));
    assert!(!store.wait_open().await?.iter().any(|it| it.id == ended.id));
    assert_eq!(store.wait_get(fixture::id()).await?, None);
    Ok(())
}

/// One user's waits that are not over are bounded; those of others do not count.
pub async fn of_one_user_are_only_so_many(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let first = wait(user.id);
    store.wait_begin(&first, 2).await?;
    store.wait_begin(&wait(user.id), 2).await?;
    let refused = store.wait_begin(&wait(user.id), 2).await;
    assert!(
        matches!(refused, Err(StoreError::Limit { max: 2, .. })),
        "{refused:?}"
    );
    store.wait_begin(&wait(other.id), 2).await?;
    store
        .wait_end(first.id, &end(&first, WaitEnding::TimedOut))
        .await?;
    store.wait_begin(&wait(user.id), 2).await?;
    Ok(())
}
