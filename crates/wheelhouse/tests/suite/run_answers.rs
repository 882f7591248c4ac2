//! `run` at a terminal: permissions and questions are answered by typing.

use wh_testkit::server::TestServer;

use crate::follow::Reader;
use crate::harness::{run, run_json};
use crate::run::begin;
use crate::terminal::Terminal;

/// Runs a prompt at a terminal.
fn at_a_terminal(server: &TestServer, flags: &[&str], prompt: &str) -> Terminal {
    let mut command = server.command();
    command.args(["run", "--agent", "echo", "--no-color"]);
    command.args(flags).arg(prompt);
    Terminal::start(&mut command)
}

#[test]
fn permissions_and_questions_are_answered_at_the_terminal() {
    let server = TestServer::start();
    let prompt = "ask open it\nask close it\nquestion which colour?\nquestion what size?\nask \
                  all of them\nask all of them";
    let mut terminal = at_a_terminal(&server, &[], prompt);

    terminal.until("? permission: open it");
    terminal.until("y allows it");
    terminal.line("maybe");
    terminal.until("type y to allow it");
    terminal.line("y");
    terminal.until("allowed: open it");
    terminal.until("open it: allow");

    terminal.until("? permission: close it");
    terminal.until("n [REASON] denies it");
    terminal.line("n use the staging database");
    terminal.until("denied: close it");
    terminal.until("close it: reject");

    terminal.until("? question: which colour?");
    terminal.until("type the answer");
    terminal.line("no, blue");
    terminal.until("allowed: which colour?");
    terminal.until("no, blue\r\n");

    terminal.until("? question: what size?");
    terminal.until("type the answer");
    terminal.line("/deny");
    terminal.until("denied: what size?");
    terminal.until("no answer\r\n");

    terminal.until("? permission: all of them");
    terminal.until("y allows it");
    terminal.line("a");
    terminal.until("all of them: always");

    terminal.until("? permission: all of them");
    terminal.until("y allows it");
    terminal.line("n");
    terminal.until("all of them: reject");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("reads your reason next"), "{shown}");

    // The agent reads the reason in a prompt of its own.
    let session = run_json(&server, &["ls"])["sessions"][0]["id"].clone();
    let mut follow = server.command();
    let follower = Reader::start(follow.args(["logs", "-f", session.as_str().unwrap()]));
    follower.until("use the staging database");
}

#[test]
fn what_is_typed_before_the_agent_asks_answers_nothing() {
    let server = TestServer::start();
    let mut terminal = at_a_terminal(&server, &[], "question ready?\nask open it\nsay after");
    terminal.until("type the answer");
    // The second line is read when nothing is asked, or when the permission is: only the answer counts.
    terminal.line("yes");
    terminal.until("allowed: ready?");
    terminal.until("? permission: open it");
    terminal.until("y allows it");
    terminal.line("");
    terminal.line("n");
    terminal.until("open it: reject");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown}");

    let mut terminal = at_a_terminal(&server, &[], "say begun\nsleep 60");
    terminal.until("begun");
    terminal.line("y");
    terminal.until("the agent asks for nothing");
    terminal.interrupt();
    assert_eq!(terminal.wait().0, 130);
}

#[test]
fn an_answer_from_elsewhere_does_not_end_the_command() {
    let server = TestServer::start();
    let mut terminal = at_a_terminal(&server, &[], "ask open it\nask close it");
    terminal.until("y allows it");
    let session = run_json(&server, &["ls"])["sessions"][0]["id"].clone();
    let approved = run(&server, &["approve", session.as_str().unwrap()]);
    assert_eq!(approved.code, 0, "{approved:?}");
    terminal.until("open it: allow");
    terminal.until("? permission: close it");
    terminal.until("y allows it");
    // Without anybody at the keyboard it ends as it does in a script.
    terminal.close();
    let (code, shown) = terminal.wait();
    assert_eq!(code, 8, "{shown}");
}

#[test]
fn a_prompt_that_is_sent_is_answered_the_same_way() {
    let server = TestServer::start();
    let session = begin(&server, "say ready");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let mut command = server.command();
    command.args(["send", &session, "--wait", "ask open it"]);
    let mut terminal = Terminal::start(&mut command);
    terminal.until("y allows it");
    terminal.line("Y");
    terminal.until("open it: allow");
    assert_eq!(terminal.wait().0, 0);
}

#[test]
fn flags_say_what_is_allowed_asked_and_denied() {
    let server = TestServer::start();
    let prompt = "ask open it";
    let other = |flags: &[&str]| {
        run(
            &server,
            &[&["run", "--agent", "echo", prompt], flags].concat(),
        )
    };
    let allowed = other(&["--allow", "read,other"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert!(allowed.stdout.contains("open it: allow"), "{allowed:?}");
    let all = other(&["--allow", "all"]);
    assert!(all.stdout.contains("open it: allow"), "{all:?}");
    let denied = other(&["--allow", "all", "--deny", "other"]);
    assert!(denied.stdout.contains("open it: reject"), "{denied:?}");
    let asked = other(&["--allow", "all", "--ask", "other"]);
    assert_eq!(asked.code, 8, "{asked:?}");
    for flags in [
        &["--allow", "reed"][..],
        &["--allow", "other", "--deny", "other"],
        &["--ask", "edit:src"],
        &["--allow", "edit:/etc"],
        &["--budget-usd", "much"],
    ] {
        let refused = other(flags);
        assert_eq!(refused.code, 2, "{flags:?}: {refused:?}");
    }
    let limits = [
        "--detach",
        "--allow",
        "edit:src",
        "--budget-usd",
        "2.50",
        "--model",
        "echo-2",
    ];
    let created = run_json(
        &server,
        &[&["run", "--agent", "echo", "say x"], &limits[..]].concat(),
    );
    assert_eq!(created["budget"]["cost_micros"], 2_500_000, "{created}");
    assert_eq!(created["policy"]["allow"][0]["paths"][0], "src");
    assert_eq!(created["model_requested"], "echo-2");
}
