//! The store by itself: how fast it commits and reads, and how fast the disk below it syncs.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use wh_domain::{Owner, PageLimit, Reach, UserRole};
use wh_testkit::seed::Seed;

/// How much a sync has to write: one page of the log.
const PAGE: [u8; 4096] = [0; 4096];

/// Events read at a time, as the feed does.
const EVENTS_AT_ONCE: u32 = 200;

/// Makes empty boards from `writers` tasks for a while, then syncs a file from one thread for as long.
pub(crate) async fn commits(data_dir: &Path, writers: usize, time: Duration) -> Result<Value> {
    let seed = Arc::new(Seed::open(data_dir).await?);
    let user = seed.user("ceiling", UserRole::Admin).await?;
    let owner = Owner {
        user: user.id,
        key: None,
    };
    let end = Instant::now() + time;
    let mut tasks = JoinSet::new();
    for _ in 0..writers {
        let seed = Arc::clone(&seed);
        tasks.spawn(async move {
            let mut took = Vec::new();
            while Instant::now() < end {
                let start = Instant::now();
                seed.board(owner, "bench", 0).await?;
                took.push(start.elapsed());
            }
            anyhow::Ok(took)
        });
    }
    let mut took = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        took.extend(ended??);
    }
    if let Some(seed) = Arc::into_inner(seed) {
        seed.close().await;
    }
    took.sort_unstable();
    let share = |percent: usize| {
        let at = took.len() * percent / 100;
        took.get(at).copied().unwrap_or_default().as_secs_f64()
    };
    Ok(json!({
        "per_second": took.len() as f64 / time.as_secs_f64(),
        "p50": share(50),
        "p99": share(99),
        "syncs_per_second": syncs(data_dir, time)?,
    }))
}

fn syncs(data_dir: &Path, time: Duration) -> Result<f64> {
    let file = File::create(data_dir.join("sync-probe"))?;
    let start = Instant::now();
    let mut count = 0_u64;
    while start.elapsed() < time {
        // Into a file that grows and wraps, as the log does.
        file.write_all_at(&PAGE, (count % 1_000) * PAGE.len() as u64)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// Reads the change feed from its beginning, again and again for a while, from one task.
pub(crate) async fn reads(data_dir: &Path, time: Duration) -> Result<Value> {
    let seed = Seed::open(data_dir).await?;
    let limit = PageLimit::clamped(Some(EVENTS_AT_ONCE));
    let start = Instant::now();
    let mut events = 0_usize;
    let mut after = 0;
    while start.elapsed() < time {
        let page = seed.store().event_list(Reach::All, after, limit).await?;
        events += page.events.len();
        after = if page.more { page.through } else { 0 };
    }
    let elapsed = start.elapsed().as_secs_f64();
    seed.close().await;
    Ok(json!({"per_second": events as f64 / elapsed}))
}
