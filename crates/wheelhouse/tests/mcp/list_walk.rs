//! Every list, walked to its end by its cursor, on every surface: each row comes exactly once, and the total is right.
//!
//! Which operations are lists follows from the permission table, the tools and the REST document, so that a new one without an
//! entry in [`LISTS`] fails here.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use serde_json::{Value, json};
use wh_domain::{KeyScope, MessageKind, Operation, Owner, UserRole};
use wh_testkit::{seed::Seed, server::TestServer};

use crate::harness::Mcp;

/// Rows of each list. Two pages of the largest size do not hold them.
const ROWS: usize = 450;

/// A word that is in [`ROWS`] messages.
const WORD: &str = "needle";

/// A list and how to walk it.
struct List {
    operation: Operation,
    /// What the request holds besides limit and cursor; `$NAME` stands for something of [`Seeded`].
    arguments: &'static [(&'static str, &'static str)],
    /// Where REST serves it.
    path: &'static str,
    /// The command that shows it; none when the command line has no page of it.
    command: &'static [&'static str],
    /// The field that holds the rows, and the one that tells them apart.
    rows: (&'static str, &'static str),
    /// The field of the request that takes a cursor, and the one of the answer that holds the next.
    cursor: (&'static str, &'static str),
    /// The field that holds the number of rows in all.
    total: Option<&'static str>,
    page: usize,
}

const BY_CURSOR: (&str, &str) = ("cursor", "next_cursor");
const AFTER: (&str, &str) = ("after", "next_after");

const LIST: List = List {
    operation: Operation::SessionList,
    arguments: &[],
    path: "",
    command: &[],
    rows: ("", "id"),
    cursor: BY_CURSOR,
    total: Some("total"),
    page: 100,
};

const LISTS: &[List] = &[
    List {
        operation: Operation::SessionList,
        arguments: &[("count", "true")],
        path: "sessions",
        command: &["ls"],
        rows: ("sessions", "id"),
        ..LIST
    },
    List {
        operation: Operation::BoardList,
        path: "boards",
        command: &["board", "list"],
        rows: ("boards", "id"),
        ..LIST
    },
    List {
        operation: Operation::SessionSearch,
        arguments: &[("query", WORD)],
        path: "search",
        command: &["search", WORD],
        rows: ("hits", "message"),
        ..LIST
    },
    List {
        operation: Operation::MessageList,
        arguments: &[("session", "$session"), ("include_system", "true")],
        path: "sessions/$session/messages",
        rows: ("messages", "seq"),
        cursor: AFTER,
        total: Some("last_seq"),
        ..LIST
    },
    List {
        operation: Operation::TurnList,
        arguments: &[("session", "$session")],
        path: "sessions/$session/turns",
        command: &["turns", "$session"],
        rows: ("turns", "number"),
        ..LIST
    },
    List {
        operation: Operation::RunList,
        arguments: &[("session", "$ran")],
        path: "sessions/$ran/runs",
        rows: ("runs", "epoch"),
        page: 20,
        ..LIST
    },
    List {
        operation: Operation::ApprovalList,
        arguments: &[("include_settled", "true")],
        path: "approvals",
        command: &["approvals", "--all"],
        rows: ("approvals", "id"),
        ..LIST
    },
    List {
        operation: Operation::RepoList,
        path: "repos",
        command: &["repo", "list"],
        rows: ("repos", "id"),
        ..LIST
    },
    List {
        operation: Operation::WorktreeList,
        path: "worktrees",
        command: &["worktree", "list"],
        rows: ("worktrees", "id"),
        ..LIST
    },
    List {
        operation: Operation::TaskList,
        arguments: &[("list", "walked")],
        path: "tasks",
        command: &["task", "ls", "--list", "walked"],
        rows: ("groups", "number"),
        ..LIST
    },
    List {
        operation: Operation::NoteList,
        arguments: &[("list", "walked")],
        path: "notes",
        command: &["note", "ls", "--list", "walked"],
        rows: ("notes", "id"),
        ..LIST
    },
    List {
        operation: Operation::LoopList,
        path: "loops",
        command: &["loop", "ls"],
        rows: ("loops", "id"),
        ..LIST
    },
    List {
        operation: Operation::LoopLog,
        arguments: &[("loop", "$loop")],
        path: "loops/$loop/log",
        rows: ("entries", "seq"),
        cursor: AFTER,
        ..LIST
    },
    List {
        operation: Operation::UserList,
        path: "users",
        command: &["user", "list"],
        rows: ("users", "id"),
        ..LIST
    },
    List {
        operation: Operation::KeyList,
        path: "keys",
        command: &["key", "list"],
        rows: ("keys", "id"),
        ..LIST
    },
    List {
        operation: Operation::CredentialList,
        path: "credentials",
        command: &["credential", "ls"],
        rows: ("credentials", "id"),
        ..LIST
    },
    List {
        operation: Operation::WebhookList,
        path: "webhooks",
        command: &["webhook", "list"],
        rows: ("webhooks", "id"),
        ..LIST
    },
    // The log is compared with a filter a stretch at a time, and so has no total.
    List {
        operation: Operation::AuditList,
        arguments: &[("operation", "config_get"), ("user", "$user")],
        path: "audit",
        command: &["audit", "--operation", "config_get", "--user", "$user"],
        rows: ("entries", "seq"),
        total: None,
        ..LIST
    },
];

