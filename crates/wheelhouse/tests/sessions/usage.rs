//! What was spent, told by every surface.

use serde_json::{Value, json};
use wh_api::{SessionSpawnRequest, UsageReportRequest, UsageReportView};
use wh_client::Client;
use wh_testkit::server::TestServer;

use crate::harness::World;

async fn report(client: &Client) -> UsageReportView {
    let request = UsageReportRequest::default();
    client.usage_report(&request).await.unwrap()
}

fn cli(server: &TestServer, arguments: &[&str]) -> String {
    let output = server.command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn spending_is_told_by_day_agent_and_tree_on_every_surface() {
    let world = World::new();
    assert_eq!(report(&world.client).await.total.turns, 0);
    let parent = world.session().await;
    world.prompt(&parent, "cost 1.25\nsay dear").await;
    world.prompt(&parent, "cost 0.25").await;
    let spawn = SessionSpawnRequest {
        parent: Some(parent.clone()),
        prompt: "cost 2".to_owned(),
        ..SessionSpawnRequest::default()
    };
    let child = world.client.session_spawn(&spawn).await.unwrap();
    let child = child.session.clone();
    world.rest(&child).await;
    let cheap = world.session().await;
    world.prompt(&cheap, "say nothing dear").await;

    let told = report(&world.client).await;
    assert_eq!((told.total.cost_micros, told.total.turns), (3_500_000, 4));
    assert_eq!(told.total.input_tokens, 4 + 2 + 2 + 3);
    assert!(told.days.iter().all(|day| told.since <= day.day));
    let by_day: u64 = told.days.iter().map(|day| day.usage.cost_micros).sum();
    assert_eq!(by_day, 3_500_000);
    let agents: Vec<_> = told
        .agents
        .iter()
        .map(|it| (it.agent.as_str(), it.usage.turns))
        .collect();
    assert_eq!(agents, [("echo", 4)]);
    let trees: Vec<_> = told
        .trees
        .iter()
        .map(|it| (it.session_id.clone(), it.usage.cost_micros))
        .collect();
    assert_eq!(trees, [(parent.clone(), 3_500_000), (cheap.clone(), 0)]);

    // The command line and MCP tell the same.
    let server = &world.server;
    let json: UsageReportView = serde_json::from_str(&cli(server, &["cost", "--json"])).unwrap();
    assert_eq!((&json.total, &json.trees), (&told.total, &told.trees));
    let table = cli(server, &["cost", "--by", "tree", "--trees", "1"]);
    assert!(
        table.contains("$3.50") && table.contains("1 other"),
        "{table}"
    );
    let called = json!({ "name": "usage_report", "arguments": { "since": "1d", "trees": 1 } });
    let called = cli(
        server,
        &["tool", "call", "tool_call", &called.to_string(), "--json"],
    );
    let called: Value = serde_json::from_str(&called).unwrap();
    assert_eq!(called["total"], json!(told.total), "{called}");
    assert_eq!(called["other_trees"]["count"], 1);

    // An agent is told of its own tree.
    world.prompt(&child, "call usage_report {}").await;
    let said = world.said(&child).await;
    assert!(said.contains(r#""total":{"cost_micros":2000000"#), "{said}");
}

#[tokio::test]
async fn spending_is_told_to_those_who_may_see_it() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "cost 1").await;
    let user = cli(&world.server, &["user", "create", "mia", "--json"]);
    let user: Value = serde_json::from_str(&user).unwrap();
    let id = user["id"].as_str().unwrap();
    let key = cli(
        &world.server,
        &[
            "key", "create", "--scope", "full", "--name", "m", "--user", id, "--json",
        ],
    );
    let key: Value = serde_json::from_str(&key).unwrap();
    let mia = world.server.client_with(key["key"].as_str().unwrap());
    let nothing = report(&mia).await;
    assert_eq!((nothing.total.turns, nothing.trees.len()), (0, 0));
    let client = world.server.client_with(&world.server.key("client"));
    assert_eq!(report(&client).await.total.turns, 0);
    let read = world.server.client_with(&world.server.key("read"));
    assert_eq!(report(&read).await.total.cost_micros, 1_000_000);
    for (since, until, offset) in [
        ("2020-01-01", None, 0),
        ("soon", None, 0),
        ("30d", Some("1d"), 0),
        ("30d", None, 2000),
    ] {
        let request = UsageReportRequest {
            since: Some(since.to_owned()),
            until: until.map(str::to_owned),
            utc_offset: Some(offset),
            ..UsageReportRequest::default()
        };
        let refused = world.client.usage_report(&request).await.unwrap_err();
        assert!(refused.to_string().contains(": "), "{refused}");
    }
}

#[tokio::test]
async fn what_a_conversation_cost_is_counted_once_over_restarts() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "cost 1").await;
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    world.prompt(&session, "cost 0.5").await;
    let told = report(&world.client).await;
    assert_eq!((told.total.cost_micros, told.total.turns), (1_500_000, 2));
}
