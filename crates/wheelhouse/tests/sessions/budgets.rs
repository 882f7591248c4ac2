//! Budgets: raised while a session lives, of a user's day, in money that an agent does not report, and narrowed by a parent.

use serde_json::json;
use wh_api::{
    BudgetInput, BudgetPatchInput, ConfigSetRequest, NarrowedView, PolicyInput,
    SessionCreateRequest, SessionForkRequest, SessionSpawnRequest, SessionUpdateRequest,
    UsageReportRequest,
};
use wh_testkit::server::TestServer;

use crate::harness::{World, prompt_of};

/// What a model costs that the built-in agent does not report: 1000 US dollars for a million tokens.
const DEAR: &str = "[prices.\"echo-2\"]\ninput = 1000.0\noutput = 1000.0\n";

fn turns(count: u64) -> BudgetInput {
    BudgetInput {
        turns: Some(count),
        ..BudgetInput::default()
    }
}

fn words(narrowed: &[NarrowedView]) -> Vec<String> {
    narrowed.iter().map(NarrowedView::words).collect()
}

fn with(budget: BudgetInput, model: Option<&str>) -> SessionCreateRequest {
    SessionCreateRequest {
        budget: Some(budget),
        model: model.map(str::to_owned),
        ..SessionCreateRequest::default()
    }
}

fn raise(session: &str, budget: BudgetPatchInput) -> SessionUpdateRequest {
    SessionUpdateRequest {
        session: Some(session.to_owned()),
        budget: Some(budget),
        ..SessionUpdateRequest::default()
    }
}

/// Sends a prompt that is refused, and returns why.
async fn refused(world: &World, session: &str, prompt: &str) -> String {
    let request = prompt_of(session, prompt);
    let refused = world.client.session_prompt(&request).await;
    refused.unwrap_err().to_string()
}

async fn set(world: &World, key: &str, value: i64) {
    let request = ConfigSetRequest {
        key: key.to_owned(),
        value: Some(value.into()),
        ..ConfigSetRequest::default()
    };
    world.client.config_set(&request).await.unwrap();
}

#[tokio::test]
async fn a_spent_budget_is_raised_and_the_session_goes_on() {
    let world = World::new();
    let session = world.session_with(with(turns(1), None)).await;
    world.prompt(&session, "say one").await;
    let refused = refused(&world, &session, "say two").await;
    assert!(refused.contains("budget"), "{refused}");

    let more = BudgetPatchInput {
        turns: Some(Some(2)),
        ..BudgetPatchInput::default()
    };
    let raised = world.client.session_update(&raise(&session, more)).await;
    assert_eq!(raised.unwrap().budget.turns, Some(2));
    let two = world.prompt(&session, "say two").await;
    assert_eq!(two.turn.state, "completed");

    // The command line removes the limit; the others stay.
    let arguments = [
        "session",
        "update",
        &session,
        "--budget-turns",
        "none",
        "--budget-usd",
        "2.50",
    ];
    let output = world.server.command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let budget = world.get(&session).await.budget;
    assert_eq!((budget.turns, budget.cost_micros), (None, Some(2_500_000)));
    assert_eq!(
        world.prompt(&session, "say three").await.turn.state,
        "completed"
    );
}

#[tokio::test]
async fn an_agent_raises_no_budget_and_a_member_not_beyond_the_server() {
    let world = World::new();
    let session = world.session_with(with(turns(5), None)).await;
    let call = format!("call session_update {}", json!({"budget": {"turns": 50}}));
    world.prompt(&session, &call).await;
    assert!(
        world
            .said(&session)
            .await
            .contains("agents cannot change budgets")
    );
    assert_eq!(world.get(&session).await.budget.turns, Some(5));

    let run = |arguments: &[&str]| {
        let output = world.server.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["user", "create", "mia"]);
    let key = run(&[
        "key", "create", "--user", "mia", "--scope", "full", "--name", "k", "--json",
    ]);
    let key: serde_json::Value = serde_json::from_str(&key).unwrap();
    let mia = world.server.client_with(key["key"].as_str().unwrap());
    set(&world, "budget.session.turns", 10).await;
    let mut request = with(turns(2), None);
    request.agent = "echo".to_owned();
    let own = mia.session_create(&request).await.unwrap();
    let to = |turns| BudgetPatchInput {
        turns: Some(turns),
        ..BudgetPatchInput::default()
    };
    assert!(
        mia.session_update(&raise(&own.id, to(Some(10))))
            .await
            .is_ok()
    );
    for beyond in [Some(11), None] {
        let refused = mia.session_update(&raise(&own.id, to(beyond))).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("exceeds the server's limits"), "{refused}");
    }
    // An administrator may.
    let raised = world
        .client
        .session_update(&raise(&own.id, to(Some(11))))
        .await;
    assert_eq!(raised.unwrap().budget.turns, Some(11));
}

