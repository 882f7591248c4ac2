//! The limits of the edge, in one place.

use std::time::Duration;

/// What one client, and all of them together, may take up.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Open connections over all listeners. Default 4096. Reached: the oldest on which nobody has authenticated is closed; if
    /// there is none, the new one is answered 503 and closed.
    pub connections_max: usize,
    /// Open TCP connections from one address. Default 1024: on loopback everybody shares one. Reached: as above,
    /// among the connections of that address.
    pub connections_per_ip_max: usize,
    /// Time for the headers of a request, and for the next request on a connection that is kept open.
    /// Default 10 s. Reached: the connection is closed.
    pub header_read: Duration,
    /// Header lines of one request. Default 100. Reached: 431.
    pub headers_max: usize,
    /// Bytes of a request's headers, at least 16 KiB. Default 64 KiB; half of it always passes. Reached: 431.
    pub header_bytes_max: usize,
    /// Time for a whole request body, from when it is first waited for. Default 60 s. Reached: 408 and close.
    pub body_read: Duration,
    /// How long open requests may go on after shutdown was asked for. Default 30 s. Reached: they are cut.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            connections_per_ip_max: 1024,
            header_read: Duration::from_secs(10),
            headers_max: 100,
            header_bytes_max: 64 * 1024,
            body_read: Duration::from_secs(60),
            shutdown_grace: Duration::from_secs(30),
        }
    }
}
