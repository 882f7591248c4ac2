//! Stopping: finish what is under way, start nothing new, and do not wait for ever.

use std::time::Duration;

use wh_http::serve::{Drained, Limits};

use crate::harness::Server;

#[tokio::test]
async fn an_open_request_is_finished_and_idle_connections_end() {
    let server = Server::start().await;
    let mut idle = server.connect().await;
    idle.write(&format!("GET /ok HTTP/1.1\r\n{}\r\n", server.host()))
        .await;
    idle.read_until("fine").await;
    let mut busy = server.connect().await;
    busy.write(&format!("GET /wait HTTP/1.1\r\n{}\r\n", server.host()))
        .await;
    server.arrived.notified().await;

    server.shutdown.cancel();
    assert_eq!(idle.read_to_end().await, "");
    server.release.notify_one();
    assert!(busy.read_to_end().await.contains("released"));
    assert_eq!(server.served.await.unwrap(), Drained { cut: 0 });
}

#[tokio::test]
async fn a_request_that_outlasts_the_grace_period_is_cut() {
    let server = Server::with(Limits {
        shutdown_grace: Duration::from_millis(50),
        ..Limits::default()
    })
    .await;
    let mut client = server.connect().await;
    client
        .write(&format!("GET /wait HTTP/1.1\r\n{}\r\n", server.host()))
        .await;
    server.arrived.notified().await;
    server.shutdown.cancel();
    assert_eq!(server.served.await.unwrap(), Drained { cut: 1 });
    assert_eq!(client.read_to_end().await, "");
}
