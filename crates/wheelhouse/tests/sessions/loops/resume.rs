//! Loops that reached a limit, and continue with more.

use serde_json::json;
use wh_api::{
    BudgetInput, BudgetPatchInput, ConfigSetRequest, LoopResumeRequest, LoopStartRequest,
    RepoAddRequest, SessionCreateRequest, UserUpdateRequest,
};

use super::{log, over, request, resume, start};
use crate::{disabled::alice, harness::World, worktrees::repo};

/// Uses sixteen tokens: eight words, said once and answered once.
const SIXTEEN: &str = "write a.txt {{ loop.iteration }}\nsay one two three four";

fn tokens(limit: Option<u64>) -> Option<BudgetPatchInput> {
    Some(BudgetPatchInput {
        tokens: Some(limit),
        ..BudgetPatchInput::default()
    })
}

fn with_tokens(id: &str, limit: Option<u64>) -> LoopResumeRequest {
    LoopResumeRequest {
        budget: tokens(limit),
        ..resume(id)
    }
}

/// Starts a loop that ends after two iterations because its tokens are used up.
async fn spent(world: &World, branch: &str) -> String {
    let budget = BudgetInput {
        tokens: Some(30),
        ..BudgetInput::default()
    };
    let limited = LoopStartRequest {
        budget: Some(budget),
        branch: Some(branch.to_owned()),
        ..request(SIXTEEN)
    };
    let id = start(world, &limited).await;
    let it = over(world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("budget"), 2));
    id
}

async fn refused(world: &World, request: &LoopResumeRequest) -> String {
    let refused = world.client.loop_resume(request).await.unwrap_err();
    refused.to_string()
}

#[tokio::test]
async fn a_loop_that_reached_a_limit_works_on_with_more() {
    let world = World::new();
    repo(&world).await;
    let id = spent(&world, "work").await;
    for too_little in [resume(&id), with_tokens(&id, Some(32))] {
        let refused = refused(&world, &too_little).await;
        assert!(refused.contains("has used 32 of at most"), "{refused}");
    }
    let more = LoopResumeRequest {
        iterations_max: Some(4),
        idempotency_key: Some("more".to_owned()),
        ..with_tokens(&id, Some(200))
    };
    let resumed = world.client.loop_resume(&more).await.unwrap();
    assert_eq!(
        (resumed.state.as_str(), resumed.outcome),
        ("beginning", None)
    );
    assert_eq!(
        (resumed.budget.tokens, resumed.iterations_max),
        (Some(200), 4)
    );
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("limit"), 4));
    assert_eq!((it.tokens_used, it.left.tokens), (64, Some(136)));
    // The iterations go on counting, and each had what was left.
    let last = it.iterations[0].session_id.as_deref().unwrap();
    assert_eq!(world.get(last).await.budget.tokens, Some(152));
    // A retry with the same key finds it done.
    let retried = world.client.loop_resume(&more).await.unwrap();
    assert_eq!((retried.state.as_str(), retried.iteration), ("ended", 4));

    let refused = refused(&world, &with_tokens(&id, None)).await;
    assert!(refused.contains("4 of at most 4 iterations"), "{refused}");
    let more = LoopResumeRequest {
        iterations_max: Some(5),
        ..with_tokens(&id, None)
    };
    assert_eq!(
        world.client.loop_resume(&more).await.unwrap().left.tokens,
        None
    );
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("limit"), 5));
    let log = log(&world, &id).await.join("\n");
    for line in [
        "2 loop: resumed: at most 200 tokens, at most 4 iterations",
        "4 loop: resumed: no limit of tokens, at most 5 iterations",
    ] {
        assert!(log.contains(line), "{log}");
    }
}

#[tokio::test]
async fn a_paused_loop_gets_new_limits_and_one_at_work_does_not() {
    let world = World::new();
    repo(&world).await;
    let slow = format!("sleep 0.5\n{SIXTEEN}");
    let id = start(&world, &request(&slow)).await;
    let refused = refused(&world, &with_tokens(&id, Some(100))).await;
    assert!(refused.contains("when it is paused"), "{refused}");
    world.client.loop_pause(&id).await.unwrap();
    assert_eq!(over(&world, &id).await.state, "paused");
    let request = LoopResumeRequest {
        iterations_max: Some(2),
        ..resume(&id)
    };
    world.client.loop_resume(&request).await.unwrap();
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("limit"), 2));
}

#[tokio::test]
async fn no_agent_raises_the_limits_of_a_loop_and_a_member_not_beyond_the_server() {
    let mut world = World::new();
    let admin = world.client.clone();
    let path = repo(&world).await;
    let id = spent(&world, "work").await;
    let lead = SessionCreateRequest {
        role: Some("lead".to_owned()),
        ..SessionCreateRequest::default()
    };
    let lead = world.session_with(lead).await;
    for terms in [
        json!({"budget": {"tokens": 31}}),
        json!({"iterations_max": 9}),
    ] {
        let mut call = terms;
        call["loop"] = json!(id);
        world
            .prompt(&lead, &format!("call loop_resume {call}"))
            .await;
        let said = world.said(&lead).await;
        let times = said.matches("agents cannot change the limits of a loop");
        assert!(times.count() > 0, "{said}");
    }
    assert_eq!(over(&world, &id).await.budget.tokens, Some(30));

    world.client = world.server.client_with(&alice(&admin, None).await);
    let allow = UserUpdateRequest {
        user: "alice".to_owned(),
        allow_paths: vec![world.server.home().display().to_string()],
        ..UserUpdateRequest::default()
    };
    admin.user_update(&allow).await.unwrap();
    let app = RepoAddRequest {
        source: path.display().to_string(),
        name: Some("app".to_owned()),
        ..RepoAddRequest::default()
    };
    world.client.repo_add(&app).await.unwrap();
    let id = spent(&world, "hers").await;
    let limit = ConfigSetRequest {
        key: "budget.session.tokens".to_owned(),
        value: Some(40.into()),
        ..ConfigSetRequest::default()
    };
    admin.config_set(&limit).await.unwrap();
    for beyond in [Some(41), None] {
        let refused = refused(&world, &with_tokens(&id, beyond)).await;
        assert!(refused.contains("exceeds the server's limits"), "{refused}");
    }
    world
        .client
        .loop_resume(&with_tokens(&id, Some(40)))
        .await
        .unwrap();
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("budget"), 3));
    // An administrator may.
    let raised = admin.loop_resume(&with_tokens(&id, Some(60))).await;
    assert_eq!(raised.unwrap().budget.tokens, Some(60));
    over(&world, &id).await;
}
