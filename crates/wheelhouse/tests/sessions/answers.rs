//! Answers that the agent's protocol has no words for: the reason of a denial, and options that were not offered.

use std::time::Duration;

use wh_api::{
    ApprovalAnswerRequest, BudgetInput, BudgetPatchInput, ConfigSetRequest, PolicyInput,
    PolicyRuleInput, SessionCreateRequest, SessionUpdateRequest,
};

use crate::harness::World;

/// Waits until the agent was prompted with the reason, and returns the prompts of the session.
async fn prompts_with(world: &World, session: &str, reason: &str) -> Vec<String> {
    let has_reason = |prompts: &[String]| prompts.iter().any(|prompt| prompt.contains(reason));
    world
        .until("the reason to arrive", async || {
            has_reason(&prompts(world, session).await)
        })
        .await;
    world.until_state(session, "idle").await;
    prompts(world, session).await
}

async fn prompts(world: &World, session: &str) -> Vec<String> {
    let transcript = world.transcript(session).await;
    let prompts = transcript.into_iter().filter(|it| it.kind == "prompt");
    prompts.map(|it| it.text).collect()
}

#[tokio::test]
async fn the_reason_of_a_denial_is_the_next_thing_the_agent_reads() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask drop the table").await;
    let reason = "use the staging database";
    world
        .answer(&asked.approvals[0].id, "deny", Some(reason))
        .await;
    let prompts = prompts_with(&world, &session, reason).await;
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[1].contains("drop the table"), "{prompts:?}");
    let said = world.said(&session).await;
    assert_eq!(said.matches(reason).count(), 1, "{said}");
    let name = world.client.whoami().await.unwrap().user.name;
    let transcript = world.transcript(&session).await;
    let prompt = transcript.iter().rfind(|it| it.kind == "prompt").unwrap();
    assert_eq!(prompt.sender.as_deref(), Some(name.as_str()));
}

#[tokio::test]
async fn the_reason_of_a_declined_question_reaches_the_agent() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "question which colour?").await;
    let reason = "ask the designer";
    world
        .answer(&asked.approvals[0].id, "deny", Some(reason))
        .await;
    let prompts = prompts_with(&world, &session, reason).await;
    assert!(prompts[1].contains("which colour?"), "{prompts:?}");
    assert!(world.said(&session).await.contains(reason));
}

#[tokio::test]
async fn a_reason_comes_with_the_prompt_that_waits() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask leave").await;
    let queued = world.send(&session, "say the next thing").await;
    let reason = "not before noon";
    world
        .answer(&asked.approvals[0].id, "deny", Some(reason))
        .await;
    world.rest(&session).await;
    let said = world.said(&session).await;
    assert_eq!(said.matches(reason).count(), 1, "{said}");
    let (before, after) = said.split_once(reason).unwrap();
    assert!(before.contains("leave: reject"), "{said}");
    assert!(after.contains("the next thing"), "{said}");
    let turns = world.turns(&session).await;
    assert_eq!(turns.len(), 2, "no turn is made for it: {turns:?}");
    assert_eq!(turns[1].turn.id, queued.turn.id);
}

#[tokio::test]
async fn a_reason_survives_a_killed_server_and_an_interrupted_turn() {
    let mut world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask leave\nsleep 600").await;
    let reason = "not before noon";
    world
        .answer(&asked.approvals[0].id, "deny", Some(reason))
        .await;
    world
        .until("the denial", async || {
            world.said(&session).await.contains("leave: reject")
        })
        .await;
    world.client.session_interrupt(&session).await.unwrap();
    world.until_state(&session, "idle").await;
    world.crash(Duration::ZERO).await;
    // Who interrupts an agent does not want it prompted: the reason waits for the next prompt.
    assert_eq!(world.turns(&session).await.len(), 1);
    world.prompt(&session, "say go on").await;
    let said = world.said(&session).await;
    assert_eq!(said.matches(reason).count(), 1, "{said}");
    world.prompt(&session, "say and again").await;
    let said = world.said(&session).await;
    assert_eq!(said.matches(reason).count(), 1, "{said}");
}

