//! Checks of users.

use std::sync::Arc;

use wh_domain::{
    DeleteMode, DependentKind, Dependents, KeyScope, Operation, Owner, Reach, Reference,
    SessionEvent, UserId, UserName, UserPatch, UserRole,
};

use super::Outcome;
use super::fixture::{self, commit, done, now, owned_by, pages, whole};
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

async fn update(store: &Arc<dyn Store>, id: UserId, patch: &UserPatch) -> crate::Result<()> {
    let commit = commit(id, Operation::UserUpdate);
    done(store.user_update(id, patch, now(), commit).await?);
    Ok(())
}

fn disabled(disabled: bool) -> UserPatch {
    UserPatch {
        disabled: Some(disabled),
        ..UserPatch::default()
    }
}

/// A change changes what it names. The last administrator who is let in can be neither disabled nor made a member.
pub async fn changes_are_kept_and_in_a_store_of_its_own_one_administrator_stays(
    store: Arc<dyn Store>,
) -> Outcome {
    let (first, second) = (fixture::user(&store).await?, fixture::user(&store).await?);
    assert_eq!(store.user_first_admin().await?, None);
    let admin = UserPatch {
        role: Some(UserRole::Admin),
        email: Some(None),
        ..UserPatch::default()
    };
    update(&store, second.id, &admin).await?;
    update(&store, first.id, &admin).await?;
    let found = store.user_first_admin().await?.ok_or("an administrator")?;
    assert_eq!(
        (found.id, found.email, found.role),
        (first.id, None, UserRole::Admin)
    );
    update(&store, first.id, &disabled(true)).await?;
    let since = store
        .user_by_id(first.id)
        .await?
        .and_then(|user| user.disabled_at);
    assert!(since.is_some());
    update(&store, first.id, &disabled(true)).await?;
    let again = store
        .user_by_id(first.id)
        .await?
        .and_then(|user| user.disabled_at);
    assert_eq!(since, again, "since the first time");
    assert_eq!(
        store.user_first_admin().await?.map(|user| user.id),
        Some(second.id)
    );
    let member = UserPatch {
        role: Some(UserRole::Member),
        ..UserPatch::default()
    };
    for patch in [&member, &disabled(true)] {
        let before = store.user_by_id(second.id).await?;
        let refused = update(&store, second.id, patch).await;
        assert!(matches!(refused, Err(StoreError::LastAdmin)), "{refused:?}");
        assert_eq!(store.user_by_id(second.id).await?, before);
    }
    update(&store, first.id, &disabled(false)).await?;
    update(&store, second.id, &member).await?;
    assert_eq!(
        store.user_first_admin().await?.map(|user| user.id),
        Some(first.id)
    );
    let nobody = update(&store, fixture::id(), &member).await;
    assert!(
        matches!(nobody, Err(StoreError::NotFound { .. })),
        "{nobody:?}"
    );
    Ok(())
}

/// The sessions of disabled users that are not at rest are found, and no others.
pub async fn what_disabled_users_run_is_found(store: Arc<dyn Store>) -> Outcome {
    let admin = UserPatch {
        role: Some(UserRole::Admin),
        ..UserPatch::default()
    };
    let (kept, gone) = (fixture::user(&store).await?, fixture::user(&store).await?);
    update(&store, kept.id, &admin).await?;
    let mut theirs = Vec::new();
    for user in [&kept, &gone, &gone] {
        theirs.push(fixture::session(&store, owned_by(user.id), None).await?.id);
    }
    assert_eq!(store.user_left_running().await?.sessions, []);
    update(&store, gone.id, &disabled(true)).await?;
    let mut found = store.user_left_running().await?.sessions;
    found.sort();
    assert_eq!(found, theirs[1..]);
    let stop = SessionEvent::StopRequested { kill_at: now() };
    let stopped = commit(gone.id, Operation::SessionManage);
    done(store.session_move(theirs[1], &stop, stopped).await?);
    assert_eq!(store.user_left_running().await?.sessions, theirs[2..]);
    Ok(())
}

