//! Checks of credentials for hosts.

use std::sync::Arc;

use wh_domain::{
    CredentialUse, GitHost, HostCredential, KeyScope, Operation, PageLimit, PageRequest, Reach,
    SealedCredential, UserId,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, now};
use crate::Store;

/// Stores a credential for a host with these bytes as its sealed token.
async fn set(
    store: &Arc<dyn Store>,
    user: UserId,
    host: &GitHost,
    usable_by: CredentialUse,
    sealed: &[u8],
) -> Made<HostCredential> {
    let credential = HostCredential {
        id: fixture::id(),
        user,
        host: host.clone(),
        username: "git".to_owned(),
        usable_by,
        created_at: now(),
    };
    let sealed = SealedCredential {
        credential: credential.clone(),
        sealed: sealed.to_vec(),
    };
    let commit = commit(user, Operation::CredentialSet);
    done(store.credential_set(&sealed, commit).await?);
    Ok(credential)
}

fn host() -> Made<GitHost> {
    let name = fixture::id::<wh_domain::UserKind>();
    Ok(GitHost::parse(&format!("{name}.example:8443"))?)
}

/// A credential is listed to the user who entered it and to nobody else, until it is deleted.
pub async fn is_found_by_its_user_alone(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let key = fixture::key(&store, user.id, KeyScope::Client).await?;
    let host = host()?;
    let made = set(&store, user.id, &host, CredentialUse::Own, b"one").await?;
    let page = PageRequest::first(PageLimit::DEFAULT);
    for (reach, seen) in [
        (Reach::User(user.id), 1),
        (Reach::User(other.id), 0),
        (Reach::Key(key.id), 0),
        (Reach::Tree(fixture::id()), 0),
    ] {
        assert_eq!(store.credential_for(reach, &host).await?.len(), seen);
        let listed = store.credential_list(reach, page).await?.items;
        assert_eq!(listed.len(), seen, "{reach:?}");
        assert!(listed.iter().all(|it| *it == made));
    }
    assert!(store.credential_any().await?);
    let commit = commit(user.id, Operation::CredentialDelete);
    done(store.credential_delete(made.id, commit).await?);
    assert!(store.credential_for(Reach::All, &host).await?.is_empty());
    Ok(())
}

/// A credential takes the place of the one before it: each user has one per host, and the server has one.
pub async fn is_replaced_by_the_next(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let (host, elsewhere) = (host()?, host()?);
    use CredentialUse::{Admins, Everyone, Own};
    for (user, host, usable_by, sealed) in [
        (user.id, &host, Own, b"first"),
        (user.id, &elsewhere, Own, b"there"),
        (other.id, &host, Own, b"other"),
        (other.id, &host, Admins, b"wider"),
        (user.id, &host, Everyone, b"widst"),
        (user.id, &host, Own, b"newer"),
    ] {
        set(&store, user, host, usable_by, sealed).await?;
    }
    let found = store.credential_for(Reach::All, &host).await?;
    let mut found: Vec<_> = found
        .into_iter()
        .map(|it| (it.credential.usable_by.as_str(), it.sealed))
        .collect();
    found.sort();
    let expected = [
        ("everyone", b"widst".to_vec()),
        ("own", b"newer".to_vec()),
        ("own", b"other".to_vec()),
    ];
    assert_eq!(found, expected);
    Ok(())
}
