//! Measures how the change feed holds up: many subscribers follow everything while many sessions stream. Prints one line of JSON.
//! The binary under test is named by `WHEELHOUSE_BINARY`.
//!
//! Sessions are real ones of the built-in agent, each with its own processes; what they say passes the runner, its journal and the
//! store like the words of any agent. Subscribers are bare sockets that look at numbers and times only, because they share the
//! machine with what they measure.

mod follower;
mod kernel;
mod tally;

use std::{
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_api::{
    ConfigSetRequest, EventListRequest, SessionCreateRequest, SessionPromptRequest,
    SessionWaitRequest,
};
use wh_client::Client;
use wh_testkit::server::TestServer;

use self::{
    follower::Follower,
    tally::{Seen, Times, Total},
};

/// Sessions that are begun or prompted at the same time.
const AT_ONCE: usize = 16;
/// Sessions that one call waits for.
const WAIT_AT_ONCE: usize = 50;
/// How long subscribers may need for what is left when everything was said.
const REST_WITHIN: Duration = Duration::from_secs(30);

/// What is asked for on the command line, or the target.
struct Plan {
    subscribers: usize,
    sessions: usize,
    /// Messages a second, of all sessions.
    rate: usize,
    seconds: usize,
}

impl Plan {
    fn read() -> Result<Self> {
        let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
        let mut next = |otherwise| numbers.next().unwrap_or(Ok(otherwise));
        let usage = "usage: bench-subscribers [SUBSCRIBERS [SESSIONS [RATE [SECONDS]]]]";
        let plan = || -> Result<Self, std::num::ParseIntError> {
            Ok(Self {
                subscribers: next(500)?,
                sessions: next(200)?.max(1),
                // A little more than is measured: prompts and the last words take time too.
                rate: next(2_130)?.max(1),
                seconds: next(20)?,
            })
        };
        let mut plan = plan;
        plan().context(usage)
    }

    /// What every session is asked to say.
    fn prompt(&self) -> String {
        let pause_ms = 1_000 * self.sessions / self.rate;
        format!("count {} {pause_ms}", self.count())
    }

    /// What each session says.
    fn count(&self) -> usize {
        self.rate * self.seconds / self.sessions
    }

    /// What all sessions say together.
    fn said(&self) -> usize {
        self.count() * self.sessions
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let plan = Plan::read()?;
    let server = TestServer::start();
    let client = server.client();
    set(&client, "session.live_per_user_max", 10_000).await?;
    let ids = stream::iter(0..plan.sessions).map(|_| begin(&client));
    let ids: Vec<Result<String>> = ids.buffer_unordered(AT_ONCE).collect().await;
    let ids: Vec<String> = ids.into_iter().collect::<Result<_>>()?;

    let key = server.key("full");
    let start = newest(&client).await?;
    let crowd = Crowd::open(&server, &key, start, plan.subscribers).await?;
    let pid = server.about().pid;
    let (cpu_before, rss_before) = (kernel::cpu(pid)?, kernel::resident(pid)?);
    let begun = Instant::now();
    let prompt = plan.prompt();
    let prompted = stream::iter(&ids).map(|id| say(&client, id, &prompt));
    let prompted: Vec<Result<()>> = prompted.buffer_unordered(AT_ONCE).collect().await;
    prompted.into_iter().collect::<Result<()>>()?;
    for some in ids.chunks(WAIT_AT_ONCE) {
        wait(&client, some).await?;
    }
    let streamed = begun.elapsed();
    let end = newest(&client).await?;
    let total = crowd.finish(end).await;
    let cpu = kernel::cpu(pid)? - cpu_before;
    let made = json!({
        "subscribers": plan.subscribers, "sessions": plan.sessions, "asked_rate": plan.rate,
        "seconds": streamed.as_secs_f64(), "events": end - start, "messages": total.messages,
        "rate": plan.said() as f64 / streamed.as_secs_f64(),
        "deliveries": total.seen, "missing": total.missing, "doubled": total.doubled,
        "out_of_order": total.out_of_order, "complete": total.complete,
        "lag_p50_ms": total.lag(50.0), "lag_p99_ms": total.lag(99.0), "lag_max_ms": total.lag(100.0),
        "rss_before": rss_before, "rss_peak": kernel::resident_peak(pid)?,
        "cpu_s": cpu.as_secs_f64(), "own_cpu_s": kernel::cpu(std::process::id())?.as_secs_f64(),
    });
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{made}")?;
    Ok(())
}

/// All who follow.
struct Crowd {
    tasks: TaskTracker,
    enough: CancellationToken,
    times: Arc<Times>,
    ended: tokio::sync::mpsc::UnboundedReceiver<Seen>,
    start: u64,
}

impl Crowd {
    async fn open(server: &TestServer, key: &str, start: u64, count: usize) -> Result<Self> {
        let (tasks, enough) = (TaskTracker::new(), CancellationToken::new());
        let times = Arc::new(Times::new(start, count));
        let (tell, ended) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..count {
            let follower = Follower::open(server.url(), key, start).await?;
            let (times, enough, tell) = (Arc::clone(&times), enough.clone(), tell.clone());
            tasks.spawn(async move {
                let seen = follower.follow(number, &times, start, &enough).await;
                let _nobody_waits = tell.send(seen);
            });
        }
        Ok(Self {
            tasks,
            enough,
            times,
            ended,
            start,
        })
    }

    /// Waits until everyone has come to `end`, within bounds, and adds up what they saw.
    async fn finish(mut self, end: u64) -> Total {
        let deadline = Instant::now() + REST_WITHIN;
        while !self.times.have_all_come_to(end) && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.enough.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let mut total = Total::new(self.start, end, self.times.messages());
        while let Ok(seen) = self.ended.try_recv() {
            total.add(&seen);
        }
        total
    }
}

async fn set(client: &Client, key: &str, value: i64) -> Result<()> {
    let request = ConfigSetRequest {
        key: key.to_owned(),
        value: Some(value.into()),
        ..ConfigSetRequest::default()
    };
    client.config_set(&request).await?;
    Ok(())
}

/// Returns the number of the newest event.
async fn newest(client: &Client) -> Result<u64> {
    let mut request = EventListRequest {
        after: Some(0_u64.into()),
        limit: Some(200),
    };
    loop {
        let page = client.event_list(&request).await?;
        if !page.more {
            return Ok(page.through);
        }
        request.after = Some(page.through.into());
    }
}

async fn begin(client: &Client) -> Result<String> {
    let request = SessionCreateRequest {
        agent: "echo".to_owned(),
        ..SessionCreateRequest::default()
    };
    let id = client.session_create(&request).await?.id;
    wait(client, std::slice::from_ref(&id)).await?;
    Ok(id)
}

async fn wait(client: &Client, sessions: &[String]) -> Result<()> {
    let request = SessionWaitRequest {
        sessions: sessions.to_vec(),
        timeout: Some(300),
        ..SessionWaitRequest::default()
    };
    let waited = client.session_wait(&request).await?;
    if !waited.done {
        bail!("sessions did not come to rest: {waited:?}");
    }
    Ok(())
}

async fn say(client: &Client, session: &str, prompt: &str) -> Result<()> {
    let request = SessionPromptRequest {
        session: session.to_owned(),
        prompt: prompt.to_owned(),
        ..SessionPromptRequest::default()
    };
    client.session_prompt(&request).await?;
    Ok(())
}
