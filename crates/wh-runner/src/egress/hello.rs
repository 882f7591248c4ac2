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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;

    fn hello() -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let name = "host.test".try_into().unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8], piece: usize) -> Result<Option<HostName>, HelloRefusal> {
        let mut reader = HelloReader::new();
        for chunk in bytes.chunks(piece) {
            if let Some(name) = reader.push(chunk)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    proptest! {
        #[test]
        fn a_hello_is_read_in_pieces_of_any_size(piece in 1..600_usize) {
            let name = read(&hello(), piece);
            prop_assert_eq!(name, Ok(Some(HostName::parse("host.test").unwrap())));
        }

        #[test]
        fn a_hello_is_complete_before_it_names_a_host(left_out in 1..200_usize, piece in 1..600_usize) {
            let hello = hello();
            prop_assert_eq!(read(&hello[..hello.len() - left_out], piece), Ok(None));
        }

        /// A damaged hello may have a name or none, but is read to an end, with a bound.
        #[test]
        fn damaged_hellos_are_read_to_an_end(
            changes in prop::collection::vec((0..500_usize, any::<u8>()), 1..8),
            piece in 1..600_usize,
        ) {
            let mut bytes = hello();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.resize(HELLO_BYTES_MAX + 1, 0);
            prop_assert!(!matches!(read(&bytes, piece), Ok(None)));
        }

        #[test]
        fn other_bytes_name_no_host(bytes in prop::collection::vec(any::<u8>(), 0..2_000), piece in 1..600_usize) {
            prop_assert!(!matches!(read(&bytes, piece), Ok(Some(_))));
        }
    }
}
