//! Checks of repositories.

use std::sync::Arc;

use wh_domain::{
    BranchName, ConfigDigest, KeyScope, Operation, Owner, PageLimit, PageRequest, Reach, RepoPaths,
    RepoSource, RepoState, TrustedConfig,
};

use super::Outcome;
use super::fixture::{self, commit, done, owned_by, pages, whole};
use crate::{Store, StoreError};

/// A repository is found exactly as it was inserted.
pub async fn is_found_as_it_was_inserted(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let remote = fixture::repo(&store, owner).await?;
    let mut local = fixture::repo_value(owner)?;
    local.source = RepoSource::parse("/srv/git/ünïcode app.git")?;
    local.default_branch = Some(BranchName::parse("main")?);
    local.state = RepoState::Ready(RepoPaths {
        git_dir: "/srv/git/ünïcode app.git".into(),
        common_dir: "/srv/git/ünïcode app.git".into(),
        work_tree: None,
        alternates: Some("/elsewhere/objects\n".to_owned()),
    });
    done(
        store
            .repo_insert(&local, commit(owner.user, Operation::RepoAdd))
            .await?,
    );
    let mut failed = fixture::repo_value(owner)?;
    failed.state = RepoState::Failed {
        reason: "there is no such host".to_owned(),
    };
    done(
        store
            .repo_insert(&failed, commit(owner.user, Operation::RepoAdd))
            .await?,
    );
    for repo in [remote, local, failed] {
        assert_eq!(store.repo_find(Reach::All, &whole(repo.id)).await?, [repo]);
    }
    Ok(())
}

/// A name is taken once per owner; the user and each of its client keys are different owners.
pub async fn names_are_unique_per_owner(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let first = fixture::repo(&store, owned_by(user)).await?;
    let mut second = fixture::repo_value(owned_by(user))?;
    second.name = first.name.clone();
    let refused = store
        .repo_insert(&second, commit(user, Operation::RepoAdd))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    second.owner = Owner {
        user,
        key: Some(key),
    };
    done(
        store
            .repo_insert(&second, commit(user, Operation::RepoAdd))
            .await?,
    );
    let mut third = fixture::repo_value(owned_by(fixture::user(&store).await?.id))?;
    third.name = first.name;
    done(
        store
            .repo_insert(&third, commit(user, Operation::RepoAdd))
            .await?,
    );
    Ok(())
}

/// A repository that waits is found among those that do until it is settled, and a ready one is not settled again.
pub async fn settles_once(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut repo = fixture::repo(&store, owner).await?;
    let waits = async |id| {
        let pending = store.repo_pending(10_000).await?;
        fixture::Made::Ok(pending.iter().any(|repo| repo.id == id))
    };
    assert!(waits(repo.id).await?);
    let reason = "no route".to_owned();
    repo.state = RepoState::Failed { reason };
    let settle = || commit(owner.user, Operation::RepoAdd);
    done(store.repo_settle(&repo, settle()).await?);
    assert!(!waits(repo.id).await?);
    repo.default_branch = Some(BranchName::parse("trunk")?);
    repo.state = RepoState::Ready(RepoPaths {
        git_dir: "/data/repos/1".into(),
        common_dir: "/data/repos/1".into(),
        work_tree: Some("/home/ada/app".into()),
        alternates: None,
    });
    done(store.repo_settle(&repo, settle()).await?);
    let found = store.repo_find(Reach::All, &whole(repo.id)).await?;
    assert_eq!(found, [repo.clone()]);
    let again = store.repo_settle(&repo, settle()).await;
    assert!(matches!(again, Err(StoreError::Stale { .. })), "{again:?}");
    Ok(())
}

/// Paging finds every repository once, newest first.
pub async fn lists_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(fixture::repo(&store, owner).await?);
    }
    made.reverse();
    let reach = Reach::User(owner.user);
    for size in [1, 3, 7, 50] {
        assert_eq!(
            pages(size, |page| store.repo_list(reach, page)).await?,
            made
        );
    }
    Ok(())
}

/// Approved configuration is kept by its name and content, once, and for its repository alone.
pub async fn approvals_are_kept_by_name_and_content(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let repo = fixture::repo(&store, owned_by(user)).await?;
    let other = fixture::repo(&store, owned_by(user)).await?;
    let approval = |name: &str, digest| TrustedConfig {
        repo: repo.id,
        name: name.to_owned(),
        digest: ConfigDigest([digest; 32]),
        by: user,
        at: repo.created_at,
    };
    let approvals = [
        approval(".claude", 1),
        approval(".claude", 2),
        approval(".mcp.json", 1),
    ];
    for _ in 0..2 {
        let commit = commit(user, Operation::RepoTrust);
        done(store.repo_trust(repo.id, &approvals, &[], commit).await?);
    }
    let [first, second, third] = approvals.clone().map(|it| (it.name, it.digest));
    let kept = [first, second.clone(), third];
    assert_eq!(store.repo_trusted(repo.id).await?, kept.into());
    assert!(store.repo_trusted(other.id).await?.is_empty());
    // Revoked by content: under every name, in this repository alone.
    let elsewhere = TrustedConfig {
        repo: other.id,
        ..approvals[0].clone()
    };
    let approve = commit(user, Operation::RepoTrust);
    done(
        store
            .repo_trust(other.id, &[elsewhere], &[], approve)
            .await?,
    );
    let revoke = commit(user, Operation::RepoTrust);
    let revoked = [ConfigDigest([1; 32])];
    done(store.repo_trust(repo.id, &[], &revoked, revoke).await?);
    assert_eq!(store.repo_trusted(repo.id).await?, [second].into());
    assert_eq!(store.repo_trusted(other.id).await?.len(), 1);
    Ok(())
}

/// A deleted repository is neither listed nor counted, and its name is free again.
pub async fn a_deleted_one_is_neither_listed_nor_counted(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let (kept, gone) = (
        fixture::repo(&store, owner).await?,
        fixture::repo(&store, owner).await?,
    );
    let deletion = commit(owner.user, Operation::RepoDelete);
    done(store.repo_delete(gone.id, deletion).await?);
    let first = PageRequest {
        is_counted: true,
        ..PageRequest::first(PageLimit::DEFAULT)
    };
    for reach in [Reach::User(owner.user), Reach::All] {
        let listed = store.repo_list(reach, first).await?;
        assert!(!listed.items.iter().any(|it| it.id == gone.id));
    }
    let listed = store.repo_list(Reach::User(owner.user), first).await?;
    assert_eq!((listed.items.len(), listed.total), (1, Some(1)));
    assert_eq!(listed.items[0].id, kept.id);
    let mut again = fixture::repo_value(owner)?;
    again.name = gone.name;
    let commit = commit(owner.user, Operation::RepoAdd);
    done(store.repo_insert(&again, commit).await?);
    Ok(())
}