/// Lists that one answer holds whole, and those that another test walks.
const OTHERS: &[(Operation, &str)] = &[
    (
        Operation::AgentList,
        "there are as many agents as the server knows programs",
    ),
    (
        Operation::WorktreeDiff,
        "files of one worktree; walked by `mcp::worktrees`",
    ),
    (
        Operation::EventList,
        "the feed has no end; walked by `durability::crash_ledger`",
    ),
];

/// What arguments refer to.
type Seeded = BTreeMap<&'static str, String>;

async fn seeded() -> (TestServer, String, Seeded) {
    let mut server = TestServer::stopped();
    let seed = Seed::open(&server.data_dir()).await.unwrap();
    let root = seed.user("root", UserRole::Admin).await.unwrap();
    let owner = Owner {
        user: root.id,
        key: None,
    };
    let session = seed.session(owner, "talks", None).await.unwrap();
    let said = vec![(MessageKind::Agent, WORD); ROWS];
    seed.messages(session.id, &said).await.unwrap();
    seed.turns(&session, ROWS).await.unwrap();
    let ran = seed.session(owner, "ran often", None).await.unwrap();
    seed.runs(&ran, ROWS).await.unwrap();
    let asked = seed.session(owner, "asked often", None).await.unwrap();
    seed.approvals(&asked, ROWS).await.unwrap();
    seed.sessions(owner, ROWS, 0).await.unwrap();
    join_all((0..ROWS).map(|n| seed.board(owner, ["a", "b"][n % 2], 0))).await;
    let repos = seed.repos(owner, ROWS).await.unwrap();
    seed.worktrees(owner, repos[0], ROWS).await.unwrap();
    seed.loops(owner, repos[0], ROWS).await.unwrap();
    let of_loop = seed.loop_log(owner, repos[0], ROWS).await.unwrap();
    seed.task_list(owner, "walked", ROWS).await.unwrap();
    seed.webhooks(root.id, ROWS).await.unwrap();
    let names: Vec<_> = (0..ROWS).map(|n| format!("user-{n}")).collect();
    let known = &seed;
    // A user has fewer keys than that.
    let with_keys = names.iter().map(|name| async move {
        let user = known.user(name, UserRole::Member).await.unwrap();
        known.credential(user.id).await.unwrap();
        known.key(user.id, KeyScope::Full, None).await.unwrap()
    });
    join_all(with_keys).await;
    let key = seed.key(root.id, KeyScope::Full, None).await.unwrap().1;
    let listed = seed.user("reads-settings", UserRole::Member).await.unwrap();
    seed.calls(listed.id, Operation::ConfigGet, ROWS)
        .await
        .unwrap();
    seed.close().await;
    server.restart();
    drop(server.client());
    let seeded = BTreeMap::from([
        ("$session", session.id.to_string()),
        ("$ran", ran.id.to_string()),
        ("$loop", of_loop.to_string()),
        ("$user", listed.id.to_string()),
    ]);
    (server, key, seeded)
}

/// Puts what was seeded in the place of its name.
fn filled(text: &str, seeded: &Seeded) -> String {
    let put = |text: String, (name, value): (&&str, &String)| text.replace(name, value);
    seeded.iter().fold(text.to_owned(), put)
}

impl List {
    /// Returns what a request holds besides its page.
    fn arguments(&self, seeded: &Seeded) -> Vec<(&'static str, String)> {
        let given = self.arguments.iter();
        given
            .map(|(name, value)| (*name, filled(value, seeded)))
            .collect()
    }

