//! A parent is told what became of its children: once, whatever happens in between.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;
use wh_api::{SessionPromptRequest, SessionSpawnRequest};
use wh_testkit::dice::{Dice, count};

use crate::harness::World;

#[tokio::test]
async fn a_parent_is_told_once_when_its_child_is_done() {
    let world = World::new();
    let parent = world.session().await;
    let spawn = json!({ "prompt": "say the result is 42", "title": "answer", "callback": true });
    world
        .prompt(&parent, &format!("call session_spawn {spawn}"))
        .await;
    world
        .until("the parent is told", async || {
            world.turns(&parent).await.len() == 2
        })
        .await;
    let told = &world.turns(&parent).await[1];
    assert!(
        told.prompt
            .contains("(echo, \"answer\") has finished its turn:"),
        "{}",
        told.prompt
    );
    assert!(
        told.prompt.contains("> the result is 42"),
        "{}",
        told.prompt
    );
    world.rest(&parent).await;
    // The parent's own turn is nobody's news.
    assert_eq!(world.turns(&parent).await.len(), 2);
}

#[tokio::test]
async fn several_children_are_told_of_at_once() {
    let world = World::new();
    let parent = world.session().await;
    let spawn = |n| json!({ "prompt": format!("say child {n}"), "callback": true }).to_string();
    let lines: Vec<_> = (0..3)
        .map(|n| format!("call session_spawn {}", spawn(n)))
        .collect();
    world
        .send(&parent, &format!("{}\nsleep 4", lines.join("\n")))
        .await;
    world
        .until("the parent is told", async || {
            world.turns(&parent).await.len() > 1
        })
        .await;
    world.rest(&parent).await;
    let turns = world.turns(&parent).await;
    assert_eq!(turns.len(), 2, "{turns:?}");
    for n in 0..3 {
        assert!(
            turns[1].prompt.contains(&format!("> child {n}")),
            "{}",
            turns[1].prompt
        );
    }
}

#[tokio::test]
async fn a_parent_answers_what_its_child_asks() {
    let world = World::new();
    let parent = world.session().await;
    let spawn = json!({ "prompt": "ask delete everything", "callback": true });
    world
        .prompt(&parent, &format!("call session_spawn {spawn}"))
        .await;
    world
        .until("the parent is told", async || {
            world.turns(&parent).await.len() == 2
        })
        .await;
    let told = world.turns(&parent).await[1].prompt.clone();
    assert!(
        told.contains("needs an answer") && told.contains("delete everything"),
        "{told}"
    );
    let approval = told.split("\"approval\": \"").nth(1).unwrap();
    let approval = &approval[..8];
    let answer = json!({ "approval": approval, "decision": "deny", "text": "too risky" });
    world.rest(&parent).await;
    world
        .prompt(&parent, &format!("call approval_answer {answer}"))
        .await;
    world
        .until("the child is done", async || {
            world.turns(&parent).await.len() == 4
        })
        .await;
    let child = world.client.session_tree(&parent).await.unwrap();
    let child = child
        .tree
        .iter()
        .find(|it| it.depth == 1)
        .unwrap()
        .id
        .clone();
    let asked = world.asked(&child).await;
    assert_eq!(
        (asked[0].state.as_str(), asked[0].answer.as_deref()),
        ("denied", Some("too risky"))
    );
    let by = asked[0].answered_by_session_id.as_deref();
    assert_eq!(by, Some(parent.as_str()), "{asked:?}");
    assert!(asked[0].answered_by.is_some(), "on behalf of its owner");
}

#[tokio::test]
async fn a_parent_is_told_of_a_failure() {
    let world = World::new();
    let parent = world.session().await;
    let spawn = json!({ "prompt": "crash", "callback": true });
    world
        .prompt(&parent, &format!("call session_spawn {spawn}"))
        .await;
    world
        .until("the parent is told", async || {
            world.turns(&parent).await.len() == 2
        })
        .await;
    let told = world.turns(&parent).await[1].prompt.clone();
    assert!(told.contains("has failed:"), "{told}");
}

/// `WH_DELIVERIES` news in all, while the server is killed again and again.
#[tokio::test]
async fn each_delivery_arrives_once_though_the_server_is_killed() {
    const FAMILIES: u64 = 5;
    let wanted = count("WH_DELIVERIES", 50) / FAMILIES;
    let mut dice = Dice::roll_out("deliveries");
    let mut world = World::new();
    world.patience = 600;
    let mut families = Vec::new();
    for _ in 0..FAMILIES {
        let parent = world.session().await;
        let spawn = SessionSpawnRequest {
            parent: Some(parent.clone()),
            prompt: "say 0".to_owned(),
            callback: Some(true),
            wait: Some(60),
            ..SessionSpawnRequest::default()
        };
        let child = world.client.session_spawn(&spawn).await.unwrap().session;
        families.push((parent, child));
    }
    let mut sent = 1;
    let mut kills = 0;
    while sent < wanted {
        for (_, child) in &families {
            let prompt = SessionPromptRequest {
                session: child.clone(),
                prompt: format!("say {sent}"),
                idempotency_key: Some(format!("{child}-{sent}")),
                ..SessionPromptRequest::default()
            };
            world.client.session_prompt(&prompt).await.unwrap();
        }
        sent += 1;
        if sent % 5 == 0 {
            tokio::time::sleep(Duration::from_millis(dice.below(400))).await;
            world.crash(Duration::from_millis(dice.below(200))).await;
            kills += 1;
        }
    }
    let mut delivered = 0;
    for (parent, child) in &families {
        let heard = async || {
            let mut heard = BTreeMap::<u64, u64>::new();
            for turn in world.turns(parent).await {
                let lines = turn
                    .prompt
                    .lines()
                    .filter_map(|line| line.strip_prefix("> "));
                for number in lines.filter_map(|line| line.parse().ok()) {
                    *heard.entry(number).or_default() += 1;
                }
            }
            heard
        };
        let all = async || heard().await.len() as u64 == wanted;
        world.until("everything was told", all).await;
        world.rest(child).await;
        world.rest(parent).await;
        let heard = heard().await;
        assert!(heard.values().all(|times| *times == 1), "{heard:?}");
        delivered += heard.len();
    }
    println!("{delivered} deliveries, {kills} kills, 0 lost, 0 doubled");
}
