//! Sums over very many turns: how long they take, printed, and that the index is used.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use sqlx::Row;
use wh_domain::{DayOffset, Reach, UsageSpan};
use wh_store::conformance::fixture;

use crate::support::{self, Place};

const TURNS: u32 = 100_000;
const SESSIONS: u32 = 1_000;

#[tokio::test]
async fn a_hundred_thousand_turns_are_summed_quickly() {
    let place = Place::new();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    for _ in 0..SESSIONS {
        let owner = fixture::owned_by(user);
        fixture::session(&store, owner, None).await.unwrap();
    }
    let now: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
    let mut conn = support::raw(&place.path()).await;
    // A turn every five minutes through a year, round the sessions, each with a prompt as people write them.
    sqlx::query(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1),
             s AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM sessions)
         INSERT INTO turns (id, session_id, number, prompt, state, used_input_tokens, used_cached_tokens, used_output_tokens,
             used_cost_micros, used_wall_seconds, created_at, finished_at)
         SELECT randomblob(16), s.id, n.i / ?2 + 1, hex(randomblob(500)), 'completed', n.i % 977, 1, 2, n.i % 9973, 3,
             ?3 - n.i * 300000000, ?3 - n.i * 300000000 FROM n JOIN s ON s.place = n.i % ?2",
    )
    .bind(TURNS)
    .bind(SESSIONS)
    .bind(now.as_microsecond() - 1)
    .execute(&mut conn)
    .await
    .unwrap();
    for (days, turns) in [(30, 8_640), (365, 100_000)] {
        let span = UsageSpan {
            since: now - SignedDuration::from_hours(24 * days),
            until: now,
            offset: DayOffset::UTC,
        };
        for reach in [Reach::All, Reach::User(user)] {
            let began = Instant::now();
            let sums = store.usage_sums(reach, span, 20).await.unwrap();
            let took = began.elapsed();
            println!("{TURNS} turns of {SESSIONS} sessions, {days} days of {reach:?}: {took:.1?}");
            assert_eq!(sums.total().turns, turns);
            let (others, rest) = sums.trees.others;
            let top: u64 = sums.trees.top.iter().map(|(_, usage)| usage.turns).sum();
            assert_eq!(
                (others, top + rest.turns),
                (u64::from(SESSIONS) - 20, turns)
            );
            assert!(took.as_secs() < 10, "{took:?}");
        }
    }
    let plan = sqlx::query(
        "EXPLAIN QUERY PLAN SELECT sum(u.used_cost_micros) FROM turns u JOIN sessions t ON t.id = u.session_id
         WHERE u.finished_at >= 1 AND u.finished_at < 2 AND u.number > coalesce(t.forked_at_turn, 0)",
    );
    let plan = plan.fetch_all(&mut conn).await.unwrap();
    let steps: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
    assert!(
        steps[0].contains("COVERING INDEX turns_finished"),
        "{steps:?}"
    );
}
