//! Prompts: what they come to, how they wait, how they are taken back.

use wh_api::{BudgetInput, SessionCreateRequest, SessionPromptRequest};

use crate::harness::{World, prompt_of};

#[tokio::test]
async fn an_agent_that_says_the_same_again_and_again_is_told_of_once() {
    let world = World::with_scripted();
    let session = world.scripted().await;
    let warning = "has said the same 10 times in a row";
    for _ in 0..9 {
        world.prompt(&session, "say again").await;
    }
    assert!(!world.notes(&session).await.contains(warning));
    for _ in 0..12 {
        world.prompt(&session, "say again").await;
    }
    let notes = world.notes(&session).await;
    assert_eq!(notes.matches(warning).count(), 1, "{notes}");
    let log = std::fs::read_to_string(world.server.home().join("server.log")).unwrap();
    assert!(log.contains("an agent says the same again and again"));
}

#[tokio::test]
async fn a_first_prompt_runs_and_its_turn_is_kept() {
    let world = World::new();
    let session = world
        .session_with(SessionCreateRequest {
            prompt: Some("say hello\nwrite notes.txt it works\nsay done".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    let view = world.rest(&session).await;
    assert_eq!(
        (view.state.as_str(), view.title.as_str()),
        ("idle", "say hello")
    );
    assert!(view.tokens_used > 0);
    assert!(world.said(&session).await.contains("hello"));
    let transcript = world.transcript(&session).await;
    assert_eq!(transcript[0].kind, "prompt");
    assert!(transcript.iter().any(|it| it.kind == "tool_call"));
    let numbers: Vec<_> = transcript.iter().map(|it| it.seq).collect();
    let expected: Vec<_> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    let turns = wh_api::TurnListRequest {
        session: session.clone(),
        ..Default::default()
    };
    let turns = world.client.turn_list(&turns).await.unwrap().turns;
    assert_eq!((turns.len(), turns[0].state.as_str()), (1, "completed"));
    let turn = world.client.turn_get(&turns[0].id).await.unwrap();
    assert!(turn.prompt.starts_with("say hello"));
}

#[tokio::test]
async fn prompts_wait_their_turn_and_are_refused_if_asked() {
    let world = World::new();
    let session = world.session().await;
    let first = world.send(&session, "sleep 1\nsay first").await;
    let second = world.send(&session, "say second").await;
    assert_eq!(second.turn.state, "queued");
    let reject = SessionPromptRequest {
        when_busy: Some("reject".to_owned()),
        ..prompt_of(&session, "say never")
    };
    let refused = world.client.session_prompt(&reject).await.unwrap_err();
    assert!(refused.to_string().contains("busy"), "{refused}");
    world.rest(&session).await;
    let said = world.said(&session).await;
    let place = |word: &str| said.find(word).unwrap();
    assert!(place("first") < place("second"), "{said}");
    assert!(!said.contains("never"));
    let first = world.client.turn_get(&first.turn.id).await.unwrap();
    assert_eq!(first.turn.state, "completed");
}

#[tokio::test]
async fn steering_ends_the_running_turn_and_goes_first() {
    let world = World::new();
    let session = world.session().await;
    let running = world.send(&session, "sleep 60\nsay never").await;
    world.until_state(&session, "running").await;
    world.send(&session, "say later").await;
    let steer = SessionPromptRequest {
        when_busy: Some("steer".to_owned()),
        wait: Some(30),
        ..prompt_of(&session, "say now")
    };
    let steered = world.client.session_prompt(&steer).await.unwrap();
    assert_eq!(steered.turn.state, "completed");
    world.rest(&session).await;
    let said = world.said(&session).await;
    assert!(
        said.find("now").unwrap() < said.find("later").unwrap(),
        "{said}"
    );
    assert!(!said.contains("never"));
    let running = world.client.turn_get(&running.turn.id).await.unwrap();
    assert_eq!(running.turn.state, "cancelled");
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_not_the_session() {
    let world = World::new();
    let session = world.session().await;
    let turn = world.send(&session, "say begun\nsleep 60\nsay never").await;
    world
        .until("words", async || {
            world.said(&session).await.contains("begun")
        })
        .await;
    world.client.session_interrupt(&session).await.unwrap();
    let view = world.rest(&session).await;
    assert_eq!(view.state, "idle");
    let turn = world.client.turn_get(&turn.turn.id).await.unwrap();
    assert_eq!(turn.turn.state, "cancelled");
    let next = world.prompt(&session, "say again").await;
    assert_eq!(next.turn.state, "completed");
    assert_eq!(world.get(&session).await.runs, 1, "the same process");
}

#[tokio::test]
async fn a_queued_prompt_is_cancelled_and_interrupts_leave_a_trace() {
    let world = World::new();
    let session = world.session().await;
    world.send(&session, "say begun\nsleep 60").await;
    world
        .until("words", async || {
            world.said(&session).await.contains("begun")
        })
        .await;
    let unwanted = world.send(&session, "say unwanted").await.turn.id;
    let wanted = world.send(&session, "say wanted").await.turn.id;
    let other = world.session().await;
    let refused = world.client.session_turn_cancel(&other, &unwanted).await;
    assert!(refused.unwrap_err().to_string().contains("turn not found"));
    let cancelled = world.client.session_turn_cancel(&session, &unwanted).await;
    assert_eq!(cancelled.unwrap().state, "running");
    let unwanted = world.client.turn_get(&unwanted).await.unwrap();
    assert_eq!(unwanted.turn.state, "cancelled");

    world.client.session_interrupt(&session).await.unwrap();
    world.rest(&session).await;
    let wanted = world.client.turn_get(&wanted).await.unwrap();
    assert_eq!(wanted.turn.state, "completed");
    assert!(!world.said(&session).await.contains("unwanted"));
    let trace = "the turn was interrupted";
    assert!(world.notes(&session).await.contains(trace));
}

#[tokio::test]
async fn a_wait_that_is_too_short_returns_what_there_is() {
    let world = World::new();
    let session = world.session().await;
    world.rest(&session).await;
    let request = SessionPromptRequest {
        wait: Some(1),
        ..prompt_of(&session, "say begun\nsleep 60")
    };
    let part = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(part.turn.state, "running");
    assert!(part.words.unwrap().contains("begun"));
}

#[tokio::test]
async fn budgets_stop_at_the_end_of_the_turn_that_crosses_them_or_sooner() {
    let world = World::new();
    let with = |budget| SessionCreateRequest {
        budget: Some(budget),
        ..SessionCreateRequest::default()
    };
    let turns = BudgetInput {
        turns: Some(1),
        ..BudgetInput::default()
    };
    let session = world.session_with(with(turns)).await;
    assert_eq!(
        world.prompt(&session, "say one").await.turn.state,
        "completed"
    );
    let refused = world
        .client
        .session_prompt(&prompt_of(&session, "say two"))
        .await;
    assert!(refused.unwrap_err().to_string().contains("budget"));
    let tokens = BudgetInput {
        tokens: Some(1),
        ..BudgetInput::default()
    };
    let session = world.session_with(with(tokens)).await;
    world.send(&session, "say one").await;
    let queued = world.send(&session, "say two").await;
    world.rest(&session).await;
    let queued = world.client.turn_get(&queued.turn.id).await.unwrap();
    assert_eq!(queued.turn.state, "failed");
    assert!(queued.turn.reason.unwrap().contains("tokens"));
    let time = BudgetInput {
        wall_seconds: Some(1),
        ..BudgetInput::default()
    };
    let session = world.session_with(with(time)).await;
    let cut = world.prompt(&session, "sleep 60").await;
    assert_eq!(cut.turn.state, "cancelled");
    assert!(world.notes(&session).await.contains("time is used up"));
}

#[tokio::test]
async fn an_agent_calls_our_tools_with_its_own_token() {
    let world = World::new();
    let session = world.session().await;
    let done = world.prompt(&session, "call session_current {}").await;
    assert_eq!(done.turn.state, "completed");
    let short = &session[session.len() - 8..];
    assert!(world.said(&session).await.contains(short));
    // It sees itself and nobody else.
    let other = world.session().await;
    let call = format!("call session_get {{\"session\": \"{other}\"}}");
    world.prompt(&session, &call).await;
    assert!(world.said(&session).await.contains("session not found"));
}
