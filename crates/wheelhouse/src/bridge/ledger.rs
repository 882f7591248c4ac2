//! What the bridge remembers of the conversation, as a pure state.

use serde::Deserialize;
use serde_json::{Value, json};

/// What JSON-RPC leaves to servers; ours says that the request may be sent again.
const SERVER_GONE: i64 = -32000;
/// The most subscriptions that are repeated to a new server.
const SUBSCRIBED_MAX: usize = 1000;

/// How the client introduced itself, and what the server owes it.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    introduction: Option<Introduction>,
    /// What the client follows, in the manner of the older revisions.
    subscribed: Vec<Subscribed>,
    owed: Vec<Value>,
    asked_by_server: Vec<Value>,
}

#[derive(Debug)]
struct Subscribed {
    uri: String,
    request: Asked,
}

/// A request of the client that is repeated to a new server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) id: Value,
    pub(super) line: Vec<u8>,
}

#[derive(Debug)]
struct Introduction {
    id: Value,
    initialize: Vec<u8>,
    initialized: Option<Vec<u8>>,
    answered: bool,
}

/// What to say to a new server before anything else.
#[derive(Debug, PartialEq)]
pub(super) struct Replay {
    pub(super) initialize: Vec<u8>,
    /// The answer to swallow; when absent the client still waits for it.
    pub(super) swallow: Option<Value>,
    pub(super) initialized: Option<Vec<u8>>,
    /// Requests to repeat after that, whose answers are swallowed too.
    pub(super) subscribed: Vec<Asked>,
}

/// Whether a line goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    Drop,
}

/// The parts of a message that matter here; the rest is not looked at.
#[derive(Debug, Deserialize)]
struct Peek {
    id: Option<Value>,
    method: Option<String>,
    params: Option<PeekParams>,
}

#[derive(Debug, Deserialize)]
struct PeekParams {
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
    uri: Option<String>,
}

impl Ledger {
    /// Notes a line of the client.
    pub(super) fn client_line(&mut self, line: &[u8]) -> Pass {
        let messages = peek(line);
        for message in &messages {
            match (message.method.as_deref(), &message.id) {
                (Some("initialize"), Some(id)) => {
                    self.introduction = Some(Introduction {
                        id: id.clone(),
                        initialize: line.to_vec(),
                        initialized: None,
                        answered: false,
                    });
                }
                (Some("notifications/initialized"), None) => {
                    if let Some(introduction) = &mut self.introduction {
                        introduction.initialized = Some(line.to_vec());
                    }
                }
                (Some("notifications/cancelled"), None) => {
                    let cancelled = message.params.as_ref().and_then(|p| p.request_id.as_ref());
                    self.owed.retain(|id| Some(id) != cancelled);
                }
                (Some(method), Some(id)) => {
                    self.owed.push(id.clone());
                    let uri = message.params.as_ref().and_then(|p| p.uri.as_deref());
                    self.follow(method, uri, id, line);
                }
                _ => {}
            }
        }
        // An answer to a server that is gone would only puzzle the next one.
        let [
            Peek {
                id: Some(id),
                method: None,
                ..
            },
        ] = &messages[..]
        else {
            return Pass::Forward;
        };
        match self.asked_by_server.iter().position(|asked| asked == id) {
            Some(at) => {
                self.asked_by_server.swap_remove(at);
                Pass::Forward
            }
            None => Pass::Drop,
        }
    }

    /// Notes what the client follows. Whether the server agreed does not matter: the next one is asked anew.
    fn follow(&mut self, method: &str, uri: Option<&str>, id: &Value, line: &[u8]) {
        let (true, Some(uri)) = (method.starts_with("resources/"), uri) else {
            return;
        };
        match method {
            "resources/subscribe" if self.subscribed.len() < SUBSCRIBED_MAX => {
                self.subscribed.retain(|followed| followed.uri != uri);
                let (id, line) = (id.clone(), line.to_vec());
                let (uri, request) = (uri.to_owned(), Asked { id, line });
                self.subscribed.push(Subscribed { uri, request });
            }
            "resources/unsubscribe" => self.subscribed.retain(|followed| followed.uri != uri),
            _ => {}
        }
    }

    /// Notes a line of the server.
    pub(super) fn server_line(&mut self, line: &[u8]) {
        for message in peek(line) {
            match (message.method, message.id) {
                (Some(_), Some(id)) => self.asked_by_server.push(id),
                (None, Some(id)) => {
                    self.owed.retain(|owed| *owed != id);
                    if let Some(introduction) = &mut self.introduction {
                        introduction.answered |= introduction.id == id;
                    }
                }
                _ => {}
            }
        }
    }

    /// Settles everything the server owed: one error line for each. The introduction is not given up; it is repeated.
    pub(super) fn lost(&mut self) -> Vec<Vec<u8>> {
        self.asked_by_server.clear();
        let message = "the Wheelhouse server went away before it answered; send the request again";
        std::mem::take(&mut self.owed)
            .iter()
            .map(|id| error_line(id, message))
            .collect()
    }