/// Denies what an agent asks for in the only turn that a budget allows, raises the budget, and prompts the agent again.
async fn raised_after_a_denial(
    world: &World,
    budget: Option<BudgetInput>,
    raise: impl AsyncFnOnce(&str),
) {
    let request = SessionCreateRequest {
        budget,
        ..SessionCreateRequest::default()
    };
    let session = world.session_with(request).await;
    let asked = world.prompt(&session, "ask drop the table").await;
    let reason = "use the staging database";
    world
        .answer(&asked.approvals[0].id, "deny", Some(reason))
        .await;
    world.rest(&session).await;
    let turns = world.turns(&session).await;
    assert_eq!(turns.len(), 1, "the budget is used up: {turns:?}");
    raise(&session).await;
    for prompt in ["say go on", "say and again"] {
        world.prompt(&session, prompt).await;
        let said = world.said(&session).await;
        assert_eq!(said.matches(reason).count(), 1, "{said}");
    }
}

#[tokio::test]
async fn a_reason_survives_a_budget_that_was_used_up() {
    let world = World::new();
    let one_turn = BudgetInput {
        turns: Some(1),
        ..BudgetInput::default()
    };
    raised_after_a_denial(&world, Some(one_turn), async |session| {
        let request = SessionUpdateRequest {
            session: Some(session.to_owned()),
            budget: Some(BudgetPatchInput {
                turns: Some(Some(3)),
                ..BudgetPatchInput::default()
            }),
            ..SessionUpdateRequest::default()
        };
        world.client.session_update(&request).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_reason_survives_a_day_whose_budget_was_used_up() {
    let world = World::new();
    let set = async |turns: i64| {
        let request = ConfigSetRequest {
            key: "budget.user_day.turns".to_owned(),
            value: Some(turns.into()),
            ..ConfigSetRequest::default()
        };
        world.client.config_set(&request).await.unwrap();
    };
    set(1).await;
    raised_after_a_denial(&world, None, async |_| set(3).await).await;
}

#[tokio::test]
async fn a_denial_without_a_reason_prompts_nobody() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask leave").await;
    world.answer(&asked.approvals[0].id, "deny", None).await;
    world.rest(&session).await;
    world.prompt(&session, "say more").await;
    assert_eq!(world.turns(&session).await.len(), 2);
    assert!(!world.said(&session).await.contains("denied"));
}

#[tokio::test]
async fn allow_once_is_refused_where_only_always_is_offered() {
    let world = World::with_scripted();
    let session = world.scripted().await;
    let asked = world
        .prompt(&session, "offer allow_always,reject_once leave")
        .await;
    let mut request = ApprovalAnswerRequest {
        approval: asked.approvals[0].id.clone(),
        decision: "allow".to_owned(),
        ..ApprovalAnswerRequest::default()
    };
    let refused = world.client.approval_answer(&request).await.unwrap_err();
    let words = refused.to_string();
    assert!(words.contains("option allow_always"), "{words}");
    assert!(words.contains("option reject_once"), "{words}");
    assert_eq!(world.pending(&session).await.len(), 1, "still open");
    request.always = Some(true);
    world.client.approval_answer(&request).await.unwrap();
    world.rest(&session).await;
    assert!(world.said(&session).await.contains("allow_always"));
}

#[tokio::test]
async fn a_denial_without_a_reject_option_cancels_the_request() {
    let world = World::with_scripted();
    let session = world.scripted().await;
    let asked = world
        .prompt(&session, "offer allow_once,allow_always leave")
        .await;
    world.answer(&asked.approvals[0].id, "deny", None).await;
    world.until_state(&session, "idle").await;
    let said = world.said(&session).await;
    assert!(said.contains("nothing"), "{said}");
    let turns = world.turns(&session).await;
    assert_eq!(turns[0].turn.state, "cancelled");
    assert_eq!(world.asked(&session).await[0].state, "denied");
}

#[tokio::test]
async fn a_policy_that_allows_leaves_what_only_always_would_allow_to_a_person() {
    let world = World::with_scripted();
    let request = SessionCreateRequest {
        agent: "scripted".to_owned(),
        policy: Some(PolicyInput {
            allow: vec![PolicyRuleInput::default()],
            ..PolicyInput::default()
        }),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap().id;
    let asked = world
        .prompt(&session, "offer allow_always,reject_once leave")
        .await;
    assert_eq!(asked.state, "waiting");
    world.answer(&asked.approvals[0].id, "deny", None).await;
    world.rest(&session).await;
    assert!(world.said(&session).await.contains("reject_once"));
}
