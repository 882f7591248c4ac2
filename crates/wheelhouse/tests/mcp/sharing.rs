//! Boards that are shared, and what others may then do with the sessions on them.

use serde_json::{Value, json};
use wh_domain::Operation;

use crate::harness::{Mcp, World, board};

/// Somebody's board with a session on it.
struct Shared {
    board: String,
    session: String,
}

/// Has bob put his session on a board of his.
async fn shared(world: &World, bob: &Mcp) -> Shared {
    let board = board(bob, "bob's").await;
    let session = world.bobs.id.to_string();
    let place = json!({ "board": board, "place": [{ "kind": "session", "id": session }] });
    Mcp::data(&bob.call("board_update", place).await);
    Shared { board, session }
}

async fn share(bob: &Mcp, board: &str, with: &str, level: &str) -> Value {
    let request = json!({ "board": board, "with": with, "level": level });
    Mcp::data(&bob.call("board_share", request).await)
}

/// Everything that can be asked about somebody's session and board.
fn questions(on: &Shared) -> Vec<(Operation, Value)> {
    let session = json!({ "session": on.session });
    vec![
        (Operation::BoardGet, json!({ "board": on.board })),
        (Operation::SessionGet, session.clone()),
        (Operation::SessionTree, session.clone()),
        (Operation::MessageList, session.clone()),
        (Operation::TurnList, session.clone()),
        (
            Operation::SessionWait,
            json!({ "sessions": [on.session], "timeout": 1 }),
        ),
        (
            Operation::SessionPrompt,
            json!({ "session": on.session, "prompt": "say hello", "wait": 60 }),
        ),
        (
            Operation::SessionManage,
            json!({ "session": on.session, "action": "stop" }),
        ),
        (Operation::SessionInterrupt, session.clone()),
        (Operation::SessionFork, session.clone()),
        (
            Operation::SessionSpawn,
            json!({ "parent": on.session, "prompt": "say hello" }),
        ),
        (
            Operation::SessionUpdate,
            json!({ "session": on.session, "title": "mine" }),
        ),
        (Operation::ApprovalList, session.clone()),
        (Operation::TaskList, session.clone()),
        (Operation::TaskList, json!({ "board": on.board })),
        (Operation::NoteList, session.clone()),
        (Operation::NoteList, json!({ "board": on.board })),
        (Operation::RunList, session),
        (
            Operation::BoardUpdate,
            json!({ "board": on.board, "name": "mine" }),
        ),
        (
            Operation::BoardDuplicate,
            json!({ "board": on.board, "name": "mine" }),
        ),
        (
            Operation::BoardShare,
            json!({ "board": on.board, "with": "everyone", "level": "prompt" }),
        ),
    ]
}

#[tokio::test]
async fn sharing_opens_what_the_table_says_and_nothing_else() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let alice = world.client(&world.keys.alice);
    let on = shared(&world, &bob).await;
    let mut calls = 0;
    for level in ["none", "read", "prompt", "none"] {
        share(&bob, &on.board, "alice", level).await;
        let given = wh_domain::ShareLevel::parse(level);
        for (operation, arguments) in questions(&on) {
            let answer = alice.call(operation.name(), arguments).await;
            let needed = operation.rule().shared;
            let opens = given.is_some() && needed.is_some() && given >= needed;
            match opens {
                true => drop(Mcp::data(&answer)),
                false => assert_eq!(Mcp::code(&answer), "NOT_FOUND", "{level}: {operation:?}"),
            }
            calls += 1;
        }
        // Neither client keys nor agents are given anything, whatever their user is.
        for key in [&world.keys.alice_client, &world.keys.session] {
            let ask = json!({ "session": on.session });
            let answer = world.client(key).call("session_get", ask).await;
            assert_eq!(Mcp::code(&answer), "NOT_FOUND");
        }
    }
    println!("{calls} calls");
    let board = Mcp::data(&bob.call("board_get", json!({ "board": on.board })).await);
    assert_eq!(board["name"], "bob's");
    assert_eq!(board["shares"], Value::Null);
}

