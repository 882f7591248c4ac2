//! The lists of dialects, each in its own shape.

use wh_domain::Dialect;

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

const ITERATR: [&str; 2] = ["task-list", "note-list"];

const CLAWED_ABODE: [&str; 2] = ["list_sessions", "get_messages"];

/// Lists of dialects that one answer holds whole.
const OTHERS: &[(&str, &str)] = &[];

fn client(server: &TestServer, path: &str, key: &str) -> Mcp {
    Mcp::new(&format!("{}/mcp/{path}", server.url()), key)
}

/// Checks that every list tool of every dialect is walked, or said to be whole.
pub(super) async fn every_list_has_an_entry(server: &TestServer, key: &str) {
    for dialect in Dialect::ALL {
        let walked: Vec<_> = match dialect {
            Dialect::Agor => AGOR.iter().map(|(tool, ..)| *tool).collect(),
            Dialect::ClawedAbode => CLAWED_ABODE.to_vec(),
            Dialect::Iteratr => ITERATR.to_vec(),
        };
        let mcp = client(server, dialect.as_str(), key);
        let tools = mcp.request("tools/list", json!({})).await;
        let tools = tools["result"]["tools"].as_array().unwrap().iter();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        let is_list = |tool: &&Value| {
            let named = ["list", "search", "find", "log"];
            let name = name(tool);
            let mut words = name.split(['_', '-']);
            takes_a_page(tool) || words.any(|word| named.contains(&word))
        };
        let mut lists: BTreeSet<_> = tools.filter(is_list).map(name).collect();
        for (whole, _reason) in OTHERS.iter().copied() {
            lists.remove(whole);
        }
        let walked: BTreeSet<_> = walked.into_iter().map(str::to_owned).collect();
        assert_eq!(lists, walked, "{}", dialect.as_str());
    }
}

pub(super) async fn every_list_is_walked(server: &TestServer, key: &str, seeded: &Seeded) {
    let mcp = client(server, "agor", key);
    for list in AGOR {
        skipped(&mcp, list, seeded).await;
    }
    let mcp = client(server, "clawed-abode", key);
    sessions(&mcp, &Mcp::new(&server.about().mcp_url, key)).await;
    messages(&mcp, &seeded["$session"]).await;
    let mcp = client(server, "iteratr?list=walked", key);
    for tool in ITERATR {
        words(&mcp, tool).await;
    }
}

/// Returns a text of an answer.
fn text(answer: &Value, n: usize) -> Option<&str> {
    answer["content"][n]["text"].as_str()
}

fn read(answer: &Value) -> Value {
    serde_json::from_str(text(answer, 0).unwrap()).unwrap()
}

/// Returns the cursor that words name, which must also say how many rows there are.
fn cursor_in(words: &str, total: impl std::fmt::Display) -> Option<&str> {
    let (before, after) = words.split_once("; pass cursor \"")?;
    assert!(before.ends_with(&format!(" of {total}")), "{before}");
    after.split('"').next()
}

/// Walks a list of agor, which takes how many rows to leave out.
async fn skipped(agor: &Mcp, (tool, arguments, id): &AgorList, seeded: &Seeded) {
    let mut rows = BTreeSet::new();
    let mut seen = 0;
    loop {
        let mut request = json!({ "limit": 100, "skip": seen });
        for (name, value) in *arguments {
            request[name] = json!(filled(value, seeded));
        }
        let answer = read(&agor.call(tool, request).await);
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

/// Walks the sessions of clawed-abode: an array, and words that name the cursor.
async fn sessions(abode: &Mcp, native: &Mcp) {
    let all = json!({ "limit": 1, "count": true, "include_archived": true });
    let total = Mcp::data(&native.call("session_list", all).await)["total"].clone();
    let mut rows = BTreeSet::new();
    let mut request = json!({ "includeArchived": true });
    loop {
        let answer = abode.call("list_sessions", request.clone()).await;
        for session in read(&answer).as_array().unwrap() {
            assert!(rows.insert(session["id"].to_string()), "{session}");
        }
        let said = text(&answer, 1).unwrap_or_default();
        let Some(cursor) = cursor_in(said, &total) else {
            break;
        };
        request["cursor"] = cursor.into();
    }
    assert_eq!(total, rows.len());
    assert!(rows.len() >= ROWS);
}

/// Walks the messages of a session of clawed-abode by their sequences.
async fn messages(abode: &Mcp, session: &str) {
    let mut rows = BTreeSet::new();
    let mut after = json!(0);
    loop {
        let request =
            json!({ "sessionId": session, "afterMessageId": after, "includeSystem": true });
        let answer = read(&abode.call("get_messages", request).await);
        for message in answer["messages"].as_array().unwrap() {
            assert!(rows.insert(message["id"].to_string()), "{message}");
        }
        after = answer["nextAfterMessageId"].clone();
        if after.is_null() {
            assert_eq!(answer["lastMessageSequence"], rows.len());
            break;
        }
    }
    assert!(rows.len() >= ROWS);
}

/// Walks a list of iteratr, whose answers are words.
async fn words(iteratr: &Mcp, tool: &str) {
    let mut rows = BTreeSet::new();
    let mut request = json!({});
    loop {
        let answer = iteratr.call(tool, request).await;
        let words = text(&answer, 0).unwrap();
        let lines = words.lines().filter(|line| line.starts_with("- "));
        for line in lines {
            assert!(rows.insert(line.to_owned()), "{tool}: {line}");
        }
        let Some(cursor) = cursor_in(words, ROWS) else {
            break;
        };
        request = json!({ "cursor": cursor });
    }
    assert_eq!(rows.len(), ROWS, "{tool}");
}
