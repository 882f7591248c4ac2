//! A server with people, sessions and keys of every kind, and a client that speaks bare JSON-RPC.

use reqwest::{RequestBuilder, Response, header::HeaderMap};
use serde_json::{Value, json};
use wh_api::UserUpdateRequest;
use wh_domain::{KeyScope, Owner, Session, SessionRole, User, UserRole};
use wh_testkit::{seed::Seed, server::TestServer};

pub(crate) const MODERN: &str = "2026-07-28";

/// A server and those who may call it.
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) alice: User,
    pub(crate) parent: Session,
    pub(crate) child: Session,
    pub(crate) bobs: Session,
    pub(crate) keys: Keys,
}

/// A secret of each kind.
pub(crate) struct Keys {
    pub(crate) admin: String,
    pub(crate) alice: String,
    pub(crate) alice_read: String,
    pub(crate) alice_client: String,
    pub(crate) bob: String,
    /// The token of `parent`.
    pub(crate) session: String,
    /// The token of `child`.
    pub(crate) child: String,
    /// The token of a session of alice that leads, in a world that has one.
    pub(crate) lead: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::build(false).await.0
    }

    /// Returns a world in which alice has a session that leads, and that session.
    pub(crate) async fn with_lead() -> (Self, Session) {
        let (world, lead) = Self::build(true).await;
        (world, lead.unwrap())
    }

    async fn build(has_lead: bool) -> (Self, Option<Session>) {
        let mut server = TestServer::stopped();
        let seed = Seed::open(&server.data_dir()).await.unwrap();
        let root = seed.user("root", UserRole::Admin).await.unwrap();
        let alice = seed.user("alice", UserRole::Member).await.unwrap();
        let bob = seed.user("bob", UserRole::Member).await.unwrap();
        let owned = |user: &User| Owner {
            user: user.id,
            key: None,
        };
        let parent = seed.session(owned(&alice), "parent", None).await.unwrap();
        let child = seed
            .session(owned(&alice), "child", Some(&parent))
            .await
            .unwrap();
        let bobs = seed.session(owned(&bob), "bob's", None).await.unwrap();
        let lead = match has_lead {
            true => Some(
                seed.session_as(owned(&alice), "lead", SessionRole::Lead)
                    .await
                    .unwrap(),
            ),
            false => None,
        };
        let lead_key = match &lead {
            Some(lead) => {
                let key = seed.key(alice.id, KeyScope::Session, Some(lead.id));
                key.await.unwrap().1
            }
            None => String::new(),
        };
        let key = async |user: &User, scope| seed.key(user.id, scope, None).await.unwrap().1;
        let keys = Keys {
            admin: key(&root, KeyScope::Full).await,
            alice: key(&alice, KeyScope::Full).await,
            alice_read: key(&alice, KeyScope::Read).await,
            alice_client: key(&alice, KeyScope::Client).await,
            bob: key(&bob, KeyScope::Full).await,
            session: seed
                .key(alice.id, KeyScope::Session, Some(parent.id))
                .await
                .unwrap()
                .1,
            child: seed
                .key(alice.id, KeyScope::Session, Some(child.id))
                .await
                .unwrap()
                .1,
            lead: lead_key,
        };
        seed.close().await;
        server.restart();
        // Making a client sets TLS up, which reqwest wants even for plain HTTP.
        let admin = server.client();
        for user in ["alice", "bob"] {
            let allow = UserUpdateRequest {
                user: user.to_owned(),
                allow_paths: vec![server.home().display().to_string()],
                ..UserUpdateRequest::default()
            };
            admin.user_update(&allow).await.unwrap();
        }
        let world = Self {
            server,
            alice,
            parent,
            child,
            bobs,
            keys,
        };
        (world, lead)
    }

    pub(crate) fn client(&self, key: &str) -> Mcp {
        Mcp::new(&self.server.about().mcp_url, key)
    }
}

/// A client of one key.
pub(crate) struct Mcp {
    pub(crate) url: String,
    key: String,
    http: reqwest::Client,
    /// What the client says it can do.
    capabilities: Value,
}

impl Mcp {
    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self {
            url: url.to_owned(),
            key: key.to_owned(),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            capabilities: json!({}),
        }
    }

    /// Shows other tools than the usual ones.
    pub(crate) fn toolsets(mut self, toolsets: &str) -> Self {
        self.url = format!("{}?toolsets={toolsets}", self.url);
        self
    }

    /// Says that the client can do more.
    pub(crate) fn capable_of(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    fn post(&self) -> RequestBuilder {
        self.http.post(&self.url).bearer_auth(&self.key)
    }

    /// Sends any body with any headers.
    pub(crate) async fn raw(&self, headers: HeaderMap, body: impl Into<reqwest::Body>) -> Response {
        self.post()
            .headers(headers)
            .body(body)
            .send()
            .await
            .unwrap()
    }

    /// Sends a request of the modern revision.
    pub(crate) async fn send(&self, method: &str, mut params: Value) -> Response {
        let name = params["name"]
            .as_str()
            .or(params["uri"].as_str())
            .or(params["taskId"].as_str())
            .map(str::to_owned);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let mut request = self
            .post()
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", method);
        if let Some(name) = name {
            request = request.header("Mcp-Name", name);
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        request.json(&body).send().await.unwrap()
    }

    /// Sends a request and returns the whole JSON-RPC answer.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Value {
        self.send(method, params).await.json().await.unwrap()
    }

    /// Opens a legacy session and returns its id.
    pub(crate) async fn initialize(&self, version: &str) -> String {
        let body = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            },
        });
        let response = self.legacy_post(None, &body).await;
        let session = response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.legacy_post(Some(&session), &done).await.status(), 202);
        session
    }

    /// Sends a request on a legacy session and returns the answer, however it is framed.
    pub(crate) async fn legacy(&self, session: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let text = self
            .legacy_post(Some(session), &body)
            .await
            .text()
            .await
            .unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let framed = data.map(str::trim).find(|data| !data.is_empty());
        serde_json::from_str(framed.unwrap_or(&text)).unwrap()
    }

    /// Opens the stream of a legacy session.
    pub(crate) async fn get_stream(&self, session: &str) -> Response {
        let get = self.http.get(&self.url).bearer_auth(&self.key);
        let get = get
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", session);
        get.send().await.unwrap()
    }

    async fn legacy_post(&self, session: Option<&str>, body: &Value) -> Response {
        let mut post = self
            .post()
            .header("Accept", "application/json, text/event-stream");
        if let Some(session) = session {
            post = post.header("Mcp-Session-Id", session);
        }
        post.json(body).send().await.unwrap()
    }

    /// Calls a tool and returns its result, refused or not.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params).await;
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed and returns its data.
    #[track_caller]
    pub(crate) fn data(result: &Value) -> Value {
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Returns the code of a call that must be refused.
    #[track_caller]
    pub(crate) fn code(result: &Value) -> &str {
        assert_eq!(result["isError"], true, "{result}");
        let error = &result["structuredContent"]["error"];
        assert!(!error["message"].as_str().unwrap().is_empty());
        error["code"].as_str().unwrap()
    }
}

/// Makes a board and returns its id.
pub(crate) async fn board(client: &Mcp, name: &str) -> String {
    let made = client.call("board_create", json!({ "name": name })).await;
    Mcp::data(&made)["id"].as_str().unwrap().to_owned()
}
