//! Checks of what others see of boards that are shared with them, and of the sessions on them.

use std::sync::Arc;

use wh_domain::{
    Board, BoardItem, BoardPatch, Event, EventKind, MessageKind, NewEvent, Operation, PageLimit,
    Placement, Position, Reach, Session, SessionFilter, ShareLevel, ShareWith, Subject, User,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, event, message, now, owned_by, pages, whole};
use crate::{EventsSeen, MessageAppend, Store};

/// A user with a board, a session that was begun on it, one that was placed there, one in a worktree that was placed there, and one
/// that is elsewhere.
struct Host {
    user: User,
    board: Board,
    begun: Session,
    placed: Session,
    inside: Session,
    elsewhere: Session,
}

impl Host {
    fn sessions(&self) -> [&Session; 4] {
        [&self.begun, &self.placed, &self.inside, &self.elsewhere]
    }
}

async fn host(store: &Arc<dyn Store>) -> Made<Host> {
    let user = fixture::user(store).await?;
    let owner = owned_by(user.id);
    let board = fixture::board(store, owner).await?;
    let mut begun = fixture::session_value(owner, None)?;
    begun.board = Some(board.id);
    fixture::insert_session(store, &begun).await?;
    let placed = fixture::session(store, owner, None).await?;
    let elsewhere = fixture::session(store, owner, None).await?;
    let worktree = fixture::id();
    let mut inside = fixture::session_value(owner, None)?;
    inside.worktree = Some(worktree);
    fixture::insert_session(store, &inside).await?;
    // Somebody else's session in the same worktree is not the host's to share.
    let stranger = owned_by(fixture::user(store).await?.id);
    let mut foreign = fixture::session_value(stranger, None)?;
    foreign.worktree = Some(worktree);
    fixture::insert_session(store, &foreign).await?;
    let place = |item| Placement {
        item,
        position: Position::default(),
        zone: None,
    };
    let patch = BoardPatch {
        placements: vec![
            place(BoardItem::Session(placed.id)),
            place(BoardItem::Worktree(worktree)),
        ],
        ..BoardPatch::default()
    };
    let board = save(store, board.apply(patch, now())?).await?;
    Ok(Host {
        user,
        board,
        begun,
        placed,
        inside,
        elsewhere,
    })
}

async fn save(store: &Arc<dyn Store>, board: Board) -> Made<Board> {
    let commit = commit(board.owner.user, Operation::BoardShare);
    done(store.board_save(&board, commit).await?);
    Ok(board)
}

fn both(user: &User, level: ShareLevel) -> [Reach; 2] {
    let user = user.id;
    [
        Reach::Guest { user, level },
        Reach::UserAndGuest { user, level },
    ]
}

/// Tells which of a host's things lie within reach, by id and in lists, which must agree: the board and four sessions.
async fn seen(store: &Arc<dyn Store>, reach: Reach, host: &Host) -> Made<[bool; 5]> {
    let board = store.board_find(reach, &whole(host.board.id)).await?;
    let listed = pages(2, |page| store.board_list(reach, Default::default(), page)).await?;
    let in_list = listed.iter().any(|it| it.id == host.board.id);
    assert_eq!(board.len(), usize::from(in_list), "board of {reach:?}");
    assert_eq!(
        store.board_count(reach, Default::default()).await?,
        listed.len() as u64
    );
    let mut seen = [in_list, false, false, false, false];
    let filter = SessionFilter::default();
    let listed = pages(2, |page| store.session_list(reach, &filter, page)).await?;
    let count = store.session_count(reach, &filter).await?;
    assert_eq!(count, listed.len() as u64, "no more is counted than listed");
    let is_known = |it: &Session| host.sessions().iter().any(|own| own.id == it.id);
    assert!(listed.iter().all(is_known), "sessions of {reach:?}");
    for (seen, session) in seen[1..].iter_mut().zip(host.sessions()) {
        let found = store.session_find(reach, &whole(session.id)).await?;
        *seen = !found.is_empty();
        let in_list = listed.iter().any(|it| it.id == session.id);
        assert_eq!(*seen, in_list, "session of {reach:?}");
        let messages = store.message_list(reach, session.id, 0, PageLimit::DEFAULT);
        assert_eq!(
            messages.await?.is_empty(),
            !*seen,
            "transcript of {reach:?}"
        );
    }
    if matches!(reach, Reach::UserAndGuest { .. }) {
        let is_own = reach.covers_owner(host.board.owner);
        check_told(store, reach, host, seen, is_own).await?;
    }
    Ok(seen)
}

