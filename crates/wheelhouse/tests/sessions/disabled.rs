//! A user who is disabled: shut out at once, and nothing of theirs goes on running.

use wh_api::{
    KeyCreateRequest, LoopResumeRequest, LoopStartRequest, UserCreateRequest, UserUpdateRequest,
    UserView,
};
use wh_client::{Client, ClientError};

use crate::{
    harness::{World, manage_of, prompt_of},
    worktrees::repo,
};

/// Makes a user and returns the secret of a key of theirs.
pub(crate) async fn alice(admin: &Client, role: Option<&str>) -> String {
    let alice = UserCreateRequest {
        name: "alice".to_owned(),
        role: role.map(str::to_owned),
        email: None,
        avatar_url: None,
        idempotency_key: None,
    };
    admin.user_create(&alice).await.unwrap();
    let key = KeyCreateRequest {
        name: "hers".to_owned(),
        scope: "full".to_owned(),
        user: Some("alice".to_owned()),
        expires_at: None,
        dialect: None,
        session: None,
        idempotency_key: None,
    };
    admin.key_create(&key).await.unwrap().key.unwrap()
}

pub(crate) async fn turn(world: &World, disabled: bool) -> UserView {
    let request = UserUpdateRequest {
        user: "alice".to_owned(),
        disabled: Some(disabled),
        ..UserUpdateRequest::default()
    };
    world.client.user_update(&request).await.unwrap()
}

fn code(error: &ClientError) -> &str {
    match error {
        ClientError::Refused { error, .. } => &error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_disabled_user_runs_is_stopped_and_kept() {
    let mut world = World::new();
    let admin = world.client.clone();
    let secret = alice(&admin, None).await;
    let hers = world.server.client_with(&secret);
    let allow = UserUpdateRequest {
        user: "alice".to_owned(),
        allow_paths: vec![world.server.home().display().to_string()],
        ..UserUpdateRequest::default()
    };
    admin.user_update(&allow).await.unwrap();

    // One at work, one that rests with its process, and a loop.
    world.client = hers.clone();
    let (busy, resting) = (world.session().await, world.session().await);
    world.send(&busy, "say begun\nsleep 600\nsay never").await;
    world.prompt(&resting, "say hello").await;
    repo(&world).await;
    let looped = LoopStartRequest {
        spec: Some("go on".to_owned()),
        agent: "echo".to_owned(),
        repo: "app".to_owned(),
        template: Some("sleep 600".to_owned()),
        ..LoopStartRequest::default()
    };
    let looped = hers.loop_start(&looped).await.unwrap().id;
    world.client = admin.clone();
    let words = async || world.said(&busy).await.contains("begun");
    world.until("the agent at work", words).await;
    let begun = async || admin.loop_get(&looped).await.unwrap().session_id.is_some();
    world.until("an iteration", begun).await;

    assert!(turn(&world, true).await.disabled_at.is_some());
    let shut_out = hers.whoami().await.unwrap_err();
    assert_eq!(code(&shut_out), "UNAUTHENTICATED");
    for session in [&busy, &resting] {
        world.until_state(session, "stopped").await;
    }
    let rests = async || admin.loop_get(&looped).await.unwrap().state == "paused";
    world.until("the loop to rest", rests).await;
    world
        .until("every process to be gone", async || {
            world.live_runners() == 0
        })
        .await;
    assert!(world.said(&busy).await.contains("begun"), "nothing is lost");

    // Nobody sets it going again, whoever asks.
    let asked = admin.session_prompt(&prompt_of(&busy, "say more")).await;
    let asked = asked.unwrap_err();
    assert_eq!(code(&asked), "CONFLICT");
    assert!(asked.to_string().contains("alice is disabled"), "{asked}");
    let started = admin.session_manage(&manage_of(&busy, "start")).await;
    assert_eq!(code(&started.unwrap_err()), "CONFLICT");
    let resume = LoopResumeRequest {
        r#loop: looped,
        ..LoopResumeRequest::default()
    };
    let resumed = admin.loop_resume(&resume).await;
    assert_eq!(code(&resumed.unwrap_err()), "CONFLICT");

    assert!(turn(&world, false).await.disabled_at.is_none());
    world.client = hers;
    assert_eq!(
        world.prompt(&busy, "say back").await.turn.state,
        "completed"
    );
    assert!(world.said(&busy).await.contains("back"));
}

#[tokio::test]
async fn a_server_that_was_killed_meanwhile_stops_it_too() {
    let mut world = World::new();
    let admin = world.client.clone();
    let session = world.session().await;
    world.send(&session, "say begun\nsleep 600").await;
    let words = async || world.said(&session).await.contains("begun");
    world.until("the agent at work", words).await;
    let whoami = admin.whoami().await.unwrap();
    world.server.kill9();
    // The row alone, as a server leaves it that is killed before it has stopped anything.
    let seed = wh_testkit::seed::Seed::open(&world.server.data_dir())
        .await
        .unwrap();
    let other = wh_domain::UserRole::Admin;
    seed.user("second", other).await.unwrap();
    seed.disable(whoami.user.id.parse().unwrap()).await.unwrap();
    seed.close().await;
    world.server.restart();
    world.client = world.server.client();
    world.until_state(&session, "stopped").await;
    world
        .until("every process to be gone", async || {
            world.live_runners() == 0
        })
        .await;
}
