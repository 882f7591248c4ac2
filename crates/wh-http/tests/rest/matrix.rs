//! Every route with every kind of credential: who is refused is what the permission table says.

use http::Method;
use newtype_uuid::GenericUuid;
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wh_domain::{
    Credential, KeyId, Operation, Principal, SessionId, SessionRole, UserId, UserRole,
};

use crate::harness::TestServer;

const ABSENT: &str = "01990000-0000-7000-8000-000000000000";

/// A route as `/openapi.json` describes it.
struct Described {
    method: Method,
    path: String,
    operation: Operation,
    body: Option<Value>,
}

fn described() -> Vec<Described> {
    let document = wh_http::openapi_document();
    let mut all = vec![];
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap();
            // Routes that share an operation with another have a name of their own.
            let id = match id {
                "board_cards" => "board_get",
                "session_counts" => "session_list",
                _ => id.strip_suffix("_one").unwrap_or(id),
            };
            let path = path
                .replace("config/{key}", "config/review.max_iterations")
                .replace("{key}", ABSENT)
                .replace("{board}", ABSENT)
                .replace("{session}", ABSENT)
                .replace("{parent}", ABSENT)
                .replace("{loop}", ABSENT)
                .replace("{task}", ABSENT)
                .replace("{turn}", ABSENT)
                .replace("{approval}", ABSENT)
                .replace("{user}", ABSENT)
                .replace("{webhook}", ABSENT)
                .replace("{worktree}", ABSENT);
            let schema = &described["requestBody"]["content"]["application/json"]["schema"];
            all.push(Described {
                method: method.to_uppercase().parse().unwrap(),
                path,
                operation: Operation::parse(id).unwrap(),
                body: schema.is_object().then(|| sample(&document, schema)),
            });
        }
    }
    all
}

/// Makes the smallest body that a schema takes.
fn sample(document: &Value, schema: &Value) -> Value {
    let reference = schema["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
    let schema = reference.map_or(schema, |pointer| document.pointer(pointer).unwrap());
    let required = schema["required"].as_array();
    let mut body = Map::new();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let value = match name {
            "scope" => json!("read"),
            "agent" => json!("echo"),
            "decision" => json!("deny"),
            "action" => json!("stop"),
            "level" => json!("read"),
            "url" => json!("https://hooks.example/x"),
            "active" => json!(true),
            "source" => json!("https://git.example/a.git"),
            "file" => json!("/nonexistent/directory/file"),
            "tasks" => json!([{ "content": "sample" }]),
            "notes" => json!([{ "content": "sample", "kind": "tip" }]),
            _ => json!("sample"),
        };
        body.insert(name.to_owned(), value);
    }
    // A change of nothing is refused as input, which is not what is asked here.
    if schema["properties"]["title"].is_object() {
        body.insert("title".to_owned(), json!("sample"));
    }
    // One of spec and prompt must be given.
    if schema["properties"]["spec"].is_object() {
        body.insert("spec".to_owned(), json!("sample"));
    }
    Value::Object(body)
}

fn principal(role: UserRole, credential: Credential) -> Principal {
    Principal {
        user: UserId::from_untyped_uuid(Uuid::nil()),
        role,
        credential,
    }
}

#[tokio::test]
async fn each_route_refuses_whom_the_table_refuses() {
    let server = TestServer::start().await;
    let member = server.member("mia").await;
    let who = server.get("/api/v1/whoami").key(&member).send().await;
    let mia = who.ok(200)["user"]["id"].as_str().unwrap().to_owned();
    let session = server.session(&mia).await;
    let key = KeyId::from_untyped_uuid(Uuid::nil());
    let lead = server.session_as(&mia, SessionRole::Lead).await;
    let of_session = |role| Credential::Session {
        key,
        session: SessionId::from_untyped_uuid(Uuid::nil()),
        role,
        lineage: wh_domain::RoleSet::default(),
        epoch: 1,
    };
    use UserRole::{Admin, Member};
    let callers = [
        (
            server.admin.clone(),
            principal(Admin, Credential::Full { key }),
        ),
        (member, principal(Member, Credential::Full { key })),
        (
            server.key_of("root", "read").await,
            principal(Admin, Credential::Read { key }),
        ),
        (
            server.key_of("mia", "read").await,
            principal(Member, Credential::Read { key }),
        ),
        (
            server.key_of("mia", "client").await,
            principal(Member, Credential::Client { key }),
        ),
        (
            server.session_token(&mia, &session).await,
            principal(Member, of_session(SessionRole::General)),
        ),
        (
            server.session_token(&mia, &lead).await,
            principal(Member, of_session(SessionRole::Lead)),
        ),
    ];
    for route in described() {
        for (secret, principal) in &callers {
            let call = server.call(route.method.clone(), &route.path).key(secret);
            let answer = match &route.body {
                Some(body) => call.json(body).send().await,
                None => call.send().await,
            };
            let may = principal.authorize(route.operation).is_ok();
            let kind = principal.credential.kind().as_str();
            let what = format!(
                "{} {} by {kind}: {}",
                route.method,
                route.path,
                answer.text()
            );
            assert_eq!(answer.status != 403, may, "{what}");
            assert!(answer.status < 500 && answer.status != 401, "{what}");
        }
        let call = server.call(route.method.clone(), &route.path);
        call.send().await.refused(401, "UNAUTHENTICATED");
    }
}
