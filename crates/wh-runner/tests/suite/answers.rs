//! Answers to what an agent asks: which option they choose, and when they are confirmed.

use std::{os::unix::ffi::OsStrExt, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use wh_runner::{
    AgentEvent,
    event::PermissionKind,
    link::{Action, Outcome, Refusal},
};

use crate::{
    harness::{Run, host},
    run::Client,
};

/// An answer that exceeds the capacity of a pipe.
const LARGE: usize = 2 << 20;

/// Has the scripted agent ask with these options and returns the request's id.
async fn ask(client: &mut Client, turn: &str, options: &str) -> String {
    let prompt = format!("offer {options} leave");
    client.prompt(turn, &prompt).await;
    let asked = client
        .until(|event| matches!(event, AgentEvent::PermissionRequested { .. }))
        .await;
    let AgentEvent::PermissionRequested { request } = asked else {
        unreachable!()
    };
    request.id
}

fn answer(permission: &str, kind: PermissionKind) -> Action {
    Action::AnswerPermission {
        permission: permission.to_owned(),
        kind,
    }
}

fn code(outcome: &Outcome) -> Option<Refusal> {
    match outcome {
        Outcome::Refused { code, .. } => Some(*code),
        _ => None,
    }
}

#[tokio::test]
async fn a_denial_without_an_option_cancels_the_request() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    let request = ask(&mut client, "1", "allow_once,allow_always").await;
    let denied = answer(&request, PermissionKind::RejectOnce);
    assert_eq!(client.command("2", denied.clone()).await, Outcome::Done);
    client
        .until(|event| matches!(event, AgentEvent::PermissionSettled { chosen: None, .. }))
        .await;
    client.turn_end().await;
    assert_eq!(client.words(), "nothing");
    // A command of another id does not answer it again.
    let again = client.command("3", denied).await;
    assert_eq!(code(&again), Some(Refusal::Unknown));
}

#[tokio::test]
async fn a_permission_is_not_widened() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    let request = ask(&mut client, "1", "allow_always,reject_once").await;
    let once = answer(&request, PermissionKind::AllowOnce);
    let refused = client.command("2", once).await;
    assert_eq!(code(&refused), Some(Refusal::Unsupported));
    let always = answer(&request, PermissionKind::AllowAlways);
    assert_eq!(client.command("3", always).await, Outcome::Done);
    client.turn_end().await;
    assert_eq!(client.words(), "allow_always");
}

/// A confirmation means that the agent's pipe has the answer. Meanwhile the link serves other commands.
#[tokio::test]
async fn an_answer_is_confirmed_when_it_is_written() {
    let run = Run::start("echo");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "question Which colour?").await;
    let asked = client
        .until(|event| matches!(event, AgentEvent::QuestionAsked { .. }))
        .await;
    let AgentEvent::QuestionAsked { question } = asked else {
        unreachable!()
    };
    let agent = agent_of(&run);
    kill_process(agent, Signal::STOP).unwrap();
    let blue = Action::AnswerQuestion {
        question: question.id,
        answer: Some("blue".repeat(LARGE / 4)),
    };
    let commands = client.commands.clone();
    let mut confirmed = Box::pin(commands.command("2", blue.clone()));
    tokio::select! {
        outcome = &mut confirmed => panic!("it cannot be written yet: {outcome:?}"),
        // Until the request is settled and another command has been answered.
        outcome = settled_and_asked(&mut client) => assert!(matches!(outcome, Outcome::Status(_))),
    }
    let again = tokio::time::timeout(Duration::from_millis(300), client.command("4", blue)).await;
    assert!(
        again.is_err(),
        "a repeat is not confirmed sooner: {again:?}"
    );
    kill_process(agent, Signal::CONT).unwrap();
    let outcome = loop {
        tokio::select! {
            outcome = &mut confirmed => break outcome.unwrap(),
            event = client.events.next() => drop(event.unwrap()),
        }
    };
    assert_eq!(outcome, Outcome::Done);
}

async fn settled_and_asked(client: &mut Client) -> Outcome {
    client
        .until(|event| matches!(event, AgentEvent::QuestionSettled { .. }))
        .await;
    client.command("3", Action::Status).await
}

/// Finds the agent's process by its arguments and its environment.
fn agent_of(run: &Run) -> Pid {
    let marker = run.temp.path().as_os_str().as_bytes().to_owned();
    let command = [host().as_os_str().as_bytes(), b"\0echo\0"].concat();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_agent = |path: &std::path::Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        std::fs::read(path.join("cmdline")).is_ok_and(|line| line == command)
            && environment.windows(marker.len()).any(|it| it == marker)
    };
    let mut found = processes.map(|it| it.path()).filter(|path| is_agent(path));
    let found = found.next().unwrap();
    let pid = found.file_name().unwrap().to_str().unwrap().parse();
    Pid::from_raw(pid.unwrap()).unwrap()
}
