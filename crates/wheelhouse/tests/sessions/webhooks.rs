//! Webhooks, told by the real server to a real receiver on loopback: signed, at least once, and no further than they may.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use wh_api::{
    SessionCreateRequest, WebhookCreateRequest, WebhookListRequest, WebhookUpdateRequest,
    WebhookView,
};
use wh_client::ClientError;
use wh_domain::SecretText;
use wh_testkit::server::TestServer;

use crate::harness::World;

/// One request that a receiver got.
#[derive(Clone, Debug)]
struct Got {
    headers: BTreeMap<String, String>,
    body: String,
}

/// How a receiver answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Answer(&'static str),
    /// Never answers.
    Silent,
}

/// A real HTTP receiver on a port of its own.
struct Receiver {
    port: u16,
    got: Arc<Mutex<Vec<Got>>>,
    manner: Arc<Mutex<Manner>>,
    _serving: JoinSet<()>,
}

const OK: Manner = Manner::Answer("204 No Content");

impl Receiver {
    async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (got, manner) = (Arc::default(), Arc::new(Mutex::new(manner)));
        let (seen, how) = (Arc::clone(&got), Arc::clone(&manner));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, Arc::clone(&seen), Arc::clone(&how)));
            }
        });
        Self {
            port,
            got,
            manner,
            _serving: serving,
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn change(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }
}

