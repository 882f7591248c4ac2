//! Every list, walked to its end by its cursor, on every surface: each row comes exactly once, and the total is right.
//!
//! Which operations are lists follows from the permission table, the tools and the REST document, and which tools of dialects from their
//! lists of tools, so that a new one without an entry fails here.

mod dialects;

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
    command: Command,
    /// The field that holds the rows, and the one that tells them apart.
    rows: (&'static str, &'static str),
    /// The field of the request that takes a cursor, and the one of the answer that holds the next.
    cursor: (&'static str, &'static str),
    /// The field that holds the number of rows in all.
    total: Option<&'static str>,
    page: usize,
}

/// The command that shows a list.
enum Command {
    /// A page of it, by `--limit` and `--cursor`.
    Page(&'static [&'static str]),
    /// All of it.
    Whole(&'static [&'static str]),
}

use Command::{Page, Whole};

const BY_CURSOR: (&str, &str) = ("cursor", "next_cursor");
const AFTER: (&str, &str) = ("after", "next_after");

const LIST: List = List {
    operation: Operation::SessionList,
    arguments: &[],
    path: "",
    command: Page(&[]),
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
        command: Page(&["ls"]),
        rows: ("sessions", "id"),
        ..LIST
    },
    List {
        operation: Operation::BoardList,
        path: "boards",
        command: Page(&["board", "list"]),
        rows: ("boards", "id"),
        ..LIST
    },
    List {
        operation: Operation::SessionSearch,
        arguments: &[("query", WORD)],
        path: "search",
        command: Page(&["search", WORD]),
        rows: ("hits", "message"),
        ..LIST
    },
    List {
        operation: Operation::MessageList,
        arguments: &[("session", "$session"), ("include_system", "true")],
        path: "sessions/$session/messages",
        command: Whole(&["logs", "$session", "--system", "--full"]),
        rows: ("messages", "seq"),
        cursor: AFTER,
        total: Some("last_seq"),
        ..LIST
    },
    List {
        operation: Operation::TurnList,
        arguments: &[("session", "$session")],
        path: "sessions/$session/turns",
        command: Page(&["turns", "$session"]),
        rows: ("turns", "number"),
        ..LIST
    },
    List {
        operation: Operation::RunList,
        arguments: &[("session", "$ran")],
        path: "sessions/$ran/runs",
        command: Whole(&["logs", "$ran", "--agent", "--last", "450"]),
        rows: ("runs", "epoch"),
        page: 20,
        ..LIST
    },
    List {
        operation: Operation::ApprovalList,
        arguments: &[("include_settled", "true")],
        path: "approvals",
        command: Page(&["approvals", "--all"]),
        rows: ("approvals", "id"),
        ..LIST
    },
    List {
        operation: Operation::RepoList,
        path: "repos",
        command: Page(&["repo", "list"]),
        rows: ("repos", "id"),
        ..LIST
    },
    List {
        operation: Operation::WorktreeList,
        path: "worktrees",
        command: Page(&["worktree", "list"]),
        rows: ("worktrees", "id"),
        ..LIST
    },
    List {
        operation: Operation::TaskList,
        arguments: &[("list", "walked")],
        path: "tasks",
        command: Page(&["task", "ls", "--list", "walked"]),
        rows: ("groups", "number"),
        ..LIST
    },
    List {
        operation: Operation::NoteList,
        arguments: &[("list", "walked")],
        path: "notes",
        command: Page(&["note", "ls", "--list", "walked"]),
        rows: ("notes", "id"),
        ..LIST
    },
    List {
        operation: Operation::LoopList,
        path: "loops",
        command: Page(&["loop", "ls"]),
        rows: ("loops", "id"),
        ..LIST
    },
    List {
        operation: Operation::LoopLog,
        arguments: &[("loop", "$loop")],
        path: "loops/$loop/log",
        command: Whole(&["loop", "logs", "$loop"]),
        rows: ("entries", "seq"),
        cursor: AFTER,
        ..LIST
    },
    List {
        operation: Operation::UserList,
        path: "users",
        command: Page(&["user", "list"]),
        rows: ("users", "id"),
        ..LIST
    },
    List {
        operation: Operation::KeyList,
        path: "keys",
        command: Page(&["key", "list"]),
        rows: ("keys", "id"),
        ..LIST
    },
    List {
        operation: Operation::CredentialList,
        path: "credentials",
        command: Page(&["credential", "ls"]),
        rows: ("credentials", "id"),
        ..LIST
    },
    List {
        operation: Operation::WebhookList,
        path: "webhooks",
        command: Page(&["webhook", "list"]),
        rows: ("webhooks", "id"),
        ..LIST
    },
    // The log is compared with a filter a stretch at a time, and so has no total.
    List {
        operation: Operation::AuditList,
        arguments: &[("operation", "config_get"), ("user", "$user")],
        path: "audit",
        command: Page(&["audit", "--operation", "config_get", "--user", "$user"]),
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
        "files of one worktree; walked by `mcp::worktrees::a_diff_is_walked_to_its_end`",
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

    /// Checks that a command that shows the whole list did: as one answer, or a line for each row.
    fn check_printed(&self, printed: &[Value]) {
        let (field, id) = self.rows;
        let rows = match printed {
            [whole] if whole[field].is_array() => self.rows_of(whole),
            lines => {
                let row = |line: &Value| line[line["type"].as_str().unwrap()][id].clone();
                lines.iter().map(row).collect()
            }
        };
        let name = self.operation.name();
        let once: BTreeSet<_> = rows.iter().map(ToString::to_string).collect();
        assert_eq!((rows.len(), once.len()), (ROWS, ROWS), "{name}: {rows:?}");
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

/// Runs a command and returns what it prints as JSON.
fn printed(server: &TestServer, words: &[&str], more: &[&str], seeded: &Seeded) -> Vec<Value> {
    let mut command = server.command();
    command.args(words.iter().map(|word| filled(word, seeded)));
    let output = command.args(more).arg("--json").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    values.collect::<Result<_, _>>().unwrap()
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
        let words = match list.command {
            Page(words) => words,
            Whole(words) => {
                list.check_printed(&printed(&server, words, &[], &seeded));
                continue;
            }
        };
        let by_command = async |cursor: Option<&Value>| {
            let limit = list.page.to_string();
            let cursor = cursor.map(text_of);
            let mut page = vec!["--limit", limit.as_str()];
            page.extend(
                cursor
                    .iter()
                    .flat_map(|cursor| ["--cursor", cursor.as_str()]),
            );
            printed(&server, words, &page, &seeded).remove(0)
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

/// The parameters of requests that ask for a part of a list.
const PAGING: [&str; 5] = ["limit", "cursor", "after", "skip", "afterMessageId"];

/// Returns the operations that the REST document shows as lists.
async fn documented_lists(server: &TestServer, key: &str) -> BTreeSet<&'static str> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/openapi.json", server.url());
    let document = http.get(url).bearer_auth(key).send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let is_list = |operation: &&Value| {
        let parameters = operation["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        parameters.any(|it| PAGING.contains(&it["name"].as_str().unwrap()))
    };
    let name = |operation: &Value| {
        let id = operation["operationId"].as_str().unwrap();
        let known = Operation::parse(id).unwrap_or_else(|| panic!("{id} is no operation"));
        known.name()
    };
    let read = paths.map(|methods| &methods["get"]);
    let lists: BTreeSet<_> = read.filter(is_list).map(name).collect();
    assert!(
        lists.len() > 10,
        "the document was not understood: {lists:?}"
    );
    lists
}

#[tokio::test]
async fn every_list_has_an_entry() {
    let server = TestServer::start();
    // Making a client sets TLS up, which reqwest wants even for plain HTTP.
    drop(server.client());
    let key = server.key("full");
    let mcp = Mcp::new(&server.about().mcp_url, &key).toolsets("all");
    let tools = mcp.request("tools/list", json!({})).await;
    let mut lists: BTreeSet<_> = Operation::ALL.iter().map(|it| it.name()).collect();
    lists.retain(|name| {
        ["_list", "_log", "_search"]
            .iter()
            .any(|end| name.ends_with(end))
    });
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let operation = Operation::parse(tool["name"].as_str().unwrap());
        if let Some(operation) = operation.filter(|_| takes_a_page(tool)) {
            lists.insert(operation.name());
        }
    }
    lists.extend(documented_lists(&server, &key).await);
    let walked = LISTS.iter().map(|list| list.operation);
    let known = walked.chain(OTHERS.iter().map(|(operation, _)| *operation));
    let known: BTreeSet<_> = known.map(Operation::name).collect();
    assert_eq!(lists, known);
    dialects::every_list_has_an_entry(&server, &key).await;
}

/// Tells whether a tool takes a parameter that asks for a part of a list.
fn takes_a_page(tool: &Value) -> bool {
    let properties = &tool["inputSchema"]["properties"];
    PAGING.iter().any(|field| properties.get(field).is_some())
}
