//! What every agent must do. Each story begins with a fresh agent.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wh_api::{BudgetPatchInput, RunListRequest, SessionPromptRequest, SessionUpdateRequest};
use wh_testkit::{model::Recorded, run::wait_until};

use super::{
    place::{Place, SECRET, TITLE},
    table::{Cost, Used},
};

/// How long the server is away.
const AWAY: Duration = Duration::from_secs(2);
/// How soon a cancelled turn must be over.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);
/// How much the model says while the server is killed.
pub(super) const WORDS: usize = 150;

/// A turn costs more than a millionth of a dollar, also where the agent does not report what it costs.
pub(super) async fn is_stopped_by_a_budget_in_money(place: Place) {
    let update = SessionUpdateRequest {
        session: Some(place.session.clone()),
        budget: Some(BudgetPatchInput {
            cost_micros: Some(Some(1)),
            ..BudgetPatchInput::default()
        }),
        ..SessionUpdateRequest::default()
    };
    place.world.client.session_update(&update).await.unwrap();
    let prompt = format!("EDIT {}", place.file("edited.txt").display());
    let (_, turn) = place.answered(&prompt, "allow").await;
    assert!(turn.turn.cost_micros > 1, "{turn:#?}");
    let session = place.world.get(&place.session).await;
    assert_eq!(session.cost_micros, turn.turn.cost_micros);
    let is_estimate = session.estimated_micros > 0;
    assert_eq!(is_estimate, place.agent.cost != Cost::Reported);
    let more = SessionPromptRequest {
        session: place.session.clone(),
        prompt,
        ..SessionPromptRequest::default()
    };
    let refused = place.world.client.session_prompt(&more).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("budget"), "{refused}");
}

