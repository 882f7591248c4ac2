//! Checks of the store as a whole.

use std::sync::Arc;

use wh_domain::{Operation, PageLimit, PageRequest, Reach};

use super::Outcome;
use super::fixture::{self, audit, audit_of, commit, owned_by, whole};
use crate::{MessageAppend, Store, StoreError};

/// A store that was just opened answers and takes writes.
pub async fn is_healthy(store: Arc<dyn Store>) -> Outcome {
    store.health().await?;
    fixture::user(&store).await?;
    store.health().await?;
    Ok(())
}

/// A backup goes into a new file, is audited, and never replaces what is there.
pub async fn backs_up_into_a_new_file_only(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let newest = *store.event_watch().borrow();
    let path = std::env::temp_dir().join(fixture::word("wheelhouse-backup-"));
    let last = store
        .backup(&path, commit(user, Operation::BackupCreate))
        .await?;
    assert!(last >= newest);
    let before = std::fs::read(&path)?;
    let again = store
        .backup(&path, commit(user, Operation::BackupCreate))
        .await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
    assert_eq!(std::fs::read(&path)?, before);
    std::fs::remove_file(&path)?;
    let page = PageRequest::first(PageLimit::DEFAULT);
    let made = audit_of(Operation::BackupCreate);
    let audited = store.audit_list(Reach::User(user), &made, page).await?;
    assert_eq!(audited.items.len(), 1);
    let nowhere = path.join("no/such/directory");
    assert!(
        store
            .backup(&nowhere, commit(user, Operation::BackupCreate))
            .await
            .is_err()
    );
    Ok(())
}

/// After closing, every call says that the store is not available. The store is of no use afterwards.
pub async fn refuses_everything_once_closed_needs_its_own(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let board = fixture::board(&store, owned_by(user)).await?;
    let id = whole(board.id);
    store.board_find(Reach::All, &id).await?;
    store.audit_note(audit(user, Operation::BoardGet)).await?;
    store.close().await;
    store.close().await;
    let page = PageRequest::first(PageLimit::DEFAULT);
    let another = fixture::board_value(owned_by(user))?;
    let append = MessageAppend {
        session: fixture::id(),
        epoch: 1,
        messages: Vec::new(),
    };
    let path = std::env::temp_dir().join(fixture::word("wheelhouse-never-"));
    let results = [
        store.health().await,
        store.board_find(Reach::All, &id).await.map(drop),
        store
            .board_list(Reach::All, wh_domain::BoardFilter::default(), page)
            .await
            .map(drop),
        store
            .board_insert(&another, commit(user, Operation::BoardCreate))
            .await
            .map(drop),
        store.message_append(append).await.map(drop),
        store.audit_note(audit(user, Operation::BoardGet)).await,
        store.user_by_id(user).await.map(drop),
        store
            .user_find(Reach::Key(fixture::id()), &whole(user))
            .await
            .map(drop),
        store.setting_list().await.map(drop),
        store.event_bounds().await.map(drop),
        store
            .backup(&path, commit(user, Operation::BackupCreate))
            .await
            .map(drop),
    ];
    for (n, result) in results.into_iter().enumerate() {
        assert!(
            matches!(result, Err(StoreError::Unavailable { .. })),
            "{n}: {result:?}"
        );
    }
    assert!(!path.exists());
    Ok(())
}
