//! Agents that are given the tools of a dialect: by the request, by their parent, their loop, their repository or the configuration.

use serde_json::{Value, json};
use wh_domain::Dialect;
use wh_testkit::{
    git::{program, repository},
    server::TestServer,
};

use crate::harness::{Mcp, World};

/// Starts a session of the built-in agent with a prompt, waits for it, and returns its id and what was said.
async fn session(ours: &Mcp, mut new: Value, prompt: &str) -> (String, String) {
    if new["agent"].is_null() {
        new["agent"] = "echo".into();
    }
    let made = Mcp::data(&ours.call("session_create", new).await);
    let session = made["id"].as_str().unwrap().to_owned();
    let said = said(ours, &session, prompt).await;
    (session, said)
}

/// Prompts a session, waits for it, and returns everything that was said in it.
async fn said(ours: &Mcp, session: &str, prompt: &str) -> String {
    let prompt = json!({ "session": session, "prompt": prompt, "wait": 60 });
    let done = Mcp::data(&ours.call("session_prompt", prompt).await);
    assert_eq!(done["turn"]["state"], "completed", "{done}");
    let list = json!({ "session": session, "view": "full", "after": "0" });
    Mcp::data(&ours.call("message_list", list).await).to_string()
}

async fn dialect_of(ours: &Mcp, session: &str) -> Value {
    let get = json!({ "session": session });
    Mcp::data(&ours.call("session_get", get).await)["mcp_dialect"].clone()
}

