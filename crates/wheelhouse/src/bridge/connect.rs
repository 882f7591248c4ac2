//! Reaching a server: the one that runs, or one of our own in this process.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use wh_client::{Client, ClientError, McpLines};

use crate::exit::{CliError, CliResult};
use crate::serve::{ServeOptions, Server};

/// The first and the longest pause between attempts.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// How long somebody else's server may be away before we serve ourselves: longer than a restart or an upgrade.
const EMBED_AFTER: Duration = Duration::from_secs(15);
/// How often a start of our own is tried when another process holds the database but does not answer yet.
const EMBED_ATTEMPTS: u32 = 20;

/// Which tools the lines carry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    /// The tools of this dialect instead of the native ones.
    pub(crate) dialect: Option<String>,
    /// The parameters of the address.
    pub(crate) parameters: Value,
}

/// Knows how to reach a server, again and again.
pub(crate) struct Connector {
    client: Client,
    tools: Tools,
    /// How to serve when nobody does; absent for a server elsewhere.
    embed: Option<ServeOptions>,
    embedded: Option<Server>,
}

impl Connector {
    pub(crate) fn new(client: Client, tools: Tools, embed: Option<ServeOptions>) -> Self {
        Self {
            client,
            tools,
            embed,
            embedded: None,
        }
    }

    /// Connects for the first time: to the server that runs, or else to one of our own.
    pub(super) async fn first(&mut self) -> CliResult<McpLines> {
        let mut failure = None;
        for attempt in 0..EMBED_ATTEMPTS {
            match self.open().await {
                Ok(lines) => return Ok(lines),
                Err(error @ ClientError::Refused { .. }) => return Err(error.into()),
                Err(error) if self.embed.is_none() => return Err(error.into()),
                Err(_) => {}
            }
            match self.serve().await {
                Ok(()) => continue,
                Err(error) => failure = Some(error),
            }
            tokio::time::sleep(PAUSE_FIRST * (attempt + 1).min(5)).await;
        }
        let error = failure.map_or_else(|| CliError::failed("no server answers"), CliError::from);
        Err(error.hint("see what is wrong with `wheelhouse doctor`"))
    }

    /// Connects again, however long it takes. Only a refusal that will not pass is an error.
    pub(super) async fn again(&mut self) -> CliResult<McpLines> {
        let mut pause = PAUSE_FIRST;
        let mut waited = Duration::ZERO;
        loop {
            match self.open().await {
                Ok(lines) => return Ok(lines),
                Err(error) if !error.is_temporary() => return Err(error.into()),
                Err(error) => tracing::debug!(%error, "the server is still away"),
            }
            if waited >= EMBED_AFTER
                && self.embed.is_some()
                && self.embedded.is_none()
                && let Err(error) = self.serve().await
            {
                tracing::warn!(error = %format!("{error:#}"), "cannot serve in its place");
            }
            tokio::time::sleep(pause).await;
            waited += pause;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Takes our own server down, if there is one.
    pub(super) async fn stop(self) {
        if let Some(server) = self.embedded {
            server.stop().await;
        }
    }

    async fn open(&self) -> Result<McpLines, ClientError> {
        let dialect = self.tools.dialect.as_deref();
        self.client.mcp_lines(dialect, &self.tools.parameters).await
    }

    async fn serve(&mut self) -> anyhow::Result<()> {
        if let (Some(options), None) = (&self.embed, &self.embedded) {
            self.embedded = Some(embedded_server(options).await?);
        }
        Ok(())
    }
}

/// Starts a server inside this process, for `wheelhouse mcp` when none runs. It listens on a port of its own, so that it
/// neither takes nor needs the usual one, and on the data directory's socket, where the bridge and others find it.
pub(crate) async fn embedded_server(options: &ServeOptions) -> anyhow::Result<Server> {
    let options = ServeOptions {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ..options.clone()
    };
    let server = Server::start(&options).await?;
    tracing::info!(
        url = server.about.url,
        "no server runs; serving in this process"
    );
    Ok(server)
}
