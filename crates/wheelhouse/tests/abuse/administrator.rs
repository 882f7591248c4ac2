//! B5, D5: an agent has its own session's authority and no other, however it tries.

use std::{path::Path, process::Command, time::Duration};

use wh_api::{ApprovalListRequest, SessionPromptRequest};

use crate::harness::{Setting, World};

/// Tries in one session, each a script of its own, eight at a time.
const TRIES: usize = 100;

/// Longest wait for all tries together.
const TRIES_TIMEOUT: Duration = Duration::from_secs(180);

/// Makes an administrator's key by the local socket, reads other runs' tokens, the database and the environment of other processes,
/// and answers permission requests by the runners' sockets. `$1` is the data directory, `$2` the directory of the scripts.
const SCRIPT: &str = r#"
D="$1"
curl -s -m 5 --unix-socket "$D/wheelhouse.sock" -H 'content-type: application/json' -d '{"scope":"full","name":"x"}' http://localhost/api/v1/keys
for i in 1 2 3 4 5 6 7 8 9 10; do
  cat "$D"/runs/*/spec.json "$D"/wheelhouse.db "$D"/wheelhouse.db-wal 2>/dev/null
  cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a '^WHEELHOUSE_KEY'
  ls -d /proc/*/root/"$D"/wheelhouse.sock 2>/dev/null
done
for s in "$D"/runs/*/socket; do python3 "$2/answer.py" "$s" 2>/dev/null; done
"#;

/// Connects to a runner as the server does, and allows everything that its agent asks for.
const ANSWER: &str = r#"
import json, os, socket, sys
os.chdir(os.path.dirname(sys.argv[1]))
runner = socket.socket(socket.AF_UNIX)
runner.settimeout(5)
runner.connect("socket")
lines = runner.makefile("rw")
def say(message):
    lines.write(json.dumps(message) + "\n")
    lines.flush()
say({"hello": {"protocol": 1, "version": "x"}})
print("GREETED", lines.readline())
say({"follow": {"after": 0}})
for line in lines:
    message = json.loads(line)
    if "pending" in message:
        if not message["pending"]["permissions"]:
            break
        for asked in message["pending"]["permissions"]:
            action = {"answer_permission": {"permission": asked["id"], "kind": "allow_once"}}
            say({"command": {"id": "x", "action": action}})
    if "reply" in message:
        print("ANSWERED", line)
        break
"#;

/// What the script prints when one of its steps works.
const STOLEN: &[&str] = &[
    "wh_full_",
    "\"token\"",
    "SQLite format",
    "WHEELHOUSE_KEY",
    "wheelhouse.sock",
    "GREETED",
    "ANSWERED",
];

#[tokio::test]
async fn b5_an_agent_is_not_the_administrator_in_100_tries() {
    tries(Setting::GUARDED).await;
}

#[tokio::test]
async fn b5_an_agent_in_strict_is_not_the_administrator_in_100_tries() {
    tries(Setting::STRICT).await;
}

async fn pending(world: &World) -> usize {
    let request = ApprovalListRequest {
        session: Some(world.session.clone()),
        ..ApprovalListRequest::default()
    };
    let list = world.client.approval_list(&request).await.unwrap();
    list.approvals.len()
}

#[expect(clippy::disallowed_methods, reason = "the test plays a person")]
fn command(program: &str) -> Command {
    Command::new(program)
}

async fn tries(setting: Setting) {
    let world = World::new(setting).await;
    let found = world
        .shell("command -v curl >/dev/null && command -v python3 >/dev/null && echo ready")
        .await;
    assert_eq!(found.trim(), "ready", "this test needs curl and python3");
    let dir = world.worktree().await;
    std::fs::write(dir.join("steal.sh"), SCRIPT).unwrap();
    std::fs::write(dir.join("answer.py"), ANSWER).unwrap();
    // A process of a person's own, whose environment holds a key.
    let mut program = command("sleep");
    let program = program.arg("600").env("WHEELHOUSE_KEY", "secret");
    let mut program = program.spawn().unwrap();
    let before = world.keys().await;
    let data = world.server.data_dir();
    let rounds = TRIES / 8 + 1;
    let (script, scripts, shown) = (dir.join("steal.sh"), dir.display(), data.display());
    let loops = format!(
        "(for r in $(seq {rounds}); do for t in 1 2 3 4 5 6 7 8; do sh {} {shown} {scripts} & done; wait; done; echo over) >loot 2>&1 &",
        script.display(),
    );
    // The tries run while the agent's request waits for a person's answer.
    let request = SessionPromptRequest {
        session: world.session.clone(),
        prompt: format!("shell {loops}\nask may I"),
        ..SessionPromptRequest::default()
    };
    world.client.session_prompt(&request).await.unwrap();
    let started = std::time::Instant::now();
    let printed = loop {
        let loot = std::fs::read(dir.join("loot")).unwrap_or_default();
        let printed = String::from_utf8_lossy(&loot).into_owned();
        if printed.trim_end().ends_with("over") {
            break printed;
        }
        assert!(started.elapsed() < TRIES_TIMEOUT, "{printed}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    for stolen in STOLEN {
        assert!(!printed.contains(stolen), "{stolen}: {printed}");
    }
    assert_eq!(world.keys().await, before);
    assert_eq!(pending(&world).await, 1);
    steals_outside(&world, &script, &dir).await;
    program.kill().unwrap();
    program.wait().unwrap();
    println!("{} tries, 0 keys, 0 tokens, 0 answers", rounds * 8);
}

/// Runs the same script where nothing contains it: there every step works.
async fn steals_outside(world: &World, script: &Path, scripts: &Path) {
    let mut steal = command("sh");
    let steal = steal.arg(script).arg(world.server.data_dir()).arg(scripts);
    let stolen = steal.output().unwrap().stdout;
    let printed = String::from_utf8_lossy(&stolen);
    for stolen in STOLEN {
        assert!(printed.contains(stolen), "the script does not get {stolen}");
    }
    for _ in 0..100 {
        if pending(world).await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the script does not answer the request");
}
