//! A backup made under load is what the database was at one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;
use wh_domain::{EventKind, MessageKind, Operation, PageLimit, PageRequest, Reach, SubjectKind};
use wh_store::conformance::fixture;
use wh_store::{MessageAppend, Store};

use crate::support::{self, Place};

async fn board_count(store: &Arc<dyn Store>) -> usize {
    let mut request = PageRequest::first(PageLimit::MAX);
    let mut count = 0;
    loop {
        let page = store
            .board_list(Reach::All, Default::default(), request)
            .await
            .unwrap();
        count += page.items.len();
        match page.next {
            Some(next) => request.after = Some(next),
            None => return count,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_under_load_equals_the_database_up_to_its_number() {
    let place = Place::new();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        writers.spawn(async move {
            let owner = fixture::owned_by(user);
            let session = fixture::session(&store, owner, None).await.unwrap().id;
            while !stop.load(Ordering::Relaxed) {
                if writer % 2 == 0 {
                    support::board(&store, user).await.unwrap();
                } else {
                    let messages = vec![fixture::message(MessageKind::Agent, "some words to keep")];
                    let append = MessageAppend {
                        session,
                        epoch: 1,
                        messages,
                    };
                    store.message_append(append).await.unwrap();
                }
            }
        });
    }
    // The first copy holds something that can be found.
    let found = async || {
        let page = PageRequest::first(PageLimit::MAX);
        let hits = store.message_search(Reach::All, "words keep", page);
        !hits.await.unwrap().items.is_empty()
    };
    while !found().await {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let mut copies = Vec::new();
    for n in 0..3 {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        let path = place.directory().join(format!("copy-{n}.db"));
        let before = *store.event_watch().borrow();
        let commit = fixture::commit(user, Operation::BackupCreate);
        let last = store.backup(&path, commit).await.unwrap();
        assert!(last >= before, "what was acknowledged before is in it");
        copies.push((path, last));
    }
    stop.store(true, Ordering::Relaxed);
    writers.join_all().await;
    let events = support::feed(&store).await;
    for (path, last) in copies {
        let copy = support::open(&path).await;
        let copied = support::feed(&copy).await;
        assert_eq!(copied.len() as u64, last);
        assert_eq!(copied[..], events[..last as usize]);
        let made = |e: &&wh_domain::Event| {
            e.body.kind == EventKind::Updated && e.body.subject.kind == SubjectKind::Board
        };
        assert_eq!(board_count(&copy).await, copied.iter().filter(made).count());
        let hits = copy
            .message_search(Reach::All, "words keep", PageRequest::first(PageLimit::MAX))
            .await
            .unwrap();
        assert!(!hits.items.is_empty(), "the full-text index is there, too");
        support::board(&copy, user).await.unwrap();
        copy.close().await;
        let mut conn = support::raw(&path).await;
        let check = sqlx::query_scalar::<_, String>("PRAGMA integrity_check");
        assert_eq!(check.fetch_one(&mut conn).await.unwrap(), "ok");
    }
    store.close().await;
}
