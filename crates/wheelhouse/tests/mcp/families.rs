//! What an agent is told of the sessions around its own: titles and states, and nothing else.

use serde_json::{Value, json};
use wh_domain::{KeyScope, Owner, UserRole};
use wh_testkit::{seed::Seed, server::TestServer};

use crate::harness::{Mcp, World, board};

/// Returns a session's tree as its own agent sees it.
async fn tree_by_agent(by: &Mcp, session: &str) -> Value {
    let call = json!({ "session": session });
    let prompt = format!("call session_tree {call}");
    let prompt = json!({ "session": session, "prompt": prompt, "wait": 60 });
    let done = Mcp::data(&by.call("session_prompt", prompt).await);
    let words = done["words"].as_str().unwrap();
    serde_json::from_str(words.trim()).unwrap_or_else(|error| panic!("{error}: {words}"))
}

async fn begun(by: &Mcp, title: &str, board: &str) -> String {
    let new = json!({ "agent": "echo", "title": title, "board": board, "description": "hidden" });
    let made = Mcp::data(&by.call("session_create", new).await);
    made["id"].as_str().unwrap().to_owned()
}

fn told(tree: &Value) -> Vec<(&str, &str)> {
    let others = tree["others"].as_array().into_iter().flatten();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let mut told: Vec<_> = others
        .map(|it| {
            assert_eq!(it.as_object().unwrap().len(), 3, "{it}");
            assert!(!text(it, "state").is_empty());
            (
                it["relation"].as_str().unwrap(),
                it["title"].as_str().unwrap(),
            )
        })
        .collect();
    told.sort_unstable();
    told
}

#[tokio::test]
async fn an_agent_knows_ancestors_and_siblings_by_title_and_state() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let parent = world.parent.id.to_string();
    let spawn = json!({ "parent": parent, "prompt": "say hidden", "title": "sibling", "wait": 60 });
    let sibling = Mcp::data(&alice.call("session_spawn", spawn).await);
    let own = world.child.id.to_string();
    let agent = world.client(&world.keys.child);
    let tree = agent.call("session_tree", json!({ "session": own })).await;
    let tree = Mcp::data(&tree);
    assert_eq!(tree["tree"].as_array().unwrap().len(), 1);
    assert_eq!(
        told(&tree),
        [("ancestor", "parent"), ("sibling", "sibling")]
    );
    let text = tree.to_string();
    assert!(
        !text.contains("hidden") && !text.contains(sibling["session"].as_str().unwrap()),
        "{text}"
    );
    // They stay closed, however they are named.
    for (tool, id) in [
        ("session_get", &parent),
        ("message_list", &parent),
        ("session_tree", &parent),
    ] {
        let refused = agent.call(tool, json!({ "session": id })).await;
        assert_eq!(Mcp::code(&refused), "NOT_FOUND");
    }
    // The parent opens all of it, so nothing is left to tell, and people see the whole tree.
    let above = world.client(&world.keys.session);
    for client in [&above, &alice] {
        let tree = Mcp::data(
            &client
                .call("session_tree", json!({ "session": parent }))
                .await,
        );
        assert_eq!(tree["tree"].as_array().unwrap().len(), 3);
        assert!(tree.get("others").is_none(), "{tree}");
    }
}

#[tokio::test]
async fn an_agent_knows_the_sessions_on_its_board_that_its_owner_sees_there() {
    let world = World::new().await;
    let (alice, bob, admin) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
        world.client(&world.keys.admin),
    );
    let on = board(&alice, "alice's").await;
    let own = begun(&alice, "own", &on).await;
    begun(&alice, "beside", &on).await;
    begun(&alice, "elsewhere", &board(&alice, "other").await).await;
    let place =
        json!({ "board": on, "place": [{ "kind": "session", "id": world.child.id.to_string() }] });
    Mcp::data(&alice.call("board_update", place).await);
    let tree = tree_by_agent(&alice, &own).await;
    assert_eq!(told(&tree), [("board", "beside"), ("board", "child")]);
    assert!(!tree.to_string().contains("hidden"));
    // Of another user's sessions on a board, those that this user shares.
    let bobs = board(&bob, "bob's board").await;
    begun(&bob, "bob's work", &bobs).await;
    let guest = begun(&admin, "guest", &bobs).await;
    assert_eq!(told(&tree_by_agent(&admin, &guest).await), []);
    let share = json!({ "board": bobs, "with": "everyone", "level": "read" });
    Mcp::data(&bob.call("board_share", share).await);
    assert_eq!(
        told(&tree_by_agent(&admin, &guest).await),
        [("board", "bob's work")]
    );
}

#[tokio::test]
async fn families_longer_than_a_page_are_whole_or_say_how_many_there_are() {
    const MANY: usize = 205;
    let mut server = TestServer::stopped();
    let seed = Seed::open(&server.data_dir()).await.unwrap();
    let user = seed.user("root", UserRole::Admin).await.unwrap().id;
    let owner = Owner { user, key: None };
    let board = seed.board(owner, "busy", 0).await.unwrap().id;
    let parent = seed.session(owner, "parent", None).await.unwrap();
    let own = seed.session_on(owner, "own", Some(&parent), Some(board));
    let own = own.await.unwrap();
    for _ in 0..MANY {
        seed.session(owner, "sibling", Some(&parent)).await.unwrap();
        let beside = seed.session_on(owner, "beside", None, Some(board));
        beside.await.unwrap();
    }
    seed.turns(&parent, MANY).await.unwrap();
    let repo = seed.repos(owner, 1).await.unwrap()[0];
    let worktrees = seed.worktrees_of(owner, repo, Some(board), MANY);
    worktrees.await.unwrap();
    let agent = seed.key(user, KeyScope::Session, Some(own.id)).await;
    let (agent, full) = (
        agent.unwrap().1,
        seed.key(user, KeyScope::Full, None).await.unwrap().1,
    );
    seed.close().await;
    server.restart();
    drop(server.client());

    let agent = Mcp::new(&server.about().mcp_url, &agent);
    let request = json!({ "session": own.id.to_string() });
    let tree = Mcp::data(&agent.call("session_tree", request).await);
    let told = told(&tree);
    let count = |relation: &str| told.iter().filter(|(it, _)| *it == relation).count();
    assert_eq!((count("ancestor"), count("sibling")), (1, MANY));
    assert!(count("board") < MANY);
    assert_eq!(tree["on_board"], MANY + 1);

    let agor = Mcp::new(&format!("{}/mcp/agor", server.url()), &full);
    let read = async |tool: &str, request: Value| -> Value {
        let answer = agor.call(tool, request).await;
        serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let request = json!({ "sessionId": parent.id.to_string() });
    let shown = read("agor_sessions_get", request).await;
    let children = shown["genealogy"]["children"].as_array().unwrap();
    assert_eq!(children.len(), MANY + 1);
    assert_eq!(shown["tasks"].as_array().unwrap().len(), 200);
    assert_eq!(shown["tasks_total"], MANY);
    let request = json!({ "boardId": board.to_string() });
    let shown = read("agor_boards_get", request).await;
    assert_eq!(shown["worktrees"].as_array().unwrap().len(), MANY);
}
