//! Questions to a long audit log: a page of each is bounded, and how long it takes is printed.

use std::time::Instant;

use wh_domain::{AuditAbout, AuditFilter, OutcomeFilter, PageLimit, PageRequest, Reach, Surface};
use wh_store::conformance::fixture;

use crate::support::{self, Place};

const CALLS: u32 = 200_000;

#[tokio::test]
async fn a_page_of_a_long_log_compares_a_part_of_it() {
    let place = Place::new();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    let mut conn = support::raw(&place.path()).await;
    // A call every second by many users, one of five hundred refused, each about something of its own.
    sqlx::query(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
         INSERT INTO audit (at, request_id, user_id, credential, surface, operation, refused, facts)
         SELECT 2000000000000000 + i * 1000000, randomblob(16), CASE i % 50 WHEN 0 THEN ?2 ELSE randomblob(16) END, 'full',
             'rest', 'session_get', iif(i % 500 = 7, 'FORBIDDEN', NULL), json_object('session', lower(hex(randomblob(16))))
         FROM n",
    )
    .bind(CALLS)
    .bind(newtype_uuid::GenericUuid::into_untyped_uuid(user))
    .execute(&mut conn)
    .await
    .unwrap();
    let about = AuditAbout::parse("01234567-89ab-7def-8123-456789abcdef").ok();
    let day = "2033-05-19T00:00:00Z".parse().ok();
    let everything = AuditFilter::default;
    for (what, reach, filter) in [
        ("everything", Reach::All, everything()),
        ("a user's", Reach::User(user), everything()),
        (
            "refused",
            Reach::All,
            AuditFilter {
                outcome: Some(OutcomeFilter::Refused),
                ..everything()
            },
        ),
        (
            "about nothing there is",
            Reach::All,
            AuditFilter {
                about,
                ..everything()
            },
        ),
        (
            "of a surface nobody uses, a day",
            Reach::All,
            AuditFilter {
                surface: Some(Surface::Server),
                since: day,
                until: day.map(|day: jiff::Timestamp| day + jiff::SignedDuration::from_hours(24)),
                ..everything()
            },
        ),
    ] {
        let page = PageRequest::first(PageLimit::MAX);
        let began = Instant::now();
        let found = store.audit_list(reach, &filter, page).await.unwrap();
        let took = began.elapsed();
        println!(
            "{CALLS} calls, {what}: {} found in {took:.1?}",
            found.items.len()
        );
        // The rest of the log is left to the next page, also when nothing was found.
        assert!(found.next.is_some(), "{what}");
    }
    store.close().await;
}
