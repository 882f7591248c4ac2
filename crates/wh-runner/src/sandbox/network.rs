//! A network namespace of the agent's own, in which only the runner listens.
//!
//! The helper between runner and agent makes the namespace and opens the ports in it; then it passes the listening sockets to the
//! runner, which stays in the machine's network. A socket keeps the namespace that it was opened in, so the runner can answer
//! the agent without being in its namespace, and nothing else connects the two.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, TcpListener},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::spec::PrivateNetwork;

/// The most sockets that are passed.
const LISTENERS_MAX: usize = 16;

/// Opens the ports in the calling process's network namespace and passes them to the runner, which listens on the Unix socket
/// `to`. Returns once the runner has them.
pub(crate) fn send_listeners(network: &PrivateNetwork, to: &Path) -> io::Result<()> {
    enable_loopback()?;
    let listeners = network
        .ports
        .iter()
        .map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)))
        .collect::<io::Result<Vec<_>>>()?;
    let stream = UnixStream::connect(to)?;
    let descriptors: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LISTENERS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many ports"));
    }
    sendmsg(
        &stream,
        &[IoSlice::new(&[0])],
        &mut control,
        SendFlags::empty(),
    )?;
    // The runner closes the connection after receiving the sockets.
    io::copy(&mut &stream, &mut io::sink())?;
    Ok(())
}

/// Receives the sockets that [`send_listeners`] passes, in the order of its ports.
pub(crate) fn receive_listeners(from: impl AsFd) -> io::Result<Vec<TcpListener>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LISTENERS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        from,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut listeners = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            listeners.extend(descriptors.map(TcpListener::from));
        }
    }
    Ok(listeners)
}

/// Turns the loopback interface on, which a new network namespace has, but off.
#[expect(unsafe_code, reason = "interface flags have no safe wrapper")]
pub(crate) fn enable_loopback() -> io::Result<()> {
    let socket: OwnedFd = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?.into();
    // SAFETY: all zeros are a valid value of this plain struct.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: the request is a struct of the kind that this call reads, and outlives it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
