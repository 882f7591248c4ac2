//! What a tunnel to port 443 has to begin with.

use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::harness::{Network, Server, Setup, read_rest, soon};

/// The alert `unrecognized_name`.
const ALERT: &[u8] = &[0x15, 3, 3, 0, 2, 2, 0x70];

async fn start(server: &Server) -> Network {
    Setup::default()
        .private_hosts(&["allowed.test"])
        .name("allowed.test", &[server.address])
        .start()
        .await
}

/// The first bytes of a TLS client that asks for this host.
fn hello(name: &str, sends_name: bool) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.enable_sni = sends_name;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

async fn read_exactly(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    soon(stream.read_exact(&mut bytes)).await.unwrap();
    bytes
}

/// Asserts that these first bytes close the tunnel, and that none of them reaches the server.
async fn check_refused(first: &[u8]) -> Network {
    let server = Server::start();
    let network = start(&server).await;
    let mut client = network.open("allowed.test:443").await;
    client.write_all(first).await.unwrap();
    assert_eq!(read_rest(&mut client).await, ALERT);
    let mut upstream = server.accept().await;
    assert_eq!(read_rest(&mut upstream).await, b"");
    assert_eq!(network.state.bytes_used(), 0);
    network
}

#[tokio::test]
async fn a_handshake_for_the_same_host_passes_unchanged() {
    for name in ["allowed.test", "ALLOWED.test"] {
        let server = Server::start();
        let network = start(&server).await;
        let mut client = network.open("allowed.test:443").await;
        let first = hello(name, true);
        client.write_all(&first).await.unwrap();
        let mut upstream = server.accept().await;
        assert_eq!(read_exactly(&mut upstream, first.len()).await, first);
        upstream.write_all(b"anything").await.unwrap();
        assert_eq!(read_exactly(&mut client, 8).await, b"anything");
        let passed = u64::try_from(first.len()).unwrap() + 8;
        assert_eq!(network.state.bytes_used(), passed);
    }
}

#[tokio::test]
async fn a_handshake_in_pieces_passes() {
    let server = Server::start();
    let network = start(&server).await;
    let mut client = network.open("allowed.test:443").await;
    let first = hello("allowed.test", true);
    for piece in first.chunks(7) {
        client.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    // What follows the handshake's first message in the same piece passes too.
    client.write_all(b"more").await.unwrap();
    let mut upstream = server.accept().await;
    let expected = [first, b"more".to_vec()].concat();
    assert_eq!(read_exactly(&mut upstream, expected.len()).await, expected);
}

#[tokio::test]
async fn a_handshake_may_follow_the_request_at_once() {
    let request = b"CONNECT allowed.test:443 HTTP/1.1\r\nhost: allowed.test:443\r\n\r\n";
    let server = Server::start();
    let network = start(&server).await;
    let first = hello("allowed.test", true);
    let mut answer = network.send(&[&request[..], &first].concat()).await;
    // The answer to CONNECT has no body, and so no length.
    assert_eq!(answer.status, 200);
    assert!(!answer.head.contains("content-length"), "{}", answer.head);
    let mut upstream = server.accept().await;
    assert_eq!(read_exactly(&mut upstream, first.len()).await, first);
    upstream.write_all(b"anything").await.unwrap();
    assert_eq!(read_exactly(&mut answer.stream, 8).await, b"anything");
    let other = [&request[..], &hello("evil.test", true)].concat();
    let mut answer = network.send(&other).await;
    assert_eq!(read_rest(&mut answer.stream).await, ALERT);
    assert_eq!(read_rest(&mut server.accept().await).await, b"");
}

#[tokio::test]
async fn a_handshake_for_another_host_closes_the_tunnel() {
    for name in ["evil.test", "sub.allowed.test", "allowed.test.evil.test"] {
        let mut network = check_refused(&hello(name, true)).await;
        let report = soon(network.refused.recv()).await.unwrap();
        assert_eq!((report.host.as_str(), report.port), (name, 443));
    }
}

#[tokio::test]
async fn a_handshake_without_a_host_closes_the_tunnel() {
    check_refused(&hello("allowed.test", false)).await;
    // A client that asks for an address sends no name either.
    check_refused(&hello("127.0.0.1", true)).await;
}

#[tokio::test]
async fn what_is_no_handshake_closes_the_tunnel() {
    check_refused(b"GET / HTTP/1.1\r\nhost: allowed.test\r\n\r\n").await;
    check_refused(b"SSH-2.0-OpenSSH_9.9\r\n").await;
    // A record of application data, and a ClientHello that is longer than any.
    check_refused(&[0x17, 3, 3, 0, 1, 0]).await;
    let mut long = vec![0x16, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff];
    long.resize(4096, 0);
    let records: Vec<u8> = [long[..].to_vec(), vec![0; 12 << 10], vec![0; 4096]].concat();
    check_refused(&records).await;
}