/// A user who owns something is deleted by force alone, and what they own is the heir's afterwards.
pub async fn one_who_is_deleted_leaves_everything_to_the_heir(store: Arc<dyn Store>) -> Outcome {
    let admin = UserPatch {
        role: Some(UserRole::Admin),
        ..UserPatch::default()
    };
    let (heir, gone) = (fixture::user(&store).await?, fixture::user(&store).await?);
    update(&store, heir.id, &admin).await?;
    let delete = async |user: UserId, mode| {
        let commit = commit(heir.id, Operation::UserDelete);
        store.user_delete(user, heir.id, mode, commit).await
    };
    let unused = fixture::user(&store).await?;
    done(delete(unused.id, DeleteMode::IfUnused).await?);
    assert_eq!(store.user_by_id(unused.id).await?, None);

    let owner = owned_by(gone.id);
    let key = fixture::key(&store, gone.id, KeyScope::Full).await?;
    let client = fixture::key(&store, gone.id, KeyScope::Client).await?;
    let of_client = Owner {
        user: gone.id,
        key: Some(client.id),
    };
    let board = fixture::board(&store, of_client).await?;
    let session = fixture::session(&store, owner, None).await?;
    let mut repos = Vec::new();
    let name = fixture::repo_value(owner)?.name;
    for owner in [owned_by(heir.id), owner, of_client] {
        let mut repo = fixture::repo_value(owner)?;
        repo.name = name.clone();
        let commit = commit(owner.user, Operation::RepoAdd);
        done(store.repo_insert(&repo, commit).await?);
        repos.push(repo.id);
    }
    let worktree = fixture::worktree(&store, owner, repos[1]).await?;
    let kinds = |all: Vec<Dependents>| -> Vec<_> {
        let all = all.into_iter();
        all.map(|it| (it.kind, it.count)).collect()
    };
    assert_eq!(
        kinds(store.user_dependents(gone.id).await?),
        [
            (DependentKind::Sessions, 1),
            (DependentKind::Worktrees, 1),
            (DependentKind::Boards, 1),
            (DependentKind::Repos, 2),
            (DependentKind::Keys, 2),
        ]
    );
    let refused = delete(gone.id, DeleteMode::IfUnused).await;
    assert!(
        matches!(refused, Err(StoreError::InUse { .. })),
        "{refused:?}"
    );
    assert_eq!(store.user_by_id(gone.id).await?, Some(gone.clone()));

    // Not while something still runs, which would go on as the heir's.
    let busy = fixture::user(&store).await?;
    let running = fixture::session(&store, owned_by(busy.id), None).await?;
    let stop = SessionEvent::StopRequested { kill_at: now() };
    let stopping = commit(busy.id, Operation::SessionManage);
    done(store.session_move(running.id, &stop, stopping).await?);
    assert!(store.user_is_running(busy.id).await?);
    let refused = delete(busy.id, DeleteMode::Force).await;
    assert!(
        matches!(refused, Err(StoreError::InUse { .. })),
        "{refused:?}"
    );

    assert!(!store.user_is_running(gone.id).await?);
    done(delete(gone.id, DeleteMode::Force).await?);
    assert_eq!(store.user_by_id(gone.id).await?, None);
    assert_eq!(store.user_by_name(Reach::All, &gone.name).await?, None);
    assert_eq!(store.user_find(Reach::All, &whole(gone.id)).await?, []);
    let listed = pages(50, |page| store.user_list(Reach::All, page)).await?;
    assert!(!listed.iter().any(|user| user.id == gone.id));
    let named = Reference::parse(gone.name.as_str())?;
    assert_eq!(store.user_deleted(&named).await?, Some(gone.id));
    let kept = store.key_by_hash(&key.hash).await?.ok_or("the key")?;
    assert!(kept.revoked_at.is_some());
    let own = owned_by(heir.id);
    let found = store
        .board_find(Reach::User(heir.id), &whole(board.id))
        .await?;
    assert_eq!(found.first().map(|it| it.owner), Some(own));
    let found = store
        .session_find(Reach::User(heir.id), &whole(session.id))
        .await?;
    assert_eq!(found.first().map(|it| it.owner), Some(own));
    let found = store
        .worktree_find(Reach::User(heir.id), &whole(worktree.id))
        .await?;
    assert_eq!(found.first().map(|it| it.owner), Some(own));
    let listed = pages(50, |page| store.repo_list(Reach::User(heir.id), page)).await?;
    let mut names = Vec::new();
    for id in repos {
        let repo = listed.iter().find(|it| it.id == id).ok_or("a repository")?;
        assert_eq!(repo.owner, own);
        names.push(&repo.name);
    }
    names.dedup();
    assert_eq!((names.len(), names[0]), (3, &name));
    let again = delete(gone.id, DeleteMode::Force).await;
    assert!(
        matches!(again, Err(StoreError::NotFound { .. })),
        "{again:?}"
    );
    Ok(())
}
