//! Worktrees that are named by a session that works in them, over MCP and REST.

use serde_json::{Value, json};

use crate::harness::{Mcp, World};
use crate::worktrees::worktree;

/// Begins a session of a caller's, and waits until it has written a file.
async fn session_in(client: &Mcp, place: Value) -> Value {
    let mut new = json!({ "agent": "echo", "prompt": "write b.txt two" });
    let fields = new.as_object_mut().unwrap();
    fields.extend(place.as_object().unwrap().clone());
    let made = Mcp::data(&client.call("session_create", new).await);
    let wait = json!({ "sessions": [made["id"]], "timeout": 60 });
    Mcp::data(&client.call("session_wait", wait).await);
    let made = json!({ "session": made["id"] });
    Mcp::data(&client.call("session_get", made).await)
}

/// Reads a worktree over REST.
async fn rest_get(world: &World, key: &str, id: &Value) -> (u16, Value) {
    let (url, id) = (&world.server.about().url, id.as_str().unwrap());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = client.get(format!("{url}/api/v1/worktrees/{id}"));
    let response = get.bearer_auth(key).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_session_stands_for_its_worktree() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (repo, _) = worktree(&world, &alice).await;
    let session = session_in(&alice, json!({ "repo": repo })).await;
    for name in ["id", "short_id"] {
        let named = json!({ "worktree": session[name] });
        let seen = Mcp::data(&alice.call("worktree_get", named.clone()).await);
        assert_eq!(seen["id"], session["worktree_id"]);
        let diff = Mcp::data(&alice.call("worktree_diff", named.clone()).await);
        assert_eq!(diff["files"][0]["path"], "b.txt");
        let list = Mcp::data(&alice.call("session_list", named).await);
        assert_eq!(list["sessions"][0]["id"], session["short_id"]);
        let (status, seen) = rest_get(&world, &world.keys.alice, &session[name]).await;
        assert_eq!((status, &seen["id"]), (200, &session["worktree_id"]));
    }
    let file = format!(
        "wheelhouse://worktree/{}/files/b.txt",
        session["id"].as_str().unwrap()
    );
    let file = alice.request("resources/read", json!({ "uri": file }));
    assert_eq!(file.await["result"]["contents"][0]["text"], "two\n");
    let second = session_in(&alice, json!({ "worktree": session["short_id"] })).await;
    assert_eq!(second["worktree_id"], session["worktree_id"]);
    // On a board it is the worktree that is laid down and taken away.
    let board = crate::harness::board(&alice, "plan").await;
    let item = json!([{ "kind": "worktree", "id": session["id"] }]);
    let laid = json!({ "board": board, "place": item });
    let laid = Mcp::data(&alice.call("board_update", laid).await);
    assert_eq!(laid["items"][0]["id"], session["worktree_id"]);
    let taken = json!({ "board": board, "remove_items": item });
    let taken = Mcp::data(&alice.call("board_update", taken).await);
    assert_eq!(taken["items"], json!([]));
}

#[tokio::test]
async fn a_session_without_a_worktree_says_where_its_work_is() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let home = world.server.home().canonicalize().unwrap().join("work");
    std::fs::create_dir(&home).unwrap();
    let here = session_in(&alice, json!({ "path": home })).await;
    let path = home.display();
    for (session, words, advice) in [
        (
            &here,
            format!("works in {path}, not in a worktree"),
            ["git -C"; 2],
        ),
        (
            &session_in(&alice, json!({})).await,
            "works in no repository".to_owned(),
            ["call repo_list", "list the repositories"],
        ),
    ] {
        let named = json!({ "worktree": session["id"] });
        let refused = alice.call("worktree_diff", named).await;
        assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
        let (status, said) = rest_get(&world, &world.keys.alice, &session["id"]).await;
        assert_eq!(status, 400, "{said}");
        let errors = [&refused["structuredContent"]["error"], &said["error"]];
        for (error, advice) in errors.into_iter().zip(advice) {
            assert!(
                error["message"].as_str().unwrap().ends_with(&words),
                "{error}"
            );
            assert!(error["hint"].as_str().unwrap().contains(advice), "{error}");
        }
    }
}

/// Whoever may not see a session, or not its worktree, is told what anybody is told of an id that nothing has.
#[tokio::test]
async fn a_session_of_somebody_else_stands_for_nothing() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (repo, _) = worktree(&world, &alice).await;
    let there = session_in(&alice, json!({ "repo": repo })).await;
    let home = world.server.home().join("work");
    std::fs::create_dir(&home).unwrap();
    let here = session_in(&alice, json!({ "path": home })).await;
    let board = crate::harness::board(&alice, "shared").await;
    let place = |session: &Value| json!({ "kind": "session", "id": session["id"] });
    let laid = json!({ "board": board, "place": [place(&there), place(&here)] });
    Mcp::data(&alice.call("board_update", laid).await);
    let nothing = json!(uuid::Uuid::now_v7().to_string());
    for level in ["none", "prompt"] {
        let share = json!({ "board": board, "with": "bob", "level": level });
        Mcp::data(&alice.call("board_share", share).await);
        for key in [
            &world.keys.bob,
            &world.keys.alice_client,
            &world.keys.session,
        ] {
            let caller = world.client(key);
            for session in [&there, &here] {
                for tool in ["worktree_get", "worktree_diff", "session_list"] {
                    let ask = async |id: &Value| caller.call(tool, json!({ "worktree": id })).await;
                    let refused = ask(&session["id"]).await;
                    assert_eq!(Mcp::code(&refused), "NOT_FOUND", "{tool}");
                    assert_eq!(refused, ask(&nothing).await, "{tool}");
                }
                let refused = rest_get(&world, key, &session["id"]).await;
                assert_eq!(refused.0, 404);
                assert_eq!(refused, rest_get(&world, key, &nothing).await);
            }
        }
        let merge = json!({ "worktree": there["id"] });
        let bob = world.client(&world.keys.bob);
        let refused = bob.call("worktree_merge", merge.clone()).await;
        assert_eq!(Mcp::code(&refused), "NOT_FOUND");
        let refused = bob.call("worktree_remove", merge).await;
        assert_eq!(Mcp::code(&refused), "NOT_FOUND");
    }
}
