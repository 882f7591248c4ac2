//! Checks of what each kind of caller can see, and of abbreviated ids.

use std::sync::Arc;

use newtype_uuid::{GenericUuid, TypedUuid};
use uuid::Uuid;
use wh_domain::{
    Board, IdRef, KeyScope, Operation, Owner, PageLimit, PageRequest, Reach, SessionFilter, ShortId,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, owned_by, pages, whole};
use crate::Store;

/// Each reach sees exactly its boards, repositories and sessions, by id and in lists.
pub async fn of_boards_repos_and_sessions_is_exact(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    );
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let owners = [
        owned_by(user),
        Owner {
            user,
            key: Some(key),
        },
        owned_by(other),
    ];
    let (mut boards, mut repos, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    for owner in owners {
        let (board, repo) = (
            fixture::board(&store, owner).await?,
            fixture::repo(&store, owner).await?,
        );
        let root = fixture::session(&store, owner, None).await?;
        let mut child = fixture::session_value(owner, Some(&root))?;
        (child.board, child.repo) = (Some(board.id), Some(repo.id));
        fixture::insert_session(&store, &child).await?;
        boards.push(board);
        repos.push(repo);
        sessions.push([root.id, child.id]);
    }
    let unplaced = fixture::session(&store, owners[0], None).await?.id;
    let none: &[usize] = &[];
    for (reach, owned, of_sessions) in [
        (Reach::User(user), &[0, 1][..], &[0, 1][..]),
        (Reach::Key(key), &[1], &[1]),
        (Reach::User(other), &[2], &[2]),
        (Reach::Tree(sessions[0][0]), &[0], &[0]),
        (Reach::Tree(sessions[2][0]), &[2], &[2]),
        (Reach::Tree(unplaced), none, none),
        (Reach::User(fixture::id()), none, none),
        (Reach::Key(fixture::id()), none, none),
        (Reach::Tree(fixture::id()), none, none),
    ] {
        let listed = pages(2, |page| {
            store.board_list(reach, wh_domain::BoardFilter::default(), page)
        })
        .await?;
        let expected: Vec<_> = owned.iter().rev().map(|n| boards[*n].clone()).collect();
        assert_eq!(listed, expected, "boards of {reach:?}");
        let listed = pages(2, |page| store.repo_list(reach, page)).await?;
        let expected: Vec<_> = owned.iter().rev().map(|n| repos[*n].clone()).collect();
        assert_eq!(listed, expected, "repos of {reach:?}");
        for n in 0..3 {
            let seen = owned.contains(&n);
            let found = store.board_find(reach, &whole(boards[n].id)).await?;
            assert_eq!(found.len(), usize::from(seen), "board {n} of {reach:?}");
            let found = store.repo_find(reach, &whole(repos[n].id)).await?;
            assert_eq!(found.len(), usize::from(seen), "repo {n} of {reach:?}");
            for session in sessions[n] {
                let found = store.session_find(reach, &whole(session)).await?;
                let seen = of_sessions.contains(&n);
                assert_eq!(found.len(), usize::from(seen), "session of {n}, {reach:?}");
            }
        }
    }
    let filter = SessionFilter::default();
    let listed = async |reach| {
        let found = pages(2, |page| store.session_list(reach, &filter, page)).await?;
        Made::Ok(found.into_iter().map(|s| s.id).collect::<Vec<_>>())
    };
    assert_eq!(
        listed(Reach::Tree(sessions[0][0])).await?,
        [sessions[0][1], sessions[0][0]]
    );
    assert_eq!(listed(Reach::Tree(sessions[0][1])).await?, [sessions[0][1]]);
    assert_eq!(
        listed(Reach::Key(key)).await?,
        [sessions[1][1], sessions[1][0]]
    );
    assert_eq!(listed(Reach::User(user)).await?.len(), 5);
    Ok(())
}

/// A user sees itself and its keys; client keys and sessions see no user and no key.
pub async fn of_users_and_keys_is_exact(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let key = fixture::key(&store, user.id, KeyScope::Client).await?;
    let session = fixture::session(&store, owned_by(user.id), None).await?;
    let page = PageRequest::first(PageLimit::DEFAULT);
    for (reach, seen) in [
        (Reach::User(user.id), true),
        (Reach::User(other.id), false),
        (Reach::Key(key.id), false),
        (Reach::Tree(session.id), false),
    ] {
        let expected = usize::from(seen);
        assert_eq!(
            store.user_find(reach, &whole(user.id)).await?.len(),
            expected,
            "{reach:?}"
        );
        assert_eq!(
            store.user_by_name(reach, &user.name).await?.is_some(),
            seen,
            "{reach:?}"
        );
        assert_eq!(
            store.key_find(reach, &whole(key.id)).await?.len(),
            expected,
            "{reach:?}"
        );
        assert_eq!(
            store.key_list(reach, None, true, page).await?.items.len(),
            expected,
            "{reach:?}"
        );
    }
    assert_eq!(
        store.user_list(Reach::User(user.id), page).await?.items,
        [user]
    );
    assert_eq!(store.user_list(Reach::Key(key.id), page).await?.items, []);
    assert_eq!(
        store.user_list(Reach::Tree(session.id), page).await?.items,
        []
    );
    Ok(())
}

