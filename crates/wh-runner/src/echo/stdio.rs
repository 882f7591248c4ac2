//! Stdin and stdout without threads.
//!
//! The runtime's own hand every read and write to a thread and back, because a file or a terminal may block. A pipe need not, and a
//! pipe is what a runner gives its agent.

use std::os::fd::AsFd;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};

pub(super) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    let stdin = std::io::stdin().as_fd().try_clone_to_owned();
    match stdin.and_then(pipe::Receiver::from_owned_fd) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

pub(super) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned();
    match stdout.and_then(pipe::Sender::from_owned_fd) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}