#[tokio::test]
async fn a_guest_reaches_neither_tasks_nor_notes_nor_usage() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let alice = world.client(&world.keys.alice);
    let on = shared(&world, &bob).await;
    let of_session = json!({ "session": on.session });
    let of_board = json!({ "board": on.board });
    for of in [&of_session, &of_board] {
        let mut add = of.clone();
        add["tasks"] = json!([{ "content": "a secret plan" }]);
        Mcp::data(&bob.call("task_add", add).await);
        let mut add = of.clone();
        add["notes"] = json!([{ "kind": "learning", "content": "a secret note" }]);
        Mcp::data(&bob.call("note_add", add).await);
    }
    let prompt = json!({ "session": on.session, "prompt": "cost 1.50", "wait": 60 });
    Mcp::data(&bob.call("session_prompt", prompt).await);
    share(&bob, &on.board, "alice", "prompt").await;
    Mcp::data(&alice.call("session_get", of_session.clone()).await);
    for of in [of_session, of_board] {
        for tool in ["task_list", "note_list"] {
            let answer = alice.call(tool, of.clone()).await;
            assert_eq!(Mcp::code(&answer), "NOT_FOUND", "{tool} {of}");
            Mcp::data(&bob.call(tool, of.clone()).await);
        }
    }
    let usage = Mcp::data(&alice.call("usage_report", json!({})).await);
    assert_eq!(usage["total"]["turns"], 0, "{usage}");
    let others = alice.call("usage_report", json!({ "shared": true })).await;
    assert_eq!(Mcp::code(&others), "INVALID_INPUT");
}