/// Adds a board with this id.
async fn board_with_id(store: &Arc<dyn Store>, owner: Owner, id: u128) -> Made<Board> {
    let mut board = fixture::board_value(owner)?;
    board.id = TypedUuid::from_untyped_uuid(Uuid::from_u128(id));
    done(
        store
            .board_insert(&board, commit(owner.user, Operation::BoardCreate))
            .await?,
    );
    Ok(board)
}

/// Returns a random number whose low `bits` are zero.
fn random_above(bits: u32) -> u128 {
    Uuid::new_v4().as_u128() >> bits << bits
}

fn hex(id: u128, digits: usize) -> String {
    format!("{id:032x}")[..digits].to_owned()
}

/// A prefix of 8 or more digits and the last 8 digits find every id they may mean, and no other.
pub async fn abbreviated_ids_find_what_they_may_mean(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let base = random_above(64);
    let (a, b, c) = (
        base | 0x1111_2222_3333_4444,
        base | 0x1111_9999_3333_4444,
        base | 0x2222,
    );
    for id in [a, b, c] {
        board_with_id(&store, owner, id).await?;
    }
    let find = async |text: String| {
        let found = store
            .board_find(Reach::User(owner.user), &IdRef::parse(&text)?)
            .await?;
        let mut ids: Vec<_> = found
            .iter()
            .map(|b| b.id.into_untyped_uuid().as_u128())
            .collect();
        ids.sort_unstable();
        Made::Ok(ids)
    };
    let mut all = vec![a, b, c];
    all.sort_unstable();
    let mut ab = vec![a, b];
    ab.sort_unstable();
    assert_eq!(find(hex(a, 8)).await?, all);
    assert_eq!(find(hex(a, 15)).await?, all);
    assert_eq!(find(hex(a, 20)).await?, ab);
    assert_eq!(find(hex(a, 21)).await?, [a]);
    assert_eq!(find(hex(a, 32).to_uppercase()).await?, [a]);
    assert_eq!(find("33334444".to_owned()).await?, ab);
    assert_eq!(find("00002222".to_owned()).await?, [c]);
    assert_eq!(find("99993333".to_owned()).await?, []);
    // Nine digits are a prefix and nothing else.
    assert_eq!(find("233334444".to_owned()).await?, []);
    Ok(())
}

/// An abbreviation never shows that somebody else has something.
pub async fn abbreviated_ids_stay_within_reach(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let (ours, theirs) = (owned_by(user.id), owned_by(other.id));
    let end = random_above(96) >> 96;
    let mine = board_with_id(&store, ours, random_above(32) | end).await?;
    let hidden = board_with_id(&store, theirs, random_above(32) | end).await?;
    let short = IdRef::parse(&mine.id.short_id())?;
    assert_eq!(mine.id.short_id(), hidden.id.short_id());
    let found = store.board_find(Reach::User(user.id), &short).await?;
    assert_eq!(found.iter().map(|b| b.id).collect::<Vec<_>>(), [mine.id]);
    assert_eq!(store.board_find(Reach::All, &short).await?.len(), 2);
    assert_eq!(
        store.board_find(Reach::Key(fixture::id()), &short).await?,
        []
    );
    let session = fixture::session(&store, ours, None).await?;
    let repo = fixture::repo(&store, ours).await?;
    let key = fixture::key(&store, user.id, KeyScope::Full).await?;
    for (reach, expected) in [(Reach::User(user.id), 1), (Reach::User(other.id), 0)] {
        let short = |text: String| IdRef::parse(&text);
        assert_eq!(
            store
                .session_find(reach, &short(session.id.short_id())?)
                .await?
                .len(),
            expected
        );
        assert_eq!(
            store
                .repo_find(reach, &short(repo.id.short_id())?)
                .await?
                .len(),
            expected
        );
        assert_eq!(
            store
                .key_find(reach, &short(key.id.short_id())?)
                .await?
                .len(),
            expected
        );
        assert_eq!(
            store
                .user_find(reach, &short(user.id.short_id())?)
                .await?
                .len(),
            expected
        );
    }
    assert_eq!(store.board_find(Reach::Tree(session.id), &short).await?, []);
    Ok(())
}

/// However many an abbreviation may mean, ten are enough to say that it is ambiguous.
pub async fn at_most_ten_candidates_are_returned(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let base = random_above(64);
    for n in 1..=12 {
        board_with_id(&store, owner, base | n << 40).await?;
    }
    let prefix = IdRef::parse(&hex(base, 16))?;
    assert_eq!(store.board_find(Reach::All, &prefix).await?.len(), 10);
    Ok(())
}
