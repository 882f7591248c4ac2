//! What each containment tier adds to the start of a session and to its memory.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use wh_client::Client;
use wh_domain::Tier;
use wh_testkit::server::TestServer;

use super::{begin, memory, percentile, runner_of, set};

/// Sessions started in each tier. The tiers take turns, so that all see the same machine.
const STARTS: usize = 40;

/// Starts sessions in every tier and returns, by tier, how long a start takes and how much memory a session holds.
pub(super) async fn measure(server: &TestServer, client: &Client) -> Result<Value> {
    set(client, "containment.minimum", Tier::None.as_str()).await?;
    let mut times = vec![Vec::new(); Tier::ALL.len()];
    let mut bytes = vec![Vec::new(); Tier::ALL.len()];
    for _ in 0..STARTS {
        for (index, tier) in Tier::ALL.iter().enumerate() {
            let started = Instant::now();
            let id = begin(client, Some(*tier)).await?;
            times[index].push(started.elapsed().as_secs_f64() * 1e3);
            let tree = memory::tree(runner_of(server, &id)?)?;
            bytes[index].push(tree.proportional as f64);
        }
    }
    let tiers = Tier::ALL.iter().zip(times.iter().zip(&bytes));
    let tiers = tiers.map(|(tier, (times, bytes))| {
        json!({
            "tier": tier.as_str(),
            "start_p50_ms": percentile(times, 50),
            "start_p90_ms": percentile(times, 90),
            "pss": percentile(bytes, 50),
        })
    });
    Ok(Value::Array(tiers.collect()))
}
