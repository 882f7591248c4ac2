//! The port: routes, streams and the record of what was asked.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Dialect, Frame, Script, anthropic, chat, gemini, responses, tokens};

/// Longest request that is read.
const BODY_BYTES_MAX: usize = 32 << 20;

/// A model that listens. Dropping it ends the port and every stream.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
}

/// One request, and what came of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
    pub status: StatusCode,
    /// The answer in a few words.
    pub answer: String,
    /// The client hung up before the answer was complete.
    pub is_cut: bool,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    recorded: Mutex<Vec<Recorded>>,
    changes: watch::Sender<u64>,
}

impl ModelServer {
    /// Listens on a loopback port of the kernel's choice.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_on(SocketAddr::from(([127, 0, 0, 1], 0)), script).await
    }

    /// Listens on `address`.
    pub async fn start_on(address: SocketAddr, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            recorded: Mutex::default(),
            changes: watch::channel(0).0,
        });
        let stop = CancellationToken::new();
        let app = Router::new().fallback(answer).with_state(shared.clone());
        let ended = stop.clone().cancelled_owned();
        TaskTracker::new().spawn(async move {
            let serving = axum::serve(listener, app).into_future();
            tokio::select! {
                served = serving => drop(served),
                () = ended => {}
            }
        });
        Ok(Self {
            address,
            shared,
            stop,
        })
    }

    /// Returns the address, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request so far, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.recorded().clone()
    }

    /// Waits until a request is as `wanted` and returns it; `None` after `limit`.
    pub async fn request(
        &self,
        limit: Duration,
        wanted: impl Fn(&Recorded) -> bool,
    ) -> Option<Recorded> {
        let mut changes = self.shared.changes.subscribe();
        let search = async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = self.shared.recorded().iter().find(|it| wanted(it)) {
                    return Some(found.clone());
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, search).await.ok().flatten()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Shared {
    fn recorded(&self) -> std::sync::MutexGuard<'_, Vec<Recorded>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, recorded: Recorded) -> usize {
        let mut list = self.recorded();
        list.push(recorded);
        let index = list.len() - 1;
        drop(list);
        self.changes.send_modify(|count| *count += 1);
        index
    }
}

/// What a route asks for.
enum Asked {
    Reply(Dialect, Form),
    TokenCount(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Stream,
    Whole,
}

fn route(method: &Method, path: &str, body: &Value) -> Option<Asked> {
    if method != Method::POST {
        return None;
    }
    let form = match body["stream"] == true {
        true => Form::Stream,
        false => Form::Whole,
    };
    let (_, verb) = path.rsplit_once(':').unwrap_or_default();
    match path {
        "/v1/messages" => Some(Asked::Reply(anthropic::DIALECT, form)),
        "/v1/messages/count_tokens" => Some(Asked::TokenCount("input_tokens")),
        "/v1/responses" => Some(Asked::Reply(responses::DIALECT, form)),
        "/v1/chat/completions" => Some(Asked::Reply(chat::DIALECT, form)),
        path if path.starts_with("/v1beta/models/") => match verb {
            "generateContent" => Some(Asked::Reply(gemini::DIALECT, Form::Whole)),
            "streamGenerateContent" => Some(Asked::Reply(gemini::DIALECT, Form::Stream)),
            "countTokens" => Some(Asked::TokenCount("totalTokens")),
            _ => None,
        },
        _ => None,
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let bytes = axum::body::to_bytes(body, BODY_BYTES_MAX).await;
    let bytes = bytes.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let path = uri.path().to_owned();
    let asked = route(&method, &path, &body);
    let mut recorded = Recorded {
        method,
        path,
        headers,
        body,
        status: StatusCode::OK,
        answer: String::new(),
        is_cut: false,
    };
    match asked {
        None => {
            recorded.status = StatusCode::NOT_FOUND;
            let said = json!({"error": {"message": format!("the scripted model has no {}", recorded.path)}});
            shared.record(recorded);
            (StatusCode::NOT_FOUND, axum::Json(said)).into_response()
        }
        Some(Asked::TokenCount(name)) => {
            "a count of tokens".clone_into(&mut recorded.answer);
            shared.record(recorded);
            axum::Json(json!({name: tokens::INPUT})).into_response()
        }
        Some(Asked::Reply(dialect, form)) => {
            let reply = (dialect.read)(&recorded.body).reply(&shared.script);
            recorded.answer = reply.shown();
            match form {
                Form::Whole => {
                    let whole = (dialect.whole)(&reply, &recorded.body);
                    shared.record(recorded);
                    axum::Json(whole).into_response()
                }
                Form::Stream => {
                    let frames = (dialect.stream)(&reply, &recorded.body);
                    let index = shared.record(recorded);
                    streamed(frames, Open::new(shared, index))
                }
            }
        }
    }
}

/// Sends the frames in time. Whoever hangs up is recorded as having done so.
fn streamed(frames: Vec<Frame>, open: Open) -> Response {
    let last = frames.len();
    let state = (frames.into_iter().enumerate(), open);
    let stream = futures::stream::unfold(state, move |(mut frames, mut open)| async move {
        let (index, frame) = frames.next()?;
        tokio::time::sleep(frame.wait).await;
        open.is_complete = index + 1 == last;
        let bytes = Ok::<_, Infallible>(Bytes::from(frame.text));
        Some((bytes, (frames, open)))
    });
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (kind, Body::from_stream(stream.boxed())).into_response()
}

/// An answer that is being sent.
struct Open {
    shared: Arc<Shared>,
    index: usize,
    is_complete: bool,
}

impl Open {
    fn new(shared: Arc<Shared>, index: usize) -> Self {
        let is_complete = false;
        Self {
            shared,
            index,
            is_complete,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.is_complete
            && let Some(recorded) = self.shared.recorded().get_mut(self.index)
        {
            recorded.is_cut = true;
        }
        self.shared.changes.send_modify(|count| *count += 1);
    }
}
