//! Checks that a change and what is committed with it are one, and that a repeat is harmless.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio::task::JoinSet;
use wh_domain::{
    Board, KeyScope, Name, NewAuditEntry, Operation, PageLimit, PageRequest, Reach, SettingKey,
    Subject, UserId,
};

use super::Outcome;
use super::fixture::{
    self, Made, audit_of, claim, commit, commit_with_event, done, owned_by, whole, word,
};
use crate::{Applied, Commit, IdempotencyClaim, Store, StoreError};

async fn audited(store: &Arc<dyn Store>, user: UserId) -> Made<usize> {
    let page = PageRequest::first(PageLimit::MAX);
    let made = audit_of(Operation::BoardCreate);
    let listed = store.audit_list(Reach::User(user), &made, page).await?;
    Ok(listed.items.len())
}

async fn announced(store: &Arc<dyn Store>, user: UserId) -> Made<usize> {
    Ok(store
        .event_list(Reach::User(user), 0, PageLimit::MAX)
        .await?
        .events
        .len())
}

async fn boards(store: &Arc<dyn Store>, user: UserId) -> Made<usize> {
    let page = PageRequest::first(PageLimit::MAX);
    Ok(store
        .board_list(Reach::User(user), wh_domain::BoardFilter::default(), page)
        .await?
        .items
        .len())
}

/// Returns the commit of a board's making, with an event and a claim.
fn claimed(board: &Board, claim: IdempotencyClaim) -> Commit {
    Commit {
        idempotency: Some(claim),
        ..commit_with_event(board.owner.user, Operation::BoardCreate, board.id)
    }
}

/// A change that is refused leaves no audit entry, no event, and no number missing.
pub async fn a_failing_change_leaves_no_trace(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let board = fixture::board_value(owned_by(user))?;
    let with_event = || commit_with_event(user, Operation::BoardCreate, board.id);
    let first = done(store.board_insert(&board, with_event()).await?).ok_or("no number")?;
    let before = (audited(&store, user).await?, announced(&store, user).await?);
    let again = store.board_insert(&board, with_event()).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
    let stale = store.board_save(&board, with_event()).await;
    assert!(matches!(stale, Err(StoreError::Stale { .. })), "{stale:?}");
    assert_eq!(
        (audited(&store, user).await?, announced(&store, user).await?),
        before
    );
    let next = fixture::board_value(owned_by(user))?;
    let next = store
        .board_insert(
            &next,
            commit_with_event(user, Operation::BoardCreate, next.id),
        )
        .await?;
    let all = store
        .event_list(Reach::All, first, PageLimit::MAX)
        .await?
        .events;
    assert_eq!(done(next), all.last().map(|e| e.seq));
    assert!(
        all.iter().zip(first + 1..).all(|(e, n)| e.seq == n),
        "no number is missing"
    );
    Ok(())
}

/// A repeat gets the first result and changes nothing, also when the change itself would be refused now.
pub async fn repeats_change_nothing(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mark = word("m-");
    let first = fixture::board_value(owned_by(user))?;
    done(
        store
            .board_insert(&first, claimed(&first, claim(user, &mark, 1, first.id)?))
            .await?,
    );
    let before = (announced(&store, user).await?, boards(&store, user).await?);
    for _ in 0..2 {
        let repeat = fixture::board_value(owned_by(user))?;
        let claim = claim(user, &mark, 1, repeat.id)?;
        let applied = store.board_insert(&repeat, claimed(&repeat, claim)).await?;
        let subject = Subject::from(first.id);
        assert_eq!(applied, Applied::Replayed { subject });
        assert_eq!(store.board_find(Reach::All, &whole(repeat.id)).await?, []);
    }
    assert_eq!(
        (announced(&store, user).await?, boards(&store, user).await?),
        before
    );
    assert_eq!(audited(&store, user).await?, 3, "every call is audited");
    let page = PageRequest::first(PageLimit::MAX);
    let made = audit_of(Operation::BoardCreate);
    let listed = store.audit_list(Reach::User(user), &made, page).await?;
    let is_replay = |it: &NewAuditEntry| it.facts.contains_key(NewAuditEntry::REPLAY);
    let bodies = listed.items.into_iter().map(|entry| entry.body);
    let replays: Vec<_> = bodies.filter(is_replay).map(|it| it.subject).collect();
    assert_eq!(
        replays,
        [Some(Subject::from(first.id)); 2],
        "about the first"
    );
    // A save that was repeated is stale by now, and yet recognised.
    let mut second = first.clone();
    second.revision += 1;
    second.name = Name::parse("second")?;
    let save = || {
        let claim = IdempotencyClaim {
            operation: Operation::BoardUpdate,
            ..claim(user, &format!("{mark}-save"), 2, second.id)?
        };
        Made::Ok(claimed(&second, claim))
    };
    done(store.board_save(&second, save()?).await?);
    let applied = store.board_save(&second, save()?).await?;
    let subject = Subject::from(first.id);
    assert_eq!(applied, Applied::Replayed { subject });
    Ok(())
}

/// Of identical commits that arrive together one is made and the others are told of it.
pub async fn parallel_repeats_have_one_effect(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mark = word("m-");
    let mut calls = JoinSet::new();
    for _ in 0..5 {
        let store = Arc::clone(&store);
        let board = fixture::board_value(owned_by(user))?;
        let commit = claimed(&board, claim(user, &mark, 1, board.id)?);
        calls.spawn(async move { (store.board_insert(&board, commit).await, board.id) });
    }
    let (mut made, mut replayed) = (Vec::new(), Vec::new());
    while let Some(call) = calls.join_next().await {
        match call? {
            (Ok(Applied::Done { .. }), id) => made.push(Subject::from(id)),
            (Ok(Applied::Replayed { subject }), _) => replayed.push(subject),
            (Err(error), _) => return Err(error.into()),
        }
    }
    assert_eq!(made.len(), 1);
    assert_eq!(replayed, vec![made[0]; 4]);
    assert_eq!(
        (boards(&store, user).await?, announced(&store, user).await?),
        (1, 1)
    );
    Ok(())
}

