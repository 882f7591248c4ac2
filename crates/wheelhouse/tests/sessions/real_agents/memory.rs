//! An agent whose process is gone is brought back by the next prompt, and remembers.

use serde_json::Value;
use wh_runner::process::ProcessMark;
use wh_testkit::run::{kill, wait_until};

use super::{
    place::Place,
    story::{nothing_unexpected, transcript},
    table::Cost,
};

pub(super) async fn after_the_agent_was_killed(place: Place) {
    remembers(place, |runner| kill(agent_of(runner))).await;
}

pub(super) async fn after_the_runner_was_killed(place: Place) {
    remembers(place, |runner| runner.kill()).await;
}

/// Has the agent killed in the middle of a turn.
async fn remembers(place: Place, end: fn(&ProcessMark)) {
    place.completed("REMEMBER heron").await;
    let counting = place.world.send(&place.session, "COUNT").await;
    place.says("tick").await;
    let runner = place.world.server.runs().remove(0).alive.unwrap();
    end(&runner);
    place.world.until_state(&place.session, "interrupted").await;
    assert_eq!(place.turn(&counting).await.turn.state, "failed");
    wait_until(|| !runner.is_alive()).await;

    let before = place.world.get(&place.session).await.cost_micros;
    let turn = place.completed("WHAT WAS IT").await.turn;
    let cost = Cost::of(turn.cost_micros, turn.estimated_micros);
    assert_eq!(cost, place.agent.cost);
    let session = place.world.get(&place.session).await;
    assert_eq!((session.state.as_str(), session.runs), ("idle", 2));
    assert_eq!(session.cost_micros, before + turn.cost_micros);
    let requests = place.model.requests();
    let asked = requests
        .iter()
        .rfind(|it| it.answer == "it is in the transcript")
        .unwrap();
    let given = Value::from(transcript(&asked.body)).to_string();
    assert!(given.contains("I keep heron in mind"), "{given}");
    // What was said before is in the transcript already, and is there once.
    let said = place.said().await;
    for once in ["I keep heron in mind", "tick 1\n"] {
        assert_eq!(said.matches(once).count(), 1, "{said}");
    }
    nothing_unexpected(&place).await;
}

/// Finds the agent's own process: the first below the runner that is not one of our helpers.
fn agent_of(runner: &ProcessMark) -> u32 {
    let mut parent = runner.pid;
    loop {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let children = children.unwrap();
        let child: u32 = children.split_whitespace().next().unwrap().parse().unwrap();
        let words = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap();
        if words.split('\0').nth(1) != Some("contain") {
            return child;
        }
        parent = child;
    }
}
