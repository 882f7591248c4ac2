//! Measures what a live session costs: memory of its processes, what a prompt's way through the server adds to the agent's own
//! time, and how many fit. Prints one line of JSON. The binary under test is named by `WHEELHOUSE_BINARY`.

mod agent;
mod memory;
mod tiers;

use std::{
    fs::File,
    io::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, stream};
use serde_json::json;
use wh_api::{
    ConfigSetRequest, SessionCreateRequest, SessionPromptRequest, SessionWaitRequest, SettingInput,
};
use wh_client::Client;
use wh_domain::Tier;
use wh_testkit::server::TestServer;

/// Prompts, and syncs of the disk, whose times are taken.
const PROMPTS: usize = 300;
/// Sessions that live at once, unless the first argument says otherwise.
const SESSIONS: usize = 200;
/// Sessions that are begun or prompted at the same time.
const AT_ONCE: usize = 16;
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(300);

#[tokio::main]
async fn main() -> Result<()> {
    let given = std::env::args().nth(1).map(|text| text.parse());
    let sessions = given
        .transpose()
        .context("usage: bench-sessions [SESSIONS]")?;
    let sessions = sessions.unwrap_or(SESSIONS);
    let own = agent::round_trips(PROMPTS).await?;
    let syncs = sync_times()?;
    let mut server = TestServer::stopped();
    let tiers = tiers::prepare(&server);
    server.restart();
    let client = server.client();
    set(&client, "session.live_per_user_max", 10_000).await?;
    let tiers = tiers::measure(&server, &client, &tiers).await?;
    let first = begin(&client, None).await?;
    let ours = round_trips(&client, &first).await?;
    let runner = runner_of(&server, &first)?;
    let one = memory::tree(runner)?;
    let begun = Instant::now();
    let ids: Vec<Result<String>> = stream::iter(1..sessions)
        .map(|_| begin(&client, None))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut ids: Vec<String> = ids.into_iter().collect::<Result<_>>()?;
    ids.push(first);
    let started = begun.elapsed();
    let live = server
        .runs()
        .iter()
        .filter(|run| run.alive.is_some())
        .count();
    let prompted = Instant::now();
    let times: Vec<Result<f64>> = stream::iter(&ids)
        .map(|id| prompt(&client, id))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let times: Vec<f64> = times.into_iter().collect::<Result<_>>()?;
    let prompted = prompted.elapsed();
    let (mut all, mut largest) = (0, 0);
    for run in server.runs() {
        if let Some(runner) = run.alive {
            let bytes = memory::tree(runner.pid)?.proportional;
            all += bytes;
            largest = largest.max(bytes);
        }
    }
    let serving = memory::tree_of_one(server.about().pid)?;
    set(&client, "session.idle_seconds", 1).await?;
    let at_rest = until_no_process(&server).await?;
    let made = json!({
        "own_p50_ms": percentile(&own, 50), "own_p99_ms": percentile(&own, 99),
        "ours_p50_ms": percentile(&ours, 50), "ours_p99_ms": percentile(&ours, 99),
        "sync_p50_ms": percentile(&syncs, 50), "sync_p99_ms": percentile(&syncs, 99),
        "one_pss": one.proportional, "one_processes": one.processes,
        "sessions": ids.len(), "live": live, "started_s": started.as_secs_f64(),
        "prompted_s": prompted.as_secs_f64(), "prompt_p50_ms": percentile(&times, 50),
        "prompt_p99_ms": percentile(&times, 99),
        "all_pss": all, "largest_pss": largest, "server_rss": serving.resident,
        "put_away_s": at_rest.as_secs_f64(), "processes_at_rest": 0,
        "tiers": tiers,
    });
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{made}")?;
    Ok(())
}

/// Times how long this disk takes to keep a page for good: a prompt cannot be quicker than the syncs it is made of.
fn sync_times() -> Result<Vec<f64>> {
    let mut file: File = tempfile::tempfile()?;
    let mut times = Vec::new();
    for _ in 0..PROMPTS {
        file.write_all(&[1; 4096])?;
        let begun = Instant::now();
        file.sync_data()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

async fn set(client: &Client, key: &str, value: impl Into<SettingInput>) -> Result<()> {
    let request = ConfigSetRequest {
        key: key.to_owned(),
        value: Some(value.into()),
        ..ConfigSetRequest::default()
    };
    client.config_set(&request).await?;
    Ok(())
}

/// Begins a session of the built-in agent and returns once its process is ready.
async fn begin(client: &Client, tier: Option<Tier>) -> Result<String> {
    let request = SessionCreateRequest {
        agent: "echo".to_owned(),
        tier: tier.map(|tier| tier.as_str().to_owned()),
        ..SessionCreateRequest::default()
    };
    let id = client.session_create(&request).await?.id;
    let wait = SessionWaitRequest {
        sessions: vec![id.clone()],
        timeout: Some(300),
        ..SessionWaitRequest::default()
    };
    let waited = client.session_wait(&wait).await?;
    if !waited.done {
        bail!("a session did not become ready: {waited:?}");
    }
    Ok(id)
}

/// Sends one prompt and returns how many milliseconds its turn took.
async fn prompt(client: &Client, session: &str) -> Result<f64> {
    let request = SessionPromptRequest {
        session: session.to_owned(),
        prompt: "say hello".to_owned(),
        wait: Some(300),
        ..SessionPromptRequest::default()
    };
    let begun = Instant::now();
    let done = client.session_prompt(&request).await?;
    if done.turn.state != "completed" {
        bail!("a turn did not end well: {done:?}");
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

async fn round_trips(client: &Client, session: &str) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..PROMPTS {
        times.push(prompt(client, session).await?);
    }
    Ok(times)
}

fn runner_of(server: &TestServer, session: &str) -> Result<u32> {
    let runs = server.runs();
    let run = runs
        .iter()
        .find(|run| run.spec.session.to_string() == session);
    let alive = run.and_then(|run| run.alive);
    Ok(alive.context("the session has no process")?.pid)
}

/// Waits until every process is put away.
async fn until_no_process(server: &TestServer) -> Result<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if server.runs().iter().all(|run| run.alive.is_none()) {
            return Ok(begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("some processes were not put away")
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or_default()
}
