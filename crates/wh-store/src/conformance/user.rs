//! Checks of users.

use std::sync::Arc;

use wh_domain::{Operation, Reach, UserName};

use super::Outcome;
use super::fixture::{self, commit, done, pages, whole};
use crate::{Store, StoreError};

/// A user is found by id, by name and in the list, exactly as it was inserted.
pub async fn is_found_by_id_name_and_list(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let mut plain = fixture::user_value()?;
    plain.email = None;
    plain.avatar_url = Some("https://example.org/a.png".to_owned());
    done(
        store
            .user_insert(&plain, commit(user.id, Operation::UserCreate))
            .await?,
    );
    for user in [&user, &plain] {
        assert_eq!(store.user_by_id(user.id).await?.as_ref(), Some(user));
        assert_eq!(
            store.user_by_name(Reach::All, &user.name).await?.as_ref(),
            Some(user)
        );
        assert_eq!(
            store.user_find(Reach::All, &whole(user.id)).await?,
            std::slice::from_ref(user)
        );
    }
    let all = pages(50, |page| store.user_list(Reach::All, page)).await?;
    assert_eq!(all.iter().filter(|u| u.id == user.id).count(), 1);
    assert_eq!(store.user_by_id(fixture::id()).await?, None);
    let nobody = UserName::parse(&fixture::word("nobody"))?;
    assert_eq!(store.user_by_name(Reach::All, &nobody).await?, None);
    Ok(())
}

/// A second user of the same name, or id, is refused and changes nothing.
pub async fn names_are_unique(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?;
    let mut other = fixture::user_value()?;
    other.name = user.name.clone();
    let refused = store
        .user_insert(&other, commit(user.id, Operation::UserCreate))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    assert_eq!(store.user_by_id(other.id).await?, None);
    let mut other = fixture::user_value()?;
    other.id = user.id;
    let refused = store
        .user_insert(&other, commit(user.id, Operation::UserCreate))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    assert_eq!(store.user_by_id(user.id).await?, Some(user));
    Ok(())
}

/// Paging finds every user once, newest first.
pub async fn lists_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(fixture::user(&store).await?.id);
    }
    made.reverse();
    let listed = pages(3, |page| store.user_list(Reach::All, page)).await?;
    let ours: Vec<_> = listed
        .iter()
        .map(|u| u.id)
        .filter(|id| made.contains(id))
        .collect();
    assert_eq!(ours, made);
    Ok(())
}
