//! How much an agent may use.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use wh_runner::egress::EgressLimits;

use super::harness::{Answer, Network, Server, Setup, read_rest, soon};

fn setup(server: &Server) -> Setup {
    Setup::default()
        .private_hosts(&["allowed.test:22", "allowed.test:443"])
        .name("allowed.test", &[server.address])
}

async fn start(server: &Server, bytes_max: Option<u64>, limits: EgressLimits) -> Network {
    let mut setup = setup(server);
    setup.egress.bytes_max = bytes_max;
    setup.limits = limits;
    setup.start().await
}

fn quick() -> EgressLimits {
    EgressLimits {
        first_byte: Duration::from_millis(100),
        idle: Duration::from_millis(200),
        ..EgressLimits::default()
    }
}

async fn transfer(from: &mut TcpStream, to: &mut TcpStream, count: usize) {
    let bytes = vec![7; count];
    let mut got = vec![0; count];
    let (sent, received) = tokio::join!(from.write_all(&bytes), soon(to.read_exact(&mut got)));
    sent.unwrap();
    received.unwrap();
    assert!(got == bytes);
}

#[tokio::test]
async fn bytes_are_counted_exactly_in_both_directions() {
    let server = Server::start();
    let network = start(&server, None, EgressLimits::default()).await;
    let mut expected = 0;
    for (up, down) in [(1, 0), (100_000, 3), (0, 1_000_000)] {
        let mut client = network.open("allowed.test:22").await;
        let mut upstream = server.accept().await;
        transfer(&mut client, &mut upstream, up).await;
        transfer(&mut upstream, &mut client, down).await;
        expected += u64::try_from(up + down).unwrap();
        assert_eq!(network.state.bytes_used(), expected);
        // One side may end before the other.
        client.shutdown().await.unwrap();
        assert_eq!(read_rest(&mut upstream).await, b"");
        transfer(&mut upstream, &mut client, 10).await;
        drop(upstream);
        assert_eq!(read_rest(&mut client).await, b"");
        expected += 10;
        assert_eq!(network.state.bytes_used(), expected);
    }
}

#[tokio::test]
async fn reaching_the_limit_cuts_every_tunnel_and_refuses_new_ones() {
    let server = Server::start();
    let network = start(&server, Some(100_000), EgressLimits::default()).await;
    let mut other = network.open("allowed.test:22").await;
    let mut other_upstream = server.accept().await;
    transfer(&mut other, &mut other_upstream, 30_000).await;
    let mut client = network.open("allowed.test:22").await;
    let mut upstream = server.accept().await;
    let sending = async {
        // Fails when the tunnel is cut.
        upstream.write_all(&vec![1; 10 << 20]).await.ok();
    };
    let (received, ()) = tokio::join!(read_rest(&mut client), sending);
    assert_eq!(received.len(), 70_000);
    assert_eq!(network.state.bytes_used(), 100_000);
    assert_eq!(read_rest(&mut other).await, b"");
    assert_eq!(read_rest(&mut other_upstream).await, b"");
    let answer = network.connect("allowed.test:22").await;
    assert_eq!(answer.status, 403);
    assert_eq!(
        answer.text,
        "this session has used its network limit of 100000 bytes; the operator can raise limits.network_mib\n"
    );
    assert!(network.state.limit_reached().is_cancelled());
    server.assert_unused();
}

#[tokio::test]
async fn clients_that_are_slow_to_begin_are_disconnected() {
    let server = Server::start();
    let network = start(&server, None, quick()).await;
    for part in [
        "",
        "CONNECT",
        "CONNECT allowed.test:443 HTTP/1.1\r\nhost: a",
    ] {
        let mut client = TcpStream::connect(network.proxy).await.unwrap();
        client.write_all(part.as_bytes()).await.unwrap();
        read_rest(&mut client).await;
    }
    // A tunnel on which no handshake begins, or half of one.
    for part in [&b""[..], &[0x16, 3, 1, 2, 0, 1]] {
        let mut client = network.open("allowed.test:443").await;
        client.write_all(part).await.unwrap();
        assert_eq!(read_rest(&mut client).await, b"");
        assert_eq!(read_rest(&mut server.accept().await).await, b"");
    }
}

#[tokio::test]
async fn silent_tunnels_are_closed() {
    let server = Server::start();
    let network = start(&server, None, quick()).await;
    let mut client = network.open("allowed.test:22").await;
    let mut upstream = server.accept().await;
    transfer(&mut upstream, &mut client, 10).await;
    assert_eq!(read_rest(&mut client).await, b"");
    assert_eq!(read_rest(&mut upstream).await, b"");
}

#[tokio::test]
async fn large_heads_are_refused() {
    let server = Server::start();
    let network = start(&server, None, EgressLimits::default()).await;
    let start = "CONNECT allowed.test:22 HTTP/1.1\r\nhost: allowed.test:22\r\n";
    let long = format!("{start}x-long: {}\r\n\r\n", "a".repeat(1 << 20));
    assert_eq!(network.send(long.as_bytes()).await.status, 431);
    let many = format!("{start}{}\r\n", "x: y\r\n".repeat(1_000));
    assert_eq!(network.send(many.as_bytes()).await.status, 431);
    server.assert_unused();
}

#[tokio::test]
async fn the_number_of_tunnels_is_limited() {
    let server = Server::start();
    let limits = EgressLimits {
        tunnels_max: 2,
        ..EgressLimits::default()
    };
    let network = start(&server, None, limits).await;
    let first = network.open("allowed.test:22").await;
    let mut first_upstream = server.accept().await;
    let mut second = network.open("allowed.test:22").await;
    let mut second_upstream = server.accept().await;
    let answer = network.connect("allowed.test:22").await;
    assert_eq!(answer.status, 503);
    assert_eq!(
        answer.text,
        "this session has 2 open connections; close one and try again\n"
    );
    transfer(&mut second, &mut second_upstream, 100).await;
    drop(first);
    assert_eq!(read_rest(&mut first_upstream).await, b"");
    drop(first_upstream);
    // The place is free when the tunnel's task has ended, which nothing else tells.
    let third = async {
        loop {
            let answer = network.connect("allowed.test:22").await;
            if answer.status == 200 {
                return answer;
            }
        }
    };
    let _third: Answer = soon(third).await;
}

#[tokio::test]
async fn stopping_ends_everything() {
    let server = Server::start();
    let network = start(&server, None, EgressLimits::default()).await;
    let mut client = network.open("allowed.test:22").await;
    let mut upstream = server.accept().await;
    let mut waiting = TcpStream::connect(network.proxy).await.unwrap();
    waiting.write_all(b"CONNECT").await.unwrap();
    network.stop.cancel();
    network.tasks.close();
    soon(network.tasks.wait()).await;
    for stream in [&mut client, &mut upstream, &mut waiting] {
        assert_eq!(read_rest(stream).await, b"");
    }
}
