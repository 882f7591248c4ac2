//! Summaries by a model: the real server calls a scripted one in each protocol.

use serde_json::{Value, json};
use wh_domain::{KeyScope, MessageKind, Owner, UserRole};
use wh_testkit::{
    model::{ModelServer, Script},
    seed::Seed,
    server::TestServer,
};

use crate::harness::Mcp;

const KEY: &str = "sk-hidden-4711";

/// A server whose summaries a model writes, and a session to sum up.
struct Told {
    _server: TestServer,
    mcp: Mcp,
    session: String,
    ids: Vec<String>,
}

/// Starts a server with this `[model]`.
async fn told(model: &str) -> Told {
    let said = [
        (MessageKind::Prompt, "paint the fence"),
        (MessageKind::ToolCall, "edit fence.txt"),
        (MessageKind::Agent, "the fence is blue"),
        (MessageKind::Agent, "the fence is green"),
    ];
    told_of(model, &said).await
}

/// Starts a server with this `[model]` and a session in which this was said.
async fn told_of(model: &str, said: &[(MessageKind, &str)]) -> Told {
    let mut server = TestServer::stopped();
    server.configure(&format!("[model]\n{model}"));
    server.set_env("THE_KEY", KEY);
    let seed = Seed::open(&server.data_dir()).await.unwrap();
    let user = seed.user("root", UserRole::Admin).await.unwrap();
    let owner = Owner {
        user: user.id,
        key: None,
    };
    let session = seed.session(owner, "talks", None).await.unwrap();
    let ids = seed.messages(session.id, said).await.unwrap();
    let key = seed.key(user.id, KeyScope::Full, None).await.unwrap().1;
    seed.close().await;
    server.restart();
    drop(server.client());
    Told {
        mcp: Mcp::new(&server.about().mcp_url, &key),
        _server: server,
        session: session.id.to_string(),
        ids: ids.iter().map(ToString::to_string).collect(),
    }
}

impl Told {
    async fn summary(&self) -> Value {
        let ask = json!({ "session": self.session, "summarize": true });
        let answer = self.mcp.call("message_list", ask).await;
        assert!(!answer.to_string().contains(KEY));
        Mcp::data(&answer)["summary"].clone()
    }

    /// Asks for a summary that no model writes, and returns why.
    async fn note(&self) -> String {
        let summary = self.summary().await;
        assert_eq!(summary["by"], "extract", "{summary}");
        let text = summary["text"].as_str().unwrap();
        assert!(
            text.contains("Latest words"),
            "the extract is whole: {text}"
        );
        summary["note"].as_str().unwrap().to_owned()
    }
}

/// A model that says this when it is asked for a summary.
async fn model(says: &str) -> ModelServer {
    let script = json!([{ "match": "^The session is idle", "turns": [{ "text": says }] }]);
    let script = Script::from_json(&script.to_string()).unwrap();
    ModelServer::start(script).await.unwrap()
}

#[tokio::test]
async fn a_model_of_each_protocol_writes_the_summary() {
    for (provider, path, header) in [
        ("openai", "/v1", "authorization"),
        ("anthropic", "/v1", "x-api-key"),
        ("gemini", "/v1beta/", "x-goog-api-key"),
    ] {
        let model = model("The fence was painted blue [3] and green [4242].").await;
        let base = format!("{}{path}", model.url());
        let told = told(&format!(
            "provider = \"{provider}\"\nmodel = \"scripted\"\nbase_url = \"{base}\"\nkey_env = \"THE_KEY\"\n"
        ))
        .await;
        let summary = told.summary().await;
        assert_eq!(summary["by"], format!("{provider}/scripted"), "{summary}");
        assert!(summary["note"].is_null());
        let text = summary["text"].as_str().unwrap();
        let (blue, green) = (&told.ids[2], &told.ids[3]);
        assert_eq!(
            text,
            format!(
                "State: idle.\nThe fence was painted blue (message {blue}) and green.\n\
                 Latest words (message {green}): the fence is green\n"
            )
        );
        assert_eq!(summary["message_ids"], json!([blue, green]));
        // The model was shown the transcript and given the key; asking again about the same costs nothing.
        assert_eq!(told.summary().await, summary);
        let asked = model.requests();
        assert_eq!(asked.len(), 1, "{provider}");
        let shown = asked[0].body.to_string();
        assert!(shown.contains("[1] prompt: paint the fence"), "{shown}");
        let given = asked[0].headers[header].to_str().unwrap();
        assert!(given.ends_with(KEY), "{provider}");
    }
}

