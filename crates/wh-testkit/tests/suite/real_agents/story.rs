//! What every agent must do. Each story begins with a fresh agent.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use wh_agents::Resume;
use wh_runner::{
    AgentEvent, Begin,
    event::{
        Notice, PermissionKind, PermissionRequest, ToolCall, ToolKind, ToolStatus, TurnEnd,
        TurnUsage,
    },
    link::{Action, Outcome},
};
use wh_testkit::{
    model::Recorded,
    run::{Client, kill, wait_until},
};

use super::place::{Place, Run};

/// How long the server is away.
const AWAY: Duration = Duration::from_secs(5);
/// How soon a cancelled turn must be over.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

pub(super) async fn edits_a_file_once_it_may(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    let file = place.work().join("edited.txt");
    let asked = prompt(
        &mut run.client,
        &format!("EDIT {}", file.display()),
        PermissionKind::AllowOnce,
    )
    .await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, "edited by the agent\n");
    assert_eq!(asked.requests.len(), 1, "{asked:#?}");
    let request = &asked.requests[0];
    assert_eq!(request.call.kind, ToolKind::Edit);
    assert_eq!(request.call.tool_of("wheelhouse"), None);
    let locations = request.call.locations.iter();
    let locations: Vec<_> = locations.map(|it| Path::new(&it.path)).collect();
    assert_eq!(locations, [&file]);
    let words = run.client.words();
    assert!(words.contains("edited /"), "{words}");
    assert_eq!(asked.usage, place.agent.two_calls);
    nothing_unexpected(&place, &run);
}

pub(super) async fn does_not_run_what_is_denied(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    let file = place.work().join("denied.txt");
    let asked = prompt(
        &mut run.client,
        &format!("RUN {}", file.display()),
        PermissionKind::RejectOnce,
    )
    .await;
    assert_eq!(asked.requests.len(), 1, "{asked:#?}");
    assert_eq!(asked.reason, place.agent.denied);
    assert!(!file.exists());
    // It goes on living, and does it when it may.
    let asked = prompt(
        &mut run.client,
        &format!("RUN {}", file.display()),
        PermissionKind::AllowOnce,
    )
    .await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    assert!(file.exists());
    let calls = last_calls(&run.client);
    let states: Vec<_> = calls.iter().map(|call| call.status).collect();
    assert_eq!(states, [ToolStatus::Failed, ToolStatus::Completed]);
    let shown = format!("{:?}", calls[1].content);
    assert_eq!(shown.contains("made it"), place.agent.shows_output);
    nothing_unexpected(&place, &run);
}

pub(super) async fn calls_our_tools_with_its_own_token(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    let read = prompt(&mut run.client, "WHO AM I", PermissionKind::AllowOnce).await;
    assert_eq!(read.reason, TurnEnd::Finished, "{read:#?}");
    // The last thing the model was given is the tool's answer, which knows the session that the token stands for.
    let requests = place.model.requests();
    let given = transcript(&requests.last().unwrap().body);
    let answer = given.last().unwrap().to_string();
    assert!(answer.contains("the heron session"), "{answer}");
    let searched = requests.iter().any(|it| it.answer.starts_with("search"));
    assert_eq!(searched, place.agent.searches);

    let write = prompt(&mut run.client, "RENAME", PermissionKind::AllowOnce).await;
    assert_eq!(write.reason, TurnEnd::Finished, "{write:#?}");
    let requests = read.requests.iter().chain(&write.requests);
    let asked_about: Vec<_> = requests
        .map(|request| request.call.tool_of("wheelhouse").unwrap())
        .collect();
    assert_eq!(asked_about, place.agent.asks_about);
    let words = run.client.words();
    assert!(
        words.contains("I know") && words.contains("renamed"),
        "{words}"
    );
    assert_eq!(place.title_now().await, "renamed by itself");
    nothing_unexpected(&place, &run);
}

pub(super) async fn is_cancelled_in_the_middle_of_a_turn(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    run.client.prompt("count", "COUNT").await;
    ticking(&mut run.client).await;
    let since = Instant::now();
    assert_eq!(
        run.client.command("stop", Action::Cancel).await,
        Outcome::Done
    );
    let end = run.client.turn_end().await;
    assert!(
        matches!(
            &end,
            AgentEvent::TurnEnded {
                reason: TurnEnd::Cancelled,
                ..
            }
        ),
        "{end:?}"
    );
    assert!(since.elapsed() < CANCEL_WITHIN, "{:?}", since.elapsed());
    let cut = place.model.request(CANCEL_WITHIN, |it| it.is_cut).await;
    assert!(cut.is_some(), "the model goes on talking");
    let asked = prompt(&mut run.client, "REMEMBER heron", PermissionKind::AllowOnce).await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    assert!(run.client.words().contains("I keep heron in mind"));
    nothing_unexpected(&place, &run);
}