    /// Walks the list with `read`, which is given a cursor as the answer before held it.
    async fn walk(&self, surface: &str, mut read: impl AsyncFnMut(Option<&Value>) -> Value) {
        let name = self.operation.name();
        let (mut rows, mut cursor) = (Vec::new(), None);
        if self.cursor == AFTER {
            cursor = Some(json!(0));
        }
        loop {
            let answer = read(cursor.as_ref()).await;
            let page = self.rows_of(&answer);
            assert!(page.len() <= self.page, "{name} by {surface}: a long page");
            rows.extend(page);
            if let Some(total) = self.total {
                let total = answer[total]
                    .as_u64()
                    .unwrap_or_else(|| panic!("{name} by {surface}: {answer}"));
                assert!(total >= ROWS as u64, "{name} by {surface}: {total} in all");
                assert!(
                    rows.len() as u64 <= total,
                    "{name} by {surface}: {total} in all"
                );
            }
            cursor = Some(answer[self.cursor.1].clone()).filter(|next| !next.is_null());
            if cursor.is_some() {
                continue;
            }
            let once: BTreeSet<_> = rows.iter().map(ToString::to_string).collect();
            assert_eq!(
                once.len(),
                rows.len(),
                "{name} by {surface}: rows came twice"
            );
            assert!(
                rows.len() >= ROWS,
                "{name} by {surface}: {} rows",
                rows.len()
            );
            if let Some(total) = self.total {
                assert_eq!(answer[total], rows.len(), "{name} by {surface}");
            }
            return;
        }
    }

    fn rows_of(&self, answer: &Value) -> Vec<Value> {
        let (rows, id) = self.rows;
        let all = |field: &Value| field.as_array().cloned().unwrap_or_default();
        let mut items = all(&answer[rows]);
        if self.operation == Operation::TaskList {
            items = items
                .iter()
                .flat_map(|group| all(&group["tasks"]))
                .collect();
        }
        let told = |item: &Value| {
            assert!(!item[id].is_null(), "{}: {item}", self.operation.name());
            item[id].clone()
        };
        items.iter().map(told).collect()
    }
}

/// Reads an argument as the type that its text shows.
fn typed(text: &str) -> Value {
    match text {
        "true" => json!(true),
        _ => json!(text),
    }
}

fn text_of(cursor: &Value) -> String {
    cursor
        .as_str()
        .map_or_else(|| cursor.to_string(), str::to_owned)
}

#[tokio::test]
async fn every_list_is_walked_on_every_surface() {
    let (server, key, seeded) = seeded().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mcp = Mcp::new(&server.about().mcp_url, &key);
    for list in LISTS {
        let name = list.operation.name();
        let arguments = list.arguments(&seeded);
        let by_tool = async |cursor: Option<&Value>| {
            let mut request = json!({ "limit": list.page });
            for (name, value) in &arguments {
                request[name] = typed(value);
            }
            if let Some(cursor) = cursor {
                request[list.cursor.0] = cursor.clone();
            }
            let call = json!({ "name": name, "arguments": request });
            Mcp::data(&mcp.call("tool_call", call).await)
        };
        list.walk("MCP", by_tool).await;
        let by_rest = async |cursor: Option<&Value>| {
            let path = filled(list.path, &seeded);
            let mut url = format!("{}/api/v1/{path}?limit={}", server.url(), list.page);
            for (name, value) in &arguments {
                let is_in_path = list.path.contains('$') && path.contains(value);
                if !is_in_path {
                    url.push_str(&format!("&{name}={value}"));
                }
            }
            if let Some(cursor) = cursor {
                url.push_str(&format!("&{}={}", list.cursor.0, text_of(cursor)));
            }
            let answer = http.get(url).bearer_auth(&key).send().await;
            answer.unwrap().json().await.unwrap()
        };
        list.walk("REST", by_rest).await;
        if list.command.is_empty() {
            continue;
        }
        let by_command = async |cursor: Option<&Value>| {
            let mut command = server.command();
            command.args(list.command.iter().map(|word| filled(word, &seeded)));
            command.args(["--json", "--limit", &list.page.to_string()]);
            if let Some(cursor) = cursor {
                command.args(["--cursor", &text_of(cursor)]);
            }
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {said}");
            serde_json::from_slice(&output.stdout).unwrap()
        };
        list.walk("command line", by_command).await;
    }
    a_table_says_how_much_of_a_list_it_shows(&server);
    dialects::every_list_is_walked(&server, &key, &seeded).await;
}