/// Reads requests from a connection and answers each.
async fn serve(mut stream: TcpStream, got: Arc<Mutex<Vec<Got>>>, manner: Arc<Mutex<Manner>>) {
    let mut read = Vec::new();
    loop {
        let Some((request, used)) = request(&read) else {
            let mut more = [0; 4096];
            match stream.read(&mut more).await {
                Ok(0) | Err(_) => return,
                Ok(n) => read.extend_from_slice(&more[..n]),
            }
            continue;
        };
        read.drain(..used);
        got.lock().unwrap().push(request);
        let manner = *manner.lock().unwrap();
        match manner {
            Manner::Silent => std::future::pending::<()>().await,
            Manner::Answer(status) => {
                let answer = format!(
                    "HTTP/1.1 {status}\r\nlocation: http://127.0.0.1:1/elsewhere\r\ncontent-length: 0\r\n\r\n"
                );
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Takes one whole request off the beginning of what was read.
fn request(read: &[u8]) -> Option<(Got, usize)> {
    let end = read.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let mut headers = BTreeMap::new();
    for line in head.lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap();
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers["content-length"].parse().unwrap();
    let body = read.get(end..end + length)?;
    let body = String::from_utf8(body.to_vec()).unwrap();
    Some((Got { headers, body }, end + length))
}

/// Starts a server that may tell receivers on this machine, and tries again soon.
fn world(attempts_max: u32, failures_max: u32) -> World {
    let mut server = TestServer::stopped();
    server.configure(&format!(
        "[webhooks]\nallow_private = true\nretry_milliseconds = 50\nattempts_max = {attempts_max}\nfailures_max = {failures_max}\n"
    ));
    server.restart();
    World::on(server)
}

/// Makes a webhook for what happens to sessions and returns it with its secret.
async fn hook(world: &World, url: String, events: &[&str]) -> (WebhookView, String) {
    let request = WebhookCreateRequest {
        url,
        events: events.iter().map(|&it| it.to_owned()).collect(),
        ..WebhookCreateRequest::default()
    };
    let made = world.client.webhook_create(&request).await.unwrap();
    (made.webhook, made.secret.unwrap())
}

async fn standing(world: &World) -> WebhookView {
    let request = WebhookListRequest::default();
    let mut list = world.client.webhook_list(&request).await.unwrap();
    list.webhooks.remove(0)
}

#[tokio::test]
async fn events_are_told_signed_and_only_those_asked_for() {
    let world = world(5, 100);
    let receiver = Receiver::start(OK).await;
    let (_, secret) = hook(&world, receiver.url(), &["session.created"]).await;
    let session = world
        .session_with(SessionCreateRequest {
            prompt: Some("say hi".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    world
        .until("it is told", async || !receiver.got().is_empty())
        .await;
    world.rest(&session).await;
    world
        .until("it is recorded", async || {
            standing(&world).await.pending == 0
        })
        .await;
    let got = receiver.got();
    assert_eq!(got.len(), 1, "{got:?}");
    let Got { headers, body } = &got[0];
    let told: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(told["type"], "session.created");
    assert_eq!(told["data"]["subject_id"], session);
    let at: i64 = headers["webhook-timestamp"].parse().unwrap();
    let secret = SecretText::new(secret);
    let signed = wh_webhook::signature(&secret, &headers["webhook-id"], at, body).unwrap();
    assert_eq!(headers["webhook-signature"], signed);
    // The secret is not shown again, anywhere.
    let list = world
        .client
        .webhook_list(&WebhookListRequest::default())
        .await;
    let list = serde_json::to_string(&list.unwrap()).unwrap();
    assert!(
        !list.contains(secret.expose()) && !list.contains("whsec_"),
        "{list}"
    );
}

#[tokio::test]
async fn failures_are_tried_again_under_the_same_id_and_then_given_up() {
    let world = world(3, 100);
    let receiver = Receiver::start(Manner::Answer("500 Internal Server Error")).await;
    hook(&world, receiver.url(), &["session.created"]).await;
    world.session().await;
    world
        .until("it is given up", async || standing(&world).await.dead == 1)
        .await;
    let ids: Vec<_> = receiver
        .got()
        .iter()
        .map(|got| got.headers["webhook-id"].clone())
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| *id == ids[0]));
    let now = standing(&world).await;
    assert_eq!((now.state.as_str(), now.failures), ("active", 3));
    assert_eq!(now.last_error.as_deref(), Some("it answered 500"));
    // A redirect is not followed, whatever it points to.
    receiver.change(Manner::Answer("302 Found"));
    world.session().await;
    world
        .until("it is given up", async || standing(&world).await.dead == 2)
        .await;
    assert_eq!(
        standing(&world).await.last_error.as_deref(),
        Some("it answered 302")
    );
    receiver.change(OK);
    world.session().await;
    world
        .until("it is told", async || standing(&world).await.failures == 0)
        .await;
}

#[tokio::test]
async fn one_that_fails_too_often_is_turned_off_until_somebody_turns_it_on() {
    let world = world(100, 4);
    let receiver = Receiver::start(Manner::Answer("404 Not Found")).await;
    let (webhook, _) = hook(&world, receiver.url(), &["session.created"]).await;
    world.session().await;
    world
        .until("it is off", async || {
            standing(&world).await.state == "failed"
        })
        .await;
    assert_eq!(receiver.got().len(), 4);
    receiver.change(OK);
    world.session().await;
    let request = WebhookUpdateRequest {
        webhook: webhook.id.clone(),
        active: true,
        idempotency_key: None,
    };
    let turned = world.client.webhook_update(&request).await.unwrap();
    assert_eq!((turned.state.as_str(), turned.failures), ("active", 0));
    // What waited is told now; what happened while it was off is not.
    world
        .until("it is told", async || standing(&world).await.pending == 0)
        .await;
    assert_eq!(receiver.got().len(), 5);
    world.client.webhook_delete(&webhook.id).await.unwrap();
    let list = world
        .client
        .webhook_list(&WebhookListRequest::default())
        .await
        .unwrap();
    assert!(list.webhooks.is_empty());
}

#[tokio::test]
async fn a_slow_receiver_does_not_keep_others_waiting() {
    let world = world(5, 100);
    let (slow, quick) = (
        Receiver::start(Manner::Silent).await,
        Receiver::start(OK).await,
    );
    hook(&world, slow.url(), &["session.created"]).await;
    hook(&world, quick.url(), &["session.created"]).await;
    for _ in 0..10 {
        world.session().await;
    }
    // Well within the time that one silent attempt takes.
    let told = async {
        while quick.got().len() < 10 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(8), told)
        .await
        .unwrap();
    assert!((1..=4).contains(&slow.got().len()), "{}", slow.got().len());
}

#[tokio::test]
async fn nothing_is_lost_though_the_server_is_killed() {
    const SESSIONS: usize = 12;
    let mut world = world(1_000, 100_000);
    let receiver = Receiver::start(OK).await;
    hook(&world, receiver.url(), &["session.created"]).await;
    let mut sessions = Vec::new();
    let mut kills = 0;
    for n in 0..SESSIONS {
        if n == 4 {
            receiver.change(Manner::Answer("503 Service Unavailable"));
        }
        if n == 8 {
            receiver.change(OK);
        }
        sessions.push(world.session().await);
        if n % 2 == 1 {
            world.crash(Duration::from_millis(20)).await;
            kills += 1;
        }
    }
    let told = |got: &[Got]| {
        let mut told = BTreeMap::<String, Vec<String>>::new();
        for got in got {
            let body: serde_json::Value = serde_json::from_str(&got.body).unwrap();
            let subject = body["data"]["subject_id"].as_str().unwrap().to_owned();
            told.entry(subject)
                .or_default()
                .push(got.headers["webhook-id"].clone());
        }
        told
    };
    world
        .until("all is told", async || {
            standing(&world).await.pending == 0 && told(&receiver.got()).len() == SESSIONS
        })
        .await;
    let told = told(&receiver.got());
    for session in &sessions {
        let ids = &told[session];
        assert!(
            ids.iter().all(|id| *id == ids[0]),
            "one event is one delivery: {ids:?}"
        );
    }
    println!(
        "{SESSIONS} events, {kills} kills, {} requests, 0 lost",
        receiver.got().len()
    );
}

#[tokio::test]
async fn private_addresses_are_refused_unless_the_configuration_opens_them() {
    let world = World::new();
    for url in [
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://[::ffff:7f00:1]/",
        "http://hooks.example/",
        "https://user:secret@hooks.example/",
    ] {
        let request = WebhookCreateRequest {
            url: url.to_owned(),
            ..WebhookCreateRequest::default()
        };
        let refused = world.client.webhook_create(&request).await.unwrap_err();
        let ClientError::Refused { error, .. } = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.code, "INVALID_INPUT", "{url}");
    }
    // A name is looked at when it is connected to.
    hook(&world, "https://localhost:1/hook".to_owned(), &[]).await;
    world.session().await;
    world
        .until("it is refused", async || {
            standing(&world).await.last_error.is_some()
        })
        .await;
    let why = standing(&world).await.last_error.unwrap();
    assert!(why.contains("no address that may be connected to"), "{why}");
}

#[tokio::test]
async fn who_is_disabled_is_told_of_nothing_then_and_later() {
    let mut world = world(5, 100);
    let admin = world.client.clone();
    let (witness, hers) = (Receiver::start(OK).await, Receiver::start(OK).await);
    hook(&world, witness.url(), &["session.created"]).await;
    let secret = crate::disabled::alice(&admin, Some("admin")).await;
    world.client = world.server.client_with(&secret);
    let (at, _) = hook(&world, hers.url(), &["session.created"]).await;
    world.client = admin.clone();
    let told = |receiver: &Receiver, session: &str| {
        receiver.got().iter().any(|got| got.body.contains(session))
    };
    let before = world.session().await;
    world
        .until("she is told", async || told(&hers, &before))
        .await;

    crate::disabled::turn(&world, true).await;
    let meanwhile = world.session().await;
    world
        .until("others are told", async || told(&witness, &meanwhile))
        .await;
    crate::disabled::turn(&world, false).await;
    let after = world.session().await;
    world
        .until("she is told again", async || told(&hers, &after))
        .await;
    let nothing_waits = async || {
        let request = WebhookListRequest::default();
        let list = admin.webhook_list(&request).await.unwrap();
        let own = list.webhooks.iter().find(|it| it.id == at.id);
        own.is_none_or(|it| it.pending == 0)
    };
    world.until("nothing waits", nothing_waits).await;
    assert!(!told(&hers, &meanwhile), "{:?}", hers.got());
    assert_eq!(hers.got().len(), 2);
}
