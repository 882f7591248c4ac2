//! Every resource, through the table.

use std::collections::BTreeSet;

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};

use crate::harness::TestServer;

#[tokio::test]
async fn boards_are_made_shown_changed_and_copied() {
    let server = TestServer::start().await;
    let key = &server.admin;
    let body = json!({"name": "plan", "zones": [{"name": "todo", "x": 0.0, "y": 0.0, "width": 10.0, "height": 10.0}]});
    let made = server
        .post("/api/v1/boards")
        .key(key)
        .json(&body)
        .send()
        .await;
    let location = made.header("location").to_owned();
    let made = made.ok(201);
    assert_eq!(
        location,
        format!("/api/v1/boards/{}", made["id"].as_str().unwrap())
    );
    assert_eq!(server.get(&location).key(key).send().await.ok(200), made);
    // An id may be shortened.
    let short = format!("/api/v1/boards/{}", made["short_id"].as_str().unwrap());
    assert_eq!(server.get(&short).key(key).send().await.ok(200), made);

    let call = server.call(Method::PATCH, &location).key(key);
    let changed = call.json(&json!({"name": "done"})).send().await.ok(200);
    assert_eq!(
        (&changed["name"], &changed["revision"]),
        (&json!("done"), &json!(2))
    );
    let copy = format!("{location}/duplicate");
    let copy = server.post(&copy).key(key).json(&json!({"name": "copy"}));
    let copy = copy.send().await;
    assert!(copy.header("location").starts_with("/api/v1/boards/"));
    assert_eq!(copy.ok(201)["zones"][0]["name"], "todo");

    let first = server
        .get("/api/v1/boards?limit=1")
        .key(key)
        .send()
        .await
        .ok(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let path = format!("/api/v1/boards?limit=1&cursor={cursor}");
    let second = server.get(&path).key(key).send().await.ok(200);
    assert_eq!(second["boards"][0]["name"], "done");
    assert_eq!(second["next_cursor"], Value::Null);
}

#[tokio::test]
async fn users_keys_repos_and_settings_are_reachable() {
    let server = TestServer::start().await;
    let key = &server.admin;
    server.member("mia").await;
    let mia = server
        .get("/api/v1/users/mia")
        .key(key)
        .send()
        .await
        .ok(200);
    assert_eq!(mia["role"], "member");
    let keys = server
        .get("/api/v1/keys?user=mia")
        .key(key)
        .send()
        .await
        .ok(200);
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
    assert!(!keys.to_string().contains("\"key\""));

    let body = json!({"source": "https://git.example/a/b.git"});
    let repo = server
        .post("/api/v1/repos")
        .key(key)
        .json(&body)
        .send()
        .await;
    assert_eq!(repo.ok(201)["kind"], "remote");
    let repos = server.get("/api/v1/repos").key(key).send().await.ok(200);
    assert_eq!(repos["repos"].as_array().unwrap().len(), 1);

    let setting = "/api/v1/config/review.max_iterations";
    let call = server.call(Method::PUT, setting).key(key);
    let set = call.json(&json!({"value": 5})).send().await.ok(200);
    assert_eq!((&set["value"], &set["source"]), (&json!(5), &json!("set")));
    let one = server.get(setting).key(key).send().await.ok(200);
    assert_eq!(one["settings"], json!([set]));
    let call = server.call(Method::PUT, setting).key(key);
    let back = call.json(&json!({})).send().await.ok(200);
    assert_eq!(back["source"], "default");
    let all = server.get("/api/v1/config").key(key).send().await.ok(200);
    assert!(all["settings"].as_array().unwrap().len() > 5);
}

#[tokio::test]
async fn sessions_are_shown_and_named() {
    let server = TestServer::start().await;
    let key = &server.admin;
    let who = server.get("/api/v1/whoami").key(key).send().await.ok(200);
    let session = server.session(who["user"]["id"].as_str().unwrap()).await;
    let path = format!("/api/v1/sessions/{session}");
    let call = server.call(Method::PATCH, &path).key(key);
    let named = call.json(&json!({"title": "better"})).send().await.ok(200);
    assert_eq!(named["title"], "better");
    let list = server.get("/api/v1/sessions?states=idle,running").key(key);
    assert_eq!(list.send().await.ok(200)["sessions"][0]["title"], "better");
    let tree = server
        .get(&format!("{path}/tree"))
        .key(key)
        .send()
        .await
        .ok(200);
    assert_eq!(tree["tree"][0]["id"], json!(session));
    let current = server.get("/api/v1/sessions/current").key(key).send().await;
    current.refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn a_backup_is_made_and_the_audit_log_names_the_request() {
    let server = TestServer::start().await;
    let file = server.directory.path().join("copy.db");
    let body = json!({"file": file});
    let call = server
        .post("/api/v1/backups")
        .key(&server.admin)
        .json(&body);
    let answer = call.send().await;
    let request = answer.header("x-request-id").to_owned();
    assert!(answer.ok(201)["through"].as_u64().unwrap() > 0);
    assert!(file.exists());
    let path = "/api/v1/audit?operation=backup_create";
    let audit = server.get(path).key(&server.admin).send().await.ok(200);
    assert_eq!(audit["entries"][0]["request_id"], json!(request));
    assert_eq!(audit["entries"][0]["surface"], "rest");
    server.stop().await;
}

#[tokio::test]
async fn a_repeat_has_the_effect_of_once() {
    let server = TestServer::start().await;
    let body = json!({"name": "once"});
    let repeat = || {
        let call = server.post("/api/v1/boards").key(&server.admin);
        call.header("idempotency-key", "m1").json(&body).send()
    };
    let answers = join_all((0..5).map(|_| repeat())).await;
    let ids: BTreeSet<_> = answers
        .into_iter()
        .map(|answer| answer.ok(201)["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 1);
    // The log names what the first request made, also for the repeats, and tells them apart.
    let path = "/api/v1/audit?operation=board_create";
    let audit = server.get(path).key(&server.admin).send().await.ok(200);
    let entries = audit["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 5, "{audit}");
    for entry in entries {
        assert!(
            ids.contains(entry["subject_id"].as_str().unwrap()),
            "{entry}"
        );
    }
    let replays = entries.iter().filter(|it| it["facts"]["replay"] == "true");
    assert_eq!(replays.count(), 4, "{audit}");
    let list = server.get("/api/v1/boards").key(&server.admin).send().await;
    assert_eq!(list.ok(200)["boards"].as_array().unwrap().len(), 1);

    let call = server.post("/api/v1/boards").key(&server.admin);
    let call = call.header("idempotency-key", "m1");
    let answer = call.json(&json!({"name": "another"})).send().await;
    answer.refused(409, "CONFLICT");
    let in_body = json!({"name": "x", "idempotency_key": "m2"});
    for _ in 0..2 {
        let call = server.post("/api/v1/boards").key(&server.admin);
        call.json(&in_body).send().await.ok(201);
    }
    let list = server.get("/api/v1/boards").key(&server.admin).send().await;
    assert_eq!(list.ok(200)["boards"].as_array().unwrap().len(), 2);
    let call = server.post("/api/v1/boards").key(&server.admin);
    let call = call.header("idempotency-key", "m3").json(&in_body);
    call.send().await.refused(400, "INVALID_INPUT");
}

#[tokio::test]
async fn a_repeated_key_shows_no_second_secret() {
    let server = TestServer::start().await;
    let body = json!({"name": "k", "scope": "read"});
    let make = || {
        let call = server.post("/api/v1/keys").key(&server.admin);
        call.header("idempotency-key", "k1").json(&body).send()
    };
    let (first, second) = (make().await.ok(201), make().await.ok(201));
    assert_eq!(first["id"], second["id"]);
    assert!(first["key"].is_string());
    assert_eq!(second["key"], Value::Null);
}

#[tokio::test]
async fn what_is_not_yours_is_not_there() {
    let server = TestServer::start().await;
    let key = &server.admin;
    let mia = server.member("mia").await;
    let who = server.get("/api/v1/whoami").key(key).send().await.ok(200);
    let (user, own_key) = (&who["user"]["id"], &who["key_id"]);
    let board = server.board(key, "private").await;
    let session = server.session(user.as_str().unwrap()).await;
    let absent = "01990000-0000-7000-8000-000000000000";
    for (method, path, foreign, body) in [
        (Method::GET, "boards/{}", &board, None),
        (
            Method::PATCH,
            "boards/{}",
            &board,
            Some(json!({"name": "x"})),
        ),
        (
            Method::POST,
            "boards/{}/duplicate",
            &board,
            Some(json!({"name": "x"})),
        ),
        (Method::GET, "sessions/{}", &session, None),
        (
            Method::PATCH,
            "sessions/{}",
            &session,
            Some(json!({"title": "x"})),
        ),
        (Method::GET, "sessions/{}/tree", &session, None),
        (Method::GET, "sessions?board={}", &board, None),
        (Method::GET, "sessions?parent={}", &session, None),
        (
            Method::GET,
            "users/{}",
            &user.as_str().unwrap().to_owned(),
            None,
        ),
        (
            Method::DELETE,
            "keys/{}",
            &own_key.as_str().unwrap().to_owned(),
            None,
        ),
        (
            Method::GET,
            "keys?user={}",
            &user.as_str().unwrap().to_owned(),
            None,
        ),
    ] {
        let ask = |id: &str| {
            let call = server.call(
                method.clone(),
                &format!("/api/v1/{}", path.replace("{}", id)),
            );
            let call = call.key(&mia);
            match &body {
                Some(body) => call.json(body).send(),
                None => call.json(&json!({})).body("").send(),
            }
        };
        let (foreign, absent) = (ask(foreign).await, ask(absent).await);
        foreign.refused(404, "NOT_FOUND");
        assert_eq!(foreign.bytes, absent.bytes, "{method} {path}");
        assert_eq!(foreign.status, absent.status);
        let names = |answer: &crate::client::Answer| {
            let names = answer.headers.keys().map(ToString::to_string);
            names.collect::<BTreeSet<_>>()
        };
        assert_eq!(names(&foreign), names(&absent));
    }
    let list = server.get("/api/v1/boards").key(&mia).send().await.ok(200);
    assert_eq!(list["boards"], json!([]));
}