pub(super) async fn leaves_no_command_behind_when_cancelled(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    let file = place.work().join("watched.txt");
    run.client
        .prompt("watch", &format!("WATCH {}", file.display()))
        .await;
    let asked = run
        .client
        .until(|event| matches!(event, AgentEvent::PermissionRequested { .. }))
        .await;
    let AgentEvent::PermissionRequested { request } = asked else {
        unreachable!()
    };
    let answer = Action::AnswerPermission {
        permission: request.id,
        kind: PermissionKind::AllowOnce,
    };
    assert_eq!(run.client.command("yes", answer).await, Outcome::Done);
    wait_until(|| is_watched(&file)).await;
    // Long enough for the agent to know that the command goes on.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(
        run.client.command("stop", Action::Cancel).await,
        Outcome::Done
    );
    let end = run.client.turn_end().await;
    assert!(
        matches!(
            &end,
            AgentEvent::TurnEnded {
                reason: TurnEnd::Cancelled,
                ..
            }
        ),
        "{end:?}"
    );
    wait_until(|| !is_watched(&file)).await;
    let asked = prompt(&mut run.client, "REMEMBER heron", PermissionKind::AllowOnce).await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    nothing_unexpected(&place, &run);
}

pub(super) async fn does_not_notice_that_the_server_restarts(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    // Agents learn of our tools beside the first turn; after it they know them.
    prompt(&mut run.client, "WHO AM I", PermissionKind::AllowOnce).await;
    place.server.stop();
    run.client.prompt("rename", "RENAME").await;
    let is_call = |it: &Recorded| it.answer.starts_with("call ") && it.answer.ends_with("update");
    let call = place.model.request(AWAY, is_call);
    tokio::select! {
        called = call => assert!(called.is_some(), "our tool was not called"),
        () = allow_everything(&mut run.client) => panic!("the turn is over already"),
    }
    let waiting = tokio::time::timeout(AWAY, allow_everything(&mut run.client)).await;
    assert!(waiting.is_err(), "the call did not wait");
    place.server.restart();
    allow_everything(&mut run.client).await;
    let words = run.client.words();
    assert!(words.ends_with("renamed"), "{words}");
    assert_eq!(place.title_now().await, "renamed by itself");
    nothing_unexpected(&place, &run);
}

pub(super) async fn asks_in_words_and_is_answered(mut place: Place) {
    let (mut run, _) = place.start(Begin::New).await;
    for (round, answer) in ["red", "something like teal"].into_iter().enumerate() {
        run.client.prompt(&format!("ask-{round}"), "ASK").await;
        let asked = run
            .client
            .until(|event| {
                matches!(
                    event,
                    AgentEvent::QuestionAsked { .. } | AgentEvent::TurnEnded { .. }
                )
            })
            .await;
        let AgentEvent::QuestionAsked { question } = asked else {
            panic!("it did not ask: {asked:?}");
        };
        assert_eq!(question.text, "Which colour?\n- red: warm\n- blue: cold");
        assert_eq!(question.options, ["red", "blue"]);
        let action = Action::AnswerQuestion {
            question: question.id,
            answer: Some(answer.to_owned()),
        };
        let id = format!("answer-{round}");
        assert_eq!(run.client.command(&id, action).await, Outcome::Done);
        run.client.turn_end().await;
        let requests = place.model.requests();
        let given = transcript(&requests.last().unwrap().body);
        let told = given.last().unwrap().to_string();
        assert!(told.contains(answer), "{told}");
    }
    nothing_unexpected(&place, &run);
}