fn a_table_says_how_much_of_a_list_it_shows(server: &TestServer) {
    let output = server.command().args(["repo", "list"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (before, after) = said
        .split_once("--cursor ")
        .expect("it names the next page");
    assert!(before.ends_with("Showing 50 of 450; use `"), "{said}");
    assert!(after.ends_with("` for more\n"), "{said}");
}

#[tokio::test]
async fn every_list_has_an_entry() {
    let server = TestServer::start();
    // Making a client sets TLS up, which reqwest wants even for plain HTTP.
    drop(server.client());
    let mcp = Mcp::new(&server.about().mcp_url, &server.key("full")).toolsets("all");
    let tools = mcp.request("tools/list", json!({})).await;
    let mut lists: BTreeSet<_> = Operation::ALL.iter().map(|it| it.name()).collect();
    lists.retain(|name| {
        ["_list", "_log", "_search"]
            .iter()
            .any(|end| name.ends_with(end))
    });
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let takes = |field: &str| tool["inputSchema"]["properties"].get(field).is_some();
        let operation = Operation::parse(tool["name"].as_str().unwrap());
        if let Some(operation) = operation.filter(|_| takes("limit") || takes("cursor")) {
            lists.insert(operation.name());
        }
    }
    let walked = LISTS.iter().map(|list| list.operation);
    let known = walked.chain(OTHERS.iter().map(|(operation, _)| *operation));
    let known: BTreeSet<_> = known.map(Operation::name).collect();
    assert_eq!(lists, known);
}

/// The lists of dialects, each in its own shape.
mod dialects {
    use super::*;

    /// A tool, its arguments, and the field that identifies a row.
    type AgorList = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
    );

    const AGOR: &[AgorList] = &[
        ("agor_sessions_list", &[], "session_id"),
        ("agor_boards_list", &[], "board_id"),
        ("agor_worktrees_list", &[], "worktree_id"),
        ("agor_tasks_list", &[("sessionId", "$session")], "task_id"),
        ("agor_sessions_search", &[("query", WORD)], "message_id"),
    ];

    pub(super) async fn every_list_is_walked(server: &TestServer, key: &str, seeded: &Seeded) {
        let agor = Mcp::new(&format!("{}/mcp/agor", server.url()), key);
        let listed = agor.request("tools/list", json!({})).await;
        let lists = listed["result"]["tools"].as_array().unwrap().iter();
        let lists = lists.filter(|tool| tool["inputSchema"]["properties"].get("limit").is_some());
        let lists: BTreeSet<_> = lists.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(lists, AGOR.iter().map(|(tool, ..)| *tool).collect());
        for (tool, arguments, id) in AGOR {
            let mut rows = BTreeSet::new();
            let mut seen = 0;
            loop {
                let mut request = json!({ "limit": 100, "skip": seen });
                for (name, value) in *arguments {
                    request[name] = json!(filled(value, seeded));
                }
                let answer = agor.call(tool, request).await;
                let text = answer["content"][0]["text"].as_str().unwrap();
                let answer: Value = serde_json::from_str(text).unwrap();
                let data = answer["data"].as_array().unwrap();
                assert_eq!(
                    (&answer["skip"], &answer["limit"]),
                    (&json!(seen), &json!(100))
                );
                seen += data.len();
                rows.extend(data.iter().map(|row| row[id].to_string()));
                if data.is_empty() {
                    assert_eq!(answer["total"], rows.len(), "{tool}");
                    break;
                }
            }
            assert_eq!(rows.len(), seen, "{tool}: rows came twice");
            assert!(seen >= ROWS, "{tool}: {seen} rows");
        }
        let iteratr = format!("{}/mcp/iteratr?list=walked", server.url());
        let iteratr = Mcp::new(&iteratr, key);
        for tool in ["task-list", "note-list"] {
            words(&iteratr, tool).await;
        }
    }

    /// Walks a list of iteratr, whose answers are words.
    async fn words(iteratr: &Mcp, tool: &str) {
        let mut rows = BTreeSet::new();
        let mut request = json!({});
        loop {
            let answer = iteratr.call(tool, request).await;
            let text = answer["content"][0]["text"].as_str().unwrap();
            let lines = text.lines().filter(|line| line.starts_with("- "));
            for line in lines {
                assert!(rows.insert(line.to_owned()), "{tool}: {line}");
            }
            let Some((_, rest)) = text.split_once("pass cursor \"") else {
                break;
            };
            assert!(text.contains(&format!(" of {ROWS}; ")), "{tool}: {text}");
            request = json!({ "cursor": rest.split('"').next() });
        }
        assert_eq!(rows.len(), ROWS, "{tool}");
    }
}
