//! A row that cannot be read spoils only itself.

use wh_domain::{PageLimit, PageRequest, Reach, SessionFilter};
use wh_store::StoreError;
use wh_store::conformance::fixture;

use crate::support::{Place, meddle};

#[tokio::test]
async fn an_unreadable_row_is_an_error_by_itself_and_missing_from_lists() {
    let place = Place::new();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    let owner = fixture::owned_by(user);
    let (mut sessions, mut boards) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        sessions.push(fixture::session(&store, owner, None).await.unwrap());
        boards.push(fixture::board(&store, owner).await.unwrap());
    }
    store.close().await;
    // The middle one of each: no list may end there.
    meddle(
        &place.path(),
        "UPDATE sessions SET state = 'dancing' WHERE rowid = 2;
         UPDATE boards SET name = char(7) WHERE rowid = 2;",
    )
    .await;
    let store = place.open().await;
    let reach = Reach::User(user);
    let found = store
        .session_find(reach, &fixture::whole(sessions[1].id))
        .await;
    assert!(
        matches!(&found, Err(StoreError::Unreadable { what: "session", message }) if message.contains("dancing"))
    );
    let found = store.board_find(reach, &fixture::whole(boards[1].id)).await;
    assert!(matches!(
        found,
        Err(StoreError::Unreadable { what: "board", .. })
    ));
    let filter = SessionFilter::default();
    let listed = fixture::pages(1, |page| store.session_list(reach, &filter, page))
        .await
        .unwrap();
    assert_eq!(listed, [sessions[2].clone(), sessions[0].clone()]);
    let page = PageRequest::first(PageLimit::DEFAULT);
    let listed = store
        .board_list(reach, Default::default(), page)
        .await
        .unwrap();
    assert_eq!(listed.items, [boards[2].clone(), boards[0].clone()]);
    let listed = fixture::pages(1, |page| store.board_list(reach, Default::default(), page))
        .await
        .unwrap();
    assert_eq!(listed.len(), 2);
    store.close().await;
}
