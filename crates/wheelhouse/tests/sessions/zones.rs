//! Zones that prompt what is placed in them: whom, with what, and once.

use std::time::Duration;

use wh_api::{
    BoardCreateRequest, BoardUpdateRequest, ItemKind, PlaceInput, SessionCreateRequest,
    SessionSpawnRequest, WorktreeCreateRequest, ZoneInputRequest,
};
use wh_client::{Client, ClientError};
use wh_testkit::dice::{Dice, count};

use crate::{harness::World, worktrees::repo};

/// Makes a board with a zone that prompts and one that does not.
async fn board(world: &World, template: &str, agent: Option<&str>) -> String {
    let zone = |name: &str| ZoneInputRequest {
        name: Some(name.to_owned()),
        ..ZoneInputRequest::default()
    };
    let work = ZoneInputRequest {
        prompt_template: Some(template.to_owned()),
        agent: agent.map(str::to_owned),
        ..zone("Work")
    };
    let request = BoardCreateRequest {
        name: "zones".to_owned(),
        description: None,
        zones: vec![work, zone("Rest")],
        idempotency_key: None,
    };
    world.client.board_create(&request).await.unwrap().id
}

fn placing(
    board: &str,
    kind: ItemKind,
    id: &str,
    zone: Option<&str>,
    x: f64,
) -> BoardUpdateRequest {
    BoardUpdateRequest {
        board: board.to_owned(),
        place: vec![PlaceInput {
            kind,
            id: id.to_owned(),
            x,
            y: 0.0,
            zone: zone.map(str::to_owned),
        }],
        ..BoardUpdateRequest::default()
    }
}

/// Returns what a session was asked, in order.
async fn prompts(world: &World, session: &str) -> Vec<String> {
    let turns = world.turns(session).await;
    turns.into_iter().map(|turn| turn.prompt).collect()
}

