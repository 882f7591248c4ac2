//! B5, D5: an agent has its own session's authority and no other, however it tries.

use crate::harness::{Setting, World};

/// Tries in one session, each a script of its own, eight at a time.
const TRIES: usize = 100;

/// Makes an administrator's key by the local socket, takes another run's token, answers its own permission request by a runner's
/// socket, and reads the database, while it races a thousand openings of each path.
const SCRIPT: &str = r#"
D="$1"
curl -s -m 5 --unix-socket "$D/wheelhouse.sock" -H 'content-type: application/json' -d '{"scope":"full","name":"x"}' http://localhost/api/v1/keys
for i in 1 2 3 4 5 6 7 8 9 10; do
  cat "$D"/runs/*/spec.json "$D"/wheelhouse.db "$D"/wheelhouse.db-wal 2>/dev/null
  cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a '^WHEELHOUSE_KEY'
  for s in "$D"/runs/*/socket; do printf '{"command":{"id":"x","action":"stop"}}\\n' | curl -s -m 1 --unix-socket "$s" telnet://localhost; done
  ls -d /proc/*/root/"$D"/wheelhouse.sock 2>/dev/null
done
"#;

#[tokio::test]
async fn b5_an_agent_is_not_the_administrator_in_100_tries() {
    tries(Setting::GUARDED).await;
}

#[tokio::test]
async fn b5_an_agent_in_strict_is_not_the_administrator_in_100_tries() {
    tries(Setting::STRICT).await;
}

async fn tries(setting: Setting) {
    let world = World::new(setting).await;
    let found = world
        .shell("command -v curl >/dev/null && echo ready")
        .await;
    assert_eq!(found.trim(), "ready", "this test needs curl");
    let script = world.worktree().await.join("steal.sh");
    std::fs::write(&script, SCRIPT).unwrap();
    let before = world.keys().await;
    let data = world.server.data_dir();
    let rounds = TRIES / 8 + 1;
    let command = format!(
        "for r in $(seq {rounds}); do for t in 1 2 3 4 5 6 7 8; do sh {} {} & done; wait; done; echo over",
        script.display(),
        data.display()
    );
    let printed = world.shell(&command).await;
    assert!(printed.trim_end().ends_with("over"), "{printed}");
    for stolen in [
        "wh_full_",
        "\"token\"",
        "SQLite format",
        "wheelhouse.sock",
        "WHEELHOUSE_KEY",
    ] {
        assert!(!printed.contains(stolen), "{stolen}: {printed}");
    }
    assert_eq!(world.keys().await, before);
    println!("{} tries, 0 keys, 0 tokens", rounds * 8);
}