#[tokio::test]
async fn lists_show_what_is_shared_when_asked_and_only_then() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let alice = world.client(&world.keys.alice);
    let on = shared(&world, &bob).await;
    let sessions = async |client: &Mcp, shared: bool| {
        let list = client
            .call("session_list", json!({ "shared": shared }))
            .await;
        let list = Mcp::data(&list)["sessions"].as_array().unwrap().clone();
        list.iter()
            .map(|it| it["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let own = sessions(&alice, false).await;
    assert_eq!(own.len(), 2);
    assert!(sessions(&alice, true).await.is_empty());
    share(&bob, &on.board, "everyone", "read").await;
    share(&bob, &on.board, "root", "prompt").await;
    assert_eq!(sessions(&alice, false).await, own);
    assert_eq!(sessions(&alice, true).await, ["bob's"]);
    assert!(sessions(&bob, true).await.is_empty());
    let boards = alice.call("board_list", json!({ "shared": true })).await;
    assert_eq!(Mcp::data(&boards)["boards"][0]["name"], "bob's");
    let boards = alice.call("board_list", json!({})).await;
    assert_eq!(Mcp::data(&boards)["boards"], json!([]));
    let on_board = json!({ "board": on.board, "shared": true });
    let list = Mcp::data(&alice.call("session_list", on_board).await);
    // The session was placed on the board, not begun there.
    assert_eq!(list["sessions"], json!([]));
    // Whom else it is shared with is not alice's to know.
    let board = Mcp::data(&alice.call("board_get", json!({ "board": on.board })).await);
    assert_eq!(
        board["shares"],
        json!([{ "with": "everyone", "level": "read" }])
    );
    for (key, may) in [
        (&world.keys.alice, false),
        (&world.keys.bob, true),
        (&world.keys.admin, true),
    ] {
        let ask = json!({ "board": on.board });
        let board = Mcp::data(&world.client(key).call("board_get", ask).await);
        assert_eq!(board["can_change"], json!(may));
    }
    let answer = world
        .client(&world.keys.alice_client)
        .call("session_list", json!({ "shared": true }))
        .await;
    assert_eq!(Mcp::code(&answer), "INVALID_INPUT");
}

/// Reads the change feed as the holder of a key.
async fn events(world: &World, key: &str) -> Vec<Value> {
    let url = format!("{}/api/v1/events?limit=200", world.server.about().url);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.get(url).bearer_auth(key).send().await.unwrap();
    let mut page: Value = answer.json().await.unwrap();
    assert_eq!(page["more"], json!(false), "{page}");
    serde_json::from_value(page["events"].take()).unwrap()
}

#[tokio::test]
async fn the_feed_tells_guests_what_they_are_given_and_that_it_is_taken_back() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let alice = world.client(&world.keys.alice);
    let on = shared(&world, &bob).await;
    let ask = json!({ "session": on.session, "prompt": "say hello\nask leave", "wait": 60 });
    Mcp::data(&bob.call("session_prompt", ask).await);
    let told = async || {
        let events = events(&world, &world.keys.alice).await;
        let of_bob = |event: &&Value| {
            event["session_id"] == json!(on.session) || event["subject_id"] == json!(on.board)
        };
        let kinds = events.iter().filter(of_bob);
        kinds
            .map(|it| it["subject_kind"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // Nothing can be taken back that was not given: nobody hears of a stranger's board that way.
    share(&bob, &on.board, "alice", "none").await;
    assert!(told().await.is_empty());
    for level in ["read", "prompt"] {
        share(&bob, &on.board, "alice", level).await;
        let seen = told().await;
        for kind in ["board", "session", "turn"] {
            assert!(seen.iter().any(|it| it == kind), "{kind}: {seen:?}");
        }
        let given = ["board", "session", "turn"];
        let more = seen.iter().find(|it| !given.contains(&it.as_str()));
        assert_eq!(more, None, "what bob is asked is not hers to know");
        let ask = json!({ "session": on.session });
        let session = Mcp::data(&alice.call("session_get", ask.clone()).await);
        assert_eq!(session["shared"], json!(level));
        let session = Mcp::data(&bob.call("session_get", ask).await);
        assert_eq!(session["shared"], Value::Null);
    }
    share(&bob, &on.board, "alice", "none").await;
    assert_eq!(told().await, ["board"], "that it is taken back");
}

#[tokio::test]
async fn a_prompt_is_attributed_to_who_sent_it() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let alice = world.client(&world.keys.alice);
    let on = shared(&world, &bob).await;
    share(&bob, &on.board, "alice", "prompt").await;
    let prompt = |text: &str| json!({ "session": on.session, "prompt": text, "wait": 60 });
    let first = Mcp::data(&bob.call("session_prompt", prompt("say from bob")).await);
    assert_eq!(first["turn"]["state"], "completed");
    let second = Mcp::data(&alice.call("session_prompt", prompt("say from alice")).await);
    assert_eq!(second["turn"]["state"], "completed");
    let read = json!({ "session": on.session, "after": "0" });
    let read = Mcp::data(&bob.call("message_list", read).await);
    let messages = read["messages"].as_array().unwrap();
    let said = messages
        .iter()
        .filter(|message| message["kind"] == "prompt");
    let said: Vec<_> = said.map(|it| (&it["sender"], &it["text"])).collect();
    assert_eq!(
        said,
        [
            (&json!("bob"), &json!("say from bob")),
            (&json!("alice"), &json!("say from alice"))
        ]
    );
    assert!(
        messages
            .iter()
            .all(|it| it["kind"] == "prompt" || it["sender"].is_null())
    );
    let turn = json!({ "turn": second["turn"]["id"] });
    let turn = Mcp::data(&bob.call("turn_get", turn).await);
    assert_eq!(turn["sender_user_id"], world.alice.id.to_string());
    // The log holds it under alice's name, and so do the events that bob follows.
    let log = Mcp::data(&alice.call("audit_list", json!({ "limit": 50 })).await);
    let entries = log["entries"].as_array().unwrap();
    assert!(entries.iter().any(|it| it["operation"] == "session_prompt"));
    let events = events(&world, &world.keys.bob).await;
    let actor = json!(world.alice.id.to_string());
    let by_alice = events.iter().filter(|it| it["actor_id"] == actor);
    assert_eq!(by_alice.count(), 1, "{events:?}");
    // Ending bob's turn for a prompt of hers is not given.
    let mut steer = prompt("say now");
    steer["when_busy"] = json!("steer");
    assert_eq!(
        Mcp::code(&alice.call("session_prompt", steer).await),
        "FORBIDDEN"
    );
}
