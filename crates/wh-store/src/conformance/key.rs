//! Checks of credentials.

use std::sync::Arc;

use wh_domain::{Dialect, KeyBinding, KeyHash, KeyScope, Operation, Reach};

use super::Outcome;
use super::fixture::{self, Made, commit, done, eventually, now, owned_by, pages, whole};
use crate::{Store, StoreError};

/// A key is found by its hash and its id, exactly as it was inserted.
pub async fn is_found_by_hash_and_id(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let session = fixture::session(&store, owned_by(user.id), None).await?;
    let plain = fixture::key(&store, user.id, KeyScope::Full).await?;
    let mut bound = fixture::key_value(user.id, KeyScope::Session)?;
    bound.session = Some(KeyBinding::Run {
        session: session.id,
        epoch: 3,
    });
    bound.expires_at = None;
    let mut internal = fixture::key_value(user.id, KeyScope::Full)?;
    internal.scope = KeyScope::SessionInternal;
    internal.session = Some(KeyBinding::Session(session.id));
    internal.dialect = Some(Dialect::ClawedAbode);
    for key in [&bound, &internal] {
        let commit = commit(user.id, Operation::KeyCreate);
        done(store.key_insert(key, commit).await?);
    }
    for key in [plain, bound, internal] {
        assert_eq!(store.key_by_hash(&key.hash).await?.as_ref(), Some(&key));
        assert_eq!(store.key_find(Reach::All, &whole(key.id)).await?, [key]);
    }
    assert_eq!(store.key_by_hash(&KeyHash([0xee; 32])).await?, None);
    Ok(())
}

/// A second key of the same prefix is refused.
pub async fn prefixes_are_unique(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let first = fixture::key(&store, user.id, KeyScope::Full).await?;
    let mut second = fixture::key_value(user.id, KeyScope::Full)?;
    second.prefix = first.prefix.clone();
    let refused = store
        .key_insert(&second, commit(user.id, Operation::KeyCreate))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    assert_eq!(store.key_by_hash(&second.hash).await?, None);
    Ok(())
}

/// Lists hold the keys that people made, and the automatic ones only if asked; paging finds each once.
pub async fn lists_hide_automatic_ones_and_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    fixture::key(&store, other.id, KeyScope::Full).await?;
    let mut made = Vec::new();
    for scope in [
        KeyScope::Full,
        KeyScope::Browser,
        KeyScope::Read,
        KeyScope::Client,
        KeyScope::Full,
    ] {
        made.push(fixture::key(&store, user.id, scope).await?);
    }
    made.reverse();
    let reach = Reach::User(user.id);
    let all = pages(2, |page| store.key_list(reach, None, true, page)).await?;
    assert_eq!(all, made);
    made.retain(|key| key.scope != KeyScope::Browser);
    let of_people = pages(2, |page| store.key_list(reach, None, false, page)).await?;
    assert_eq!(of_people, made);
    let of_user = pages(2, |page| {
        store.key_list(Reach::All, Some(user.id), false, page)
    })
    .await?;
    assert_eq!(of_user, made);
    let of_other = pages(2, |page| store.key_list(reach, Some(other.id), true, page)).await?;
    assert_eq!(of_other, []);
    Ok(())
}

/// Revoking a key twice keeps the time of the first; revoking one that is not there fails.
pub async fn revoking_twice_keeps_the_first_time(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let key = fixture::key(&store, user.id, KeyScope::Full).await?;
    let (first, second) = (now(), now());
    for at in [first, second] {
        done(
            store
                .key_revoke(key.id, at, commit(user.id, Operation::KeyRevoke))
                .await?,
        );
    }
    let stored = store
        .key_by_hash(&key.hash)
        .await?
        .ok_or("the key is gone")?;
    assert_eq!(stored.revoked_at, Some(first));
    let absent = store
        .key_revoke(fixture::id(), first, commit(user.id, Operation::KeyRevoke))
        .await;
    assert!(
        matches!(absent, Err(StoreError::NotFound { .. })),
        "{absent:?}"
    );
    Ok(())
}

/// The last use is remembered soon, and an earlier one does not replace a later one.
pub async fn last_use_never_goes_back(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let key = fixture::key(&store, user.id, KeyScope::Full).await?;
    let (early, late) = (now(), now());
    store.key_touch(&[]).await?;
    store
        .key_touch(&[(key.id, late), (fixture::id(), late)])
        .await?;
    let is_late = || async {
        let stored = store.key_by_hash(&key.hash).await?;
        Made::Ok(stored.and_then(|k| k.last_used_at) == Some(late))
    };
    eventually(is_late).await?;
    store.key_touch(&[(key.id, early)]).await?;
    // A change that is written later than the touch shows that the touch was written, too.
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    fixture::user(&store).await?;
    assert!(is_late().await?);
    Ok(())
}
