//! What each containment tier adds to the start of a session and to its memory.

use std::{path::Path, time::Instant};

use anyhow::Result;
use serde_json::{Value, json};
use wh_client::Client;
use wh_domain::Tier;
use wh_testkit::{image, server::TestServer};

use super::{begin, memory, percentile, runner_of, set};

/// Sessions started in each tier. The tiers take turns, so that all see the same machine.
const STARTS: usize = 40;

/// Configures what the tiers need, and returns those that can be measured: `container` only where Podman is installed.
pub(super) fn prepare(server: &TestServer) -> Vec<Tier> {
    let version = server
        .program(Path::new("podman"))
        .arg("--version")
        .output();
    let has_podman = version.is_ok_and(|output| output.status.success());
    if has_podman {
        let image = image::import(server, &[]);
        server.configure(&format!("[containment]\nimage = {image:?}\n"));
    }
    let is_measured = |tier: &Tier| has_podman || *tier != Tier::Container;
    Tier::ALL.into_iter().filter(is_measured).collect()
}

/// Starts sessions in each of these tiers and returns, by tier, how long a start takes and how much memory a session holds.
pub(super) async fn measure(server: &TestServer, client: &Client, tiers: &[Tier]) -> Result<Value> {
    set(client, "containment.minimum", Tier::None.as_str()).await?;
    let mut times = vec![Vec::new(); tiers.len()];
    let mut bytes = vec![Vec::new(); tiers.len()];
    for _ in 0..STARTS {
        for (index, tier) in tiers.iter().enumerate() {
            let started = Instant::now();
            let id = begin(client, Some(*tier)).await?;
            times[index].push(started.elapsed().as_secs_f64() * 1e3);
            let tree = memory::tree(runner_of(server, &id)?)?;
            bytes[index].push(tree.proportional as f64);
        }
    }
    let tiers = tiers.iter().zip(times.iter().zip(&bytes));
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
