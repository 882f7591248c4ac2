//! Reads which host a TLS client asks for.

use std::io;

use rustls::server::Acceptor;
use wh_domain::HostName;

/// The largest ClientHello that is looked at. Those of browsers with post-quantum keys have about 2 KB.
const HELLO_BYTES_MAX: usize = 16 << 10;

/// A fatal alert, `unrecognized_name`: tells a TLS client why it is disconnected.
pub(super) const ALERT: [u8; 7] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x70];

/// Why a tunnel's first bytes do not open it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HelloRefusal {
    #[error("the first bytes are not a TLS ClientHello")]
    NotTls,
    #[error("the ClientHello has no server name")]
    NoName,
    #[error("the ClientHello has more than {HELLO_BYTES_MAX} bytes")]
    TooLong,
}

/// Collects a client's first bytes until they name a host. The bytes are kept, to be passed on unchanged.
pub(super) struct HelloReader {
    acceptor: Acceptor,
    bytes: Vec<u8>,
}

impl HelloReader {
    pub(super) fn new() -> Self {
        Self {
            acceptor: Acceptor::default(),
            bytes: Vec::new(),
        }
    }

    /// Adds what was read; returns the server name when the ClientHello is complete.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<Option<HostName>, HelloRefusal> {
        if self.bytes.len() + chunk.len() > HELLO_BYTES_MAX {
            return Err(HelloRefusal::TooLong);
        }
        self.bytes.extend_from_slice(chunk);
        let mut rest = chunk;
        while !rest.is_empty() {
            let read: io::Result<usize> = self.acceptor.read_tls(&mut rest);
            match read {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Err(HelloRefusal::NotTls),
            }
            match self.acceptor.accept() {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    let hello = accepted.client_hello();
                    let name = hello.server_name().ok_or(HelloRefusal::NoName)?;
                    return match HostName::parse(name) {
                        Ok(name) => Ok(Some(name)),
                        Err(_) => Err(HelloRefusal::NoName),
                    };
                }
                Err(_) => return Err(HelloRefusal::NotTls),
            }
        }
        Ok(None)
    }

    /// Returns all bytes that were pushed.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