/// Makes sure that the feed tells of a host's things that are seen, and of nothing else: of what belongs to a session, guests are
/// told of its turns.
async fn check_told(
    store: &Arc<dyn Store>,
    reach: Reach,
    host: &Host,
    seen: [bool; 5],
    is_own: bool,
) -> Made<()> {
    let owner = host.board.owner;
    let start = *store.event_watch().borrow();
    let mut expected = Vec::new();
    let mut announce = async |event: NewEvent, is_told: bool| {
        let event = NewEvent { owner, ..event };
        store.event_announce(now(), event.clone()).await?;
        expected.extend(is_told.then_some(event));
        Made::Ok(())
    };
    let of = |subject: Subject| event(EventKind::Updated, subject, owner);
    announce(of(host.board.id.into()), seen[0]).await?;
    for (session, is_seen) in host.sessions().into_iter().zip(&seen[1..]) {
        let of_session = |subject| NewEvent {
            session: Some(session.id),
            ..of(subject)
        };
        announce(of(session.id.into()), *is_seen).await?;
        let turn = fixture::id::<wh_domain::TurnKind>();
        announce(of_session(turn.into()), *is_seen).await?;
        let approval = fixture::id::<wh_domain::ApprovalIdKind>();
        announce(of_session(approval.into()), is_own).await?;
    }
    let of_host = |event: &Event| event.body.owner == owner;
    let page = store.event_list(reach, start, PageLimit::MAX).await?;
    let told: Vec<_> = page.events.into_iter().filter(of_host).collect();
    assert!(
        told.iter().map(|it| &it.body).eq(&expected),
        "{reach:?}: {told:?}"
    );
    if let Some(recent) = store.event_recent(reach, start) {
        let from_memory = recent.events.iter().flat_map(EventsSeen::iter);
        let from_memory = from_memory.filter(|event| of_host(event));
        assert!(from_memory.eq(&told), "memory says the same, or nothing");
    }
    Ok(())
}

/// Only those see a shared board, and the sessions on it, whom it is shared with, at the level that is asked for.
pub async fn reaches_whom_it_is_shared_with(store: Arc<dyn Store>) -> Outcome {
    let host = host(&store).await?;
    for session in host.sessions() {
        let append = MessageAppend {
            session: session.id,
            epoch: session.epoch,
            messages: vec![message(MessageKind::Agent, "hello")],
        };
        store.message_append(append).await?;
    }
    let (guest, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let (all, none) = ([true, true, true, true, false], [false; 5]);
    use ShareLevel::{Prompt, Read};
    let check = async |who: &User, read: [bool; 5], prompt: [bool; 5]| {
        for (level, expected) in [(Read, read), (Prompt, prompt)] {
            for reach in both(who, level) {
                assert_eq!(seen(&store, reach, &host).await?, expected, "{reach:?}");
            }
        }
        Made::Ok(())
    };
    check(&guest, none, none).await?;
    let with_guest = ShareWith::from(guest.clone());
    let mut board = host.board.clone();
    for (with, level, guests, others) in [
        (with_guest.clone(), Some(Read), (all, none), (none, none)),
        (with_guest.clone(), Some(Prompt), (all, all), (none, none)),
        (ShareWith::Everyone, Some(Read), (all, all), (all, none)),
        (with_guest, None, (all, none), (all, none)),
        (ShareWith::Everyone, None, (none, none), (none, none)),
    ] {
        board = save(&store, board.share(with, level, now())?).await?;
        let found = store.board_find(Reach::All, &whole(board.id)).await?;
        assert_eq!(found[0].shares, board.shares);
        check(&guest, guests.0, guests.1).await?;
        check(&other, others.0, others.1).await?;
        // The host owns it all, and is nobody's guest there.
        for reach in both(&host.user, Read) {
            let own = matches!(reach, Reach::UserAndGuest { .. });
            assert_eq!(seen(&store, reach, &host).await?, [own; 5]);
        }
    }
    Ok(())
}

/// Sharing gives nothing of what is not a board or a session.
pub async fn gives_no_repositories_worktrees_users_or_keys(store: Arc<dyn Store>) -> Outcome {
    let host = host(&store).await?;
    let guest = fixture::user(&store).await?;
    let level = Some(ShareLevel::Prompt);
    save(&store, host.board.share(ShareWith::Everyone, level, now())?).await?;
    let owner = owned_by(host.user.id);
    let repo = fixture::repo(&store, owner).await?;
    let mut worktree = fixture::worktree_value(owner, repo.id)?;
    worktree.board = Some(host.board.id);
    let commit = commit(owner.user, Operation::WorktreeCreate);
    done(store.worktree_insert(&worktree, commit).await?);
    for reach in both(&guest, ShareLevel::Read) {
        assert!(store.repo_find(reach, &whole(repo.id)).await?.is_empty());
        let found = store.worktree_find(reach, &whole(worktree.id)).await?;
        assert!(found.is_empty());
        let found = store.user_find(reach, &whole(host.user.id)).await?;
        assert!(found.is_empty());
    }
    Ok(())
}