/// A mark that was used for one request is refused for another.
pub async fn marks_are_not_reused_for_other_requests(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mark = word("m-");
    let board = fixture::board_value(owned_by(user))?;
    done(
        store
            .board_insert(&board, claimed(&board, claim(user, &mark, 1, board.id)?))
            .await?,
    );
    let other = fixture::board_value(owned_by(user))?;
    let another_digest = claim(user, &mark, 2, other.id)?;
    let another_operation = IdempotencyClaim {
        operation: Operation::BoardDuplicate,
        ..claim(user, &mark, 1, other.id)?
    };
    let again = claim(user, &mark, 1, board.id)?;
    let first = store.replayed(&again, fixture::now()).await?;
    assert_eq!(first, Some(board.id.into()));
    let unused = claim(user, &word("m-"), 1, board.id)?;
    for _ in 0..2 {
        assert_eq!(store.replayed(&unused, fixture::now()).await?, None);
    }
    for claim in [another_digest, another_operation] {
        let asked = store.replayed(&claim, fixture::now()).await;
        assert!(matches!(asked, Err(StoreError::KeyReused)), "{asked:?}");
        let refused = store.board_insert(&other, claimed(&other, claim)).await;
        assert!(matches!(refused, Err(StoreError::KeyReused)), "{refused:?}");
    }
    assert_eq!(
        (boards(&store, user).await?, audited(&store, user).await?),
        (1, 1)
    );
    Ok(())
}

/// The same mark of another user or another key is another mark.
pub async fn marks_of_other_credentials_never_meet(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    );
    let key = fixture::key(&store, user, KeyScope::Full).await?.id;
    let mark = word("m-");
    for (user, key) in [
        (user, None),
        (user, Some(key)),
        (other, None),
        (other, Some(key)),
    ] {
        let board = fixture::board_value(owned_by(user))?;
        let claim = IdempotencyClaim {
            key,
            ..claim(user, &mark, 1, board.id)?
        };
        done(store.board_insert(&board, claimed(&board, claim)).await?);
    }
    Ok(())
}

/// A day later, by the time of the changes, a mark is free again, and then holds the new request.
pub async fn marks_are_forgotten_after_a_day(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mark = word("m-");
    let first = fixture::board_value(owned_by(user))?;
    let commit = claimed(&first, claim(user, &mark, 1, first.id)?);
    let at = commit.audit.at;
    done(store.board_insert(&first, commit).await?);
    let later = async |minutes: i64, request: u8| {
        let board = fixture::board_value(owned_by(user))?;
        let mut commit = claimed(&board, claim(user, &mark, request, board.id)?);
        commit.audit.at = at.checked_add(SignedDuration::from_mins(minutes))?;
        let applied = store.board_insert(&board, commit).await?;
        Made::Ok((applied, Subject::from(board.id)))
    };
    let (applied, _) = later(23 * 60 + 59, 1).await?;
    let subject = Subject::from(first.id);
    assert_eq!(applied, Applied::Replayed { subject });
    let (applied, second) = later(24 * 60 + 1, 2).await?;
    done(applied);
    let (applied, _) = later(24 * 60 + 2, 2).await?;
    assert_eq!(applied, Applied::Replayed { subject: second });
    Ok(())
}

/// A mark counts only if its change was made.
pub async fn a_refused_change_does_not_use_its_mark_up(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let mark = word("m-");
    let taken = fixture::board(&store, owned_by(user)).await?;
    let refused = store
        .board_insert(&taken, claimed(&taken, claim(user, &mark, 1, taken.id)?))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Taken { .. })),
        "{refused:?}"
    );
    let free = fixture::board_value(owned_by(user))?;
    done(
        store
            .board_insert(&free, claimed(&free, claim(user, &mark, 2, free.id)?))
            .await?,
    );
    Ok(())
}

/// Changes that arrive together with ones that fail are made all the same.
pub async fn a_failing_change_does_not_spoil_its_neighbours(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let taken = fixture::board(&store, owned_by(user)).await?;
    let start = *store.event_watch().borrow();
    let mut calls = JoinSet::new();
    for n in 0..60 {
        let store = Arc::clone(&store);
        let taken = taken.clone();
        calls.spawn(async move {
            let fails = n % 3 == 0;
            let board = if fails {
                taken
            } else {
                fixture::board_value(owned_by(user))?
            };
            let commit = commit_with_event(user, Operation::BoardCreate, board.id);
            let applied = store.board_insert(&board, commit).await;
            assert_eq!(applied.is_err(), fails, "{applied:?}");
            Made::Ok(())
        });
    }
    while let Some(call) = calls.join_next().await {
        call??;
    }
    assert_eq!(boards(&store, user).await?, 41);
    let events = store
        .event_list(Reach::All, start, PageLimit::MAX)
        .await?
        .events;
    assert_eq!(
        events.iter().filter(|e| e.body.owner.user == user).count(),
        40
    );
    assert!(events.iter().zip(start + 1..).all(|(e, n)| e.seq == n));
    let commit = commit(user, Operation::ConfigSet);
    assert_eq!(
        done(
            store
                .setting_set(SettingKey::SpawnTreeMax, None, commit)
                .await?
        ),
        None
    );
    Ok(())
}