#[tokio::test]
async fn a_session_is_prompted_when_it_comes_into_the_zone() {
    let world = World::new();
    let board = board(
        &world,
        "say {{ zone.name }} {{ session.title | upper }}",
        None,
    )
    .await;
    let session = world
        .session_with(SessionCreateRequest {
            title: Some("paint".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    let place = async |zone: Option<&str>, x: f64| {
        let request = placing(&board, ItemKind::Session, &session, zone, x);
        world.client.board_update(&request).await.unwrap();
    };
    place(None, 1.0).await;
    place(Some("Rest"), 2.0).await;
    assert!(prompts(&world, &session).await.is_empty());
    place(Some("Work"), 3.0).await;
    // Moved within the zone, and out of it.
    place(Some("Work"), 4.0).await;
    place(None, 5.0).await;
    assert_eq!(prompts(&world, &session).await, ["say Work PAINT"]);
    place(Some("Work"), 6.0).await;
    assert_eq!(prompts(&world, &session).await.len(), 2);
    world.rest(&session).await;
    assert_eq!(world.said(&session).await, "Work PAINT\nWork PAINT\n");
    let whoami = world.client.whoami().await.unwrap().user;
    let turn = &world.turns(&session).await[0];
    assert_eq!(turn.sender_user_id, whoami.id);
    // What takes no prompts is only placed.
    place(None, 7.0).await;
    world.manage(&session, "archive").await;
    place(Some("Work"), 8.0).await;
    assert_eq!(prompts(&world, &session).await.len(), 2);
}

#[tokio::test]
async fn a_worktree_has_its_newest_session_prompted_or_one_begun() {
    let world = World::new();
    repo(&world).await;
    let template = "say {{ worktree.branch }} of {{ worktree.repo }}{% if session %} {{ session.agent }}{% endif %}";
    let made = async |name: &str| {
        let request = WorktreeCreateRequest {
            repo: "app".to_owned(),
            branch: Some(name.to_owned()),
            ..WorktreeCreateRequest::default()
        };
        world.client.worktree_create(&request).await.unwrap().id
    };
    let sessions_in = async |worktree: &str| {
        let list = world
            .client
            .session_list(&Default::default())
            .await
            .unwrap();
        let mut found = Vec::new();
        for session in list.sessions {
            let session = world.get(&session.id).await;
            if session.worktree_id.as_deref() == Some(worktree) {
                found.push(session.id);
            }
        }
        found
    };
    let silent = board(&world, template, None).await;
    let (one, two) = (made("one").await, made("two").await);
    let into = |board: &str, id: &str| placing(board, ItemKind::Worktree, id, Some("Work"), 0.0);
    // Nobody to prompt, and nobody is begun unless the zone says so.
    world
        .client
        .board_update(&into(&silent, &one))
        .await
        .unwrap();
    assert!(sessions_in(&one).await.is_empty());
    let begins = board(&world, template, Some("echo")).await;
    world
        .client
        .board_update(&into(&begins, &one))
        .await
        .unwrap();
    let begun = sessions_in(&one).await;
    assert_eq!(begun.len(), 1);
    world.rest(&begun[0]).await;
    assert_eq!(world.said(&begun[0]).await, "one of app\n");
    assert_eq!(world.get(&begun[0]).await.board_id, Some(begins.clone()));
    let session = |worktree: &str| SessionCreateRequest {
        worktree: Some(worktree.to_owned()),
        ..SessionCreateRequest::default()
    };
    let older = world.session_with(session(&two)).await;
    let newer = world.session_with(session(&two)).await;
    world
        .client
        .board_update(&into(&begins, &two))
        .await
        .unwrap();
    assert!(prompts(&world, &older).await.is_empty());
    assert_eq!(prompts(&world, &newer).await, ["say two of app echo"]);
}

#[tokio::test]
async fn a_session_that_begins_in_the_zone_is_prompted_after_its_first_prompt() {
    let world = World::new();
    let board = board(&world, "say and {{ session.title }}", None).await;
    let request = SessionCreateRequest {
        board: Some(board.clone()),
        zone: Some("Work".to_owned()),
        title: Some("that".to_owned()),
        prompt: Some("say this".to_owned()),
        ..SessionCreateRequest::default()
    };
    let session = world.session_with(request).await;
    assert_eq!(
        prompts(&world, &session).await,
        ["say this", "say and that"]
    );
    let spawn = SessionSpawnRequest {
        parent: Some(session.clone()),
        prompt: "say below".to_owned(),
        title: Some("too".to_owned()),
        zone: Some("Work".to_owned()),
        wait: Some(60),
        ..SessionSpawnRequest::default()
    };
    let spawned = world.client.session_spawn(&spawn).await.unwrap();
    assert_eq!(spawned.turn.number, 1);
    assert_eq!(
        prompts(&world, &spawned.session).await,
        ["say below", "say and too"]
    );
    let items = world.client.board_get(&board).await.unwrap().items;
    assert!(items.iter().all(|item| item.zone_id.is_some()));
    assert_eq!(items.len(), 2);
}

#[tokio::test]
async fn templates_that_cannot_be_filled_are_refused_and_nothing_is_saved() {
    let world = World::new();
    let board = board(&world, "say x", None).await;
    let change = |template: &str, agent: Option<&str>| BoardUpdateRequest {
        board: board.clone(),
        zones: vec![ZoneInputRequest {
            zone: Some("Work".to_owned()),
            prompt_template: Some(template.to_owned()),
            agent: agent.map(str::to_owned),
            ..ZoneInputRequest::default()
        }],
        ..BoardUpdateRequest::default()
    };
    for (template, agent) in [
        ("{{ secrets }}", None),
        ("{% for x in range(9) %}{% endfor %}", None),
        ("{{ session.title", None),
        ("say x", Some("nobody")),
    ] {
        let refused = world.client.board_update(&change(template, agent)).await;
        let refused = refused.unwrap_err();
        let ClientError::Refused { error, .. } = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.code, "INVALID_INPUT", "{refused:?}");
    }
    let saved = world.client.board_get(&board).await.unwrap();
    assert_eq!(
        (saved.revision, saved.zones[0].prompt_template.as_deref()),
        (1, Some("say x"))
    );
    world.client.board_update(&change("", None)).await.unwrap();
    let saved = world.client.board_get(&board).await.unwrap();
    assert_eq!(saved.zones[0].prompt_template, None);
}

/// Asks until there is an answer: the mark makes a repeat harmless.
async fn insist(client: &Client, request: &BoardUpdateRequest) {
    while client.board_update(request).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// `WH_PLACEMENTS` placements, half of them into the zone, while the server is killed as they are made.
#[tokio::test]
async fn each_placement_prompts_once_though_the_server_is_killed() {
    let placements = count("WH_PLACEMENTS", 40);
    let mut dice = Dice::roll_out("placements");
    let mut world = World::new();
    world.patience = 600;
    let board = board(&world, "say placed", None).await;
    let session = world.session().await;
    let mut kills = 0;
    for n in 0..placements {
        let zone = Some(if n % 2 == 0 { "Work" } else { "Rest" });
        let mut request = placing(&board, ItemKind::Session, &session, zone, n as f64);
        request.idempotency_key = Some(format!("placement-{n}"));
        if n % 4 < 2 {
            let (client, sent) = (world.server.client(), request.clone());
            let under_way = async move { drop(client.board_update(&sent).await) };
            let killed = async {
                tokio::time::sleep(Duration::from_millis(dice.below(8))).await;
                world.crash(Duration::from_millis(dice.below(50))).await;
            };
            tokio::join!(under_way, killed);
            kills += 1;
        }
        insist(&world.client, &request).await;
    }
    let prompted = prompts(&world, &session).await.len() as u64;
    println!("{placements} placements, {kills} kills, {prompted} prompts");
    assert_eq!(prompted, placements / 2);
    world.rest(&session).await;
}
