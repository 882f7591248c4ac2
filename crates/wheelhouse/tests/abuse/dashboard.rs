//! H: what the server's answers do for the dashboard. That agents' words and names are shown as text, and that nothing is loaded from
//! elsewhere, is tested in a browser: `web/e2e/hostile.test.ts`.

use reqwest::Method;
use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::{
    people::{Mcp, World, board},
    wire::{http, rest},
};

/// Markup that a browser would act on.
const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/?d=1)",
];

/// One route of each kind of answer: pages, files that are not there, REST, refusals, health, MCP.
const ROUTES: [&str; 11] = [
    "/",
    "/inbox",
    "/sessions/x",
    "/boards/x",
    "/assets/no.js",
    "/login?token=x",
    "/healthz",
    "/openapi.json",
    "/api/v1/sessions",
    "/mcp",
    "/no/such/path",
];

#[tokio::test]
async fn h1_h4_h5_every_answer_forbids_foreign_code_images_and_frames() {
    let server = TestServer::start();
    let key = server.key("full");
    let client = http(&server);
    let mut checked = 0;
    for path in ROUTES {
        for key in [None, Some(&key)] {
            let mut request = client.get(format!("{}{path}", server.url()));
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            let answer = request.send().await.unwrap();
            let header = |name: &str| {
                let value = answer.headers().get(name).map(|it| it.to_str().unwrap());
                value.unwrap_or_default().to_owned()
            };
            let policy = header("content-security-policy");
            let rules: Vec<&str> = policy.split(';').map(str::trim).collect();
            // H1, H4: code, styles, images and connections of the server itself alone.
            for rule in [
                "default-src 'self'",
                "object-src 'none'",
                "base-uri 'none'",
                "form-action 'self'",
            ] {
                assert!(rules.contains(&rule), "{path} lacks {rule}: {policy}");
            }
            for loose in [
                "unsafe-inline",
                "unsafe-eval",
                "http:",
                "https:",
                "*",
                "data:",
                "img-src",
                "script-src",
            ] {
                assert!(!policy.contains(loose), "{path} allows {loose}: {policy}");
            }
            // H5: in no frame.
            assert!(
                rules.contains(&"frame-ancestors 'none'"),
                "{path}: {policy}"
            );
            assert_eq!(header("x-frame-options"), "DENY", "{path}");
            assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
            assert_eq!(header("access-control-allow-origin"), "", "{path}");
            checked += 1;
        }
    }
    println!("h1, h4, h5: {checked} answers with the whole policy");
}

#[tokio::test]
async fn h2_hostile_names_are_never_part_of_a_page() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let session = world.parent.id.to_string();
    let mut checked = 0;
    for text in HOSTILE {
        // Names and what agents say come back as they are, but only ever as JSON.
        board(&alice, text).await;
        let rename = json!({ "session": session, "title": text });
        Mcp::data(&alice.call("session_update", rename).await);
        let prompt = json!({ "session": session, "prompt": format!("say {text}"), "wait": 30 });
        Mcp::data(&alice.call("session_prompt", prompt).await);
        for path in [
            "/api/v1/boards".to_owned(),
            format!("/api/v1/sessions/{session}"),
            format!("/api/v1/sessions/{session}/messages"),
        ] {
            let answer = rest(&world.server, &world.keys.alice, Method::GET, &path, None).await;
            assert_eq!(
                answer.headers()["content-type"],
                "application/json",
                "{path}"
            );
            let body: Value = answer.json().await.unwrap();
            let quoted = json!(text).to_string();
            assert!(
                body.to_string().contains(quoted.trim_matches('"')),
                "{path}: {body}"
            );
            checked += 1;
        }
        // Words of an address are in no page and in no refusal's HTML.
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for path in [
            format!("/{encoded}"),
            format!("/boards/{encoded}"),
            format!("/sessions/{encoded}"),
            format!("/login?token={encoded}"),
            format!("/assets/{encoded}"),
            format!("/api/v1/sessions/{encoded}"),
        ] {
            let answer = rest(&world.server, &world.keys.alice, Method::GET, &path, None).await;
            let kind = answer.headers().get("content-type").cloned();
            let kind = kind
                .map(|it| it.to_str().unwrap().to_owned())
                .unwrap_or_default();
            let body = answer.text().await.unwrap();
            let is_page = kind.starts_with("text/html") || kind.contains("svg");
            assert!(!is_page || !body.contains(text), "{path}: {kind}: {body}");
            checked += 1;
        }
    }
    println!("h2: {checked} answers, none a page with the markup in it");
}
