//! A tunnel: bytes in both directions, counted, until one side ends it, it is silent for too long or a limit is reached.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use wh_domain::HostName;

use super::{
    hello::{ALERT, HelloReader, HelloRefusal},
    meter::Meter,
    state::EgressState,
};

/// The port on which the first bytes have to be a TLS handshake.
const TLS_PORT: u16 = 443;
/// How much is read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// Passes bytes between a client and the host it asked for. On port 443 the client has to begin a TLS handshake that names
/// the same host.
pub(super) async fn run_tunnel<C>(
    state: &EgressState,
    mut client: C,
    mut upstream: TcpStream,
    host: &HostName,
    port: u16,
) -> io::Result<()>
where
    C: AsyncRead + AsyncWrite + Unpin,
{
    let activity = Activity::new();
    if port == TLS_PORT {
        let hello = tokio::time::timeout(state.limits.first_byte, read_hello(&mut client)).await;
        let (name, bytes) = match hello.map_err(io::Error::from)?? {
            Ok(hello) => hello,
            Err(refusal) => {
                if state.may_log() {
                    tracing::warn!(%host, %refusal, "closed a tunnel of the agent");
                }
                return refuse(&mut client).await;
            }
        };
        if name != *host {
            if state.may_log() {
                tracing::warn!(%host, %name, "closed a tunnel of the agent that names another host");
            }
            state.report(name.as_str(), port);
            return refuse(&mut client).await;
        }
        pass(&mut upstream, &bytes, &state.meter, &activity).await?;
    }
    let (mut client_read, mut client_write) = tokio::io::split(client);
    let (mut upstream_read, mut upstream_write) = upstream.split();
    let up = copy(
        &mut client_read,
        &mut upstream_write,
        &state.meter,
        &activity,
    );
    let down = copy(
        &mut upstream_read,
        &mut client_write,
        &state.meter,
        &activity,
    );
    tokio::select! {
        ended = async { tokio::try_join!(up, down) } => ended.map(drop),
        () = activity.silent_for(state.limits.idle) => Err(io::ErrorKind::TimedOut.into()),
        () = state.meter.reached().cancelled() => Err(io::ErrorKind::QuotaExceeded.into()),
    }
}

type Hello = (HostName, Vec<u8>);

/// Reads until the ClientHello is complete.
async fn read_hello<C: AsyncRead + Unpin>(
    client: &mut C,
) -> io::Result<Result<Hello, HelloRefusal>> {
    let mut hello = HelloReader::new();
    let mut buffer = [0; 4096];
    loop {
        let count = client.read(&mut buffer).await?;
        let Some(chunk @ [_, ..]) = buffer.get(..count) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        match hello.push(chunk) {
            Ok(None) => {}
            Ok(Some(name)) => return Ok(Ok((name, hello.into_bytes()))),
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
}

async fn refuse<C: AsyncWrite + Unpin>(client: &mut C) -> io::Result<()> {
    client.write_all(&ALERT).await?;
    client.shutdown().await
}

/// Copies one direction to its end, and then ends it for the receiver.
async fn copy<R, W>(from: &mut R, to: &mut W, meter: &Meter, activity: &Activity) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut buffer).await?;
        match buffer.get(..count) {
            Some(chunk @ [_, ..]) => pass(to, chunk, meter, activity).await?,
            _ => return to.shutdown().await,
        }
    }
}

/// Passes bytes on as far as the limit allows; fails when it is reached.
async fn pass<W: AsyncWrite + Unpin>(
    to: &mut W,
    bytes: &[u8],
    meter: &Meter,
    activity: &Activity,
) -> io::Result<()> {
    let granted = meter.take(bytes.len());
    to.write_all(bytes.get(..granted).unwrap_or_default())
        .await?;
    to.flush().await?;
    activity.touch();
    meter.end_if_reached();
    match granted == bytes.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::QuotaExceeded.into()),
    }
}

/// When something passed last.
struct Activity {
    start: Instant,
    /// Milliseconds after the start.
    last: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    fn touch(&self) {
        let passed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::Relaxed);
    }

    /// Returns when nothing has passed for so long.
    async fn silent_for(&self, limit: Duration) {
        loop {
            let last = self.start + Duration::from_millis(self.last.load(Ordering::Relaxed));
            tokio::time::sleep_until(last + limit).await;
            if last.elapsed() >= limit
                && last == self.start + Duration::from_millis(self.last.load(Ordering::Relaxed))
            {
                return;
            }
        }
    }
}
