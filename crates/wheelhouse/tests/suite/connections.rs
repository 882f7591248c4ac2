//! Connections that are opened and left: they must not keep out those who authenticate.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wh_testkit::server::TestServer;

use crate::harness::run_json;

const HALF_OPEN: usize = 5_000;
/// Open files of this test that are not half-open connections.
const OTHERS: usize = 200;
const TIMEOUT: Duration = Duration::from_secs(30);

/// An HTTP connection that is kept open.
struct Connection {
    stream: TcpStream,
    head: String,
}

impl Connection {
    fn open(server: &TestServer, key: &str) -> Self {
        let host = host(server);
        Self {
            stream: connect(host),
            head: format!("Host: {host}\r\nAuthorization: Bearer {key}\r\n\r\n"),
        }
    }

    /// Asks who the key belongs to; the answer must be a success.
    #[track_caller]
    fn assert_answered(&mut self) {
        let request = format!("GET /api/v1/whoami HTTP/1.1\r\n{}", self.head);
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let mut chunk = [0; 4096];
        while !answer.ends_with('}') {
            let length = self.stream.read(&mut chunk).unwrap();
            assert!(length > 0, "the server hung up after {answer:?}");
            answer.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

fn host(server: &TestServer) -> &str {
    server.url().trim_start_matches("http://")
}

fn connect(host: &str) -> TcpStream {
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// Lets this process open so many files, and returns how many connections fit.
fn allow_open_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    let files = limit.maximum.map_or(usize::MAX, |it| it as usize);
    HALF_OPEN.min(files - OTHERS)
}

#[test]
fn half_open_connections_keep_nobody_out() {
    let count = allow_open_files();
    assert!(count > 1_100, "only {count} connections can be opened here");
    let server = TestServer::start();
    let key = server.key("full");
    let mut kept = Connection::open(&server, &key);
    kept.assert_answered();
    let mut half_open = Vec::new();
    for number in 0..count {
        let mut stream = connect(host(&server));
        // Of those that were closed already some cannot be written to.
        drop(stream.write_all(b"GET /api/v1/whoami HTTP/1.1\r\nHost:"));
        half_open.push(stream);
        if number % 500 == 0 {
            kept.assert_answered();
            Connection::open(&server, &key).assert_answered();
        }
    }
    kept.assert_answered();
    Connection::open(&server, &key).assert_answered();
    // The command line uses the local socket.
    run_json(&server, &["board", "list"]);
    assert_eq!(half_open.len(), count);
}