/// Tells whether a process runs that was told to watch this file.
fn is_watched(file: &Path) -> bool {
    let watching = format!("tail\0-f\0{}\0", file.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut words =
        processes.filter_map(|it| std::fs::read_to_string(it.path().join("cmdline")).ok());
    words.any(|words| words == watching)
}

pub(super) async fn remembers_after_it_was_killed(mut place: Place) {
    let (mut run, agent_session) = place.start(Begin::New).await;
    let made_in = this_minute();
    let asked = prompt(&mut run.client, "REMEMBER heron", PermissionKind::AllowOnce).await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    run.client.prompt("count", "COUNT").await;
    ticking(&mut run.client).await;
    kill(agent_of(&run));
    run.client.exit().await;
    drop(run);

    let begin = match place.launch.resume {
        Resume::Load => Begin::Load { agent_session },
        Resume::LoadInALaterMinute => {
            wait_for_a_minute_after(made_in).await;
            Begin::Load { agent_session }
        }
        Resume::Resume | Resume::AsOffered => Begin::Resume { agent_session },
    };
    let (mut run, _) = place.start(begin).await;
    let asked = prompt(&mut run.client, "WHAT WAS IT", PermissionKind::AllowOnce).await;
    assert_eq!(asked.reason, TurnEnd::Finished, "{asked:#?}");
    let asked = place
        .model
        .requests()
        .into_iter()
        .rfind(|it| it.answer == "it is in the transcript")
        .unwrap();
    let given = Value::from(transcript(&asked.body)).to_string();
    assert!(given.contains("I keep heron in mind"), "{given}");
    // What was said before is in the transcript already.
    let words = run.client.words();
    assert!(
        !words.contains("heron") && !words.contains("tick"),
        "{words}"
    );
    nothing_unexpected(&place, &run);
}

/// What came of a prompt.
#[derive(Debug)]
struct Turn {
    reason: TurnEnd,
    usage: Option<TurnUsage>,
    requests: Vec<PermissionRequest>,
}

/// Sends a prompt and answers everything the agent asks with `answer`, until the turn is over.
async fn prompt(client: &mut Client, text: &str, answer: PermissionKind) -> Turn {
    let id = format!("prompt-{}", client.seen.len());
    client.prompt(&id, text).await;
    let mut requests = Vec::new();
    loop {
        let event = client
            .until(|event| {
                matches!(
                    event,
                    AgentEvent::TurnEnded { .. }
                        | AgentEvent::PermissionRequested { .. }
                        | AgentEvent::Exited { .. }
                )
            })
            .await;
        match event {
            AgentEvent::PermissionRequested { request } => {
                let action = Action::AnswerPermission {
                    permission: request.id.clone(),
                    kind: answer,
                };
                let id = format!("{id}-{}", request.id);
                assert_eq!(client.command(&id, action).await, Outcome::Done);
                requests.push(request);
            }
            AgentEvent::TurnEnded { reason, usage, .. } => {
                return Turn {
                    reason,
                    usage,
                    requests,
                };
            }
            other => panic!("the agent went away: {other:#?}"),
        }
    }
}

/// Allows whatever the agent asks for until its turn is over. A call that is given up loses nothing.
async fn allow_everything(client: &mut Client) {
    loop {
        let event = client
            .until(|event| {
                matches!(
                    event,
                    AgentEvent::TurnEnded { .. } | AgentEvent::PermissionRequested { .. }
                )
            })
            .await;
        let AgentEvent::PermissionRequested { request } = event else {
            return;
        };
        let id = format!("allow-{}", request.id);
        let kind = PermissionKind::AllowOnce;
        let permission = request.id;
        let action = Action::AnswerPermission { permission, kind };
        client.command(&id, action).await;
    }
}

/// Returns every tool call as it was told last, in the order of their first mention.
fn last_calls(client: &Client) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    for record in &client.seen {
        let (AgentEvent::ToolCall { call } | AgentEvent::ToolCallUpdate { call }) = &record.event
        else {
            continue;
        };
        match calls.iter_mut().find(|known| known.id == call.id) {
            Some(known) => known.clone_from(call),
            None => calls.push(call.clone()),
        }
    }
    calls
}

/// Waits until the agent passes on what the model counts.
async fn ticking(client: &mut Client) {
    client
        .until(|event| matches!(event, AgentEvent::Text { text } if text.contains("tick")))
        .await;
}

/// Returns what a request holds of the conversation, whatever its protocol calls it.
fn transcript(body: &Value) -> Vec<Value> {
    let lists = ["messages", "input", "contents"];
    let list = lists.iter().find_map(|name| body[*name].as_array());
    list.cloned().unwrap_or_default()
}

/// Finds the agent's own process: the first below the runner that is not one of our helpers.
fn agent_of(run: &Run) -> u32 {
    let mut parent = run.runner.pid;
    loop {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let children = children.unwrap();
        let child: u32 = children.split_whitespace().next().unwrap().parse().unwrap();
        let words = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap();
        if words.split('\0').nth(1) != Some("contain") {
            return child;
        }
        parent = child;
    }
}

async fn wait_for_a_minute_after(minute: u64) {
    while this_minute() <= minute {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the agent looks at the machine's clock"
)]
fn this_minute() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs() / 60
}

/// The agent asked the model for nothing that models do not have, and told us nothing that we do not understand.
fn nothing_unexpected(place: &Place, run: &Run) {
    for request in place.model.requests() {
        let Recorded { method, path, .. } = &request;
        assert!(request.status.is_success(), "{method} {path}");
    }
    for record in &run.client.seen {
        let AgentEvent::Notice { notice } = &record.event else {
            continue;
        };
        let strange = matches!(
            notice,
            Notice::Unknown { .. } | Notice::NotProtocol { .. } | Notice::LineSkipped { .. }
        );
        assert!(!strange, "{notice:?}");
    }
}