#[tokio::test]
async fn whatever_goes_wrong_with_the_model_the_extract_is_the_answer_and_says_why() {
    let model = model("It went well, see [4242].").await;
    let config = |base: &str, more: &str| {
        format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{base}\"\n{more}")
    };
    let invents = told(&config(&format!("{}/v1", model.url()), "")).await;
    assert_eq!(
        invents.note().await,
        "the model cited no message that there is, so this is an extract"
    );
    let lost = told(&config(&format!("{}/nowhere", model.url()), "")).await;
    assert!(
        lost.note()
            .await
            .contains("refused the call with status 404")
    );
    let gone = told(&config("http://127.0.0.1:9/v1", "")).await;
    assert!(gone.note().await.contains("could not be reached"));
}

#[tokio::test]
async fn a_model_that_takes_too_long_is_not_waited_for() {
    let slow = json!([{ "match": "", "turns": [{ "text": "soon [1]", "delay_ms": 60_000 }] }]);
    let script = Script::from_json(&slow.to_string()).unwrap();
    let model = ModelServer::start(script).await.unwrap();
    let base = format!("{}/v1", model.url());
    let told = told(&format!(
        "provider = \"anthropic\"\nmodel = \"slow\"\nbase_url = \"{base}\"\ntimeout = \"1s\"\n"
    ))
    .await;
    assert!(told.note().await.contains("did not answer in 1 s"));
    let patience = std::time::Duration::from_secs(10);
    let cut = model.request(patience, |request| request.is_cut).await;
    assert!(cut.is_some(), "the call is hung up");
}

#[tokio::test]
async fn a_long_conversation_is_read_in_parts_and_all_of_it_can_be_cited() {
    let step = |when: &str, says: &str| json!({ "match": when, "turns": [{ "text": says }] });
    let script = json!([
        step("^Part 1 of 3 of a transcript", "A plan was made [2]."),
        step(
            "^Part 2 of 3 of a transcript",
            "It opened https://example.org/pull/7 [80]."
        ),
        step(
            r"(?s)^The session is idle.*A plan was made \[2\].*pull/7 \[80\].*The last part",
            "It planned [2], opened a pull request [80] and ended [150].",
        ),
    ]);
    let script = Script::from_json(&script.to_string()).unwrap();
    let model = ModelServer::start(script).await.unwrap();
    let long = "x".repeat(1_000);
    let mut said = vec![(MessageKind::Agent, long.as_str()); 150];
    said[0] = (MessageKind::Prompt, "paint the fence");
    let base = format!("{}/v1", model.url());
    let config = format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{base}\"\n");
    let told = told_of(&config, &said).await;
    let summary = told.summary().await;
    assert_eq!(summary["by"], "openai/scripted", "{summary}");
    let ids = [1, 79, 149].map(|n: usize| told.ids[n].clone());
    assert_eq!(summary["message_ids"], json!(ids));
    let asked = model.requests();
    assert_eq!(asked.len(), 3);
    // What is always to be cited is said to the model.
    let shown = asked[2].body.to_string();
    assert!(
        shown.contains("pull requests (with their address) and errors"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_summary_says_how_many_messages_it_leaves_out() {
    let all = 5_010;
    let mut said = vec![(MessageKind::Prompt, "paint the fence")];
    said.resize(all, (MessageKind::Agent, "blue"));
    let script = json!([
        { "match": "^Part ", "turns": [{ "text": "It is blue [5000]." }] },
        { "match": "^The session is idle", "turns": [{ "text": "All is blue [5010]." }] },
    ]);
    let script = Script::from_json(&script.to_string()).unwrap();
    let model = ModelServer::start(script).await.unwrap();
    let config = |base: &str| {
        format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{base}\"\n")
    };
    // The first prompt is always among those that are read.
    let left_out = "9 of 5010 messages were left out";
    let long = told_of(&config(&format!("{}/v1", model.url())), &said).await;
    let summary = long.summary().await;
    assert_eq!(summary["by"], "openai/scripted", "{summary}");
    assert_eq!(summary["note"], left_out);
    let lost = told_of(&config(&format!("{}/nowhere", model.url())), &said).await;
    let note = lost.note().await;
    let (why, left) = note.split_once("; ").unwrap();
    assert!(why.ends_with("so this is an extract"), "{note}");
    assert_eq!(left, left_out);
    // Eight parts of 60,000 bytes are less than these.
    let words = "x".repeat(2_000);
    let mut said = vec![(MessageKind::Prompt, "paint the fence")];
    said.resize(1_000, (MessageKind::Agent, words.as_str()));
    let script = json!([
        { "match": "^Part ", "turns": [{ "text": "Words [999]." }] },
        { "match": "^The session is idle", "turns": [{ "text": "Words [1000]." }] },
    ]);
    let script = Script::from_json(&script.to_string()).unwrap();
    let model = ModelServer::start(script).await.unwrap();
    let large = told_of(&config(&format!("{}/v1", model.url())), &said).await;
    let summary = large.summary().await;
    let note = summary["note"].as_str().unwrap();
    let (left, _) = note.split_once(" of 1000 messages").unwrap();
    assert!(left.parse::<u64>().unwrap() > 400, "{note}");
}