    /// Answers the requests of a line that no server can take now.
    pub(super) fn refuse(line: &[u8]) -> Vec<Vec<u8>> {
        let message = "the Wheelhouse server does not run; start it with `wheelhouse serve` and send the request again";
        let requests = peek(line).into_iter().filter(|peek| peek.method.is_some());
        let ids = requests.filter_map(|peek| peek.id);
        ids.map(|id| error_line(&id, message)).collect()
    }

    /// Returns what a new server must hear first. A client of a stateless revision never introduced itself.
    pub(super) fn replay(&self) -> Option<Replay> {
        let introduction = self.introduction.as_ref()?;
        Some(Replay {
            initialize: introduction.initialize.clone(),
            swallow: introduction.answered.then(|| introduction.id.clone()),
            initialized: introduction.initialized.clone(),
            subscribed: self.subscribed.iter().map(|s| s.request.clone()).collect(),
        })
    }
}

/// Tells whether a line answers the request `id`.
pub(super) fn answers(line: &[u8], id: &Value) -> bool {
    matches!(&peek(line)[..], [Peek { id: Some(answered), method: None, .. }] if answered == id)
}

/// Looks at the messages of a line; one that is not understood is the other side's business.
fn peek(line: &[u8]) -> Vec<Peek> {
    let start = line.iter().find(|byte| !byte.is_ascii_whitespace());
    if start == Some(&b'[') {
        return serde_json::from_slice(line).unwrap_or_default();
    }
    serde_json::from_slice(line).map_or(Vec::new(), |one| vec![one])
}

fn error_line(id: &Value, message: &str) -> Vec<u8> {
    let error = json!({ "code": "UNAVAILABLE", "message": message });
    let answer = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": SERVER_GONE, "message": message, "data": { "error": error } },
    });
    format!("{answer}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

    fn ids(lines: &[Vec<u8>]) -> Vec<Value> {
        let id = |line: &Vec<u8>| serde_json::from_slice::<Value>(line).unwrap()["id"].clone();
        lines.iter().map(id).collect()
    }

    #[test]
    fn what_is_owed_is_settled_once() {
        let mut ledger = Ledger::default();
        for line in [
            &br#"{"id":1,"method":"tools/list"}"#[..],
            br#"{"id":"a","method":"tools/call","params":{"name":"x"}}"#,
            br#"[{"id":2,"method":"ping"},{"method":"notifications/x"},{"id":3,"method":"ping"}]"#,
            br#"{"id":4,"method":"tools/call"}"#,
            br#"{"method":"notifications/cancelled","params":{"requestId":4}}"#,
            b"not json",
        ] {
            assert_eq!(ledger.client_line(line), Pass::Forward);
        }
        ledger.server_line(br#"{"id":1,"result":{}}"#);
        assert_eq!(ids(&ledger.lost()), [json!("a"), json!(2), json!(3)]);
        assert!(ledger.lost().is_empty());
    }

    #[test]
    fn an_answered_introduction_is_repeated_and_its_answer_swallowed() {
        let mut ledger = Ledger::default();
        ledger.client_line(INITIALIZE);
        ledger.server_line(br#"{"id":0,"result":{}}"#);
        ledger.client_line(INITIALIZED);
        assert!(ledger.lost().is_empty());
        let replay = ledger.replay().unwrap();
        assert_eq!(replay.swallow, Some(json!(0)));
        assert_eq!(replay.initialized.as_deref(), Some(INITIALIZED));
    }

    #[test]
    fn an_open_introduction_is_repeated_and_its_answer_awaited() {
        let mut ledger = Ledger::default();
        ledger.client_line(INITIALIZE);
        assert!(ledger.lost().is_empty());
        assert_eq!(ledger.replay().unwrap().swallow, None);
        assert_eq!(Ledger::default().replay(), None);
    }

    #[test]
    fn what_is_followed_is_repeated_until_it_is_not() {
        let mut ledger = Ledger::default();
        ledger.client_line(INITIALIZE);
        for (id, verb, uri) in [
            (1, "subscribe", "a"),
            (2, "subscribe", "b"),
            (3, "unsubscribe", "a"),
        ] {
            let params = json!({ "uri": uri });
            let line = json!({ "id": id, "method": format!("resources/{verb}"), "params": params });
            ledger.client_line(line.to_string().as_bytes());
        }
        let repeated = ledger.replay().unwrap().subscribed;
        assert_eq!(
            repeated.iter().map(|asked| &asked.id).collect::<Vec<_>>(),
            [&json!(2)]
        );
    }

    #[test]
    fn answers_to_a_server_that_is_gone_are_dropped() {
        let mut ledger = Ledger::default();
        let answer = br#"{"id":7,"result":{}}"#;
        ledger.server_line(br#"{"id":7,"method":"elicitation/create"}"#);
        assert_eq!(ledger.client_line(answer), Pass::Forward);
        ledger.server_line(br#"{"id":7,"method":"elicitation/create"}"#);
        ledger.lost();
        assert_eq!(ledger.client_line(answer), Pass::Drop);
    }
}
