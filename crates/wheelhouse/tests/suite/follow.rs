//! `logs`: what is shown of a transcript, and how it is followed through a crash of the server.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use wh_testkit::server::TestServer;

use crate::harness::{Said, run};
use crate::run::begin;

const WITHIN: Duration = Duration::from_secs(60);

/// A command whose output is read while it runs. It ends with the test.
pub(crate) struct Reader {
    child: Child,
    lines: Receiver<String>,
    heard: std::cell::RefCell<String>,
}

impl Reader {
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if send.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            heard: String::new().into(),
        }
    }

    /// Waits for a line that holds these words.
    #[track_caller]
    pub(crate) fn until(&self, words: &str) {
        let deadline = Instant::now() + WITHIN;
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    let found = line.contains(words);
                    let mut heard = self.heard.borrow_mut();
                    heard.push_str(&line);
                    heard.push('\n');
                    if found {
                        return;
                    }
                }
                Err(error) => panic!("{error}: no {words:?} in {}", self.heard.borrow()),
            }
        }
    }

    /// Waits for the end and returns everything.
    pub(crate) fn wait(mut self) -> Said {
        let deadline = Instant::now() + WITHIN;
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => self.heard.borrow_mut().push_str(&format!("{line}\n")),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}: {}", self.heard.borrow()),
            }
        }
        let mut stderr = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        let stdout = self.heard.take();
        Said {
            code,
            stdout,
            stderr,
        }
    }

    /// Returns where to type; the command must have been given a pipe.
    pub(crate) fn input(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    /// Does what Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.unwrap(), Signal::INT).unwrap();
    }

    /// Returns what was heard so far.
    pub(crate) fn heard(&self) -> String {
        self.heard.borrow().clone()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_follower_survives_a_server_that_is_killed() {
    let mut server = TestServer::start();
    let session = begin(&server, "say one\nask go on\ncount 50 20\nsay the end");
    let mut command = server.command();
    let follower = Reader::start(command.args(["logs", "--follow", &session]));
    follower.until("? permission: go on");
    server.kill9();
    server.restart();
    assert_eq!(run(&server, &["approve", &session]).code, 0);
    follower.until("the end");
    let heard = follower.heard();
    let numbers: Vec<_> = (1..=50).map(|n: u32| n.to_string()).collect();
    assert!(heard.contains(&numbers.join(" ")), "{heard}");
    for once in [
        "> say one",
        "one\n",
        "? permission",
        "go on: allow",
        "the end",
    ] {
        let expected = if once == "one\n" { 2 } else { 1 };
        let expected = if once == "the end" { 2 } else { expected };
        assert_eq!(heard.matches(once).count(), expected, "{once}: {heard}");
    }
}

#[test]
fn a_follower_ends_when_nobody_reads_it() {
    let server = TestServer::start();
    let session = begin(&server, "count 2000 20");
    let mut command = server.command();
    command
        .args(["logs", "-f", &session])
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn transcripts_are_shown_as_deep_as_asked() {
    let server = TestServer::start();
    let session = begin(&server, "say hi\nwrite a.txt text of the file");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let log = run(&server, &["logs", &session]);
    let plain = "admin> say hi\nadmin> write a.txt text of the file\nhi\n• Write a.txt\n";
    assert_eq!((log.code, log.stdout.as_str()), (0, plain));
    let last = run(&server, &["logs", &session, "--last", "1"]);
    assert_eq!(last.stdout, "• Write a.txt\n");
    let full = run(&server, &["logs", &session, "--full"]);
    assert!(
        full.stdout.contains("\"status\": \"completed\""),
        "{full:?}"
    );
    let json = run(&server, &["logs", &session, "--json"]);
    let kinds: Vec<_> = crate::run::lines(&json.stdout)
        .iter()
        .map(|line| line["message"]["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["prompt", "agent", "tool_call"]);
}
