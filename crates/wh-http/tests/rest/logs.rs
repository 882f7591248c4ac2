//! What the log says, and what it never does.

use std::{
    io,
    sync::{Arc, Mutex},
};

use http::Method;
use tracing_subscriber::fmt::MakeWriter;

use crate::harness::TestServer;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Captured {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn requests_are_logged_without_what_callers_put_into_them() {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_env_filter("wh_http=trace,wh_app=trace,tower_http=trace")
        .with_writer(captured.clone())
        .finish();
    // For the whole process: a subscriber of one thread misses call sites that other threads met first.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let server = TestServer::start().await;
    let secret = "wh_full_0123456789abcdef0123456789abcdef";
    let digits = "0123456789abcdef0123456789abcdef";
    let id = "11111111-2222-7333-8444-555555555555";
    server
        .get(&format!("/api/v1/boards/{id}"))
        .key(&server.admin)
        .send()
        .await;
    server.get("/api/v1/whoami").key(secret).send().await;
    server.get("/api/v1/whoami").cookie(secret).send().await;
    server.get(&format!("/login?token={digits}")).send().await;
    server
        .get(&format!("/nowhere/{secret}?a={secret}"))
        .send()
        .await;
    let call = server
        .call(Method::PUT, "/healthz")
        .header("origin", secret);
    call.send().await;

    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(
        log.contains(r#""route":"/api/v1/boards/{board}","status":404"#),
        "{log}"
    );
    assert!(log.contains(r#""route":"unmatched""#), "{log}");
    assert!(log.contains("request_id"), "{log}");
    for unwanted in [digits, id, "token=", "nowhere", &server.admin] {
        assert!(!log.contains(unwanted), "{unwanted} is in {log}");
    }
}
