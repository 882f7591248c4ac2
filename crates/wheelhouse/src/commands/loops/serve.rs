//! `wheelhouse loop serve`.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_api::{KeyCreateRequest, KeyCreatedView};
use wh_client::{Client, ClientError};
use wh_runner::{ForwardPort, Limits, McpSpec, Token};

use super::super::{mcp::stop_signal, serve};
use crate::bridge::embedded_server;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::logs;
use crate::serve::Server;
use crate::ui::now;

/// What agents are told that the server is called.
const SERVER_NAME: &str = "iteratr-tools";

/// When the key of a port ends that was not closed.
const KEY_DAYS: i64 = 30;

/// How long calls may take that are under way when the port closes.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Serve the tools of one list to the programs of this machine, without a key, until interrupted
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the address, http://localhost:PORT/mcp, once it listens. There an MCP client finds task-add, task-update, task-list,
task-next, note-add, note-list, iteration-summary and session-complete, for this list alone. Any program of this machine may
call it while it runs. When no server runs, one is started in this process.")]
pub(crate) struct ServeArgs {
    /// The list's name; the same as in `wheelhouse task ls --list NAME`
    #[arg(long, value_name = "NAME")]
    session: String,
}

/// Where a list is served.
#[derive(Serialize)]
struct Served<'a> {
    url: &'a str,
    list: &'a str,
}

pub(super) async fn run(cx: &Context, args: ServeArgs) -> CliResult {
    if cx.url().is_some() {
        return Err(CliError::usage("a list is served beside its server")
            .hint("run this on the machine of the server, without --url"));
    }
    let config = cx.config()?;
    logs::start(&config, "warn");
    let stop = stop_signal()?;
    let client = cx.client()?;
    let own = match client.whoami().await {
        Ok(_) => None,
        Err(error @ ClientError::Refused { .. }) => return Err(error.into()),
        Err(_) => Some(embedded_server(&serve::options(&config)).await?),
    };
    let data_dir = &config.data_dir.value;
    let served = serve_list(cx, &client, &args.session, data_dir, stop).await;
    if let Some(server) = own {
        Server::stop(server).await;
    }
    served
}

async fn serve_list(
    cx: &Context,
    client: &Client,
    list: &str,
    data_dir: &std::path::Path,
    stop: impl Future<Output = ()>,
) -> CliResult {
    let key = port_key(client, list).await?;
    let mcp = McpSpec {
        name: SERVER_NAME.to_owned(),
        token: Token::new(key.key.unwrap_or_default()),
        server_file: data_dir.join("server.json"),
        path: format!("/mcp/iteratr?list={}", escaped(list)),
    };
    let port = ForwardPort::open_local(mcp, Limits::default()).await;
    let port = port.map_err(|error| CliError::failed(format!("cannot open a port: {error}")))?;
    let url = port.url();
    let said = Served { url: &url, list };
    cx.ui.answer(&said, |ui| ui.line(said.url))?;
    let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
    tasks.spawn(port.serve(tasks.clone(), closing.clone()));
    stop.await;
    closing.cancel();
    tasks.close();
    // Whoever is late is cut off.
    tokio::time::timeout(CLOSE_WITHIN, tasks.wait()).await.ok();
    client.key_revoke(&key.about.id).await?;
    Ok(())
}

/// Makes the key with which the port calls the server.
async fn port_key(client: &Client, list: &str) -> CliResult<KeyCreatedView> {
    let end = now() + jiff::SignedDuration::from_hours(24 * KEY_DAYS);
    let name: String = list.chars().filter(|c| !c.is_control()).take(60).collect();
    let request = KeyCreateRequest {
        name: format!("loop serve {name}"),
        scope: "full".to_owned(),
        user: None,
        expires_at: Some(end.to_string()),
        // It opens this dialect and nothing else.
        dialect: Some(wh_domain::Dialect::Iteratr.as_str().to_owned()),
        session: None,
        idempotency_key: None,
    };
    Ok(client.key_create(&request).await?)
}

/// Writes a text as a part of an address.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}