#[tokio::test]
async fn money_stops_an_agent_that_reports_tokens_alone() {
    let mut server = TestServer::stopped();
    server.configure(DEAR);
    server.restart();
    let world = World::on(server);
    let cent = BudgetInput {
        cost_micros: Some(10_000),
        ..BudgetInput::default()
    };
    let session = world.session_with(with(cent, Some("echo-2"))).await;
    // Six words in and six out, as the built-in agent counts them: 12 000 millionths.
    let first = world.prompt(&session, "say one two three four five").await;
    assert_eq!(first.turn.state, "completed");
    let view = world.get(&session).await;
    assert_eq!(view.model.as_deref(), Some("echo-2"));
    assert_eq!((view.cost_micros, view.estimated_micros), (12_000, 12_000));
    assert!(
        refused(&world, &session, "say more")
            .await
            .contains("budget")
    );

    // What an agent reports is no estimate, and nothing is estimated on top of it.
    let reported = world
        .session_with(with(BudgetInput::default(), Some("echo-2")))
        .await;
    world.prompt(&reported, "cost 0.50").await;
    let view = world.get(&reported).await;
    assert_eq!((view.cost_micros, view.estimated_micros), (500_000, 0));

    let report = UsageReportRequest::default();
    let total = world.client.usage_report(&report).await.unwrap().total;
    assert_eq!(
        (total.cost_micros, total.estimated_micros),
        (512_000, 12_000)
    );
    let shown = world
        .server
        .command()
        .args(["session", "show", &session])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("~$0.01"), "{shown}");
}

#[tokio::test]
async fn an_unknown_price_counts_as_the_highest_only_where_money_is_limited() {
    let world = World::with_scripted();
    let free = world.scripted().await;
    world.prompt(&free, "say hello").await;
    assert_eq!(world.get(&free).await.cost_micros, 0);
    let limited = SessionCreateRequest {
        agent: "scripted".to_owned(),
        budget: Some(BudgetInput {
            cost_micros: Some(1_000_000),
            ..BudgetInput::default()
        }),
        ..SessionCreateRequest::default()
    };
    let limited = world.client.session_create(&limited).await.unwrap().id;
    world.prompt(&limited, "say hello").await;
    let view = world.get(&limited).await;
    assert!(
        view.cost_micros > 0 && view.estimated_micros == view.cost_micros,
        "{view:?}"
    );
}

#[tokio::test]
async fn a_users_day_has_a_budget_of_its_own() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say one").await;
    set(&world, "budget.user_day.turns", 2).await;
    world.prompt(&session, "say two").await;
    let refused = refused(&world, &session, "say three").await;
    assert!(refused.contains("for today"), "{refused}");
    // Another session of the same user does not help.
    let mut request = SessionCreateRequest {
        prompt: Some("say four".to_owned()),
        ..SessionCreateRequest::default()
    };
    request.agent = "echo".to_owned();
    let refused = world.client.session_create(&request).await;
    assert!(refused.unwrap_err().to_string().contains("for today"));
    set(&world, "budget.user_day.turns", 3).await;
    assert_eq!(
        world.prompt(&session, "say five").await.turn.state,
        "completed"
    );
}

#[tokio::test]
async fn what_a_parent_narrows_is_in_the_answer() {
    let world = World::new();
    let parent = world.session_with(with(turns(4), None)).await;
    let spawn = SessionSpawnRequest {
        parent: Some(parent.clone()),
        prompt: "say hi".to_owned(),
        budget: Some(turns(50)),
        ..SessionSpawnRequest::default()
    };
    let terms = world
        .client
        .session_spawn(&spawn)
        .await
        .unwrap()
        .terms
        .unwrap();
    assert_eq!(
        (terms.workspace.as_str(), terms.budget.turns),
        ("none", Some(4))
    );
    assert_eq!(words(&terms.narrowed), ["budget.turns 50 → 4"]);

    set(&world, "budget.session.tokens", 100).await;
    let asked = BudgetInput {
        tokens: Some(500),
        ..BudgetInput::default()
    };
    let mut request = with(asked, None);
    request.agent = "echo".to_owned();
    let created = world.client.session_create(&request).await.unwrap();
    assert_eq!(created.workspace, "none");
    assert_eq!(words(&created.narrowed), ["budget.tokens 500 → 100"]);
    world.prompt(&created.id, "say hi").await;
    let fork = SessionForkRequest {
        session: created.id,
        ..SessionForkRequest::default()
    };
    let fork = world.client.session_fork(&fork).await.unwrap();
    assert_eq!((fork.budget.tokens, fork.narrowed.len()), (Some(96), 0));
}

#[tokio::test]
async fn a_policy_that_the_parent_narrows_is_in_the_answer_with_both_values() {
    let world = World::new();
    let parent = world.session().await;
    let allow = PolicyInput {
        default: Some("allow".to_owned()),
        ..PolicyInput::default()
    };
    let spawn = SessionSpawnRequest {
        parent: Some(parent),
        prompt: "say hi".to_owned(),
        policy: Some(allow),
        ..SessionSpawnRequest::default()
    };
    let spawned = world.client.session_spawn(&spawn).await.unwrap();
    let terms = spawned.terms.unwrap();
    assert_eq!(terms.policy.default.as_deref(), Some("ask"));
    assert_eq!(words(&terms.narrowed), ["policy allow → ask"]);
}

#[tokio::test]
async fn a_fork_says_what_it_does_not_have_of_its_source() {
    let world = World::with_scripted();
    let mut request = with(turns(9), Some("echo-2"));
    request.agent = "echo".to_owned();
    request.prompt = Some("say hi".to_owned());
    let source = world.client.session_create(&request).await.unwrap().id;
    world.rest(&source).await;
    let fork = SessionForkRequest {
        session: source,
        agent: Some("scripted".to_owned()),
        ..SessionForkRequest::default()
    };
    let fork = world.client.session_fork(&fork).await.unwrap();
    assert_eq!((fork.budget.turns, fork.model), (Some(8), None));
    assert_eq!(
        words(&fork.narrowed),
        ["model echo-2 → chosen by the agent"]
    );
}
