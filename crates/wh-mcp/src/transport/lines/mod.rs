//! MCP over newline-delimited JSON, as on stdio: the same handler as over HTTP, in every revision.
//!
//! One connection is one [`serve`] call: a reader that turns lines into messages ([`read`]), rmcp between, and a
//! writer that owns the output. Nothing is spawned here; the three run inside the call.
//!
//! Where rmcp's own stdio transport is silent or gives up, this one answers: a line that is not JSON, is not a
//! message, is too long or nests too deeply gets an error with id null and the connection goes on; a connection
//! closed before its first request has simply ended.

mod read;
mod transport;

use std::{io, time::Duration};

use rmcp::{ServerHandler, serve_server, service::ServerInitializeError};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

use self::transport::LineTransport;
use super::front::Front;

/// Limits of one line-based connection.
#[derive(Debug, Clone)]
pub struct LinesConfig {
    /// Bytes of one line. Default 4 MiB. Reached: the line is skipped and answered with an error.
    pub line_bytes_max: usize,
    /// Nesting of arrays and objects. Default 64. Reached: the line is answered with `-32700`.
    pub json_depth_max: usize,
    /// Messages in one batch (2025-03-26 only). Default 64. Reached: the line is answered with `-32600`.
    pub batch_length_max: usize,
    /// Answers waiting to be written. Default 64. Reached: handlers wait until the client reads.
    pub answers_queued_max: usize,
    /// How long the last answers may take to be written once the input has ended. Default 5 s.
    pub drain: Duration,
}

impl Default for LinesConfig {
    fn default() -> Self {
        Self {
            line_bytes_max: 4 * 1024 * 1024,
            json_depth_max: 64,
            batch_length_max: 64,
            answers_queued_max: 64,
            drain: Duration::from_secs(5),
        }
    }
}

/// Why a connection ended badly. Its ordinary end is not an error.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// The handshake did not succeed; the client has been told.
    #[error("the MCP handshake failed")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The client no longer reads.
    #[error("failed to write to the MCP client")]
    Write(#[source] io::Error),
    /// A task inside rmcp panicked.
    #[error("the MCP service stopped unexpectedly")]
    Service(#[source] tokio::task::JoinError),
}

/// Serves one connection until its input ends or `shutdown` is cancelled.
///
/// `extensions` are what an authenticating layer would attach to an HTTP request, such as the
/// [`Caller`](super::Caller); handlers find them by [`caller_extensions`](super::caller_extensions).
pub async fn serve<H, R, W>(
    handler: H,
    reader: R,
    writer: W,
    extensions: http::Extensions,
    config: LinesConfig,
    shutdown: CancellationToken,
) -> Result<(), LinesError>
where
    H: ServerHandler + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin,
{
    let front = Front::new(handler);
    let stop = shutdown.child_token();
    let (answers, queue) = mpsc::channel(config.answers_queued_max.max(1));
    let drain = config.drain;
    let transport = LineTransport::new(
        reader,
        answers,
        extensions,
        config,
        front.server_info().clone(),
    );

    let mut service = std::pin::pin!(run(front, transport, stop.clone()));
    let mut output = std::pin::pin!(write(writer, queue));
    tokio::select! {
        served = &mut service => {
            // Every answer is queued by now; what is left is to write them.
            match tokio::time::timeout(drain, output).await {
                Ok(written) => served.and(written.map_err(LinesError::Write)),
                Err(_) => served,
            }
        }
        written = &mut output => {
            stop.cancel();
            let served = service.await;
            written.map_err(LinesError::Write).and(served)
        }
    }
}

async fn run<H, R>(
    front: Front<H>,
    transport: LineTransport<R>,
    stop: CancellationToken,
) -> Result<(), LinesError>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
{
    let started = tokio::select! {
        started = serve_server(front, transport) => started,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match started {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(LinesError::Handshake(Box::new(error))),
    };
    let cancel = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = stop.cancelled() => {
            cancel.cancel();
            waiting.await
        }
    };
    ended.map(drop).map_err(LinesError::Service)
}

/// Writes queued lines, flushing whenever none is waiting.
async fn write<W>(mut writer: W, mut queue: mpsc::Receiver<Vec<u8>>) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    while let Some(mut line) = queue.recv().await {
        line.push(b'\n');
        writer.write_all(&line).await?;
        if queue.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