/// Adds a repository, with the tools of its agents if it names any, and returns its id.
async fn repo(world: &World, ours: &Mcp, dialect: Option<&str>) -> String {
    let name = dialect.unwrap_or("plain");
    let dir = repository(&world.server.home().join(name));
    let add = json!({ "source": dir, "name": name, "mcp_dialect": dialect });
    let added = Mcp::data(&ours.call("repo_add", add).await);
    assert_eq!(added["mcp_dialect"].as_str(), dialect, "{added}");
    added["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_calls_the_tools_of_the_dialect_that_was_asked_for_and_no_others() {
    let world = World::new().await;
    let ours = world.client(&world.keys.alice);
    let new = json!({ "mcp_dialect": "agor" });
    let prompt = "call agor_sessions_get_current {}\ncall session_current {}";
    let (id, said) = session(&ours, new, prompt).await;
    assert!(said.contains("genealogy") && said.contains(&id), "{said}");
    assert!(said.contains("Invalid tool namespace: session"), "{said}");
    assert_eq!(dialect_of(&ours, &id).await, "agor");
    let new = json!({ "mcp_dialect": "clawed-abode" });
    let (id, said) = session(
        &ours,
        new,
        "call set_session_name {\"name\": \"named by itself\"}",
    )
    .await;
    let get = json!({ "session": id });
    let seen = Mcp::data(&ours.call("session_get", get).await);
    assert_eq!(seen["title"], "named by itself", "{said}");
    let new = json!({ "mcp_dialect": "iteratr" });
    let add = "call task-add {\"tasks\": [{\"content\": \"water the herons\"}]}\ncall task-next {}";
    let (_, said) = session(&ours, new, add).await;
    assert!(said.contains("priority 2] water the herons"), "{said}");
    let new = json!({ "agent": "echo", "mcp_dialect": "nonesuch" });
    let refused = ours.call("session_create", new).await;
    assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
    let message = refused["structuredContent"]["error"]["message"].as_str();
    assert!(
        message.unwrap().contains("agor, clawed-abode, iteratr"),
        "{refused}"
    );
}

#[tokio::test]
async fn an_agent_learns_its_session_from_its_environment() {
    let mut world = World::new().await;
    let agent = world.server.home().join("agent.sh");
    let log = world.server.home().join("environment");
    program(&agent, &format!("#!/bin/sh\nenv > {}\n", log.display()));
    let table = format!("[agents.recording]\ncommand = [{agent:?}]\n");
    world.server.configure(&table);
    world.server.restart();
    let ours = world.client(&world.keys.alice);
    let new = json!({ "agent": "recording", "prompt": "say hello" });
    let made = Mcp::data(&ours.call("session_create", new).await);
    let id = made["id"].as_str().unwrap();
    // It ends at once, and so the session fails.
    let wait = json!({ "sessions": [id], "timeout": 60 });
    Mcp::data(&ours.call("session_wait", wait).await);
    let layers = std::fs::read_dir(world.server.data_dir().join("homes"));
    let layers = layers.into_iter().flatten().flatten();
    let files = layers.map(|layer| layer.path().join("home/upper/environment"));
    let files = files.chain([log]);
    let told: String = files
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    let short = &id[id.len() - 8..];
    for line in [
        format!("AGOR_SESSION_ID={id}"),
        format!("WHEELHOUSE_SESSION_ID={id}"),
        format!("WHEELHOUSE_SESSION_SHORT_ID={short}"),
    ] {
        assert!(told.lines().any(|it| it == line), "{line}: {told}");
    }
}

#[tokio::test]
async fn children_and_forks_have_the_tools_of_their_origin_unless_others_are_asked_for() {
    let world = World::new().await;
    let ours = world.client(&world.keys.alice);
    let (parent, _) = session(&ours, json!({ "mcp_dialect": "agor" }), "say hello").await;
    let spawn = async |asked: Option<&str>| {
        let new =
            json!({ "parent": parent, "prompt": "say hello", "mcp_dialect": asked, "wait": 60 });
        let spawned = Mcp::data(&ours.call("session_spawn", new).await);
        dialect_of(&ours, spawned["session"].as_str().unwrap()).await
    };
    assert_eq!(spawn(None).await, "agor");
    assert_eq!(spawn(Some("iteratr")).await, "iteratr");
    assert_eq!(spawn(Some("wheelhouse")).await, Value::Null);
    let fork = json!({ "session": parent });
    let fork = Mcp::data(&ours.call("session_fork", fork).await);
    assert_eq!(fork["mcp_dialect"], "agor", "{fork}");
    // An agent of the dialect spawns by its tool, and is told in its words.
    let spawn = format!(
        "call agor_sessions_spawn {{\"parentId\": \"{parent}\", \"prompt\": \"say hello\", \"sync\": true}}"
    );
    let said = said(&ours, &parent, &spawn).await;
    assert!(
        said.contains("sessionId") && said.contains("completed"),
        "{said}"
    );
}

#[tokio::test]
async fn repositories_and_the_configuration_choose_the_tools() {
    let mut world = World::new().await;
    world
        .server
        .configure("[agents.echo]\nmcp_dialect = \"agor\"\n");
    world.server.restart();
    let ours = world.client(&world.keys.alice);
    let (id, _) = session(&ours, json!({}), "call agor_sessions_get_current {}").await;
    assert_eq!(dialect_of(&ours, &id).await, "agor");
    let iteratr = repo(&world, &ours, Some("iteratr")).await;
    let (id, said) = session(&ours, json!({ "repo": iteratr }), "call task-list {}").await;
    assert_eq!(dialect_of(&ours, &id).await, "iteratr");
    assert!(said.contains("no tasks"), "{said}");
    let plain = repo(&world, &ours, None).await;
    let (id, _) = session(&ours, json!({ "repo": plain }), "say hello").await;
    assert_eq!(dialect_of(&ours, &id).await, "agor");
    let new = json!({ "repo": iteratr, "mcp_dialect": "wheelhouse" });
    let (id, said) = session(&ours, new, "call session_current {}").await;
    assert_eq!(dialect_of(&ours, &id).await, Value::Null, "{said}");
    assert!(said.contains(&id), "{said}");
}

#[tokio::test]
async fn a_loop_of_the_dialect_ends_by_session_complete() {
    let world = World::new().await;
    let ours = world.client(&world.keys.alice);
    let repo = repo(&world, &ours, None).await;
    let start = |spec: &str| {
        json!({
            "agent": "echo", "repo": repo, "spec": spec, "mcp_dialect": "iteratr",
            "template": "{{ loop.spec }}\nsay take {{ tools.take }}",
        })
    };
    let spec = "call task-add {\"tasks\": [{\"content\": \"one\", \"status\": \"completed\"}]}\n\
                call iteration-summary {\"summary\": \"did it\"}\ncall session-complete {}";
    let started = Mcp::data(&ours.call("loop_start", start(spec)).await);
    let ended = until_ended(&ours, &started["id"]).await;
    assert_eq!(
        (&ended["outcome"], &ended["iteration"]),
        (&json!("completed"), &json!(1)),
        "{ended}"
    );
    let iteration = ended["iterations"][0]["session_id"].as_str().unwrap();
    let list = json!({ "session": iteration, "view": "full", "after": "0" });
    let said = Mcp::data(&ours.call("message_list", list).await).to_string();
    assert!(
        said.contains("take task-next, then set it in_progress with task-update"),
        "{said}"
    );
    // A dialect without tasks cannot end a loop.
    let mut wrong = start("say hello");
    wrong["mcp_dialect"] = "agor".into();
    let refused = ours.call("loop_start", wrong).await;
    assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
}

#[tokio::test]
async fn a_loop_has_no_tools_of_a_repository_or_agent_that_cannot_end_it() {
    let mut world = World::new().await;
    let table = "[agents.echo]\nmcp_dialect = \"clawed-abode\"\n";
    world.server.configure(table);
    world.server.restart();
    let ours = world.client(&world.keys.alice);
    let native = "call iteration_summary {\"summary\": \"did it\"}\ncall loop_complete {}";
    let iteratr = "call iteration-summary {\"summary\": \"did it\"}\ncall session-complete {}";
    for (dialect, spec) in [
        (None, native),
        (Some("agor"), native),
        (Some("iteratr"), iteratr),
    ] {
        let repo = repo(&world, &ours, dialect).await;
        let start =
            json!({ "agent": "echo", "repo": repo, "spec": spec, "template": "{{ loop.spec }}" });
        let started = Mcp::data(&ours.call("loop_start", start).await);
        let ended = until_ended(&ours, &started["id"]).await;
        let (outcome, iteration) = (&ended["outcome"], &ended["iteration"]);
        assert_eq!(
            (outcome, iteration),
            (&json!("completed"), &json!(1)),
            "{dialect:?}: {ended}"
        );
    }
}

async fn until_ended(ours: &Mcp, id: &Value) -> Value {
    let ended = async {
        loop {
            let seen = Mcp::data(&ours.call("loop_get", json!({ "loop": id })).await);
            if seen["state"] == "ended" {
                return seen;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let within = std::time::Duration::from_secs(60);
    tokio::time::timeout(within, ended).await.expect("it ends")
}

#[tokio::test]
async fn every_dialect_serves_our_resources_and_prompts_with_its_own_tools_in_them() {
    let world = World::new().await;
    for dialect in Dialect::ALL {
        let url = format!("{}/mcp/{}", world.server.url(), dialect.as_str());
        let client = Mcp::new(&url, &world.keys.alice);
        let discovered = client.request("server/discover", json!({})).await;
        let has = &discovered["result"]["capabilities"];
        assert!(
            has["resources"].is_object() && has["prompts"].is_object(),
            "{has}"
        );
        let uri = format!("wheelhouse://session/{}", world.parent.id);
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains(&world.parent.id.to_string()), "{text}");
        let page = json!({ "cursor": "session:" });
        let listed = client.request("resources/list", page).await;
        let listed = &listed["result"]["resources"];
        assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
        let listed = client.request("prompts/list", json!({})).await;
        let prompts = listed["result"]["prompts"].as_array().unwrap();
        assert!(
            prompts.iter().any(|it| it["name"] == "delegate"),
            "{listed}"
        );
        // What belongs to others is not there, as everywhere.
        let uri = format!("wheelhouse://session/{}", world.bobs.id);
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert!(read["error"].is_object(), "{read}");
    }
    let url = format!("{}/mcp/agor", world.server.url());
    let client = Mcp::new(&url, &world.keys.session);
    let get = json!({ "name": "delegate", "arguments": { "task": "count herons" } });
    let prompt = client.request("prompts/get", get).await;
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains("agor_sessions_spawn"), "{text}");
    assert!(!text.contains(" session_spawn"), "{text}");
}

/// A key that was made for a dialect opens its lines as it opens its address, and no others.
#[tokio::test]
async fn lines_of_a_dialect_have_its_door() {
    let server = TestServer::start();
    let ours = server.client();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let new = wh_api::KeyCreateRequest {
        name: "lines".to_owned(),
        scope: "full".to_owned(),
        user: None,
        expires_at: None,
        dialect: Some("clawed-abode".to_owned()),
        session: None,
        idempotency_key: None,
    };
    let key = ours.key_create(&new).await.unwrap().key.unwrap();
    for (path, expected) in [
        ("/mcp/clawed-abode/stdio", 101),
        ("/mcp/agor/stdio", 403),
        ("/mcp/stdio", 403),
    ] {
        let upgrade = http
            .get(format!("{}{path}", server.url()))
            .bearer_auth(&key);
        let upgrade = upgrade
            .header("Connection", "Upgrade")
            .header("Upgrade", "mcp-lines");
        assert_eq!(upgrade.send().await.unwrap().status(), expected, "{path}");
    }
}
