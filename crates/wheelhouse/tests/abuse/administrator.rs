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
  for s in "$D"/runs/*/socket; do printf '{"command":{"id":"x","action":"stop"}}\\n' | timeout 1 nc -U "$s" 2>/dev/null; done
  ls -d /proc/*/root/"$D"/wheelhouse.sock 2>/dev/null
done
"#;

#[tokio::test]
async fn b5_an_agent_is_not_the_administrator_in_100_tries() {
    let world = World::new(Setting::GUARDED).await;
    assert_eq!(world.shell("echo ready").await.trim(), "ready");
    let script = world.server.home().join("code/steal.sh");
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
