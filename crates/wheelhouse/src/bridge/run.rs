//! The bridge itself: two directions, and what happens between two servers.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::Instant;
use wh_client::McpLines;

use super::connect::Connector;
use super::ledger::{Asked, Ledger, Pass, Replay, answers};
use super::line::LineReader;
use crate::exit::{CliError, CliResult};

/// How long lines are held for a server that is away before they are refused.
const HOLD_FOR: Duration = Duration::from_secs(10);
/// The most lines that are held.
const HELD_MAX: usize = 256;
/// How long a new server may take to answer the repeated introduction.
const REPLAY_WITHIN: Duration = Duration::from_secs(10);
/// How long a server may take to finish its answers when the client has closed its end, or to be gone when it cannot be
/// written to.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);

/// How a connection ended.
enum Ended {
    ByClient,
    ByServer,
}

/// What lasts across connections.
struct Bridge<R, W> {
    input: LineReader<R>,
    output: W,
    ledger: Mutex<Ledger>,
    /// Lines that arrived while no server was there.
    held: Vec<Vec<u8>>,
}

/// The connection to one server.
struct Link {
    from_server: LineReader<ReadHalf<McpLines>>,
    to_server: WriteHalf<McpLines>,
}

/// Bridges until the client closes its end or `stop` resolves.
pub(crate) async fn run<R, W>(
    mut connector: Connector,
    input: R,
    output: W,
    stop: impl Future<Output = ()>,
) -> CliResult
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut bridge = Bridge {
        input: LineReader::new(input),
        output,
        ledger: Mutex::default(),
        held: Vec::new(),
    };
    let result = tokio::select! {
        result = bridge.serve(&mut connector) => result,
        () = stop => Ok(()),
    };
    connector.stop().await;
    result
}

impl<R, W> Bridge<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    async fn serve(&mut self, connector: &mut Connector) -> CliResult {
        let mut link = Link::new(connector.first().await?);
        loop {
            let ended = self.pump(&mut link).await.map_err(client_gone)?;
            if matches!(ended, Ended::ByClient) {
                return Ok(());
            }
            drop(link);
            tracing::warn!("the server went away; connecting again");
            match self.reconnect(connector).await? {
                Some(next) => link = next,
                None => return Ok(()),
            }
        }
    }

    /// Passes lines in both directions until one side ends. Only trouble with the client is an error.
    async fn pump(&mut self, link: &mut Link) -> io::Result<Ended> {
        let Self {
            input,
            output,
            ledger,
            held,
        } = self;
        let Link {
            from_server,
            to_server,
        } = link;
        let up = async {
            for line in held.drain(..) {
                if send(ledger, to_server, &line).await.is_err() {
                    return io::Result::Ok(Ended::ByServer);
                }
            }
            while let Some(line) = input.next().await? {
                if send(ledger, to_server, &line).await.is_err() {
                    return Ok(Ended::ByServer);
                }
            }
            // Half-closed: the server finishes what it owes and then closes its half.
            to_server.shutdown().await.ok();
            Ok(Ended::ByClient)
        };
        let down = async {
            while let Ok(Some(line)) = from_server.next().await {
                lock(ledger).server_line(&line);
                output.write_all(&line).await?;
                output.flush().await?;
            }
            Ok(Ended::ByServer)
        };
        let mut down = std::pin::pin!(down);
        tokio::select! {
            ended = up => {
                let ended = ended?;
                // Answers that are on their way still count.
                match tokio::time::timeout(DRAIN_WITHIN, down).await {
                    Ok(Err(error)) => Err(error),
                    _ => Ok(ended),
                }
            }
            ended = &mut down => ended,
        }
    }

    /// Settles what the old server owed, and introduces the client to the next. `None` when the client leaves meanwhile.
    async fn reconnect(&mut self, connector: &mut Connector) -> CliResult<Option<Link>> {
        let hold_until = Instant::now() + HOLD_FOR;
        loop {
            let owed = lock(&self.ledger).lost();
            self.say(&owed).await?;
            let lines = {
                let mut connecting = std::pin::pin!(connector.again());
                loop {
                    let hold = Instant::now() < hold_until;
                    tokio::select! {
                        lines = &mut connecting => break lines?,
                        line = self.input.next() => match line.map_err(client_gone)? {
                            None => return Ok(None),
                            Some(line) if hold && self.held.len() < HELD_MAX => self.held.push(line),
                            Some(line) => self.say(&Ledger::refuse(&line)).await?,
                        },
                        () = tokio::time::sleep_until(hold_until), if hold => self.release().await?,
                    }
                }
            };
            let mut link = Link::new(lines);
            let Some(replay) = lock(&self.ledger).replay() else {
                return Ok(Some(link));
            };
            match link.introduce(replay).await {
                Ok(said) => self.say(&said).await?,
                Err(error) => {
                    tracing::warn!(%error, "the server did not accept the client again");
                    continue;
                }
            }
            return Ok(Some(link));
        }
    }

    /// Refuses what was held for too long.
    async fn release(&mut self) -> CliResult {
        for line in std::mem::take(&mut self.held) {
            self.say(&Ledger::refuse(&line)).await?;
        }
        Ok(())
    }

    /// Writes lines of our own to the client.
    async fn say(&mut self, lines: &[Vec<u8>]) -> CliResult {
        for line in lines {
            self.output.write_all(line).await.map_err(client_gone)?;
        }
        self.output.flush().await.map_err(client_gone)
    }
}

impl Link {
    fn new(lines: McpLines) -> Self {
        let (read, write) = tokio::io::split(lines);
        Self {
            from_server: LineReader::new(read),
            to_server: write,
        }
    }

    /// Repeats the client's introduction and what it follows. Answers the client has already had are swallowed; what else
    /// the server says meanwhile is returned.
    async fn introduce(&mut self, replay: Replay) -> io::Result<Vec<Vec<u8>>> {
        let mut said = Vec::new();
        self.write(&replay.initialize).await?;
        let Some(id) = replay.swallow else {
            return Ok(said);
        };
        self.swallow(&id, &mut said).await?;
        if let Some(initialized) = replay.initialized {
            self.write(&initialized).await?;
        }
        for Asked { id, line } in replay.subscribed {
            self.write(&line).await?;
            self.swallow(&id, &mut said).await?;
        }
        Ok(said)
    }

    async fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.to_server.write_all(line).await?;
        self.to_server.flush().await
    }

    /// Waits for the answer to `id`, keeping everything else.
    async fn swallow(&mut self, id: &Value, said: &mut Vec<Vec<u8>>) -> io::Result<()> {
        let answered = async {
            while let Some(line) = self.from_server.next().await? {
                if answers(&line, id) {
                    return Ok(());
                }
                said.push(line);
            }
            Err(io::Error::from(io::ErrorKind::UnexpectedEof))
        };
        tokio::time::timeout(REPLAY_WITHIN, answered).await?
    }
}

async fn send(
    ledger: &Mutex<Ledger>,
    to_server: &mut WriteHalf<McpLines>,
    line: &[u8],
) -> io::Result<()> {
    if lock(ledger).client_line(line) == Pass::Drop {
        return Ok(());
    }
    to_server.write_all(line).await?;
    to_server.flush().await
}

fn lock(ledger: &Mutex<Ledger>) -> std::sync::MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn client_gone(error: io::Error) -> CliError {
    CliError::failed(format!("the MCP client's end broke: {error}"))
}
