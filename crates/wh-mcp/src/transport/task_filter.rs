//! The part of a subscription's filter that rmcp does not know: `taskIds`.
//!
//! It is read from the message before rmcp sees it, given to the handler with the request, and added to the acknowledgement.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt;
use rmcp::model::{ClientCapabilities, ErrorCode, ErrorData};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Refusal, ResponseBody};

/// Tasks of one subscription; more are not acknowledged.
const TASKS_MAX: usize = 256;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Where a notification says which subscription it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The tasks that a subscription names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskIds(pub(crate) Arc<[String]>);

#[derive(Deserialize)]
struct Listen {
    #[serde(default)]
    id: Value,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "_meta", default)]
    meta: Meta,
    notifications: Notifications,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    capabilities: ClientCapabilities,
}

#[derive(Deserialize)]
struct Notifications {
    #[serde(rename = "taskIds", default)]
    tasks: Vec<String>,
}

impl TaskIds {
    /// Reads a `subscriptions/listen`; nothing when it names no tasks, or is not one, which rmcp refuses better.
    pub(super) fn read(text: &[u8]) -> Result<Option<Self>, Refusal> {
        let Ok(listen) = serde_json::from_slice::<Listen>(text) else {
            return Ok(None);
        };
        let mut tasks = listen.params.notifications.tasks;
        if tasks.is_empty() {
            return Ok(None);
        }
        if !listen.params.meta.capabilities.supports_tasks() {
            return Err(not_declared(listen.id));
        }
        tasks.truncate(TASKS_MAX);
        Ok(Some(Self(tasks.into())))
    }

    /// Returns a message if it acknowledges a subscription.
    pub(super) fn acknowledgement(text: &[u8]) -> Option<Value> {
        let message: Value = serde_json::from_slice(text).ok()?;
        (message["method"] == ACKNOWLEDGED).then_some(message)
    }

    /// Returns the id of the request that opened the subscription which is acknowledged.
    pub(super) fn subscription(acknowledgement: &Value) -> Value {
        acknowledgement["params"]["_meta"][SUBSCRIPTION].clone()
    }

    /// Adds the tasks to an acknowledgement.
    pub(super) fn add_to(&self, acknowledgement: &mut Value) {
        acknowledgement["params"]["notifications"]["taskIds"] = json!(*self.0);
    }

    /// Adds the tasks to the acknowledgement, which is the first message of a stream.
    pub(super) fn acknowledged(self, body: ResponseBody) -> ResponseBody {
        let mut tasks = Some(self);
        let mended = body.map_frame(move |frame| {
            let Some(ids) = &tasks else {
                return frame;
            };
            let Ok(data) = frame.into_data() else {
                return http_body::Frame::data(Bytes::new());
            };
            match with_tasks(&data, ids) {
                Some(mended) => {
                    tasks = None;
                    http_body::Frame::data(mended)
                }
                None => http_body::Frame::data(data),
            }
        });
        mended.boxed()
    }
}

/// Refuses a subscription to tasks by a client that does not know them.
fn not_declared(id: Value) -> Refusal {
    let required = ClientCapabilities::builder().enable_tasks().build();
    let error = ErrorData::missing_required_client_capability(required);
    let ErrorCode(code) = error.code;
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, code, error.message);
    Refusal {
        id,
        data: error.data.map(Box::new),
        ..refusal
    }
}

/// Rewrites an event of the stream if it is the acknowledgement.
fn with_tasks(event: &[u8], tasks: &TaskIds) -> Option<Bytes> {
    let text = std::str::from_utf8(event).ok()?;
    let mended = |line: &str| {
        let data = line.strip_prefix("data:")?;
        let mut message = TaskIds::acknowledgement(data.as_bytes())?;
        tasks.add_to(&mut message);
        Some(format!("data: {message}"))
    };
    let mut found = false;
    let lines = text.split('\n').map(|line| match mended(line) {
        Some(line) => {
            found = true;
            line
        }
        None => line.to_owned(),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    found.then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(capabilities: Value, notifications: Value) -> Vec<u8> {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
        let params = json!({ "_meta": meta, "notifications": notifications });
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params });
        message.to_string().into_bytes()
    }

    #[test]
    fn tasks_are_for_clients_that_declare_them() {
        let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let tasks = json!({ "taskIds": ["a", "b"] });
        let read = TaskIds::read(&listen(declared.clone(), tasks.clone())).unwrap();
        assert_eq!(read, Some(TaskIds(["a", "b"].map(String::from).into())));
        let refused = TaskIds::read(&listen(json!({}), tasks)).unwrap_err();
        assert_eq!((refused.code, refused.id), (-32021, json!(7)));
        let none = listen(declared, json!({ "resourcesListChanged": true }));
        assert_eq!(TaskIds::read(&none).unwrap(), None);
        assert_eq!(TaskIds::read(b"{").unwrap(), None);
    }

    #[test]
    fn only_the_acknowledgement_is_changed() {
        let tasks = TaskIds(["a".to_owned()].into());
        let event = "id: 0\ndata: {\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{}}}\n\n";
        let mended = with_tasks(event.as_bytes(), &tasks).unwrap();
        let mended = std::str::from_utf8(&mended).unwrap();
        assert!(mended.starts_with("id: 0\ndata: {") && mended.ends_with("}\n\n"));
        assert!(mended.contains(r#""notifications":{"taskIds":["a"]}"#));
        assert_eq!(with_tasks(b": keep-alive\n\n", &tasks), None);
    }
}
