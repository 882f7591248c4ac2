//! The local socket: it makes people's programs the administrator, and no agent.

use std::fs;
use std::process::Command;

use wh_api::{SessionCreateRequest, SessionPromptRequest};
use wh_runner::process::ProcessMark;
use wh_testkit::server::{TestServer, built};

use crate::harness::{Said, run, run_json, said};

const REFUSAL: &str = "this process is not allowed to use the local socket: it runs inside a container or under an agent";

#[track_caller]
fn assert_refused(said: &Said) {
    let error = said.error();
    assert_eq!(error["code"], "FORBIDDEN", "{said:?}");
    assert_eq!(error["message"], REFUSAL);
    assert_eq!(error["hint"], "use WHEELHOUSE_URL and WHEELHOUSE_KEY");
}

/// Returns a command line for the server, inside new namespaces; nothing if they cannot be made here.
#[expect(
    clippy::disallowed_methods,
    reason = "`unshare` stands in for a container's runtime"
)]
fn inside(server: &TestServer, flags: &[&str]) -> Option<Command> {
    let probe = Command::new("unshare").args(flags).arg("true").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let plain = server.command();
    let mut command = Command::new("unshare");
    command.args(flags).arg(plain.get_program());
    command.args(plain.get_args()).env_clear();
    let variables = plain.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}

#[test]
fn a_process_in_another_namespace_is_refused() {
    let server = TestServer::start();
    let key = server.key("full");
    let kinds: [&[&str]; 5] = [
        &["--pid", "--mount", "--fork"],
        &["--pid", "--fork"],
        &["--mount"],
        &["--user", "--map-root-user"],
        &["--user", "--map-root-user", "--pid", "--mount", "--fork"],
    ];
    let mut tried = 0;
    for flags in kinds {
        let Some(mut command) = inside(&server, flags) else {
            eprintln!("unshare {flags:?} is not possible here");
            continue;
        };
        tried += 1;
        assert_refused(&said(command.args(["board", "list", "--json"])));
        // A key is good for everybody who has one.
        let mut command = inside(&server, flags).unwrap();
        command.env("WHEELHOUSE_URL", server.url());
        command.env("WHEELHOUSE_KEY", &key);
        let with_key = said(command.args(["board", "list", "--json"]));
        assert_eq!(with_key.code, 0, "{with_key:?}");
    }
    assert!(tried > 0, "no kind of namespace can be made here");
    assert_eq!(run(&server, &["board", "list"]).code, 0);
}

#[test]
fn a_process_below_a_runner_is_refused() {
    let server = TestServer::start();
    run_json(&server, &["board", "list"]);
    // This process is a runner now, and the commands it starts are its agent's.
    let ours = ProcessMark::of(std::process::id()).unwrap();
    let state = serde_json::json!({"runner": ours});
    let dir = server.data_dir().join("runs/made-up");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("runner.json"), state.to_string()).unwrap();
    assert_refused(&run(&server, &["board", "list", "--json"]));
    assert_refused(&run(
        &server,
        &[
            "key", "create", "--scope", "full", "--name", "mine", "--json",
        ],
    ));
    // A number that was used again is another process.
    let other = ProcessMark {
        started: ours.started + 1,
        ..ours
    };
    let state = serde_json::json!({"runner": other});
    fs::write(dir.join("runner.json"), state.to_string()).unwrap();
    run_json(&server, &["board", "list"]);
}

#[tokio::test]
async fn an_agent_is_not_the_administrator() {
    let mut server = TestServer::stopped();
    let agent = built("scripted-agent");
    server.configure(&format!("[agents.scripted]\ncommand = [{agent:?}]\n"));
    server.restart();
    let client = server.client();
    let session = SessionCreateRequest {
        agent: "scripted".to_owned(),
        ..SessionCreateRequest::default()
    };
    let session = client.session_create(&session).await.unwrap().id;
    let socket = server.data_dir().join("wheelhouse.sock");
    let prompt = SessionPromptRequest {
        session,
        prompt: format!("socket {}", socket.display()),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    let prompted = client.session_prompt(&prompt).await.unwrap();
    let told = serde_json::to_string(&prompted).unwrap();
    // Where the socket is hidden from the agent, it does not even get an answer.
    let is_hidden = told.contains("No such file") || told.contains("Permission denied");
    assert!(told.contains("403 Forbidden") || is_hidden, "{told}");
    assert!(!told.contains("200 OK"), "{told}");
    let who = client.whoami().await.unwrap();
    assert_eq!(who.credential, "local");
}

#[test]
fn the_socket_can_be_turned_off() {
    let mut server = TestServer::start();
    let key = server.key("full");
    server.stop();
    server.configure("local_admin = false\n");
    server.restart();
    assert!(!server.data_dir().join("wheelhouse.sock").exists());
    let refused = run(&server, &["board", "list"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.stderr.contains("local_admin = false"),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("WHEELHOUSE_URL"), "{refused:?}");
    let mut command = server.command();
    command.env("WHEELHOUSE_URL", server.url());
    command.env("WHEELHOUSE_KEY", &key);
    assert_eq!(said(command.args(["board", "list"])).code, 0);
    let doctor = run(&server, &["doctor"]);
    assert!(
        doctor.stdout.contains("the local socket is off"),
        "{doctor:?}"
    );
    let ended = run_json(&server, &["serve", "--kill-all"]);
    assert_eq!(ended["server"], server.about().pid, "{ended}");
}
