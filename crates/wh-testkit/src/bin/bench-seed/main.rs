//! Fills a data directory for a benchmark and prints, as one line of JSON, what a client needs to use it: a secret per
//! scope and one per role of a session, and the id of a board.

mod said;

use std::{io::Write, path::PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde_json::json;
use wh_domain::{KeyScope, MessageKind, Owner, SessionRole, UserRole};
use wh_testkit::seed::Seed;

const USAGE: &str = "usage: bench-seed DATA_DIR [--failed N] [--sessions N] [--messages N] [--mixed N] [--events N] [--zones N]";

/// What to put into the database.
struct Options {
    data_dir: PathBuf,
    /// Sessions that have failed, older than all others.
    failed: usize,
    sessions: usize,
    /// Of each session.
    messages: usize,
    /// Of one session, of every kind.
    mixed: usize,
    /// Besides those of making everything else.
    events: usize,
    zones: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = options(std::env::args().skip(1))?;
    let seed = Seed::open_at(&options.data_dir, now()).await?;
    let user = seed.user("bench", UserRole::Admin).await?;
    let owner = Owner {
        user: user.id,
        key: None,
    };
    seed.failed_sessions(owner, options.failed).await?;
    let root = seed.session(owner, "the session with a key", None).await?;
    let board = seed.board(owner, "bench", options.zones).await?;
    let (_, full) = seed.key(user.id, KeyScope::Full, None).await?;
    let (_, read) = seed.key(user.id, KeyScope::Read, None).await?;
    let (_, client) = seed.key(user.id, KeyScope::Client, None).await?;
    let (_, session) = seed.key(user.id, KeyScope::Session, Some(root.id)).await?;
    let mut keys = json!({"full": full, "read": read, "client": client, "session": session});
    for role in SessionRole::ALL {
        let name = role.as_str();
        let own = seed.session_as(owner, name, role).await?;
        let (_, key) = seed.key(user.id, KeyScope::Session, Some(own.id)).await?;
        keys[name] = key.into();
    }
    let messages = vec![(MessageKind::Agent, "this is what was said"); options.messages];
    if !messages.is_empty() {
        seed.messages(root.id, &messages).await?;
    }
    if options.mixed > 0 {
        seed.messages_told(root.id, said::mixed(options.mixed))
            .await?;
    }
    seed.sessions(owner, options.sessions, options.messages)
        .await?;
    seed.events(&root, options.events).await?;
    seed.close().await;
    let made = json!({
        "key": full,
        "board": board.id.to_string(),
        "session": root.id.to_string(),
        "keys": keys,
    });
    writeln!(std::io::stdout(), "{made}")?;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server that is really started compares with the real time"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options> {
    let mut options = Options {
        data_dir: arguments.next().context(USAGE)?.into(),
        failed: 0,
        sessions: 0,
        messages: 0,
        mixed: 0,
        events: 0,
        zones: 4,
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next().context(USAGE)?.parse().context(USAGE)?;
        match name.as_str() {
            "--failed" => options.failed = value,
            "--sessions" => options.sessions = value,
            "--messages" => options.messages = value,
            "--mixed" => options.mixed = value,
            "--events" => options.events = value,
            "--zones" => options.zones = value,
            _ => bail!(USAGE),
        }
    }
    Ok(options)
}