pub(super) async fn edits_a_file_once_it_may(place: Place) {
    let file = place.file("edited.txt");
    let prompt = format!("EDIT {}", file.display());
    let (asked, turn) = place.answered(&prompt, "allow").await;
    assert_eq!(turn.turn.state, "completed", "{turn:#?}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, "edited by the agent\n");
    assert_eq!(asked["call"]["kind"], "edit", "{asked:#}");
    assert_eq!(
        asked["call"]["locations"][0]["path"],
        json!(file),
        "{asked:#}"
    );
    assert!(place.said().await.contains("edited /"));
    let used = Used {
        input: turn.input_tokens,
        cached: turn.cached_tokens,
        output: turn.output_tokens,
    };
    assert_eq!(used, place.agent.two_calls);
    let session = place.world.get(&place.session).await;
    assert_eq!(session.tokens_used, turn.turn.tokens_used);
    assert_eq!(session.cost_micros, turn.turn.cost_micros);
    let cost = Cost::of(session.cost_micros, session.estimated_micros);
    assert_eq!(cost, place.agent.cost);
    assert_eq!(calls(&place).await, ["completed"]);
    assert_eq!(mode(&place).await, place.agent.begins_in);
    nothing_unexpected(&place).await;
}

pub(super) async fn does_not_run_what_is_denied(place: Place) {
    let file = place.file("denied.txt");
    let prompt = format!("RUN {}", file.display());
    let (_, turn) = place.answered(&prompt, "deny").await;
    assert_eq!(turn.turn.state, place.agent.denied);
    assert!(!file.exists());
    // It goes on living, and does it when it may.
    let (asked, turn) = place.answered(&prompt, "allow").await;
    assert_eq!(turn.turn.state, "completed", "{turn:#?}");
    assert_eq!(asked["call"]["kind"], "execute", "{asked:#}");
    assert!(file.exists());
    assert_eq!(calls(&place).await, ["failed", "completed"]);
    let transcript = place.world.transcript(&place.session).await;
    let shown = transcript.iter().filter_map(|it| it.detail.as_ref());
    let shown: Vec<_> = shown.map(|it| it["content"].to_string()).collect();
    let tells = shown.iter().any(|it| it.contains("made it"));
    assert_eq!(tells, place.agent.shows_output, "{shown:#?}");
    let asked = place.world.asked(&place.session).await;
    let states: Vec<_> = asked.iter().map(|it| it.state.as_str()).collect();
    assert_eq!(states, ["denied", "allowed"]);
    nothing_unexpected(&place).await;
}

/// In the tier `strict`: the commit is fetched from the private clone, and the model's key is nowhere in the agent's environment.
pub(super) async fn commits_without_the_key(place: Place) {
    let file = place.file("environment.txt");
    let prompt = format!("COMMIT {}", file.display());
    let (_, turn) = place.answered(&prompt, "allow").await;
    assert_eq!(turn.turn.state, "completed", "{turn:#?}");
    let environment = std::fs::read_to_string(&file).unwrap();
    assert!(environment.contains("PATH="), "{environment}");
    assert!(!environment.contains(SECRET), "{environment}");
    let after = turn.turn.commit_after.clone();
    assert!(
        after.is_some() && after != turn.turn.commit_before,
        "{turn:#?}"
    );
    let requests = place.model.requests();
    let has_key = |it: &Recorded| {
        let values = it.headers.values().filter_map(|value| value.to_str().ok());
        values.into_iter().any(|value| value.contains(SECRET))
    };
    assert!(
        !requests.is_empty() && requests.iter().all(has_key),
        "{requests:#?}"
    );
    nothing_unexpected(&place).await;
}

pub(super) async fn calls_our_tools_with_its_own_token(place: Place) {
    place.completed("WHO AM I").await;
    // The last thing the model was given is the tool's answer, which knows the session that the token stands for.
    let requests = place.model.requests();
    let answer = last_given(&place, "I know");
    assert!(answer.contains(TITLE), "{answer}");
    let searched = requests.iter().any(|it| it.answer.starts_with("search"));
    assert_eq!(searched, place.agent.searches);
    place.completed("RENAME").await;
    let session = place.world.get(&place.session).await;
    assert_eq!(session.title, "renamed by itself");
    let said = place.said().await;
    assert!(
        said.contains("I know") && said.contains("renamed"),
        "{said}"
    );
    // Nobody was asked, because the tools have rules of their own.
    let asked = place.world.asked(&place.session).await;
    assert_eq!(asked.len(), place.agent.asks_about_ours, "{asked:#?}");
    for approval in asked {
        assert_eq!(approval.state, "allowed");
    }
    nothing_unexpected(&place).await;
}

pub(super) async fn is_cancelled_in_the_middle_of_a_turn(place: Place) {
    let counting = place.world.send(&place.session, "COUNT").await;
    place.says("tick").await;
    let since = Instant::now();
    interrupt(&place).await;
    assert!(since.elapsed() < CANCEL_WITHIN, "{:?}", since.elapsed());
    assert_eq!(place.turn(&counting).await.turn.state, "cancelled");
    let cut = place.model.request(CANCEL_WITHIN, |it| it.is_cut).await;
    assert!(cut.is_some(), "the model goes on talking");
    place.completed("REMEMBER heron").await;
    assert!(place.said().await.contains("I keep heron in mind"));
    nothing_unexpected(&place).await;
}

pub(super) async fn leaves_no_command_behind_when_cancelled(place: Place) {
    let file = place.file("watched.txt");
    let prompt = format!("WATCH {}", file.display());
    let watching = place.prompt(&prompt).await;
    assert_eq!(watching.approvals.len(), 1, "{watching:#?}");
    let approval = &watching.approvals[0].id;
    place.world.answer(approval, "allow", None).await;
    wait_until(|| is_watched(&file)).await;
    // Long enough for the agent to know that the command goes on.
    tokio::time::sleep(Duration::from_secs(2)).await;
    interrupt(&place).await;
    assert_eq!(place.turn(&watching).await.turn.state, "cancelled");
    wait_until(|| !is_watched(&file)).await;
    place.completed("REMEMBER heron").await;
    nothing_unexpected(&place).await;
}

pub(super) async fn does_not_notice_that_the_server_is_killed(mut place: Place) {
    // While it talks.
    let talking = place.world.send(&place.session, "TALK").await;
    place.says("word 5\n").await;
    place.world.crash(AWAY).await;
    place.world.rest(&place.session).await;
    assert_eq!(place.turn(&talking).await.turn.state, "completed");
    let whole: String = (1..=WORDS).map(|it| format!("word {it}\n")).collect();
    assert_eq!(place.said().await.trim(), whole.trim());
    // While it calls one of our tools, and perhaps asks whether it may.
    let renaming = place.world.send(&place.session, "RENAME").await;
    let is_call = |it: &Recorded| it.answer.starts_with("call ") && it.answer.ends_with("update");
    let limit = Duration::from_secs(place.world.patience.into());
    let called = place.model.request(limit, is_call).await;
    assert!(called.is_some(), "our tool was not called");
    place.world.crash(AWAY).await;
    place.world.rest(&place.session).await;
    assert_eq!(place.turn(&renaming).await.turn.state, "completed");
    let session = place.world.get(&place.session).await;
    assert_eq!(session.title, "renamed by itself");
    assert_eq!((session.state.as_str(), session.runs), ("idle", 1));
    assert!(place.said().await.ends_with("renamed"));
    nothing_unexpected(&place).await;
}

pub(super) async fn asks_in_words_and_is_answered(place: Place) {
    for answer in ["red", "something like teal"] {
        let asked = place.prompt("ASK").await;
        assert_eq!(asked.approvals.len(), 1, "{asked:#?}");
        let question = &asked.approvals[0];
        assert_eq!(question.kind, "question");
        assert_eq!(question.text, "Which colour?\n- red: warm\n- blue: cold");
        let world = &place.world;
        world.answer(&question.id, "allow", Some(answer)).await;
        world.rest(&place.session).await;
        assert_eq!(place.turn(&asked).await.turn.state, "completed");
        let told = last_given(&place, "asked");
        assert!(told.contains(answer), "{told}");
    }
    nothing_unexpected(&place).await;
}

async fn interrupt(place: &Place) {
    let session = &place.session;
    place.world.client.session_interrupt(session).await.unwrap();
    let rested = place.world.rest(session).await;
    assert_eq!((rested.state.as_str(), rested.runs), ("idle", 1));
}

/// Tells whether a process runs that was told to watch this file.
fn is_watched(file: &Path) -> bool {
    let watching = format!("tail\0-f\0{}\0", file.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut words =
        processes.filter_map(|it| std::fs::read_to_string(it.path().join("cmdline")).ok());
    words.any(|words| words == watching)
}

/// Returns the mode that the agent said it works in.
async fn mode(place: &Place) -> String {
    let request = RunListRequest {
        session: place.session.clone(),
        ..RunListRequest::default()
    };
    let told = place.world.client.run_list(&request).await.unwrap();
    told.runs[0].mode.clone().unwrap_or_default()
}

/// Returns how each tool call of the transcript ended.
async fn calls(place: &Place) -> Vec<String> {
    let transcript = place.world.transcript(&place.session).await;
    let calls = transcript.iter().filter(|it| it.kind == "tool_call");
    let details = calls.filter_map(|it| it.detail.as_ref());
    let status = |it: &Value| it["status"].as_str().unwrap_or_default().to_owned();
    details.map(status).collect()
}

/// Returns the end of what the model knew when it last said this.
fn last_given(place: &Place, answer: &str) -> String {
    let requests = place.model.requests();
    let said = requests.iter().rfind(|it| it.answer == answer).unwrap();
    transcript(&said.body).last().unwrap().to_string()
}

/// Returns what a request holds of the conversation, whatever its protocol calls it.
pub(super) fn transcript(body: &Value) -> Vec<Value> {
    let lists = ["messages", "input", "contents"];
    let list = lists.iter().find_map(|name| body[*name].as_array());
    list.cloned().unwrap_or_default()
}

/// The agent asked the model for nothing that models do not have, it connected to our tools, and the transcript is whole.
pub(super) async fn nothing_unexpected(place: &Place) {
    for request in place.model.requests() {
        let Recorded { method, path, .. } = &request;
        assert!(request.status.is_success(), "{method} {path}");
    }
    let notes = place.world.notes(&place.session).await;
    for strange in ["not its protocol", "too long", "MCP connection is broken"] {
        assert!(!notes.contains(strange), "{notes}");
    }
    let transcript = place.world.transcript(&place.session).await;
    let numbers: Vec<_> = transcript.iter().map(|it| it.seq).collect();
    let expected: Vec<_> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert!(place.world.pending(&place.session).await.is_empty());
}
