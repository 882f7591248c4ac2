//! A3: boards and users.

use serde_json::{Value, json};

use super::{Agor, assert_time, column, data, fields, refusal};
use crate::harness::Mcp;

/// What a board has.
const BOARD: [&str; 7] = [
    "board_id",
    "name",
    "description",
    "owner_id",
    "zones",
    "worktrees",
    "created_at",
];

async fn get(agor: &Agor, board: &str) -> Value {
    let get = json!({ "boardId": board });
    data(&agor.alice.call("agor_boards_get", get).await)
}

/// Puts a worktree on a board by our own tools.
async fn place(agor: &Agor, board: &str, worktree: &str) {
    let ours = agor.world.client(&agor.world.keys.alice);
    let place = json!([{ "kind": "worktree", "id": worktree, "x": 10, "y": 10 }]);
    let change = json!({ "board": board, "place": place });
    Mcp::data(&ours.call("board_update", change).await);
}

#[tokio::test]
async fn a3_7_boards_get_shows_zones_and_worktrees() {
    let agor = Agor::new().await;
    let (board, zones) = agor.board_with_zones("work", &["Planning", "Doing"]).await;
    let worktree = agor.worktree(&agor.repo().await, "topic").await;
    place(&agor, &board, &worktree).await;
    let seen = get(&agor, &board).await;
    assert_eq!(fields(&seen), BOARD);
    assert_eq!(seen["board_id"], board);
    assert_eq!(seen["owner_id"], agor.world.alice.id.to_string());
    let zone = json!({ "id": zones[0], "name": "Planning", "color": "#3b82f6" });
    assert_eq!(seen["zones"][0], zone);
    assert_eq!(seen["zones"].as_array().unwrap().len(), 2);
    assert_eq!(seen["worktrees"], json!([worktree]));
    assert_time(&seen["created_at"]);
    let theirs = json!({ "boardId": board });
    let refused = agor.bob.call("agor_boards_get", theirs).await;
    let expected = format!("Board not found: {board}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a3_8_boards_list_counts_all() {
    let agor = Agor::new().await;
    agor.board("first").await;
    agor.board("second").await;
    let all = data(&agor.alice.call("agor_boards_list", json!({})).await);
    assert_eq!((&all["total"], &all["limit"]), (&json!(2), &json!(50)));
    assert_eq!(column(&all, "name"), ["second", "first"]);
    let one = json!({ "limit": 1 });
    let one = data(&agor.alice.call("agor_boards_list", one).await);
    assert_eq!((&one["total"], &one["limit"]), (&json!(2), &json!(1)));
    assert_eq!(column(&one, "name"), ["second"]);
    // Of one owner.
    let (alice, list) = (agor.world.alice.id.to_string(), "agor_boards_list");
    let of = |owner: &str| json!({ "ownerId": owner });
    let own = data(&agor.alice.call(list, of(&alice)).await);
    assert_eq!(own["total"], 2);
    let hers = data(&agor.admin.call(list, of(&alice)).await);
    assert_eq!(column(&hers, "name"), ["second", "first"]);
    let refused = agor.bob.call(list, of(&alice)).await;
    let expected = format!("User not found: {alice}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a3_14_a4_3_boards_create_answers_as_every_creation_and_with_the_board_id() {
    let agor = Agor::new().await;
    let own = agor.world.alice.id.to_string();
    let new = json!({ "name": "Auth", "description": "a refactor", "ownerId": own });
    let made = data(&agor.alice.call("agor_boards_create", new.clone()).await);
    let names = ["boardId", "created", "entity_id", "entity"];
    assert_eq!(fields(&made), names);
    assert_eq!(
        (&made["created"], &made["entity_id"]),
        (&json!(true), &made["boardId"])
    );
    let seen = get(&agor, made["boardId"].as_str().unwrap()).await;
    assert_eq!(made["entity"], seen);
    assert_eq!(
        (&seen["name"], &seen["description"]),
        (&json!("Auth"), &json!("a refactor"))
    );
    assert_eq!(seen["owner_id"], own);
    // An administrator makes one for somebody else; nobody else does.
    let made = data(&agor.admin.call("agor_boards_create", new.clone()).await);
    let seen = get(&agor, made["boardId"].as_str().unwrap()).await;
    assert_eq!(seen["owner_id"], own);
    let refused = agor.bob.call("agor_boards_create", new).await;
    let expected = format!("User not found: {own}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
    let refused = agor
        .alice
        .call("agor_boards_create", json!({ "name": "x" }))
        .await;
    refusal(&refused, "INVALID_INPUT");
}

#[tokio::test]
async fn a3_16_boards_duplicate_copies_zones_and_makes_new_worktrees_if_asked() {
    let agor = Agor::new().await;
    let (board, _) = agor.board_with_zones("work", &["Doing"]).await;
    let worktree = agor.worktree(&agor.repo().await, "topic").await;
    place(&agor, &board, &worktree).await;
    let copy = |more: bool| {
        json!({
            "boardId": board, "newName": "copy", "includeWorktrees": more, "idempotency_key": format!("{more}"),
        })
    };
    let made = data(&agor.alice.call("agor_boards_duplicate", copy(false)).await);
    assert_eq!(made["entity"]["worktrees"], json!([]));
    let made = data(&agor.alice.call("agor_boards_duplicate", copy(true)).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    let entity = &made["entity"];
    assert_eq!(fields(entity), BOARD);
    assert_eq!(
        (&entity["name"], &entity["zones"][0]["name"]),
        (&json!("copy"), &json!("Doing"))
    );
    // A worktree of its own, on a branch of its own that begins at the original's.
    let own = entity["worktrees"].as_array().unwrap();
    assert_eq!(own.len(), 1, "{entity}");
    assert_ne!(own[0], worktree);
    let look = async |id: &Value| {
        let get = json!({ "worktreeId": id });
        data(&agor.alice.call("agor_worktrees_get", get).await)
    };
    let (new, old) = (look(&own[0]).await, look(&json!(worktree)).await);
    assert_eq!(
        (&new["name"], &new["repo_id"]),
        (&old["name"], &old["repo_id"])
    );
    assert_ne!(new["branch"], old["branch"]);
    assert_eq!(
        new["git_state"]["base_sha"],
        old["git_state"]["current_sha"]
    );
    // It lies where the original lies.
    let ours = agor.world.client(&agor.world.keys.alice);
    let shown = ours
        .call("board_get", json!({ "board": made["entity_id"] }))
        .await;
    let items = Mcp::data(&shown)["items"].clone();
    assert_eq!(
        (&items[0]["id"], &items[0]["x"]),
        (&own[0], &json!(10.0)),
        "{items}"
    );
    // A retry makes nothing twice.
    let again = data(&agor.alice.call("agor_boards_duplicate", copy(true)).await);
    assert_eq!(again["entity_id"], made["entity_id"]);
    assert_eq!(again["entity"]["worktrees"], entity["worktrees"]);
    // The call is one entry of the audit log; what it made besides is listed with the reads, under the same request.
    let recorded = async |reads: bool| {
        let about = json!({ "user": "alice", "include_reads": reads, "limit": 200 });
        let admin = agor.world.client(&agor.world.keys.admin);
        let admin = admin.toolsets("all");
        let listed = Mcp::data(&admin.call("audit_list", about).await);
        let mut entries = listed["entries"].as_array().unwrap().clone();
        entries.retain(|entry| entry["facts"]["tool"] == "agor_boards_duplicate");
        entries
    };
    let copied = made["entity_id"].as_str().unwrap();
    let calls = recorded(false).await;
    // The copy without worktrees, the one with them, and its repeat.
    assert_eq!(calls.len(), 3, "{calls:?}");
    for call in &calls {
        let (operation, outcome) = (&call["operation"], &call["outcome"]);
        assert_eq!(
            (operation, outcome),
            (&json!("board_duplicate"), &json!("ok"))
        );
    }
    let call = &calls[1];
    assert_eq!(
        (&calls[0]["facts"]["replay"], &call["facts"]["replay"]),
        (&json!("true"), &Value::Null)
    );
    assert_eq!(call["subject_id"], copied);
    let mut parts = recorded(true).await;
    parts.retain(|it| it["request_id"] == call["request_id"] && *it != *call);
    let told = |it: &Value| {
        let facts = &it["facts"];
        assert_eq!(facts["part_of"], "board_duplicate");
        (it["operation"].clone(), facts["changed"].clone())
    };
    let told: Vec<_> = parts.iter().map(told).collect();
    let (board, worktree) = (json!("board_update"), json!("worktree_create"));
    assert_eq!(told, [(board, json!(copied)), (worktree, own[0].clone())]);
}

#[tokio::test]
async fn a3_16_users_create_and_get() {
    let agor = Agor::new().await;
    let new = json!({ "username": "carol", "email": "carol@example.com", "avatarUrl": "https://example.com/c.png" });
    let made = data(&agor.admin.call("agor_users_create", new.clone()).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    let id = &made["entity_id"];
    let got = data(
        &agor
            .admin
            .call("agor_users_get", json!({ "userId": id }))
            .await,
    );
    assert_eq!(got, made["entity"]);
    assert_eq!(got["user_id"], *id);
    assert_eq!(got["username"], "carol");
    assert_eq!(got["email"], "carol@example.com");
    assert_eq!(got["avatar_url"], "https://example.com/c.png");
    // Nobody needs a name.
    for _ in 0..2 {
        let made = data(&agor.admin.call("agor_users_create", json!({})).await);
        let name = made["entity"]["username"].as_str().unwrap();
        assert!(name.starts_with("anonymous-"), "{name}");
    }
    let refused = agor.admin.call("agor_users_create", new.clone()).await;
    refusal(&refused, "CONFLICT");
    let refused = agor.alice.call("agor_users_create", new).await;
    refusal(&refused, "FORBIDDEN");
    let refused = agor
        .alice
        .call("agor_users_get", json!({ "userId": id }))
        .await;
    let expected = format!("User not found: {}", id.as_str().unwrap());
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a1_11_find_patch_and_remove_are_routed() {
    let agor = Agor::new().await;
    let board = agor.board("first").await;
    let found = data(&agor.alice.call("agor_boards_find", json!({})).await);
    assert_eq!(column(&found, "board_id"), [board.as_str()]);
    let patch = json!({ "id": board, "data": { "name": "second" } });
    let patched = data(&agor.alice.call("agor_boards_patch", patch.clone()).await);
    assert_eq!(patched["name"], "second");
    let expected = format!("Board not found: {board}");
    let refused = agor.bob.call("agor_boards_patch", patch).await;
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
    let worktree = agor.worktree(&agor.repo().await, "topic").await;
    let found = data(&agor.alice.call("agor_worktrees_find", json!({})).await);
    assert_eq!(column(&found, "worktree_id"), [worktree.as_str()]);
    let remove = json!({ "id": worktree });
    // What holds something unsaved stays.
    let get = json!({ "worktreeId": worktree });
    let seen = data(&agor.alice.call("agor_worktrees_get", get).await);
    let unsaved = std::path::Path::new(seen["path"].as_str().unwrap()).join("unsaved.txt");
    std::fs::write(&unsaved, "precious\n").unwrap();
    let refused = agor.alice.call("agor_worktrees_remove", remove.clone());
    refusal(&refused.await, "CONFLICT");
    assert!(unsaved.exists());
    std::fs::remove_file(unsaved).unwrap();
    let removed = data(
        &agor
            .alice
            .call("agor_worktrees_remove", remove.clone())
            .await,
    );
    assert_eq!(removed["worktree_id"], worktree);
    // A board goes when nothing belongs to it.
    let new = json!({ "boardId": board, "agent": "echo" });
    let made = data(&agor.alice.call("agor_sessions_create", new).await);
    let remove = json!({ "id": board });
    let refused = agor.bob.call("agor_boards_remove", remove.clone()).await;
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
    let refused = agor.alice.call("agor_boards_remove", remove.clone()).await;
    let why = refusal(&refused, "CONFLICT");
    assert!(why.contains("in use by 1 session"), "{why}");
    let session = json!({ "id": made["entity_id"] });
    data(&agor.alice.call("agor_sessions_remove", session).await);
    let removed = data(&agor.alice.call("agor_boards_remove", remove.clone()).await);
    assert_eq!(
        (&removed["board_id"], &removed["name"]),
        (&json!(board), &json!("second"))
    );
    let gone = agor.alice.call("agor_boards_remove", remove).await;
    assert_eq!(refusal(&gone, "NOT_FOUND"), expected);
    let child = agor.world.child.id.to_string();
    let patch = json!({ "id": child, "data": { "title": "renamed" } });
    let patched = data(&agor.alice.call("agor_sessions_patch", patch).await);
    assert_eq!(patched["title"], "renamed");
    let found = data(&agor.alice.call("agor_sessions_find", json!({})).await);
    assert_eq!(found["total"], 2);
    let removed = agor
        .alice
        .call("agor_sessions_remove", json!({ "id": child }))
        .await;
    assert_eq!(data(&removed)["session_id"], child);
    let gone = agor
        .alice
        .call("agor_sessions_get", json!({ "sessionId": child }))
        .await;
    refusal(&gone, "NOT_FOUND");
    let tasks = json!({ "sessionId": agor.parent() });
    assert_eq!(
        data(&agor.alice.call("agor_tasks_find", tasks).await)["total"],
        0
    );
}
