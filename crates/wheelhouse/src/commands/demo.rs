//! `wheelhouse demo`: a whole story with the built-in agent, in a place of its own that is removed at the end.

mod story;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};
use wh_agents::{ConfiguredAgents, CustomAgent};
use wh_api::SessionListRequest;
use wh_client::Client;
use wh_domain::{AgentName, SecretText};

use self::story::Story;
use super::life::{STOP_WITHIN, manage, wait_for};
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::serve::{ServeOptions, Server};

/// What the agent of the story is called.
const AGENT: &str = "demo";
/// How long a tool call of the agent may take; it makes none.
const TOOL_TIMEOUT: Duration = Duration::from_secs(60);

/// See what this is about: a repository, an agent, a question, a change, a merge
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse demo

It needs git, and no key, no network and no server. Everything is made in a temporary directory and removed at the end.")]
pub(crate) struct DemoArgs {}

pub(crate) async fn run(cx: &Context, DemoArgs {}: DemoArgs) -> CliResult {
    let failed = |what: &str, error| CliError::failed(format!("cannot {what}: {error}"));
    let home = tempfile::Builder::new()
        .prefix("wheelhouse-demo-")
        .tempdir();
    let home = home.map_err(|error| failed("make a temporary directory", error))?;
    let mut interrupts =
        signal(SignalKind::interrupt()).map_err(|error| failed("wait for signals", error))?;
    wh_git::version().await.map_err(|error| {
        CliError::failed(crate::exit::chain(&error))
            .hint("install git 2.34 or newer, such as with `apt install git`")
    })?;
    let data_dir = home.path().join("data");
    let server = Server::start(&options(home.path(), &data_dir)?).await?;
    let client = Client::local(&data_dir)?;
    let story = Story::new(cx.ui, &client, home.path(), &server.about.url);
    let told = tokio::select! {
        told = story.tell() => told,
        _ = interrupts.recv() => Err(CliError::ended(Exit::Cancelled, "the demo was interrupted")),
    };
    let cleaned = clean_up(&client, server, home).await;
    told.and(cleaned)?;
    match cx.ui.is_json() {
        true => Ok(()),
        false => cx
            .ui
            .line("Everything of this demo is removed. Yours: wheelhouse serve"),
    }
}

/// A server on a free port, with the built-in agent under another name: its home is the demo's, so that what it
/// remembers goes with the rest.
fn options(home: &Path, data_dir: &Path) -> CliResult<ServeOptions> {
    let unusable = |what: &str| CliError::failed(format!("{what} is not text"));
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::to_str);
    let program = program.ok_or_else(|| unusable("the path of this program"))?;
    let home = home
        .to_str()
        .ok_or_else(|| unusable("the temporary directory's path"))?;
    let agent = CustomAgent {
        name: AgentName::parse(AGENT).map_err(|_| unusable("the agent's name"))?,
        title: None,
        command: [program, "agent", "echo"].map(str::to_owned).into(),
        environment: BTreeMap::from([("HOME".to_owned(), SecretText::new(home.to_owned()))]),
        context_file: None,
        model_flag: None,
        login_files: Vec::new(),
        config_files: Vec::new(),
        model: None,
        mcp_dialect: None,
        project_config: Vec::new(),
        tier: None,
        image: None,
    };
    Ok(ServeOptions {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data_dir: data_dir.to_owned(),
        database: None,
        allow_remote: false,
        hosts: Vec::new(),
        origins: Vec::new(),
        local_admin: true,
        tool_timeout: TOOL_TIMEOUT,
        agents: ConfiguredAgents {
            custom: vec![agent],
            ..ConfiguredAgents::default()
        },
        model: None,
        local_roots: Vec::new(),
        repos: wh_domain::RepoRules::default(),
        webhooks: wh_domain::WebhookRules::default(),
        hooks: wh_domain::LoopHooks::default(),
        containment: Default::default(),
        config_file: None,
        start_values: Vec::new(),
    })
}

/// Ends the agents, then the server, then removes what they wrote.
async fn clean_up(client: &Client, server: Server, home: TempDir) -> CliResult {
    let list = client.session_list(&SessionListRequest::default()).await?;
    let ids: Vec<_> = list.sessions.into_iter().map(|it| it.id).collect();
    for id in &ids {
        manage(client, id, "stop").await?;
    }
    if !ids.is_empty() {
        wait_for(client, &ids, false, Some(STOP_WITHIN)).await?;
    }
    server.stop().await;
    let path = home.path().to_owned();
    home.close()
        .map_err(|error| CliError::failed(format!("cannot remove {}: {error}", path.display())))
}
